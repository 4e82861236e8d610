"""The Memory page in a browser: curve, what is alive, blocks and statistics; snapshots and
timelines.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.builders.snapshots import SEGMENT, Allocator, pickled, snapshot, stack
from tests.builders.splitting import FORWARD, train
from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import VIEWS, Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe
from tests.importers.test_memory_timeline import RAW

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


def mib(size: int) -> str:
    return f"{size / 2**20:.2f} MiB"


def test_the_peak_is_the_routes(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    found = sample_server.answer("memory", "transformer")["devices"][0]
    expect(tab.frame.locator(".headline-first")).to_contain_text(
        f"CPU: at most {mib(found['peak_bytes'])} allocated"
    )
    expect(chart(tab)).to_have_attribute("aria-valuenow", str(found["peak_ns"]))
    expect(chart(tab)).to_have_attribute(
        "aria-valuetext", re.compile(re.escape(mib(found["peak_bytes"])))
    )
    for step in ("step 3", "step 6"):
        expect(tab.frame.locator(".stair text", has_text=step)).to_be_visible()


def test_a_click_chooses_an_instant_and_a_drag_a_window(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    drag(tab, 0.5, 0.5)
    state = tab.settled_state()
    answer = sample_server.answer("memory/alive", "transformer", t=state["t"])
    expect(tab.grid("Alive").locator(".body-row")).not_to_have_count(0)
    assert f"{len(answer['rows']['bytes'])} rows" in body(tab)
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


def test_a_tile_shows_its_rows_and_a_block_its_call(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    rows = sample_server.answer("memory/alive", "transformer")["rows"]
    of_addmm = [
        size
        for name, size in zip(rows["operator"], rows["bytes"], strict=True)
        if name == "aten::addmm"
    ]
    tab.frame.get_by_role("button", name=f"aten::addmm: {mib(sum(of_addmm))}").click()
    expect(tab.grid("Alive").locator(".body-row")).to_have_count(len(of_addmm))
    panel = tab.frame.get_by_role("region", name="Alive at the peak")
    panel.get_by_label("module", exact=True).check(force=True)
    assert tab.settled_state()["by"] == "module"
    first = tab.grid("Memory: Blocks").locator(".body-row").first
    operator = str(first.get_by_role("link").first.text_content())
    first.get_by_role("link", name="its call").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    expect(tab.frame.locator("main")).to_contain_text(operator)
    assert tab.state()["sel"].isdigit()


def test_statistics_are_the_routes_and_are_saved(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("memory", run="transformer")
    for label, group in (("By module", "module"), ("By operator", "operator")):
        tab.frame.get_by_label(label, exact=True).check(force=True)
        assert tab.settled_state()["table"] == group
        rows = sample_server.answer("memory/statistics", "transformer", group=group)["rows"]
        table = tab.grid(f"Memory: {label}")
        expect(table).to_have_attribute("aria-rowcount", str(len(rows["name"]) + 1))
        with tab.page.expect_download() as waiting:
            tab.frame.get_by_role("button", name=re.compile("^Download the")).last.click()
        saved = list(
            csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig")))
        )
        assert {
            row[label[3:].capitalize()]: int(row["Self size increase (bytes)"]) for row in saved
        } == dict(zip(rows["name"], rows["self_increase_bytes"], strict=True))


def test_a_trace_without_records_says_what_to_record(
    open_tab: OpenTab, start: Start, tmp_path: Path
) -> None:
    traces.write(tmp_path / "run" / "w0.pt.trace.json", traces.trace())
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("memory", run="run")
    expect(tab.frame.locator("main")).to_contain_text("profile_memory=True")


def beside(folder: Path) -> None:
    """A snapshot of two devices, a timeline, and a pickle that would run something."""
    devices = [Allocator(device=number) for number in range(2)]
    for turn in range(400):
        for device in devices:
            frames = stack(f"/w/layer{turn % 7}.py:{turn % 9 + 1}:forward", "/w/train.py:4:main")
            device.alloc((turn % 5 + 1) * SEGMENT // 2, frames)
            if turn % 3:
                device.free(min(device.held))
    devices[0].fail(1 << 40)
    folder.mkdir()
    (folder / "dump.pickle").write_bytes(pickled(snapshot(*devices, last=1200)))
    (folder / "steps.raw.json.gz").write_bytes(gzip.compress(json.dumps(RAW).encode()))

    class Command:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {folder / 'hacked'}",)

    (folder / "evil.pickle").write_bytes(
        pickle.dumps({"segments": [], "device_traces": [[Command()]]})
    )


@pytest.mark.parametrize("dark", [False, True])
def test_snapshots_and_timelines_open_and_hostile_pickles_do_not(
    open_tab: OpenTab, start: Start, tmp_path: Path, dark: bool
) -> None:
    need_axe()
    beside(tmp_path / "run")
    server = start(tmp_path)
    server.wait(
        lambda: (
            [s["state"] for r in server.runs() for w in r["workers"] for s in w["spans"]]
            == ["ready", "ready"]
        ),
        60,
        "both files",
    )
    tab = open_tab(server, dark=dark).load("memory", run="run", worker="dump")
    expect(tab.frame.locator("main")).to_contain_text(
        "An allocation of 1.00 TiB failed for want of memory"
    )
    expect(tab.frame.locator("main")).to_contain_text("layer3.py(")
    assert accessibility(tab.frame) == []
    tab.select("Device").select_option("1")
    expect(tab.frame.locator(".headline-first")).to_contain_text("GPU 1: at most")
    tab.load("memory", run="run", worker="steps")
    expect(chart(tab)).to_have_attribute("aria-valuetext", re.compile("activation 32.0 KiB"))
    assert accessibility(tab.frame) == []
    for worker in ("dump", "steps"):
        for view in VIEWS:
            tab.go(view, run="run", worker=worker)
            assert tab.frame.locator(".error-state").count() == 0, (worker, view)
    tab.go("diagnosis")
    expect(tab.frame.locator("main")).to_contain_text("nothing in it was run")
    assert not (tmp_path / "run" / "hacked").exists()


def test_a_real_gpu_trace_in_both_themes(
    open_tab: OpenTab, start: Start, tmp_path: Path, real_traces: Path
) -> None:
    need_axe()
    (tmp_path / "v100").symlink_to(real_traces / "v100_memory_nccl")
    server = start(tmp_path)
    server.settled()
    for dark in (False, True):
        tab = open_tab(server, dark=dark).load("memory", run="v100")
        found = server.answer("memory", "v100")["devices"][0]
        expect(tab.frame.locator(".headline-first")).to_contain_text(
            f"GPU 1: at most {found['peak_bytes'] / 2**30:.2f} GiB allocated"
        )
        expect(chart(tab)).to_have_attribute("aria-valuetext", re.compile("reserved 11.9 GiB"))
        assert accessibility(tab.frame) == []
        drag(tab, 0.1, 0.4)
        tab.idle()
        assert accessibility(tab.frame) == []


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
    expect(page).to_contain_text("An allocation of 1.00 TiB failed for want of memory on GPU 0")
    expect(page).to_contain_text("/w/attention.py(88): softmax")
    tab.frame.get_by_role("button", name="What was alive then").click()
    assert (
        int(tab.settled_state()["t"]) == server.answer("memory", "first")["failures"][0]["time_ns"]
    )
    segments = tab.frame.locator(".segment-map canvas")
    segments.focus()
    tab.page.keyboard.press("ArrowRight")
    expect(segments).to_have_attribute("aria-valuetext", re.compile("in use .*\n.*asked for"))
    tab.page.keyboard.press("Enter")
    assert int(tab.settled_state()["b1"]) > 0
    tab.frame.get_by_role("button", name="Whole map").click()
    tab.frame.get_by_label("At the instant", exact=True).check(force=True)
    assert tab.settled_state()["map"] == "t"
    expect(tab.grid("What grew").locator(".body-row")).not_to_have_count(0)
    tab.frame.get_by_role("button", name="Against another recording").click()
    tab.select("Run B").select_option("second")
    assert tab.settled_state()["run2"] == "second"
    expect(page).to_contain_text("of the other recording")
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
