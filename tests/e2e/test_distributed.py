"""The Distributed page in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe


def test_the_map_tells_its_cells_by_keyboard_and_by_pointer(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    heat = tab.frame.get_by_role("group", name="Late by rank and step")
    heat.focus()
    for key in ("ArrowRight", "ArrowDown", "End"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".heat [role=status]").first).to_contain_text("rank 1, step 9:")
    cells = heat.locator(".heat-cells svg")
    box = cells.bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 5, box["y"] + box["height"] - 5)
    expect(tab.frame.locator(".tooltip")).to_contain_text("rank 7, step 3:")
    tab.frame.get_by_label("Order", exact=True).select_option("largest")
    expect(heat.locator(".heat-rows text").first).to_have_text("rank 5")


def test_a_cell_leads_to_its_worker_and_step_and_to_timelines_of_chosen_ranks(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("distributed", run="synthetic_ddp8")
    heat = tab.frame.get_by_role("group", name="Late by rank and step")
    heat.focus()
    for key in ("ArrowRight", "End", "ArrowDown", "ArrowDown", "Enter"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".heat-chosen")).to_contain_text("rank 2, step 9: late")
    state = tab.settled_state()
    assert (state["at"], state["step"]) == ("rank2", "ProfilerStep#9")
    tab.frame.get_by_role("link", name="Show them on the timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    tab.idle()
    tab.holds(workers="2,5")
    tab.frame.get_by_role("button", name="Workers: 2 chosen").click()
    tab.frame.get_by_label("Ranks", exact=True).fill("0-2, 7")
    tab.page.keyboard.press("Enter")
    tab.idle()
    expect(tab.frame.get_by_role("button", name="Workers: 5 chosen")).to_be_visible()
    tab.holds(workers="0-2,7")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_on_a_phone_only_the_map_scrolls_sideways_and_its_cells_keep_their_figures(
    open_tab: OpenTab, sample_server: Server, dark: bool
) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=dark, width=390, height=844)
    tab.load("distributed", run="synthetic_ddp8")
    heat = tab.frame.get_by_role("group", name="Late by rank and step")
    expect(heat.locator(".heat-cells text").filter(has_text="13.7 ms")).to_be_visible()
    beside = heat.locator(".heat-beside text").filter(has_text="once, in step 7")
    beside.scroll_into_view_if_needed()
    expect(beside).to_be_in_viewport()
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert accessibility(tab.frame) == []
