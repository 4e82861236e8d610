"""What a person does with the tables: choose steps, open a row. The trace is the
one drawn in traces.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab, choose_step
from tests.e2e.server import Server

OPENED = [("operator", "Operators", "aten::mm"), ("kernel", "Kernels", "gemm_kernel")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("figures")
    traces.write(logdir / "run" / "worker.1.pt.trace.json", traces.trace())
    with Server(logdir, cache) as started:
        started.settled()
        yield started


@pytest.fixture
def tab(browser: Browser, server: Server) -> Iterator[Tab]:
    with Tab(browser, server) as opened:
        yield opened
        assert opened.watch.take() == []


def rows(tab: Tab, grid: str) -> list[list[str]]:
    """The cells of a table's rows, header first."""
    table = tab.frame.get_by_role("grid", name=grid)
    expect(table).to_be_visible()
    return [
        [
            c.strip()
            for c in row.get_by_role("gridcell")
            .or_(row.get_by_role("columnheader"))
            .all_text_contents()
        ]
        for row in table.get_by_role("row").all()
    ]


def row(tab: Tab, grid: str, name: str) -> Locator:
    """The row of a table that starts with a name."""
    return tab.frame.get_by_role("grid", name=grid).get_by_role("row").filter(has_text=name).first


def test_choosing_a_step_changes_the_figures_and_the_address(tab: Tab) -> None:
    tab.load("operator", run="run")
    expect(row(tab, "Operators", "aten::mm")).to_contain_text("3")
    choose_step(tab, 1)
    expect(row(tab, "Operators", "aten::mm")).to_contain_text("400")
    expect(tab.page).to_have_url(re.compile(r"[.&]steps=1(&|$)"))
    tab.page.reload()
    tab.idle()
    expect(row(tab, "Operators", "aten::mm")).to_contain_text("400")
    expect(tab.frame.get_by_role("button", name="Steps: Step 4")).to_be_visible()


@pytest.mark.parametrize(("view", "table", "name"), OPENED)
def test_a_row_opens_to_its_callers_in_the_columns_of_the_table(
    tab: Tab, view: str, table: str, name: str
) -> None:
    tab.load(view, run="run")
    row(tab, table, name).get_by_role("button").first.click()
    callers = tab.frame.get_by_role("group", name="Callers of")
    closed = callers.locator('[aria-expanded="false"]')
    outermost = callers.get_by_text("main.py:3")
    while not outermost.count():
        expect(closed.first.or_(outermost)).to_be_visible()
        if closed.count():
            closed.first.click()
    for frame in ("train.py:12", "model.py:30", "main.py:3"):
        expect(callers).to_contain_text(frame)
    calls = tab.frame.get_by_role("columnheader", name="Calls").bounding_box()
    cell = callers.locator(".beneath-row").first.locator(".grid-cell").nth(2).bounding_box()
    assert calls is not None
    assert cell is not None
    assert (cell["x"], cell["width"]) == pytest.approx((calls["x"], calls["width"]), abs=1)


@pytest.mark.parametrize("view", ["operator", "kernel", "module"])
def test_one_scroll_bar(open_tab: OpenTab, sample_server: Server, view: str) -> None:
    tab = open_tab(sample_server).load(view, run="synthetic_ddp8")
    expect(tab.frame.locator(".grid").first).to_be_visible()
    for width, height in ((1024, 768), (1280, 800), (1440, 900), (2560, 1440)):
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.idle()
        page, window, bottom = tab.frame.locator("html").evaluate(
            """html => [html.scrollHeight, html.clientHeight,
                        document.querySelector('.grid').getBoundingClientRect().bottom]"""
        )
        assert page <= window, width
        assert window - 40 < bottom <= window, width


def test_columns_without_room_are_announced_and_shown_on_demand(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server, width=1024, height=768).load("operator", run="transformer")
    heads = tab.frame.get_by_role("columnheader")
    before = heads.count()
    tab.frame.get_by_role("button", name=re.compile("Show also: ")).click()
    expect(tab.frame.get_by_role("columnheader", name="Call max")).to_have_count(1)
    assert heads.count() > before
    expect(tab.frame.get_by_role("button", name="Charts")).to_have_attribute(
        "aria-pressed", "false"
    )
