"""The first window of Overview: the answer, what the step waited for, and the first two findings, with one step or a thousand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

PARTS = (".headline-first", ".glyph", ".path-parts", ".overview-main h2")
"""In their order."""
WIDTH, HEIGHT = 1280, 800


def _box(place: Locator) -> tuple[float, float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["y"], box["y"] + box["height"], box["width"]


def _in_the_window(tab: Tab, findings: int = 0) -> None:
    shown = tab.frame.locator(".findings:first-of-type > .finding")
    # Those of other ranks come later.
    tab.becomes(lambda: shown.count() >= findings, True)
    tab.becomes(lambda: tab.frame.locator(".path-parts").count(), 1)
    places = [tab.frame.locator(part).first for part in PARTS]
    tops = [_box(place)[0] for place in places]
    assert tops == sorted(tops)
    for place in (*places, *(shown.nth(number) for number in range(findings))):
        assert _box(place)[1] <= HEIGHT


STEPS = (1, 2, 1000)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    """A run of each number of steps."""
    folder = tmp_path_factory.mktemp("overview")
    for count in STEPS:
        events = [
            event
            for number in range(count)
            for event in traces.step(number, 1000.0 * number, 1.0 + number % 3)
        ]
        content = {**traces.trace(), "traceEvents": events}
        traces.write(folder / f"steps{count}" / "worker.1.pt.trace.json", content)
    with Server(folder, cache) as started:
        started.settled()
        yield started


@pytest.mark.parametrize("count", STEPS)
def test_the_answer_is_in_the_first_window(open_tab: OpenTab, server: Server, count: int) -> None:
    tab = open_tab(server, width=WIDTH, height=HEIGHT).load("overview", run=f"steps{count}")
    _in_the_window(tab)
    tab.frame.get_by_text("Step-time breakdown").click()
    breakdown = tab.frame.locator("details", has_text="Step-time breakdown").last
    bars = breakdown.locator(".stack-bar")
    tab.becomes(bars.count, 0 if count == 1 else count)
    if count == 2:
        assert _box(breakdown.locator(".stacked-plot"))[2] < WIDTH / 4
    assert tab.frame.evaluate("document.documentElement.scrollWidth") <= WIDTH


def test_of_a_run_of_ranks_too(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server, width=WIDTH, height=HEIGHT).load(
        "overview", run="synthetic_ddp8", of="ranks"
    )
    _in_the_window(tab, findings=2)
    expect(tab.frame.locator(".glyph-rail")).to_contain_text("rank 5")


@pytest.mark.parametrize("dark", [False, True])
def test_it_is_whole_on_a_telephone_and_accessible(
    open_tab: OpenTab, sample_server: Server, dark: bool
) -> None:
    need_axe()
    tab = open_tab(sample_server, width=390, height=844, dark=dark)
    tab.load("overview", run="cnn_workers_0")
    tab.becomes(lambda: tab.frame.locator(".finding").count() > 0, True)
    tab.becomes(lambda: tab.frame.locator(".path-parts").count(), 1)
    assert _box(tab.frame.locator(".headline-first"))[1] < 400
    assert tab.frame.evaluate("document.documentElement.scrollWidth") == 390
    for summary in tab.frame.locator("main details > summary").all():
        if summary.is_visible():
            summary.click()
    assert tab.frame.evaluate("document.documentElement.scrollWidth") == 390
    assert accessibility(tab.frame) == []
