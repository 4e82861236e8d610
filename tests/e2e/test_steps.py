"""The step selector: on every view, kept across them, and what the views do with it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS, choose_step
from tests.e2e.server import Server

RUN = "synthetic_ddp8"


def test_every_view_has_it_or_says_why_not(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("overview", run=RUN, worker="rank0", steps="2")
    for view in VIEWS:
        tab.open(view)
        tab.holds(steps="2")
        chooser = tab.frame.get_by_role("button", name="Steps: Step 5").first
        if view in ("sql", "diagnosis", "steps"):
            expect(tab.frame.locator(".steps-fixed")).to_contain_text("all steps")
        else:
            expect(chooser).to_be_visible()


def test_several_are_chosen_by_a_drag(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("operator", run=RUN, worker="rank0")
    tab.frame.get_by_role("button", name=re.compile("^Steps: All")).click()
    bars = tab.frame.get_by_role("listbox", name="Steps").get_by_role("option")
    bars.nth(2).hover()
    tab.page.mouse.down()
    bars.nth(4).hover()
    tab.page.mouse.up()
    tab.becomes(lambda: tab.state().get("steps"), "2-4")
    expect(tab.frame.get_by_role("button", name="Steps: Steps 5 to 7")).to_be_visible()


def test_the_timeline_goes_to_the_chosen_step(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("trace", run=RUN, worker="rank0")

    def window() -> list[int]:
        text = tab.settled_state().get("t", "")
        return [int(part) for part in text.split(",")] if text else []

    choose_step(tab, 2)
    first = window()
    choose_step(tab, 4)
    second = window()
    assert first[0] < second[0]
    tab.frame.get_by_role("button", name=re.compile("^Steps: ")).first.click()
    tab.frame.get_by_role("button", name="All 7 steps").click()
    tab.idle()
    assert window() == [] or window()[1] - window()[0] > 2 * (first[1] - first[0])
