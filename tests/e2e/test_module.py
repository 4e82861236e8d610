"""The Module page in a browser: the tree of modules, the classes, and the flame graphs."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

SAMPLES = ("transformer", "cnn_workers_0", "ddp_gloo")
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


@pytest.mark.parametrize("run", SAMPLES)
def test_modules_have_forward_and_backward_times(
    open_tab: OpenTab, sample_server: Server, run: str
) -> None:
    tab = open_tab(sample_server).load("module", run=run)
    rows = sample_server.answer("module", run)["rows"]
    roots = [name for name, parent in zip(rows["name"], rows["parent"], strict=True) if parent < 0]
    assert [name for name in names(tab) if name in roots] == roots
    first = table(tab).locator(".body-row").filter(has_text=roots[0])
    assert min(rows["forward_host_total_ns"][0], rows["backward_host_total_ns"][0]) > 0
    for key in ("forward_host_total_ns", "backward_host_total_ns"):
        exact = f"{rows[key][0]:,} ns".replace(",", "\u202f")
        expect(first.get_by_title(exact).first).to_be_visible()


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


def test_a_module_leads_to_its_frames_and_to_the_timeline(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("module", run="cnn_workers_0")
    row = table(tab).locator(".body-row").filter(has_text="Residual_0").first
    row.get_by_role("link", name="its frames").click()
    expect(way(tab).locator("strong")).to_have_text("Residual_0")
    tab.settled_state()
    address = tab.page.url
    tab.page.go_back()
    row.get_by_role("link", name="longest call").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    expect(tab.frame.locator("main")).to_contain_text("nn.Module: Residual_0")
    tab.page.goto("about:blank")
    tab.page.goto(address)
    tab.idle()
    expect(way(tab).locator("strong")).to_have_text("Residual_0")


def test_classes_are_summed(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("module", run="transformer")
    tab.frame.get_by_label("By class", exact=True).check(force=True)
    rows = sample_server.answer("module", "transformer")["rows"]
    grid = tab.frame.get_by_role("grid", name="Modules by class")
    expect(grid.locator(".body-row")).to_have_count(len(set(rows["kind"])))
    expect(grid.locator(".body-row").filter(has_text="Linear").first).to_contain_text(
        str(rows["kind"].count("Linear"))
    )
    assert tab.settled_state()["by"] == "class"


def test_the_flame_graph_is_walked_by_pointer_and_keyboard(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("module", run="transformer", by="flame")
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


def test_a_search_says_how_much_time_it_found(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("module", run="transformer", by="flame")
    rows = sample_server.answer("module/flame", "transformer", tree="module")["rows"]
    tab.frame.get_by_role("textbox", name="Search in the flame graph").fill("addmm")
    found = found_share(rows, "addmm")
    assert 0 < found < 1
    expect(tab.frame.locator(".flame-search [role=status]")).to_have_text(
        f"{100 * found:.1f} % of the time"
    )
    assert tab.settled_state()["find"] == "addmm"


def found_share(rows: dict[str, Any], text: str) -> float:
    """Of the host time, what is in frames of this name: frame by frame, without the page's way to
    lay them out.
    """
    widths: list[int] = list(rows["host_ns"])
    for row in range(len(widths) - 1, -1, -1):
        below = sum(
            widths[child] for child in range(row + 1, len(widths)) if rows["parent"][child] == row
        )
        widths[row] = max(widths[row], below)
    around = [text in name.lower() for name in rows["name"]]
    total = found = 0
    for row, parent in enumerate(rows["parent"]):
        total += widths[row] if parent < 0 else 0
        inside = parent >= 0 and around[parent]
        found += widths[row] if around[row] and not inside else 0
        around[row] = around[row] or inside
    return found / total


def test_python_lines_and_the_files(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("module", run="transformer", flame="line")
    expect(canvas(tab)).to_have_attribute("aria-label", "Flame graph of Python lines, host time")
    assert tab.frame.get_by_role("radiogroup", name="Order").count() == 0
    press_frame(tab, 2, 0.2)
    chosen = str(way(tab).locator("strong").text_content())
    tab.settled_state()
    tab.page.reload()
    tab.idle()
    expect(way(tab).locator("strong")).to_have_text(chosen)
    with tab.page.expect_download() as folded:
        tab.frame.get_by_role("link", name="Folded stacks").click()
    lines = Path(folded.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(re.fullmatch(r".+ \d+", line) for line in lines)
    with tab.page.expect_download() as speedscope:
        tab.frame.get_by_role("link", name="speedscope").click()
    assert json.loads(Path(speedscope.value.path()).read_text(encoding="utf-8"))["profiles"]
    tab.frame.get_by_label("Table", exact=True).check(force=True)
    assert names(tab, "Python lines")


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


def test_a_trace_without_modules_says_how_to_record_them(
    open_tab: OpenTab, start: Any, tmp_path: Path
) -> None:
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", traces.trace())
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("module", run="run")
    expect(tab.frame.locator("main")).to_contain_text("This trace has no modules")
    expect(tab.frame.locator("main")).to_contain_text("with_stack=True")
    press_frame(tab, 0, 0.2)
    expect(tab.frame.locator(".flame-detail")).to_contain_text("aten::")
    tab.frame.locator(".flame-detail").get_by_role("link", name="Show in Operator view").click()
    expect(tab.tab("operator")).to_have_attribute("aria-current", "page")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_bars_anybody(open_tab: OpenTab, sample_server: Server, dark: bool) -> None:
    need_axe()
    tab = open_tab(sample_server, dark=dark).load("module", run="ddp_gloo", find="addmm")
    press_frame(tab, 0, 0.1)
    assert accessibility(tab.frame) == []
    tab.frame.get_by_label("Table", exact=True).check(force=True)
    assert accessibility(tab.frame) == []
