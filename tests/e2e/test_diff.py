"""The Diff page in a browser: what is compared, what changed, and the ways from there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.builders.pairs import write_pairs
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.timeline_page import TracePage
from tests.e2e.watch import accessibility, need_axe


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pairs")
    write_pairs(folder)
    with Server(folder, cache) as started:
        started.settled()
        yield started


def grid(tab: Tab, name: str = "Changes of operators") -> Locator:
    return tab.frame.get_by_role("grid", name=name, exact=True)


def compare(tab: Tab, other: str, **params: str) -> Tab:
    return tab.load("diff", run="baseline", run2=other, **params)


def unfold(tab: Tab, text: str) -> None:
    tab.frame.locator("summary", has_text=text).click()
    tab.idle()


def test_choosing_the_other_run_changes_the_answer_and_the_address(
    open_tab: OpenTab, pairs: Server
) -> None:
    tab = compare(open_tab(pairs), "again")
    unfold(tab, "Other recording")
    tab.choose_run("new_sync", "Run compared with")
    tab.idle()
    expect(tab.frame.locator(".headline-first")).to_contain_text("more than before")
    tab.holds(run2="new_sync")
    tab.page.reload()
    tab.idle()
    unfold(tab, "Other recording")
    expect(tab.run("new_sync", "Run compared with")).to_be_visible()


def test_swapping_turns_the_sign_and_goes_back(open_tab: OpenTab, pairs: Server) -> None:
    need_axe()
    tab = compare(open_tab(pairs, dark=True), "slower_kernel", steps="1-6", steps2="2-5")
    expect(tab.frame.locator(".headline-first")).to_contain_text("more than before")
    tab.frame.get_by_role("button", name="Swap").click()
    expect(tab.frame.locator(".headline-first")).to_contain_text("less than before")
    tab.idle()
    state = tab.state()
    assert (state["run"], state["run2"], state["steps"], state["steps2"]) == (
        "slower_kernel",
        "baseline",
        "2-5",
        "1-6",
    )
    assert accessibility(tab.frame) == []
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    tab.page.go_back()
    expect(tab.run("baseline")).to_be_visible()


def test_the_tree_unfolds_by_keyboard(open_tab: OpenTab, pairs: Server) -> None:
    tab = compare(open_tab(pairs), "slower_kernel", table="operator")
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


def test_the_shorter_step_is_followed_by_what_was_lost(open_tab: OpenTab, pairs: Server) -> None:
    need_axe()
    tab = compare(open_tab(pairs, width=390, height=800), "slower_kernel")
    before, after = (one.locator(".glyph-plot svg") for one in tab.frame.locator(".glyph").all())
    rest = tab.frame.locator(".glyph-rest")
    whole, gap, below = (one.bounding_box() for one in (before, rest, after))
    assert whole is not None
    assert gap is not None
    assert below is not None
    assert abs(gap["x"] + gap["width"] - whole["x"] - whole["width"]) <= 1
    assert gap["y"] + gap["height"] < below["y"]
    tab.frame.get_by_role("group", name="After").focus()
    tab.page.keyboard.press("ArrowRight")
    expect(tab.frame.locator(".glyph [aria-live]").nth(1)).not_to_be_empty()
    assert accessibility(tab.frame) == []
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_both_recordings_stand_on_one_axis_of_the_timeline(
    open_tab: OpenTab, pairs: Server
) -> None:
    need_axe()
    page = TracePage.open(open_tab(pairs), "baseline", run2="slower_kernel", worker2="worker0")
    bar = page.frame.get_by_role("group", name="Comparison")
    expect(bar).to_contain_text("GPU compute +")

    def apart() -> list[float]:
        """How far from each other the steps of both sides begin, px."""
        begins: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for one in page.slices():
            if one["label"].startswith("ProfilerStep#") and one["count"] == 1:
                begins[one["source"]][one["label"]] = one["left"]
        assert begins[0].keys() == begins[1].keys()
        assert len(begins[0]) > 3
        return [abs(begins[0][name] - begins[1][name]) for name in begins[0]]

    assert max(apart()) <= 1
    bar.get_by_role("button", name="Align", exact=True).click()
    page.ready()
    assert max(apart()) > 3
    bar.get_by_role("button", name="Align", exact=True).click()
    page.ready()
    after = [one for one in page.slices() if one["source"] == 1 and one["count"] == 1]
    lower = max(after, key=lambda one: one["top"])
    page.click(lower)
    expect(page.details).to_contain_text(lower["label"])
    page.tab.holds(sel=f"1:{lower['event']}")
    assert accessibility(page.frame) == []
