"""The step selector: on every view, kept across them, and what the views do with it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server

RUN = "synthetic_ddp8"


def choose_one(tab: Tab, index: int) -> None:
    tab.frame.get_by_role("radio", name="One").check(force=True)
    tab.select("Step").select_option(index=index)
    tab.idle()


def test_every_view_has_it_or_says_why_not(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("overview", run=RUN, worker="rank0", steps="2")
    for view in VIEWS:
        tab.tab(view).click()
        tab.idle()
        assert tab.state()["steps"] == "2", view
        chooser = tab.frame.get_by_role("radiogroup", name="Steps").first
        if view in ("steps", "sql", "diagnosis"):
            expect(tab.frame.locator(".steps-fixed")).to_contain_text(": all steps")
        else:
            expect(chooser.get_by_role("radio", name="One")).to_be_checked()


def test_the_timeline_goes_to_the_chosen_step(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("trace", run=RUN, worker="rank0")

    def window() -> list[int]:
        text = tab.settled_state().get("t", "")
        return [int(part) for part in text.split(",")] if text else []

    choose_one(tab, 2)
    first = window()
    choose_one(tab, 4)
    second = window()
    assert first[0] < second[0]
    tab.frame.get_by_role("radio", name=re.compile("^All ")).check(force=True)
    tab.idle()
    assert window() == [] or window()[1] - window()[0] > 2 * (first[1] - first[0])
