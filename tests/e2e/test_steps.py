"""The page of steps in a browser: the walk to the cause by keyboard, and room for it on a narrow screen."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS, choose_step
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

RUN = "synthetic_ddp8"
CAUSE = "Step 7 takes 9.78 ms longer: rank 2 loads data at dataloader.py:1482."


@pytest.mark.parametrize("dark", [False, True])
def test_one_key_tells_why_the_odd_step_is_slow_and_escape_closes(
    open_tab: OpenTab, sample_server: Server, dark: bool
) -> None:
    tab = open_tab(sample_server, dark=dark, width=390).load("steps", run="synthetic_ddp8")
    tab.frame.get_by_role("button", name="Why is step 7 slow?").focus()
    tab.page.keyboard.press("Enter")
    headline = tab.frame.get_by_role("heading", name=CAUSE)
    expect(headline).to_be_visible()
    assert tab.settled_state()["why"] == "4"
    assert tab.frame.evaluate("document.documentElement.scrollWidth") <= 390
    need_axe()
    assert accessibility(tab.frame) == []
    tab.page.keyboard.press("Escape")
    expect(headline).to_be_hidden()
    tab.frame.get_by_role("button", name="step 7:").focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.keyboard.press("Enter")
    expect(tab.frame.get_by_role("heading", name="Step 6 is the median step.")).to_be_visible()
    tab.page.keyboard.press("Escape")
    assert "why" not in tab.settled_state()


def test_every_view_has_it_or_says_why_not(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("overview", run=RUN, worker="rank0", steps="2")
    for view in VIEWS:
        tab.open(view)
        assert tab.state()["steps"] == "2", view
        chooser = tab.frame.get_by_role("button", name="Steps: Step 5").first
        if view in ("sql", "diagnosis"):
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
