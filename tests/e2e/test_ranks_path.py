"""The critical path through all ranks of a run, and the run without stragglers, in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

RUN = "synthetic_ddp8"


def test_all_ranks_name_the_straggler_and_lead_to_its_timeline(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("critical_path", run=RUN, steps="0")
    tab.frame.get_by_role("radio", name="All ranks").click(force=True)
    tab.becomes(lambda: tab.state().get("ranks", ""), "all")
    expect(tab.frame.locator(".headline-first")).to_contain_text("Rank 5 holds all others back:")
    tab.frame.get_by_role("slider", name=re.compile("^Critical path of")).focus()
    tab.page.keyboard.press("End")
    tab.page.keyboard.press("Enter")
    expect(tab.frame.locator(".path-reading")).to_contain_text("rank 5")
    tab.frame.get_by_role("link", name="Show on the timeline of rank 5").click()
    tab.becomes(lambda: tab.state().get("worker", ""), "rank5")
    assert tab.state()["view"] == "trace"


def test_without_stragglers(open_tab: OpenTab, sample_server: Server) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=True).load("critical_path", run=RUN, ranks="all")
    slowest = tab.frame.get_by_role("list", name="With only this rank as it was")
    expect(slowest.get_by_role("listitem")).to_have_count(1)
    expect(slowest).to_contain_text("rank 5")
    tab.idle()
    assert accessibility(tab.frame) == []
