"""The page of steps in a browser: the walk to the cause by keyboard, and room for it on a narrow screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

CAUSE = "Step 7 takes 9.82 ms longer: rank 2 loads data at dataloader.py:1482."


@pytest.mark.parametrize("dark", [False, True])
def test_one_key_tells_why_the_odd_step_is_slow_and_escape_closes(
    open_tab: OpenTab, sample_server: Server, dark: bool
) -> None:
    tab = open_tab(sample_server, dark=dark, width=390).load("steps", run="synthetic_ddp8")
    tab.frame.get_by_role("button", name="Why is step 7 slow?").focus()
    tab.page.keyboard.press("Enter")
    headline = tab.frame.get_by_role("heading", name=CAUSE, level=3)
    expect(headline).to_be_visible()
    tab.holds(why="4")
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
