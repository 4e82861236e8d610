"""The Memory page in a browser: its curve by pointer and by keys, and a snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.builders.snapshots import pickled
from tests.builders.splitting import FORWARD, train
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]


def chart(tab: Tab) -> Locator:
    return tab.frame.get_by_role("slider")


def body(tab: Tab) -> str:
    return str(tab.frame.locator("main").text_content())


def drag(tab: Tab, begin: float, end: float) -> None:
    """Drag across parts of the plot, which begins at 62 px and ends 8 px before the chart's right
    edge.
    """
    chart(tab).scroll_into_view_if_needed()
    box = chart(tab).bounding_box()
    assert box is not None
    left, width, y = box["x"] + 62, box["width"] - 70, box["y"] + 100
    tab.page.mouse.move(left + begin * width, y)
    tab.page.mouse.down()
    tab.page.mouse.move(left + (begin + end) / 2 * width, y)
    tab.page.mouse.move(left + end * width, y)
    tab.page.mouse.up()


def test_a_click_chooses_an_instant_and_a_drag_a_window(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    drag(tab, 0.5, 0.5)
    state = tab.settled_state()
    answer = sample_server.answer("memory/alive", "transformer", t=state["t"])
    expect(tab.grid("Alive").locator(".body-row")).not_to_have_count(0)
    assert f"{len(set(answer['rows']['operator']))} rows" in body(tab)
    drag(tab, 0.25, 0.5)
    state = tab.settled_state()
    span = sample_server.answer("memory", "transformer")["span_ns"]
    assert abs(int(state["t0"]) / span - 0.25) < 0.01
    assert abs(int(state["t1"]) / span - 0.5) < 0.01
    window = sample_server.answer("memory/blocks", "transformer", t0=state["t0"], t1=state["t1"])
    expect(tab.grid("Memory: Blocks")).to_have_attribute(
        "aria-rowcount", str(len(window["rows"]["bytes"]) + 1)
    )
    tab.page.reload()
    tab.idle()
    expect(chart(tab)).to_have_attribute("aria-valuemin", state["t0"])
    tab.frame.get_by_role("button", name="Whole recording").click()
    tab.frame.get_by_role("button", name="At the peak").click()
    assert not {"t", "t0", "t1"} & tab.settled_state().keys()
    expect(tab.frame.get_by_role("heading", name="Alive at the peak")).to_be_visible()


def test_the_chart_is_worked_by_keyboard(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    span = sample_server.answer("memory", "transformer")["span_ns"]
    chart(tab).focus()
    for key in ("End", "PageUp", "ArrowLeft"):
        tab.page.keyboard.press(key)
    at = int(str(chart(tab).get_attribute("aria-valuenow")))
    assert abs(at / span - (1 - 11 / 200)) < 0.001
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("+")
    state = tab.settled_state()
    assert state["t"] == str(at)
    assert abs((int(state["t1"]) - int(state["t0"])) / span - 0.5) < 0.001
    chart(tab).focus()
    tab.page.keyboard.press("Escape")
    assert "t0" not in tab.settled_state()


def test_a_snapshot_shows_its_failure_its_segments_and_what_grew(
    open_tab: OpenTab, start: Start, tmp_path: Path
) -> None:
    need_axe()
    device, _ = train(steps=3)
    device.fail(1 << 40, 5, ("/w/attention.py:88:softmax", *FORWARD))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "dump.pickle").write_bytes(pickled(device.snapshot()))
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("memory", run="first")
    page = tab.frame.locator("main")
    expect(page).to_contain_text("Out of memory: 1.00 TiB were asked for")
    expect(page).to_contain_text(re.compile("What held .* then"))
    asked, free = tab.frame.locator(".shortage-asked"), tab.frame.locator(".shortage-free")
    boxes = asked.bounding_box(), free.last.bounding_box()
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["width"] > boxes[1]["width"]
    segments = tab.frame.locator(".segment-map canvas")
    segments.focus()
    tab.page.keyboard.press("ArrowRight")
    expect(segments).to_have_attribute("aria-valuetext", re.compile("in use .*\n.*asked for"))
    tab.page.keyboard.press("Enter")
    assert int(tab.settled_state()["b1"]) > 0
    tab.frame.get_by_role("button", name="Whole map").click()
    tab.frame.get_by_label("At the instant", exact=True).check(force=True)
    tab.holds(map="t")
    expect(tab.grid("What grew").locator(".body-row")).not_to_have_count(0)
    tab.load("memory", run="first", run2="second")
    expect(tab.frame.locator(".headline-first")).to_contain_text("before.")
    expect(tab.grid("What grew").locator(".body-row")).not_to_have_count(0)
    expect(page).to_contain_text("The rest is of first alone.")
    assert accessibility(tab.frame) == []


def test_a_drag_leaves_no_focus_box(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    outline = "element => getComputedStyle(element).outlineStyle"
    drag(tab, 0.25, 0.5)
    tab.idle()
    assert chart(tab).evaluate(outline) == "none"
    chart(tab).focus()
    tab.page.keyboard.press("ArrowRight")
    assert chart(tab).evaluate(outline) == "solid"
