"""The Iterations page in a browser: iterations of a server, their phases, and the way to what their time went into."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.builders.server_trace import server_trace
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]


def test_iterations_of_a_server(open_tab: OpenTab, start: Start, tmp_path: Path) -> None:
    events, truth = server_trace(60, (30,))
    content = {"schemaVersion": 1, "traceEvents": events}
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", content)
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("iterations", run="run")
    expect(tab.frame.locator(".headline-first")).to_contain_text("60 iterations: ")
    table = tab.grid("Iterations")
    expect(table).to_have_attribute("aria-rowcount", "61")
    bars = tab.frame.locator(".stack-bar")
    expect(bars).to_have_count(60)
    expect(tab.frame.locator(".bar-mark")).to_have_count(sum(one.odd for one in truth))
    table.locator(".body-row").nth(4).get_by_role("button", name=re.compile("^Details of")).click()
    tab.idle()
    assert accessibility(tab.frame) == []
    view = tab.frame.locator("main")
    view.get_by_role("link", name="Critical Path", exact=True).click()
    expect(tab.tab("critical_path")).to_have_attribute("aria-current", "page")
    tab.becomes(lambda: tab.settled_state().get("steps", ""), "4")


@pytest.mark.parametrize("dark", [False, True])
def test_other_traces_say_how_servers_record(
    open_tab: OpenTab, sample_server: Server, dark: bool
) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=dark).load("iterations", run="transformer")
    expect(tab.frame.locator("main")).to_contain_text("POST /start_profile")
    assert accessibility(tab.frame) == []
