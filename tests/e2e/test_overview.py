"""The first window of Overview: the answer, the account of the time, what to change, the steps and
the devices, without scrolling, with one step or a thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server

Start = Callable[..., Server]
PARTS = (
    ".headline-first",
    ".ribbon",
    ".path-parts",
    ".findings-foot",
    ".overview-steps",
    ".metric, .device-table",
)
"""In their order."""
WIDTH, HEIGHT = 1440, 900


def _box(place: Locator) -> tuple[float, float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"], box["width"]


def _all_in_the_window(tab: Tab, findings: int = 0) -> None:
    places = [tab.frame.locator(part) for part in PARTS]
    shown = tab.frame.locator(".findings:first-child > .finding")
    # Those of other ranks come later.
    tab.becomes(lambda: shown.count() >= findings, True)
    tops = [_box(place.first)[0] for place in places]
    assert tops == sorted(tops)
    for place in (*places, shown):
        for one in place.all():
            if one.is_visible():
                assert _box(one)[1] <= HEIGHT


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_all_of_it_is_in_the_first_window(
    open_tab: OpenTab, start: Start, tmp_path: Path, count: int
) -> None:
    events = [
        event
        for number in range(count)
        for event in traces.step(number, 1000.0 * number, 1.0 + number % 3)
    ]
    content = {**traces.trace(), "traceEvents": events}
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", content)
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server, width=WIDTH, height=HEIGHT).load("overview", run="run")
    _all_in_the_window(tab)
    bars = tab.frame.locator(".stack-bar")
    assert bars.count() == (0 if count == 1 else count)
    if count == 2:
        assert _box(tab.frame.locator(".stacked-plot"))[2] < WIDTH / 4
    assert tab.frame.evaluate("document.documentElement.scrollWidth") <= WIDTH


def test_a_run_of_ranks_too(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server, width=WIDTH, height=HEIGHT).load("overview", run="synthetic_ddp8")
    _all_in_the_window(tab, findings=3)
    # As long as a person presses, in which a tooltip opens.
    tab.frame.get_by_role("radio", name="All 8 ranks").click(delay=300)
    tab.becomes(lambda: tab.state().get("of", ""), "ranks")
    tab.idle()
