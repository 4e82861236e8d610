"""What other viewers drop or smear: overlapping slices, neighbours a nanosecond apart, and all
ranks of a run on one clock.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e import timeline_traces as drawn
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import PATIENCE_MS
from tests.e2e.server import Server
from tests.e2e.timeline_page import TracePage


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("drawing")
    for run, content in (("overlap", drawn.overlap()), ("one_ns", drawn.one_ns_apart())):
        traces.write(logdir / run / "worker.1.pt.trace.json", content)
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def test_overlapping_kernels_are_both_drawn(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "overlap")
    first, second, third = (page.slice(f"{which}_kernel") for which in ("first", "second", "third"))
    assert first["end"] > second["start"], "they do overlap"
    assert first["right"] > second["left"]
    assert (
        first["top"] + first["height"] <= second["top"]
        or second["top"] + second["height"] <= first["top"]
    ), "their rows do not overlap"
    assert (first["overlap"], second["overlap"], third["overlap"]) == (False, True, False)
    assert third["row"] == first["row"], "what overlaps nothing stays in the row"
    marked = page.frame.locator(f'[data-row="{second["row"]}"]')
    expect(marked).to_contain_text("overlap")
    expect(page.frame.get_by_text("1 event overlaps another")).to_have_count(1)
    # In the drawing itself, not only in what it says of itself.
    both = (second["left"] + first["right"]) / 2
    ground = page.pixels(page.ask("size().width") - 3, second["y"], 2)[0]
    assert page.pixels(both, first["y"], 1) != [ground]
    assert page.pixels(both, second["y"], 1) != [ground]
    page.click(second)
    expect(page.selected_name).to_have_text("second_kernel")
    expect(page.details).to_contain_text("Overlaps another event of its track")


def test_kernels_one_nanosecond_apart_are_drawn_apart(open_tab: OpenTab, server: Server) -> None:
    begin = drawn.LEFT_END_NS - 5
    page = TracePage.open(open_tab(server), "one_ns", t=f"{begin},10")
    assert page.view == (begin, begin + 10)
    left, right = page.slice("left_kernel"), page.slice("right_kernel")
    assert (left["end"], right["start"]) == (drawn.LEFT_END_NS, drawn.RIGHT_START_NS)
    assert left["row"] == right["row"]
    width = page.ask("size().width")
    assert right["left"] - left["right"] == pytest.approx(width / 10, abs=1)
    # The gap is as wide as it is long, and of the ground's colour from one end to the other.
    line = page.pixels(0, left["top"] + 3, width)
    gap = line[round(left["right"]) + 3 : round(right["left"]) - 3]
    assert len(gap) > width / 10 - 10
    assert len(set(gap)) == 1
    assert line[round(left["right"]) - 8] != gap[0]
    assert line[round(right["left"]) + 8] != gap[0]


def test_a_gap_of_a_nanosecond_is_found_by_zooming(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "one_ns")
    page.first_hit("right_kernel", "right_kernel", "1")
    page.focus()
    page.press("f")
    assert page.selection_on_canvas()["start"] == drawn.RIGHT_START_NS
    begin, end = page.view
    assert end - begin < 20, "F brings an event of 6 ns as close as it needs"
    page.press("ArrowLeft")
    expect(page.selected_name).to_have_text("left_kernel")
    assert page.selection_on_canvas()["end"] == drawn.LEFT_END_NS


def test_the_window_in_sight_as_a_trace_of_its_own(
    open_tab: OpenTab, server: Server, start: Callable[..., Server], tmp_path: Path
) -> None:
    page = TracePage.open(open_tab(server), "one_ns", t=f"{drawn.LEFT_END_NS - 500},1000")
    page.frame.get_by_role("button", name="Export").click()
    dialog = page.frame.get_by_role("dialog", name="Export")
    with page.tab.page.expect_download() as waiting:
        dialog.get_by_role("link", name="Download this part").click()
    (tmp_path / "run").mkdir()
    part = tmp_path / "run" / "part.1.pt.trace.json.gz"
    waiting.value.save_as(part)
    whole, cut = (
        drawn.one_ns_apart()["traceEvents"],
        json.loads(gzip.decompress(part.read_bytes()))["traceEvents"],
    )
    lengthy = [event for event in cut if event["ph"] == "X"]
    assert {event["name"] for event in lengthy} == {"left_kernel", "right_kernel"}
    assert all(event in whole for event in lengthy), "the events stand there as they were"
    # It opens as any other trace does.
    again = TracePage.open(open_tab(start(tmp_path)), "run")
    left, right = again.slice("left_kernel"), again.slice("right_kernel")
    assert right["start"] - left["end"] == 1


def test_all_workers_on_one_clock(open_tab: OpenTab, sample_server: Server) -> None:
    page = TracePage.open(open_tab(sample_server, height=1400), "synthetic_ddp8", workers="all")
    sources = {row["source"] for row in page.rows}
    assert len(sources) >= 2
    page.frame.get_by_role("button", name="Collapse all tracks", exact=True).click()
    page.ready()
    rows = [row for row in page.rows if row["kind"] == "source"]
    assert len(rows) == 8
    assert len({row["source"] for row in rows}) == 8
    assert {found["source"] for found in page.slices(4)} == set(range(8)), (
        "every rank's folded row draws something"
    )
    page.frame.get_by_role("button", name="Workers: all (8)").click()
    lines = page.frame.locator(".worker-list li")
    expect(lines).to_have_count(8)
    expect(
        page.frame.locator(".menu-note").filter(has_text=re.compile("collective", re.I)).first
    ).to_be_visible()
    page.tab.page.keyboard.press("Escape")


def test_a_worker_of_many_is_selected_and_found_again(
    open_tab: OpenTab, sample_server: Server
) -> None:
    page = TracePage.open(open_tab(sample_server, height=1400), "synthetic_ddp8", workers="all")
    page.frame.get_by_role("button", name="Collapse all tracks", exact=True).click()
    # A rank has its place among those whose timeline is made.
    page.frame.wait_for_function(
        "() => window.__profiler_test.rows().filter((row) => row.kind === 'source').length === 8",
        timeout=PATIENCE_MS,
    )
    page.search("nccl", r"\d+")
    expect(page.frame.get_by_role("button", name="Next match")).to_be_enabled()
    page.frame.get_by_role("button", name="Next match").click()
    page.ready()
    name = page.selected_name.text_content()
    assert name is not None
    assert "nccl" in name.lower()
    assert ":" in page.tab.key("sel"), "the link says of which worker the event is"
    chosen = page.selection_on_canvas()
    page.tab.page.reload()
    page.tab.idle()
    page.ready()
    again = page.selection_on_canvas()
    assert (again["source"], again["event"]) == (chosen["source"], chosen["event"])
