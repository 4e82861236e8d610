"""The Module page in a browser: the tree of modules and the flame graphs."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

REAL = ("h100_owlv2", "mi300_resnet_ddp")


def table(tab: Tab, name: str = "Modules") -> Locator:
    return tab.frame.get_by_role("treegrid", name=name, exact=True)


def names(tab: Tab, name: str = "Modules") -> list[str]:
    """The first cells of the rows in sight, from the top."""
    rows = (
        table(tab, name)
        .locator(".body-row")
        .evaluate_all(
            "rows => rows.map(r => [r.getBoundingClientRect().top,"
            " r.querySelector('.cell-text').title]).sort((a, b) => a[0] - b[0]).map(r => r[1])"
        )
    )
    return [str(text) for text in rows]


def canvas(tab: Tab) -> Locator:
    return tab.frame.get_by_role("application", name=re.compile("^Flame graph"))


def way(tab: Tab) -> Locator:
    return tab.frame.get_by_role("navigation", name="Zoomed into")


def press_frame(tab: Tab, level: int, share: float) -> None:
    """Press the frame at a level in sight and at a part of the width."""
    canvas(tab).scroll_into_view_if_needed()
    box = canvas(tab).bounding_box()
    assert box is not None
    tab.page.mouse.click(box["x"] + box["width"] * share, box["y"] + 19 * level + 9)


def test_the_tree_is_folded_searched_sorted_and_saved(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("module", run="transformer")
    everything = sample_server.answer("module", "transformer")["rows"]["name"]
    assert "Block_0" not in names(tab)
    table(tab).get_by_role("button", name="Children of Block ×2").click()
    tab.becomes(lambda: "Block_0" in names(tab), True)
    table(tab).focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.becomes(lambda: names(tab)[0], "Decoder_0")
    tab.frame.get_by_role("textbox", name="Search in Modules").fill("gelu")
    tab.becomes(
        lambda: names(tab),
        [
            "Decoder_0",
            "Block ×2",
            *("Block_0", "Sequential_0", "GELU_0"),
            *("Block_1", "Sequential_1", "GELU_1"),
        ],
    )
    table(tab).get_by_role("button", name="Forward host", exact=True).click()
    state = tab.settled_state()
    assert (state["search"], state["sort"]) == ("gelu", "-forward_host_total_ns")
    tab.frame.get_by_role("button", name="Clear the search").click()
    tab.frame.get_by_role("button", name="Collapse all", exact=True).click()
    tab.becomes(lambda: len(names(tab)) < len(everything), True)
    with tab.page.expect_download() as waiting:
        tab.frame.get_by_role("button", name=re.compile("^Download the")).first.click()
    saved = list(
        csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig")))
    )
    assert sorted(row["Module"] for row in saved) == sorted(everything)
    assert saved[0]["Level"] == "0"
    assert int(saved[0]["Forward host (ns)"]) > 0


def test_the_flame_graph_is_walked_by_pointer_and_keyboard(
    open_tab: OpenTab, sample_server: Server
) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=True).load("module", run="transformer", by="flame")
    press_frame(tab, 0, 0.1)
    expect(way(tab)).to_contain_text("All › ")
    chosen = str(way(tab).locator("strong").text_content())
    expect(tab.frame.locator(".flame-detail")).to_contain_text(chosen)
    canvas(tab).focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    expect(way(tab).get_by_role("button", name=chosen)).to_be_visible()
    expect(tab.frame.locator(".flame > [role=status]")).to_contain_text("of all")
    tab.page.keyboard.press("Escape")
    expect(way(tab).locator("strong")).to_have_text(chosen)
    tab.page.keyboard.press("Home")
    expect(way(tab)).to_have_text("All")
    box = canvas(tab).bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 40, box["y"] + 9)
    expect(tab.frame.locator(".tooltip")).to_contain_text("Host")
    assert accessibility(tab.frame) == []


def test_real_traces_with_a_device(open_tab: OpenTab, real_server: Server) -> None:
    tab = open_tab(real_server)
    for run in REAL:
        tab.load("module", run=run)
        assert len(names(tab)) > 10
        expect(tab.frame.locator("dl.totals")).to_contain_text("GPU")
        tab.frame.get_by_role("radio", name="Flame graph", exact=True).check(force=True)
        expect(canvas(tab)).to_have_attribute("aria-label", re.compile("GPU time"))
        tab.frame.get_by_label("In time", exact=True).check(force=True)
        tab.frame.get_by_label("Host", exact=True).check(force=True)
        expect(canvas(tab)).to_have_attribute("aria-label", re.compile("host time"))
        tab.becomes(lambda: drawn(tab) > 0.3, True)


def drawn(tab: Tab) -> float:
    """The part of the canvas that is drawn on."""
    return float(
        canvas(tab).evaluate(
            "c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n"
            " = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n * 4 / d.length; }"
        )
    )
