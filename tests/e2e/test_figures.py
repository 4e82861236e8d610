"""What a person does with the tables: choose steps, open a row, search, download. The trace is the
one drawn in traces.py.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.e2e import traces
from tests.e2e.pages import Tab
from tests.e2e.server import Server


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


def download(tab: Tab, button: Locator) -> list[dict[str, str]]:
    """The rows of a CSV file that a button gives."""
    with tab.page.expect_download() as waiting:
        button.click()
    assert waiting.value.suggested_filename.endswith(".csv")
    return list(
        csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig")))
    )


def test_choosing_a_step_changes_the_figures_and_the_address(tab: Tab) -> None:
    tab.load("operator", run="run")
    expect(row(tab, "Operators", "aten::mm")).to_contain_text("3")
    steps = tab.frame.get_by_role("radiogroup", name="Steps")
    steps.get_by_role("radio", name="One").check()
    tab.frame.get_by_label("Step", exact=True).select_option("1")
    tab.idle()
    expect(row(tab, "Operators", "aten::mm")).to_contain_text("400")
    expect(tab.page).to_have_url(re.compile(r"[.&]steps=1(&|$)"))
    tab.page.reload()
    tab.idle()
    expect(row(tab, "Operators", "aten::mm")).to_contain_text("400")
    expect(tab.frame.get_by_label("Step", exact=True)).to_have_value("1")


def test_an_operator_opens_to_its_call_stack(tab: Tab) -> None:
    tab.load("operator", run="run")
    row(tab, "Operators", "aten::mm").get_by_role("button").first.click()
    for frame in ("train.py:12", "model.py:30", "main.py:3"):
        expect(tab.frame.locator("main")).to_contain_text(frame)


def test_searching_for_a_kernel_by_words_and_by_pattern(tab: Tab) -> None:
    tab.load("kernel", run="run")
    box = tab.frame.get_by_role("search").get_by_role("textbox")
    box.fill("relu")
    expect(tab.frame.get_by_role("grid", name="Kernels").get_by_text("gemm_kernel")).to_have_count(
        0
    )
    expect(row(tab, "Kernels", "relu_kernel")).to_be_visible()
    tab.frame.get_by_role("button", name="Regular expression").click()
    box.fill("^void .*<float")
    expect(row(tab, "Kernels", "gemm_kernel")).to_be_visible()
    expect(tab.frame.get_by_role("grid", name="Kernels").get_by_text("relu_kernel")).to_have_count(
        0
    )


def test_the_kernel_table_as_csv(tab: Tab) -> None:
    tab.load("kernel", run="run")
    table = download(tab, tab.frame.get_by_role("button", name="CSV").last)
    by_name = {line[next(iter(line))]: line for line in table}
    assert set(by_name) == {traces.KERNEL, "relu_kernel"}
    assert {
        k: by_name[traces.KERNEL][k]
        for k in ("Calls", "Total (ns)", "Mean (ns)", "Min (ns)", "Max (ns)")
    } == {
        "Calls": "3",
        "Total (ns)": "800000",
        "Mean (ns)": "266667",
        "Min (ns)": "200000",
        "Max (ns)": "400000",
    }
