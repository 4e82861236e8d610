"""The timeline as a person uses it: find a kernel, follow it to its Python line, measure an area,
come back by the link.
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
from tests.e2e.timeline_page import TracePage
from tests.e2e.watch import accessibility, need_axe

US = 1000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("timeline")
    for run, content in (
        ("chain", drawn.chain()),
        ("overlap", drawn.overlap()),
        ("one_ns", drawn.one_ns_apart()),
    ):
        traces.write(logdir / run / "worker.1.pt.trace.json", content)
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def figures(events: list[dict[str, Any]], t0: int, t1: int) -> dict[str, tuple[int, int, int, int]]:
    """Name → (count, total, shortest, longest) of events within a window, clipped to it: from the
    file's own numbers, in ns.
    """
    found: dict[str, list[int]] = {}
    for event in events:
        begin, end = round(event["ts"] * US), round((event["ts"] + event["dur"]) * US)
        if begin < t1 and end > t0:
            found.setdefault(event["name"], []).append(min(end, t1) - max(begin, t0))
    return {name: (len(times), sum(times), min(times), max(times)) for name, times in found.items()}


def in_table(lines: list[dict[str, str]]) -> dict[str, tuple[int, int, int, int]]:
    """The figures as a table says them."""
    keys = ("Count", "Total (ns)", "Min (ns)", "Max (ns)")
    return {line["Name"]: tuple(int(line[key]) for key in keys) for line in lines}  # type: ignore[misc]


def area_of(page: TracePage) -> tuple[int, int]:
    """The chosen area, from the address."""
    begin, end = page.tab.key("area").split(",")
    return int(begin), int(end)


def complete(content: dict[str, Any], *categories: str) -> list[dict[str, Any]]:
    """Events with a length of some categories."""
    return [
        event
        for event in content["traceEvents"]
        if event["ph"] == "X" and (not categories or event["cat"] in categories)
    ]


def test_it_opens_with_slices_on_the_canvas(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    names = {found["label"] for found in page.slices()}
    assert {drawn.GEMM, "aten::mm"} <= names
    (kernel, *_) = [found for found in page.slices() if found["label"] == drawn.GEMM]
    line = page.pixels(0, kernel["y"], page.ask("size().width"))
    assert len(set(line)) > 1, "the row of the kernels is all of one colour"
    begin, end = page.view
    assert begin <= 0
    assert end >= 12 * 1000 * US, "all of the trace is in sight at first"


def test_a_kernel_is_found_and_followed_to_its_python_line(
    open_tab: OpenTab, server: Server
) -> None:
    page = TracePage.open(open_tab(server), "chain")
    page.first_hit(drawn.GEMM, drawn.GEMM, "12")
    expect(page.hits).to_have_text("1 of 12")
    hit = page.selection_on_canvas()
    assert hit["label"] == drawn.GEMM
    page.tab.holds(sel=str(hit["event"]))
    assert list(page.links()) == ["Python line", "Module", "Operator", "Launch", "Device"] or list(
        page.links()
    ) == [
        "Module",
        "Python line",
        "Operator",
        "Launch",
        "Device",
    ]
    for kind, name in (
        ("Launch", "cudaLaunchKernel"),
        ("Operator", "aten::mm"),
        ("Module", drawn.MODULE),
        ("Python line", drawn.SEND),
    ):
        assert page.follow(kind) == name
        assert page.selection_on_canvas()["label"] == name, (
            f"the {kind} is selected and cannot be seen"
        )
    page.follow("Device")
    assert page.selection_on_canvas()["event"] == hit["event"], (
        "the way back leads to the same kernel"
    )


def test_what_is_asked_for_is_marked_and_shown(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    page.first_hit(drawn.GEMM, drawn.GEMM, "12")
    page.first_hit(drawn.RELU, drawn.RELU, "12")
    expect(page.hits).to_have_text("1 of 12")


def test_an_area_has_the_figures_of_its_events(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain", t=f"{1_900 * US},{2_000 * US}")
    kernels = [found for found in page.slices() if found["label"] == drawn.GEMM]
    row = kernels[0]
    width = page.ask("size().width")
    # From the middle of one kernel to the middle of the last one: both are cut.
    page.drag(
        (kernels[0]["x"], row["y"]), (min(width - 2, kernels[-1]["x"]), row["y"] + 1), shift=True
    )
    window = area_of(page)
    table = page.table("Events of the area")
    assert in_table(table) == figures(complete(drawn.chain(), "kernel"), *window)
    assert sum(int(line["Count"]) for line in table) >= 3
    # All rows in sight, with everything that the host did.
    page.focus()
    page.press("Escape")
    page.tab.holds(area=None)
    page.frame.get_by_role("button", name="Expand all tracks", exact=True).click()
    page.ready()
    page.drag((width * 0.2, 2), (width * 0.8, page.ask("size().height") - 3), shift=True)
    window = area_of(page)
    assert in_table(page.tables("Events of the area")) == figures(complete(drawn.chain()), *window)


def test_a_link_shows_the_same_again(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    page.first_hit(drawn.RELU, drawn.RELU, "12")
    page.follow("Python line")
    page.focus()
    page.press("f")
    before, rows, view, state = (
        page.selection_on_canvas(),
        page.labels(),
        page.view,
        page.tab.settled_state(),
    )
    assert {"t", "sel"} <= set(state)
    page.tab.page.reload()
    page.tab.idle()
    page.ready()
    expect(page.selected_name).to_have_text(before["label"])
    after = page.selection_on_canvas()
    assert (after["event"], after["lane"], after["label"]) == (
        before["event"],
        before["lane"],
        before["label"],
    )
    assert page.view == pytest.approx(view, abs=2)
    assert page.labels() == rows
    assert page.tab.settled_state() == state
    # In another tab as well.
    other = open_tab(server)
    other.page.goto(page.tab.page.url)
    other.idle()
    again = TracePage(other)
    again.ready()
    assert again.view == pytest.approx(view, abs=2)
    assert again.selection_on_canvas()["event"] == before["event"]


def test_keys_move_zoom_and_explain(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    page.focus()
    whole = page.view
    length = whole[1] - whole[0]
    page.press("w")
    closer = page.view
    assert closer[1] - closer[0] < length
    page.press("d")
    later = page.view
    assert later[0] > closer[0]
    assert later[1] - later[0] == pytest.approx(closer[1] - closer[0], rel=1e-6)
    page.press("a")
    assert page.view[0] < later[0]
    page.press("s")
    assert page.view[1] - page.view[0] > closer[1] - closer[0]
    page.press("0")
    assert page.view == pytest.approx(whole, abs=2)
    page.click(page.slice(drawn.GEMM, 3))
    expect(page.selected_name).to_have_text(drawn.GEMM)
    page.focus()
    page.press("f")
    chosen = page.ask("selected()")
    assert page.view[0] < chosen["start"] < chosen["end"] < page.view[1]
    assert chosen["end"] - chosen["start"] > (page.view[1] - page.view[0]) / 4, (
        "F brings the selection close"
    )
    page.press("ArrowRight")
    expect(page.selected_name).to_have_text(drawn.RELU)
    page.press("?")
    help_ = page.frame.get_by_role("dialog", name="Keys and gestures")
    expect(help_).to_be_visible()
    expect(help_).to_contain_text("Zoom to the selection")
    page.tab.page.keyboard.press("Escape")
    expect(help_).to_have_count(0)
    page.focus()
    page.press("Escape")
    expect(page.details).to_have_count(0)
    page.tab.holds(sel=None)
    page.tab.page.keyboard.press("/")
    expect(page.frame.get_by_role("combobox", name="Ask")).to_be_focused()


def test_the_wheel_zooms_at_the_pointer_and_a_drag_pans(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    target = page.slice(drawn.GEMM, 5)
    page.tab.page.mouse.move(*page.point(target["x"], target["y"]))
    page.tab.page.keyboard.down("Control")
    for _ in range(6):
        page.tab.page.mouse.wheel(0, -120)
    page.tab.page.keyboard.up("Control")
    page.ready()
    begin, end = page.view
    assert end - begin < 0.3 * 12_500 * US
    assert begin < target["start"] < target["end"] < end, (
        "what was under the pointer is still in sight"
    )
    assert page.slice(drawn.GEMM)["label"] == drawn.GEMM
    page.drag((600, 5), (400, 5))
    assert page.view[0] == pytest.approx(
        begin + 200 * (end - begin) / page.ask("size().width"), rel=0.02
    )


def test_rows_are_folded_pinned_moved_and_filtered(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    frames = page.frame.get_by_role("button", name=re.compile("^Python frames"))
    expect(frames).to_have_attribute("aria-expanded", "false")
    assert drawn.SEND not in {found["label"] for found in page.slices()}, (
        "Python frames are folded at first"
    )
    frames.click()
    page.ready()
    assert drawn.SEND in {found["label"] for found in page.slices()}
    page.tab.key("open")
    frames.click()
    page.ready()
    page.tab.holds(open=None)
    page.frame.get_by_role("button", name="Pin stream 7 to the top").click()
    page.ready()
    assert page.rows[0]["pinned"]
    assert page.rows[0]["label"] == "stream 7"
    page.tab.key("pin")
    page.frame.get_by_role("button", name="Unpin stream 7").click()
    page.ready()
    page.frame.get_by_label("Filter tracks").fill("stream")
    page.ready()
    assert drawn.GEMM in {found["label"] for found in page.slices()}
    assert "aten::mm" not in {found["label"] for found in page.slices()}
    page.tab.holds(filter="stream")
    page.frame.get_by_label("Filter tracks").press("Escape")
    page.ready()
    assert "aten::mm" in {found["label"] for found in page.slices()}


def test_arrows_of_a_kind(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain")
    assert page.ask("stats().draw.arrows") == 0
    page.frame.get_by_role("button", name="Flows").click()
    page.frame.get_by_role("checkbox", name="Launch").check()
    page.tab.page.keyboard.press("Escape")
    page.frame.wait_for_function("() => window.__profiler_test.stats().draw.arrows === 24")
    page.ready()
    page.tab.holds(arrows="launch")
    page.frame.get_by_role("button", name="Flows").click()
    expect(page.frame.get_by_role("status").filter(has_text="flows in view")).to_contain_text(
        "All 24"
    )


def test_events_in_view_as_a_table(open_tab: OpenTab, server: Server) -> None:
    page = TracePage.open(open_tab(server), "chain", t=f"{3_000 * US},{1_000 * US}")
    page.frame.get_by_role("button", name="Events in view as a table").click()
    begin, end = page.view
    found = in_table(page.tables("Events in view"))
    assert found == figures(complete(drawn.chain()), int(begin), int(end))
    page.kinds.first.locator("xpath=..").click()
    page.frame.get_by_role("grid", name="Events in view").get_by_role(
        "link", name=drawn.GEMM
    ).click()
    expect(page.selected_name).to_have_text(drawn.GEMM)
    page.ready()
    assert page.selection_on_canvas()["label"] == drawn.GEMM


def test_nothing_of_it_is_out_of_reach(open_tab: OpenTab, server: Server) -> None:
    need_axe()
    page = TracePage.open(open_tab(server, dark=True), "chain")
    assert accessibility(page.frame) == []
    page.search("aten", "24")
    page.frame.get_by_role("button", name="Next match").click()
    page.ready()
    page.frame.get_by_role("button", name="Events in view as a table").click()
    page.tab.idle()
    assert accessibility(page.frame) == []
    page.focus()
    page.press("?")
    assert accessibility(page.frame) == []


def test_from_the_tables_to_the_timeline_and_back(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server).load("kernel", run="chain")
    tab.frame.get_by_role("grid", name="Kernels").get_by_role("row").filter(
        has_text=drawn.RELU
    ).get_by_role("button").first.click()
    tab.frame.get_by_role("link", name="Show on the timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    page = TracePage(tab)
    page.ready()
    expect(page.selected_name).to_have_text(drawn.RELU)
    expect(page.hits).to_have_text("1 of 12")
    assert page.selection_on_canvas()["label"] == drawn.RELU
    page.details.get_by_role("link", name="Show in Kernel view").click()
    expect(tab.tab("kernel")).to_have_attribute("aria-current", "page")
    tab.idle()
    expect(
        tab.frame.get_by_role("grid", name="Kernels").get_by_text(drawn.RELU).first
    ).to_be_visible()
    expect(tab.frame.get_by_role("grid", name="Kernels").get_by_text(drawn.GEMM)).to_have_count(0)
    tab.page.go_back()
    page.ready()
    expect(page.selected_name).to_have_text(drawn.RELU)
