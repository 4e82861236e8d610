"""The Counters page in a browser: profiled kernels with their operators, and sampled counters per
step.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]

ALEXNET = "a100_alexnet_cupti_ranges"
FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"


def test_alexnet_has_77_kernels_with_nine_counters_each(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server).load("counters", run=ALEXNET)
    expect(tab.frame.locator(".headline-first")).to_have_text(
        "77 kernels measured with 9 counters each"
    )
    table = tab.grid("Profiled kernels")
    expect(table).to_have_attribute("aria-rowcount", "78")
    sixth = table.locator("[aria-rowindex='7']")
    expect(sixth).to_contain_text("fft2d_r2c_32x32")
    sixth.get_by_role("button", name=re.compile("^Details of")).click()
    expect(tab.frame.locator(".grid-detail")).to_contain_text(
        "aten::conv2d → aten::convolution → aten::_convolution → aten::cudnn_convolution"
    )
    expect(tab.frame.locator(".grid-detail")).to_contain_text(
        "FP32 add instructions86\u202f114\u202f304"
    )
    with tab.page.expect_download() as waiting:
        tab.frame.get_by_role("button", name=re.compile("^Download the")).click()
    saved = list(
        csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig")))
    )
    found = real_server.answer("counters", ALEXNET)
    assert len(saved) == 77
    for place, counter in enumerate(found["counters"]):
        assert [float(row[counter["name"]]) for row in saved] == found["values"][place]
    assert (saved[5]["Top operator"], saved[5]["Bottom operator"], saved[5][FADD]) == (
        "aten::conv2d",
        "aten::cudnn_convolution",
        "86114304",
    )


def test_a_kernel_leads_to_its_launch_and_its_operators(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server).load("counters", run=ALEXNET, search="fft2d_r2c_32x32")
    found = real_server.answer("counters", ALEXNET)["profiled"]
    rows = [row for row, name in enumerate(found["kernel"]) if "fft2d_r2c_32x32" in name]
    table = tab.grid("Profiled kernels")
    expect(table).to_have_attribute("aria-rowcount", str(len(rows) + 1))
    table.locator(".body-row").first.get_by_role("link", name="launch").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    assert tab.state()["sel"] == str(found["launch"][rows[0]])
    tab.page.go_back()
    tab.idle()
    table.locator(".body-row").first.get_by_role("link", name="aten::conv2d", exact=True).click()
    expect(tab.tab("operator")).to_have_attribute("aria-current", "page")


def sample(ts: float, value: float, device: int = 0) -> dict[str, Any]:
    name, pid = "sm__cycles_active.avg", f"GPU {device} Counters"
    return {
        "ph": "C",
        "cat": "hardware_counters",
        "name": name,
        "pid": pid,
        "tid": 0,
        "ts": ts,
        "args": {"value": value},
    }


def test_sampled_counters_have_a_mean_per_step(
    open_tab: OpenTab, start: Start, tmp_path: Path
) -> None:
    content = traces.trace()
    content["traceEvents"] += [sample(1000 + 100 * i, 10 + i) for i in range(25)] + [
        sample(1000 + 100 * i, 7, device=1) for i in range(25)
    ]
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", content)
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("counters", run="run")
    sampled = server.answer("counters", "run")["sampled"]
    assert len(sampled["counter"]) > 3
    expect(tab.grid("Sampled counters")).to_have_attribute(
        "aria-rowcount", str(len(sampled["counter"]) + 1)
    )
    bars = tab.frame.locator(".stack-bar")
    expect(bars).to_have_count(3)
    bars.nth(1).click()
    assert tab.settled_state()["steps"] == "1"
    expect(bars.and_(tab.frame.locator(".faded"))).to_have_count(2)
    tab.frame.get_by_role("link", name="their curves are on the Trace view").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")


def test_a_trace_without_counters_says_how_to_record_them(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server).load("counters", run="transformer")
    expect(tab.frame.locator("main")).to_contain_text("No hardware counter was recorded")
    expect(tab.frame.locator("main pre")).to_contain_text("profiler_metrics")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_bars_anybody(open_tab: OpenTab, real_server: Server, dark: bool) -> None:
    need_axe()
    tab = open_tab(real_server, dark=dark).load("counters", run=ALEXNET)
    tab.grid("Profiled kernels").locator(".toggle").first.click()
    tab.idle()
    assert accessibility(tab.frame) == []


SASS = "smsp__sass_thread_inst_executed_op_%s%s_pred_on.sum"


def profiled(number: int, start: float, dur: float, fma: int, traffic: int) -> dict[str, Any]:
    """A range with all that FLOPs and memory traffic are made from, of FP32 alone."""
    counted = {
        SASS % (precision, kind): fma if precision + kind == "ffma" else 0
        for precision in "dfh"
        for kind in ("add", "mul", "fma")
    }
    found = traces.event(
        "cuda_profiler_range", f"void kernel_{number}<float>(float*)", start, dur, 0, 0, **counted
    )
    return {
        **found,
        "args": {**counted, "dram__bytes_read.sum": traffic, "dram__bytes_write.sum": 0},
    }


def measured(folder: Path, *, timed: bool) -> Path:
    """Four kernels on an A100, by their times or by slices of a window."""
    content = traces.trace()
    kept = [
        event
        for event in content["traceEvents"]
        if event.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset")
    ]
    times = [(0, 40), (60, 90), (170, 10), (200, 25)] if timed else [(50 * i, 50) for i in range(4)]
    kept += [
        profiled(i, 2000 + at, dur, 10 ** (6 + i // 2), 10 ** (6 - i))
        for i, (at, dur) in enumerate(times)
    ]
    properties = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "computeMajor": 8, "computeMinor": 0}]
    return traces.write(
        folder / "run" / "worker.1.pt.trace.json",
        {**content, "traceEvents": kept, "deviceProperties": properties},
    )


@pytest.mark.parametrize("timed", [True, False])
def test_kernels_with_flops_and_traffic_stand_below_the_roofs(
    open_tab: OpenTab, start: Start, tmp_path: Path, timed: bool
) -> None:
    measured(tmp_path, timed=timed)
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("counters", run="run")
    found = server.answer("counters", "run")["profiled"]
    chart = tab.frame.locator("figure", has_text="Measured roofline")
    points = chart.locator(".roof-point")
    expect(points).to_have_count(4)
    expect(chart).to_contain_text("fp32 vector")
    expect(chart).to_contain_text("TB/s memory")
    assert ("no times were measured" in chart.inner_text()) is not timed
    assert (found["time_ns"] == [None] * 4) is not timed
    for row, (work, moved, time) in enumerate(
        zip(found["flops"], found["bytes"], found["time_ns"], strict=True)
    ):
        label = str(chart.locator(f"[data-point='{row}']").get_attribute("aria-label"))
        told = re.search("Intensity ([^ ]+) FLOP/B", label)
        assert told
        assert float(told[1].replace("\u202f", "")) == pytest.approx(work / moved, rel=0.01)
        assert ("Of the peak" in label) == ("Time " in label) == (time is not None)
    points.first.focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    table = tab.grid("Profiled kernels")
    expect(table).to_have_attribute("aria-rowcount", "2")
    expect(chart.locator(".roof-point.selected")).to_have_count(1)


def test_a_recording_without_memory_traffic_says_why_it_has_no_roofline(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server).load("counters", run=ALEXNET)
    expect(tab.frame.locator("main")).to_contain_text(
        "No roofline is drawn: memory traffic is not known"
    )
    expect(tab.frame.locator(".roof-point")).to_have_count(0)
