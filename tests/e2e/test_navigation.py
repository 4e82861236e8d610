"""Links, the back button, the keyboard, and an open page that learns of new files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS
from tests.e2e.server import Server


@pytest.fixture(scope="module")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("navigation")
    traces.write(folder / "alpha" / "worker.1.pt.trace.json", traces.trace())
    traces.write(folder / "beta" / "rank0.1.pt.trace.json", traces.trace())
    traces.write(folder / "beta" / "rank1.1.pt.trace.json", traces.trace(5))
    return folder


@pytest.fixture(scope="module")
def server(logdir: Path, cache: Path) -> Iterator[Server]:
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def test_a_link_opens_what_it_names(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load(
        "kernel", run="beta", worker="rank1", group="properties"
    )
    expect(tab.select("Run")).to_have_value("beta")
    expect(tab.select("Worker")).to_have_value("rank1")
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    expect(
        tab.frame.get_by_role("radio", checked=True).and_(tab.frame.locator('[value="properties"]'))
    ).to_have_count(1)


def test_a_choice_survives_a_reload(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load()
    tab.select("Run").select_option("beta")
    tab.select("Worker").select_option("rank1")
    tab.tab("operator").click()
    tab.idle()
    tab.page.reload()
    tab.idle()
    expect(tab.select("Run")).to_have_value("beta")
    expect(tab.select("Worker")).to_have_value("rank1")
    expect(tab.tab("operator")).to_have_attribute("aria-current", "page")


def test_the_back_button_goes_back(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load("overview", run="alpha")
    tab.tab("kernel").click()
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    tab.select("Run").select_option("beta")
    tab.idle()
    tab.page.go_back()
    expect(tab.select("Run")).to_have_value("alpha")
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    tab.page.go_back()
    expect(tab.tab("overview")).to_have_attribute("aria-current", "page")
    tab.page.go_forward()
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")


def test_an_operator_leads_to_its_kernels_and_to_its_calls(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("operator", run="synthetic_ddp8", worker="rank0")
    row = tab.grid("Operators").locator(".body-row").filter(has_text="aten::mm").first
    row.get_by_role("link", name="kernels").click()
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    kernels = tab.grid("Kernels").locator(".body-row")
    expect(kernels.first).to_contain_text("aten::mm")
    expect(kernels.filter(has_not_text="aten::mm")).to_have_count(0)
    tab.page.go_back()
    row.get_by_role("link", name="calls").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    calls = sample_server.answer("operator", "synthetic_ddp8", worker="rank0")["rows"]
    count = calls["calls"][calls["name"].index("aten::mm")]
    expect(tab.frame.get_by_role("search")).to_contain_text(f"of {count}")


def test_everything_is_reached_by_the_keyboard(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server, inside=True).load("operator", run="alpha")
    tab.frame.locator("body").evaluate("(body) => { body.tabIndex = -1; body.focus(); }")
    reached = set()
    for _ in range(80):
        tab.page.keyboard.press("Tab")
        reached.add(
            tab.frame.evaluate("""() => {
              const e = document.activeElement;
              const inside = e.closest('[role=grid]') ? 'grid' : '';
              return inside || e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].textContent) || e.textContent;
            }""")
            .strip()
            .lower()
        )
    wanted = {"run", "worker", "grid", *(view.replace("_", " ") for view in VIEWS)}
    assert {w for w in wanted if not any(r.startswith(w) for r in reached)} == set()
    tab.tab("kernel").focus()
    tab.page.keyboard.press("Enter")
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")


def test_a_new_span_appears_and_the_choice_stays(
    tmp_path: Path, start: Callable[..., Server], open_tab: OpenTab
) -> None:
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", traces.trace())
    server = start(tmp_path, settle_seconds="0.2")
    server.settled()
    tab = open_tab(server, inside=True).load("operator", run="run", search="relu")
    before = tab.state()
    traces.write(tmp_path / "run" / "worker.2.pt.trace.json", traces.trace(9))
    expect(tab.select("Span").locator("option")).to_have_count(2, timeout=20_000)
    assert {k: v for k, v in tab.state().items() if k in before} == before
    expect(tab.frame.get_by_role("search").get_by_role("textbox")).to_have_value("relu")


@pytest.mark.parametrize("width", [640, 2560])
def test_no_sideways_scrolling(open_tab: OpenTab, sample_server: Server, width: int) -> None:
    tab = open_tab(sample_server, width=width, inside=True).load()
    for view in VIEWS:
        tab.go(view)
        for place in (tab.frame, tab.page):
            wide, seen = place.evaluate(
                "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            )
            assert wide <= seen, view
