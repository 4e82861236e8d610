"""What-ifs on the Critical Path page: choosing, sliding, copying, a link that restores them, and the run
without stragglers.
"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

RUN = "cnn_workers_0"


def box(tab: Tab, words: str) -> Locator:
    return tab.frame.get_by_role("checkbox", name=re.compile(f"^{re.escape(words)}"))


def outcome(tab: Tab) -> Locator:
    return tab.frame.get_by_role("region", name="Prediction")


def result(tab: Tab) -> str:
    """The sentence that says what the chosen changes do."""
    return str(outcome(tab).get_by_role("status").inner_text())


def test_changes_are_chosen_by_keys_copied_and_restored(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server, permissions=["clipboard-read", "clipboard-write"])
    tab.load("critical_path", run=RUN)
    expect(outcome(tab)).to_contain_text("Choose changes")
    box(tab, "The DataLoader").focus()
    tab.page.keyboard.press("Space")
    expect(outcome(tab)).to_contain_text("Step ")
    box(tab, "The host's own work").check()
    slider = tab.frame.get_by_role("slider", name="Time ×")
    slider.focus()
    tab.page.keyboard.press("Home")
    tab.becomes(lambda: tab.state().get("what_if", ""), "dataloader-ready;host:factor=0")
    expect(outcome(tab).get_by_role("row", name=re.compile("^Host operator"))).to_contain_text(
        "0 ns"
    )
    tab.frame.get_by_role("button", name="Copy as command").click()
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(
        rf"torch-tb-profiler whatif {RUN}/\S+ --change dataloader-ready --change host:factor=0",
        copied,
    )
    said = result(tab)
    again = open_tab(sample_server).load(**tab.settled_state())
    again.becomes(lambda: result(again), said)
    expect(outcome(again)).to_be_in_viewport()


def test_without_stragglers(open_tab: OpenTab, sample_server: Server) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=True).load(
        "critical_path", run="synthetic_ddp8", ranks="all"
    )
    slowest = tab.frame.get_by_role("list", name="With only this rank as it was")
    expect(slowest).to_contain_text("rank 5")
    tab.idle()
    assert accessibility(tab.frame) == []
