"""What stands around the canvas: names that stay, details that move nothing, values of curves, whose
time a step is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e import timeline_traces as drawn
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.timeline_page import Slice, TracePage

US = 1000
DEEP = 70
FRAMES = re.compile("^Python frames")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("panels")
    late = drawn.chain()
    late["traceEvents"] += [
        {"ph": "i", "name": "Record Window End", "pid": 100, "tid": 100, "ts": 20_000, "s": "g"}
    ]
    frames = drawn.chain()
    frames["traceEvents"] += [
        drawn.frame(f"deep.py({i}): level_{i}", 10 + i, 12_000 - 2 * i, 1000 + i, 999 + i or None)
        for i in range(DEEP)
    ]
    for run, content in (
        ("chain", drawn.chain()),
        ("late", late),
        ("deep", frames),
        ("steps", traces.trace()),
    ):
        traces.write(logdir / run / "worker.1.pt.trace.json", content)
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def under(page: TracePage, point: tuple[float, float]) -> tuple[int, float]:
    """The event at a point of the page, and how many ns a px is."""
    x, y = (at - origin for at, origin in zip(point, page.point(0, 0), strict=True))
    slice_: Slice = page.ask(f"sliceAt({x}, {y})")
    begin, end = page.view
    return int(slice_["event"]), (end - begin) / page.ask("size().width")


@pytest.mark.parametrize(
    ("width", "side", "border"),
    [(1280, "bottom", "Height of the details"), (1440, "right", "Width of the details")],
)
def test_details_move_nothing_under_the_pointer(
    open_tab: OpenTab, server: Server, width: int, side: str, border: str
) -> None:
    page = TracePage.open(open_tab(server, width=width), "chain", t=f"{1_900 * US},{4_000 * US}")
    kernel = page.slice(drawn.GEMM, 1)
    point = page.point(kernel["x"], kernel["y"])
    before = under(page, point)
    page.click(kernel)
    expect(page.details).to_be_visible()
    box = page.details.bounding_box()
    assert box is not None
    assert box["x"] > point[0] if side == "right" else box["y"] > point[1], "the details' place"
    assert under(page, point) == pytest.approx(before)
    separator = page.frame.get_by_role("separator", name=border)
    separator.focus()
    separator.press("ArrowLeft" if side == "right" else "ArrowUp")
    page.ready()
    assert page.details.bounding_box() != box, "the border moves by keys"
    assert under(page, point) == pytest.approx(before)
    page.frame.get_by_role("button", name="Close the details").click()
    page.ready()
    expect(page.details).to_have_count(0)
    assert under(page, point) == pytest.approx(before)


def test_the_side_of_the_details_is_kept(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server, width=1280), "chain")
    page.click(page.slice(drawn.GEMM, 3))
    page.frame.get_by_role("button", name="Details at the right").click()
    page.ready()
    page.tab.page.reload()
    page.tab.idle()
    page.ready()
    box, canvas = page.details.bounding_box(), page.point(0, 0)
    assert box is not None
    assert box["x"] > canvas[0] + 100
    assert page.frame.get_by_role("button", name="Details at the bottom").is_visible()


def test_an_event_that_the_details_would_cover_stays_in_sight(
    open_tab: OpenTab, server: Server
) -> None:
    page = TracePage.open(open_tab(server, width=1280, height=600), "deep")
    page.click(page.slice(drawn.GEMM, 3))
    chosen = page.selection_on_canvas()
    assert chosen["top"] + chosen["height"] <= page.ask("size().height")


def test_the_name_of_a_tall_row_stays(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server, height=600), "deep")
    page.frame.get_by_role("button", name=FRAMES).click()
    page.ready()
    names = page.frame.get_by_role("group", name="Tracks of the timeline")
    name = names.get_by_role("button", name=FRAMES)
    page.tab.page.mouse.move(*page.point(300, 200))
    for _ in range(8):
        page.tab.page.mouse.wheel(0, 100)
        page.ready()
        box, around = name.bounding_box(), names.bounding_box()
        assert box is not None
        assert around is not None
        assert around["y"] - 1 <= box["y"] < around["y"] + around["height"]
    assert page.ask("scroll().at") > 500
    assert page.rows[0]["label"] == "", "the row with the name itself is out of sight"
    name.click()
    page.ready()
    expect(name).to_have_attribute("aria-expanded", "false")


def hover(page: TracePage, label: str, time: float) -> str:
    """What the card says where the pointer is over a row at a time, ns."""
    [row] = [row for row in page.rows if row["label"] == label]
    page.tab.page.mouse.move(*page.point(page.ask(f"xOf({time})"), row["top"] + row["height"] / 2))
    card = page.frame.locator(".timeline-card")
    expect(card).to_contain_text(label)
    return str(card.text_content())


def test_curves_say_their_value_at_the_pointer(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    # The second product is launched at 1140 µs and runs from 1160 to 1460 µs; its activation is launched at 1240 µs and runs at 1580 µs.
    assert "100 %" in hover(page, "Utilization", 1_300 * US)
    assert "0 % at" in hover(page, "Utilization", 1_800 * US)
    assert "Queue1 at" in hover(page, "Queue", 1_400 * US)
    said = hover(page, "Queue", 1_800 * US)
    assert "Queue0 at" in said
    assert "launched and has not started" in said


def test_an_area_has_the_exact_figures_of_each_curve(open_tab: OpenTab, server: Server) -> None:
    tall = open_tab(server, height=1300)
    page = TracePage.open(tall, "chain", t=f"{1_000 * US},{2_000 * US}")
    row = page.slice(drawn.GEMM)
    page.drag((200, row["y"]), (700, row["y"] + 1), shift=True)
    begin, end = (int(text) for text in page.tab.key("area").split(","))
    end = end if end > begin else begin + end
    page.frame.wait_for_function("() => window.__profiler_test.figures().length > 0")
    found: dict[str, Any] = dict(page.ask("figures()"))
    busy = sum(
        max(0, min(end, round((e["ts"] + e["dur"]) * US)) - max(begin, round(e["ts"] * US)))
        for e in drawn.chain()["traceEvents"]
        if e.get("cat") == "kernel"
    )
    assert found["Utilization"]["mean"] == pytest.approx(busy / (end - begin), rel=1e-9)
    assert (found["Utilization"]["lowest"], found["Utilization"]["highest"]) == (0, 1)
    # Each product waits from its launch, 20 µs after its call, for 20 µs, each activation for 340 µs.
    waits = [
        (1000 * i + at, 1000 * i + at + dur)
        for i in range(12)
        for at, dur in ((140, 20), (240, 340))
    ]
    queued = sum(max(0, min(end, b * US) - max(begin, a * US)) for a, b in waits)
    assert found["Queue"]["mean"] == pytest.approx(queued / (end - begin), rel=1e-9)
    assert (found["Queue"]["lowest"], found["Queue"]["highest"]) == (0, 1)


def test_it_opens_on_what_lasts(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "late")
    _, end = page.view
    assert end == pytest.approx(12_500 * US, rel=0.012)
    page.tab.holds(t=None)
    page.focus()
    page.press("0")
    assert page.view[1] > 20_000 * US, "the mark of the recorder is still within reach"
    assert "t" in page.tab.settled_state()
