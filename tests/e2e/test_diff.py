"""The Diff page in a browser: what is compared, what changed, and the ways from there."""

from __future__ import annotations

import csv
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.builders.pairs import write_pairs
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pairs")
    write_pairs(folder)
    with Server(folder, cache) as started:
        started.settled()
        yield started


def headline(tab: Tab) -> str:
    return str(tab.frame.locator(".headline-first").text_content())


def grid(tab: Tab, name: str = "Changes of operators") -> Locator:
    return tab.frame.get_by_role("grid", name=name, exact=True)


def first_row(tab: Tab, name: str = "Changes of operators") -> str:
    return str(grid(tab, name).locator(".body-row").first.text_content())


def compare(tab: Tab, other: str, **params: str) -> Tab:
    return tab.load("diff", run="baseline", run2=other, **params)


def test_the_injected_change_comes_first(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "slower_kernel", table="kernel")
    assert "longer" in headline(tab)
    assert "GeluCUDAKernelImpl" in first_row(tab, "Changes of kernels")
    expect(grid(tab, "Changes of kernels").locator(".cell-more").first).to_be_visible()


def test_two_recordings_of_the_same_are_unchanged(open_tab: OpenTab, pairs: Server) -> None:
    assert "No change beyond ±" in headline(compare(open_tab(pairs), "again"))


def test_nothing_is_compared_before_it_is_chosen(open_tab: OpenTab, pairs: Server) -> None:
    tab = open_tab(pairs).load("diff", run="baseline")
    expect(tab.select("Run B")).to_have_value("")
    expect(tab.frame.locator(".headline-first")).to_have_count(0)
    suggested = tab.frame.get_by_role("link", name="Compare with ")
    expect(tab.frame.locator("main")).to_contain_text("recording of the same program: ")
    suggested.click()
    expect(tab.frame.locator(".headline-first")).to_contain_text("mean")
    assert tab.settled_state()["run2"] in {run["name"] for run in pairs.runs()} - {"baseline"}
    tab.frame.get_by_role("link", name="All runs").click()
    expect(tab.select("Run B")).to_have_value("")


def test_the_runs_stand_beside_each_other(open_tab: OpenTab, pairs: Server) -> None:
    tab = open_tab(pairs).load("diff", run="baseline")
    runs = grid(tab, "Experiments")
    rows = runs.locator(".body-row")
    expect(rows).to_have_count(len(pairs.runs()))
    expect(tab.frame.get_by_text("Reading the runs")).to_have_count(0)
    expect(rows.filter(has_text="missing_overlap")).to_contain_text("yes")
    expect(rows.filter(has_text="again")).to_contain_text("no")
    rows.filter(has_text="missing_overlap").get_by_role(
        "link", name="with A", include_hidden=True
    ).click()
    expect(tab.frame.locator(".headline-first")).to_contain_text("longer")
    assert tab.settled_state()["run2"] == "missing_overlap"


def test_the_interval_of_the_change_is_drawn(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "again")
    band = tab.frame.locator(".strip-interval rect")
    expect(band).to_have_count(1)
    width = (band.bounding_box() or {"width": 0})["width"]
    assert width > 20
    # Both means lie in it: it is not shown that the step changed.
    left = (band.bounding_box() or {"x": 0})["x"]
    for mean in tab.frame.locator(".strip-mean").all():
        box = mean.bounding_box()
        assert box is not None
        assert left <= box["x"] + box["width"] / 2 <= left + width


def test_a_step_against_the_median_step_is_one_press_away(open_tab: OpenTab, pairs: Server) -> None:
    tab = open_tab(pairs).load("overview", run="baseline", steps="3")
    tab.frame.get_by_role("link", name="vs. median step").click()
    expect(tab.frame.locator(".headline-first")).to_contain_text(re.compile("mean", re.IGNORECASE))
    state = tab.settled_state()
    assert (state["view"], state["run2"], state["steps2"]) == ("diff", "baseline", "3")
    assert state["steps"].isdigit()
    assert state["steps"] != "3"


def test_choosing_the_other_run_changes_the_answer_and_the_address(
    open_tab: OpenTab, pairs: Server
) -> None:
    tab = compare(open_tab(pairs), "again")
    tab.select("Run B").select_option("new_sync")
    tab.idle()
    expect(tab.frame.locator(".headline-first")).to_contain_text("longer")
    assert tab.settled_state()["run2"] == "new_sync"
    tab.page.reload()
    tab.idle()
    expect(tab.select("Run B")).to_have_value("new_sync")


def test_swapping_turns_the_sign_and_goes_back(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "slower_kernel", steps="1-6", steps2="2-5")
    expect(tab.frame.locator(".headline-first")).to_contain_text("longer")
    tab.frame.get_by_role("button", name="Swap A and B").click()
    expect(tab.frame.locator(".headline-first")).to_contain_text("shorter")
    tab.idle()
    state = tab.state()
    assert (state["run"], state["run2"], state["steps"], state["steps2"]) == (
        "slower_kernel",
        "baseline",
        "2-5",
        "1-6",
    )
    tab.page.go_back()
    expect(tab.select("Run")).to_have_value("baseline")


def test_two_parts_of_one_trace(open_tab: OpenTab, pairs: Server) -> None:
    tab = open_tab(pairs).load("diff", run="baseline", run2="baseline", steps="0-3", steps2="4-7")
    assert "No change beyond ±" in headline(tab)
    expect(tab.frame.locator(".strip circle:not(.strip-faded)")).to_have_count(8)


def test_every_row_leads_to_both_timelines(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "slower_kernel", table="kernel")
    links = (
        grid(tab, "Changes of kernels")
        .locator(".body-row")
        .first.get_by_role("link", include_hidden=True)
    )
    expect(links).to_have_count(2)
    links.nth(1).click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    expect(tab.select("Run")).to_have_value("slower_kernel")
    assert tab.state()["sel"].isdigit()
    expect(tab.frame.locator("main")).to_contain_text("GeluCUDAKernelImpl")


def test_filters_search_and_order(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "extra_copy")
    tab.frame.get_by_role("radio", name="Kernels").check(force=True)
    expect(grid(tab, "Changes of kernels")).to_be_visible()
    tab.frame.get_by_role("radio", name="new", exact=False).first.check(force=True)
    expect(grid(tab, "Changes of kernels").locator(".body-row")).to_have_count(1)
    expect(grid(tab, "Changes of kernels").locator(".body-row").first).to_contain_text(
        "Memcpy HtoD (Pageable"
    )
    tab.frame.get_by_role("radio", name="all", exact=True).check(force=True)
    tab.frame.get_by_role("search").first.get_by_role("textbox").fill("gemm")
    expect(grid(tab, "Changes of kernels").locator(".body-row")).to_have_count(1)
    assert {k: v for k, v in tab.settled_state().items() if k in ("table", "search")} == {
        "table": "kernel",
        "search": "gemm",
    }


def test_the_tree_unfolds_by_keyboard(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "slower_kernel")
    tree = tab.frame.get_by_role("treegrid", name="Call tree of both sides")
    tab.frame.get_by_role("button", name="Collapse all", exact=True).click()
    expect(tree.locator('.body-row[aria-expanded="true"]')).to_have_count(0)
    outermost = tree.locator(".body-row").count()
    tree.focus()
    tab.page.keyboard.press("ArrowRight")
    expect(tree.locator(".body-row").first).to_have_attribute("aria-expanded", "true")
    tab.becomes(lambda: tree.locator(".body-row").count() > outermost, True)
    tab.page.keyboard.press("ArrowLeft")
    expect(tree.locator(".body-row")).to_have_count(outermost)


def test_the_files_are_there(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "slower_kernel")
    for name, begin in (("All as CSV", "table,"), ("All as Markdown", "**step")):
        address = tab.frame.get_by_role("link", name=name).get_attribute("href") or ""
        with urllib.request.urlopen(address, timeout=60) as reply:
            text = reply.read().decode()
        assert text.lower().lstrip("\ufeff").startswith(begin), text[:80]
        if begin == "table,":
            assert len({len(row) for row in csv.reader(text.splitlines())}) == 1


def test_an_unknown_other_run_says_so_and_can_be_changed(open_tab: OpenTab, pairs: Server) -> None:
    tab = open_tab(pairs).load("diff", run="baseline", run2="gone")
    expect(tab.frame.locator("main")).to_contain_text("gone is not there")
    tab.select("Run B").select_option("again")
    expect(tab.frame.locator(".headline-first")).to_contain_text("No change beyond ±")


def test_a_single_trace_offers_its_two_halves(
    tmp_path: Path, cache: Path, open_tab: OpenTab
) -> None:
    made = write_pairs(tmp_path / "made")
    only = tmp_path / "only" / "run"
    only.mkdir(parents=True)
    source = (
        next(path for path in made["baseline"].parent.rglob("*.json"))
        if made["baseline"].is_file()
        else next(made["baseline"].rglob("*.json"))
    )
    (only / "rank0.pt.trace.json").write_bytes(source.read_bytes())
    with Server(tmp_path / "only", cache) as server:
        server.settled()
        tab = open_tab(server).load("diff")
        tab.frame.get_by_role("link", name="first steps with last").click()
        expect(tab.frame.locator(".headline-first")).to_contain_text("No change beyond ±")
        state = tab.settled_state()
        assert (state["steps"], state["steps2"]) == ("0-3", "4-7")
        tab.context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_inaccessible(open_tab: OpenTab, pairs: Server, dark: bool) -> None:
    need_axe()
    tab = compare(open_tab(pairs, dark=dark), "renamed")
    assert accessibility(tab.frame) == []
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
