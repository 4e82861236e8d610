"""Search by kind, areas by kind, pinned tracks, measures and notes, as a person uses them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e import timeline_traces as drawn
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.timeline_page import TracePage
from tests.e2e.watch import accessibility, need_axe

US = 1000
KERNEL, OPERATOR, FRAME = "softmax_kernel", "aten::softmax", "model.py(9): softmax"
HOSTILE = "late; <img src=x onerror=alert(1)>, ~50%"


def softmax() -> dict[str, Any]:
    """Python frames, operators and kernels with a word in common; frames deep enough to fill the
    window.
    """
    frames = [
        drawn.frame(f"lib.py({i}): f{i}", 900 + i, 3000 - 2 * i, i, i - 1 or None)
        for i in range(1, 40)
    ]
    frames.append(drawn.frame(FRAME, 990, 2800, 40, 39))
    calls = [
        event
        for i in range(3)
        for event in drawn.call(OPERATOR, i + 1, 1000 + 200 * i, KERNEL, 1060 + 200 * i, 100 - i)
    ]
    content = drawn.chain()
    return {**content, "traceEvents": [*frames, *calls]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("search")
    traces.write(logdir / "softmax" / "worker.1.pt.trace.json", softmax())
    with Server(logdir, cache) as started:
        started.settled()
        yield started


@pytest.fixture
def page(open_tab: OpenTab, server: Server) -> TracePage:
    return TracePage.open(open_tab(server), "softmax")


def kind(page: TracePage) -> Any:
    return page.frame.get_by_label("Kind of event")


def rows(page: TracePage) -> list[str]:
    return [str(row["key"]) for row in page.rows]


def test_a_search_prefers_kernels_and_opens_nothing(page: TracePage) -> None:
    before = rows(page)
    page.first_hit("softmax", KERNEL, "3")
    assert kind(page).locator("option").all_text_contents() == [
        "All 7",
        "Device work 3",
        "Operators 3",
        "Python 1",
    ]
    assert rows(page) == before
    assert not page.frame.evaluate("() => location.hash.includes('dim=')")


def test_a_hit_in_a_folded_track_shows_its_row_alone(page: TracePage) -> None:
    before = rows(page)
    page.search("softmax", "3")
    kind(page).select_option("python")
    expect(page.hits).to_have_text("1")
    page.frame.get_by_role("button", name="Next match").click()
    expect(page.selected_name).to_have_text(FRAME)
    page.ready()
    assert len(rows(page)) == len(before) + 1
    assert set(before) < set(rows(page))
    assert any(row["label"] == "stream 7" for row in page.rows), "the device is still in sight"


def test_hits_are_walked_by_keys(page: TracePage) -> None:
    page.search("softmax", "3")
    page.focus()
    page.press("n")
    expect(page.hits).to_have_text("2 of 3")
    chosen = page.selection_on_canvas()
    assert chosen["end"] - chosen["start"] == 99 * US


def test_an_area_is_divided_by_kind(page: TracePage) -> None:
    page.frame.get_by_role("button", name="Events in view as a table").click()
    kernels = page.table("Events in view")
    assert [line["Name"] for line in kernels] == [KERNEL]
    page.frame.locator(".area .segment", has_text="Operators").click()
    (operator,) = page.table("Events in view")
    assert (operator["Name"], operator["Total (ns)"], operator["Self (ns)"]) == (
        OPERATOR,
        str(240 * US),
        str(240 * US),
    )
    page.frame.locator(".area .segment", has_text="Python").click()
    frames = {line["Name"]: int(line["Self (ns)"]) for line in page.table("Events in view")}
    assert frames[FRAME] == 2800 * US
    assert frames["lib.py(1): f1"] == 2 * US
    page.tab.holds(akind="python")
    page.frame.get_by_role("button", name="Flame graph").click()
    graph = page.frame.get_by_role("application", name="Flame graph of the area")
    expect(graph).to_be_visible()
    graph.focus()
    page.tab.page.keyboard.press("ArrowDown")
    page.frame.get_by_role("button", name="Callers and callees").click()
    callees = page.frame.get_by_role("application", name="Callees of ")
    expect(callees).to_be_visible()
    functions = page.tab.grid("Functions")
    functions.get_by_role("link", name="lib.py(1): f1", exact=True).click()
    page.tab.holds(focus="lib.py(1): f1")
    page.tab.holds(view="trace")
    expect(page.frame.get_by_role("application", name="Callers of lib.py(1): f1")).to_be_visible()
    page.frame.get_by_role("button", name="All frames").click()
    expect(graph).to_be_visible()


def test_a_pinned_track_stays_by_the_link(page: TracePage) -> None:
    page.first_hit("softmax", KERNEL, "3")
    page.focus()
    page.press("t")
    page.ready()
    assert page.rows[0]["pinned"]
    assert page.rows[0]["label"] == "stream 7"
    page.tab.page.reload()
    page.ready()
    assert [row["label"] for row in page.rows if row["pinned"]] == ["stream 7"]
    page.frame.get_by_role("button", name="Tracks", exact=True).click()
    page.frame.locator(".segment", has_text="Kind").click()
    page.ready()
    assert [row["label"] for row in page.rows if row["pinned"]] == ["stream 7"]
    page.tab.holds(group="kind")


def test_a_distance_snaps_to_slices(page: TracePage) -> None:
    page.ask(f"zoomTo({{t0: {100 * US}, t1: {600 * US}}})")
    page.ready()
    kernels = [slice for slice in page.slices() if slice["label"] == KERNEL]
    assert len(kernels) >= 2
    page.focus()
    page.press("l")
    left, top = page.tab.page.evaluate(
        "() => { const box = document.querySelector('.timeline-canvas').getBoundingClientRect(); return [box.left, box.top]; }"
    )
    for kernel in kernels[:2]:
        page.tab.page.mouse.click(left + kernel["left"] + 3, top + kernel["y"])
    expect(page.frame.locator(".timeline-measure")).to_have_text("200\u202f000 ns")
    page.press("Escape")
    expect(page.frame.locator(".timeline-measure")).to_be_hidden()


def test_a_note_lives_in_the_link_as_text(page: TracePage) -> None:
    page.focus()
    page.press("m")
    note = page.frame.locator(".mark-list input")
    expect(note).to_be_focused()
    note.fill(HOSTILE)
    note.press("Enter")
    page.tab.settled_state()
    page.tab.page.reload()
    page.ready()
    page.frame.get_by_role("button", name="Notes (1)").click()
    expect(note).to_have_value(HOSTILE)
    assert page.frame.locator("img[src=x]").count() == 0
    page.frame.get_by_role("button", name=f"Remove {HOSTILE}").click()
    expect(note).to_have_count(0)
    page.ready()
    page.tab.holds(mark=None)


def test_nothing_of_it_is_out_of_reach(open_tab: OpenTab, server: Server) -> None:
    need_axe()
    page = TracePage.open(
        open_tab(server),
        "softmax",
        table="view",
        alook="flame",
        mark="1000,2000,slow",
        group="device",
    )
    page.search("softmax", "3")
    assert accessibility(page.frame) == []
    page.tab.page.keyboard.press("Control+k")
    field = page.frame.get_by_role("combobox", name="Ask")
    field.fill("softmax")
    expect(page.frame.get_by_role("option").first).to_be_visible()
    assert accessibility(page.frame) == []
    field.press("Escape")
    page.frame.get_by_role("button", name="Notes (1)").click()
    assert accessibility(page.frame) == []
    page.frame.get_by_role("button", name="Tracks", exact=True).click()
    assert accessibility(page.frame) == []
