"""The findings in a browser: the list on Overview, and where it leads."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server


def items(tab: Tab) -> Locator:
    return tab.frame.locator(".findings > .finding")


def test_evidence_is_one_press_from_the_timeline(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("overview", run="cnn_workers_0")
    evidence = next(
        found
        for found in sample_server.answer("findings", "cnn_workers_0")["findings"]
        if found["evidence"]
    )["evidence"][0]
    items(tab).first.locator("summary").first.click()
    items(tab).first.get_by_role("link", name="On the timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    expect(tab.frame.locator("main")).to_contain_text(evidence["label"])
    tab.holds(sel=str(evidence["event"]), worker=evidence["worker"], span=evidence["span"])
