"""The critical path in a browser: over the timeline, and as a strip of which a part is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.builders.drawn import events
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.timeline_page import TracePage
from tests.e2e.watch import accessibility, need_axe

# A column is 100 µs. The stream with b decides; a and what launched it are hidden.
DRAWING = """
main    [ProfilerStep#1                                            ]
main     /train.py(7): step                                       /
main     [aten::mm][aten::add]              [aten::item           ]
main      <run #1> <run #2>                  <cudaStreamSynchronize>
gpu 7             {a #1 }
gpu 8                       {b #2                            }
"""
STEPS = " ".join(f"[ProfilerStep#{n}    ]" for n in range(1, 6))
US = 1000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    logdir = tmp_path_factory.mktemp("critical_path")
    names = {"a": "hidden_kernel", "b": "deciding_kernel"}
    for run, drawing in (("one", DRAWING), ("many", f"main {STEPS}")):
        found = {"traceEvents": events(drawing, names, scale=100)}
        traces.write(logdir / run / "worker.1.pt.trace.json", found)
    with Server(logdir, cache) as started:
        started.settled()
        yield started


def ground(page: TracePage, name: str) -> int:
    """The colour of a slice beside its text."""
    slice_ = page.slice(name)
    return page.pixels(slice_["right"] - 4, slice_["y"], 2)[0]


def drawn(page: TracePage) -> int:
    """How many arrows there are."""
    return int(page.ask("stats().draw.arrows"))


def strip(tab: Tab) -> Locator:
    return tab.frame.get_by_role("group", name=re.compile(r"Path: "))


def test_c_dims_what_is_off_the_path_and_joins_what_is_on_it(
    open_tab: OpenTab, server: Server
) -> None:
    page = TracePage.open(open_tab(server), "one")
    button = page.frame.get_by_role("button", name="Critical path (C)")
    before = {
        name: ground(page, name) for name in ("hidden_kernel", "deciding_kernel", "aten::item")
    }
    assert drawn(page) == 0
    page.focus()
    page.press("c")
    expect(button).to_have_attribute("aria-pressed", "true")
    page.tab.becomes(lambda: drawn(page) > 0, True)
    assert ground(page, "deciding_kernel") == before["deciding_kernel"]
    assert ground(page, "hidden_kernel") != before["hidden_kernel"]
    page.tab.becomes(lambda: page.tab.state().get("path", ""), "1")
    page.press("c")
    page.tab.becomes(lambda: drawn(page), 0)
    assert {name: ground(page, name) for name in before} == before
    assert "path" not in page.tab.settled_state()


def test_a_link_opens_with_the_path_and_details_say_how_much_of_an_event_is_on_it(
    open_tab: OpenTab, server: Server
) -> None:
    page = TracePage.open(open_tab(server), "one", path="1")
    page.tab.becomes(lambda: drawn(page) > 0, True)
    page.click(page.slice("deciding_kernel"))
    expect(page.details).to_contain_text(re.compile(r"On it.*3\.40 ms, 5\d\.\d % of the step"))
    page.click(page.slice("hidden_kernel"))
    expect(page.details).to_contain_text("nothing: other work hides it")


def test_a_part_of_the_strip_is_listed_alone_and_leads_to_the_timeline(
    open_tab: OpenTab, server: Server
) -> None:
    tab = open_tab(server).load("critical_path", run="one")
    box = strip(tab).bounding_box()
    assert box
    y = box["y"] + 20
    tab.page.mouse.move(box["x"] + 0.7 * box["width"], y)
    reading = tab.frame.locator(".path-reading")
    expect(reading).to_contain_text("deciding_kernel")
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=4)
    tab.page.mouse.up()
    grid = tab.grid("On the path")
    expect(grid).to_contain_text("deciding_kernel")
    expect(grid).not_to_contain_text("aten::mm")
    state = tab.settled_state()
    begin, end = int(state["t0"]), int(state["t1"])
    assert abs((end - begin) - 0.1 * 6000 * US) < 0.02 * 6000 * US
    # What one points at stands over the links.
    tab.page.mouse.move(5, 5)
    reading.get_by_role("link", name="On the timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    page = TracePage(tab)
    page.ready()
    assert list(page.view) == pytest.approx([begin, end], abs=US)
    tab.holds(path="1")


def test_a_double_click_lets_go_of_the_part(open_tab: OpenTab, server: Server) -> None:
    tab = open_tab(server).load("critical_path", run="one", t0="3500000", t1="4000000")
    expect(tab.grid("On the path")).not_to_contain_text("aten::mm")
    strip(tab).dblclick(position={"x": 300, "y": 20})
    expect(tab.grid("On the path")).to_contain_text("aten::mm")
    assert "t0" not in tab.settled_state()


def test_the_strip_is_read_chosen_and_let_go_of_with_keys(
    open_tab: OpenTab, server: Server
) -> None:
    tab = open_tab(server).load("critical_path", run="one")
    strip(tab).focus()
    keyboard, said = tab.page.keyboard, strip(tab).locator("[aria-live]")
    for _ in range(2):
        keyboard.press("ArrowRight")
    second = said.inner_text()
    expect(tab.frame.locator(".path-reading")).to_contain_text(second.split(",")[0])
    keyboard.press("ArrowLeft")
    assert said.inner_text() not in ("", second)
    keyboard.press("Space")
    tab.becomes(lambda: "t1" in tab.state(), True)
    keyboard.press("Escape")
    tab.becomes(lambda: "t0" in tab.state(), False)
    expect(strip(tab)).to_be_focused()
    keyboard.press("ArrowRight")
    keyboard.press("Enter")
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    tab.holds(path="1")


def test_the_strip_is_accessible(open_tab: OpenTab, server: Server) -> None:
    need_axe()
    tab = open_tab(server, dark=True).load("critical_path", run="one", t0="3500000", t1="4000000")
    expect(tab.grid("On the path")).to_be_visible()
    strip(tab).focus()
    assert accessibility(tab.frame) == []
    tab.load("overview", run="one")
    expect(strip(tab)).to_be_visible()
    assert accessibility(tab.frame) == []
    page = TracePage.open(tab, "one", path="1", sel="0")
    expect(page.details).to_contain_text("On it")
    assert accessibility(page.frame) == []


def test_kinds_are_told_apart_without_colours(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server, forced_colors="active")
    tab.load("critical_path", run="synthetic_ddp8")
    swatches = tab.frame.locator(".path-parts .swatch")
    count = swatches.count()
    assert count > 3
    pictures = {swatches.nth(i).screenshot() for i in range(count)}
    assert len(pictures) == count
