"""The Efficiency page in a browser: device and peaks, MFU per step, the roofline, families, and the
table of operators and kernels.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e import traces
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

Start = Callable[..., Server]


def grid(tab: Tab, of: str = "operators") -> Locator:
    return tab.frame.get_by_role("grid", name=f"Efficiency of {of}", exact=True)


def points(tab: Tab) -> Locator:
    return tab.frame.locator(".roof-point")


def headline(tab: Tab) -> Locator:
    return tab.frame.locator(".headline-first")


def drawable(rows: dict[str, list[Any]]) -> list[int]:
    """The rows that have a place below the roofs: on logarithmic axes nothing is at 0."""
    return [
        row
        for row, (x, y) in enumerate(zip(rows["intensity"], rows["flops_rate"], strict=True))
        if x and y
    ]


def per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"


def test_a_gpu_trace_shows_the_routes_figures(open_tab: OpenTab, real_server: Server) -> None:
    tab = open_tab(real_server).load("efficiency", run="h100_vit")
    found = real_server.answer("efficiency", "h100_vit")
    expect(headline(tab)).to_contain_text(
        f"{per_cent(found['mfu'])} of what {found['device']['name']} can do (MFU)"
    )
    main = tab.frame.locator("main")
    expect(main).to_contain_text(found["device"]["entry"])
    expect(main).to_contain_text("989 TFLOP/s")
    rows = found["rows"]
    expect(points(tab)).to_have_count(len(drawable(rows)))
    expect(grid(tab)).to_have_attribute("aria-rowcount", str(len(rows["name"]) + 1))
    first = grid(tab).locator(".body-row").first
    expect(first).to_contain_text(rows["parameters"][0])
    expect(first).to_contain_text(
        re.compile(rf"{re.escape(per_cent(rows['flops_share'][0]))}\s*of \d+ TFLOP/s bf16")
    )
    for family, time in zip(found["families"]["family"], found["families"]["time_ns"], strict=True):
        if family and time:
            expect(
                tab.frame.get_by_role("list", name="Tensor Cores by family").get_by_text(
                    family, exact=True
                )
            ).to_be_visible()


def test_a_point_leads_to_its_row_and_on(open_tab: OpenTab, real_server: Server) -> None:
    tab = open_tab(real_server).load("efficiency", run="h100_vit")
    rows = real_server.answer("efficiency", "h100_vit")["rows"]
    tab.frame.get_by_role(
        "button", name=re.compile(rf"^aten::addmm: .*{re.escape(rows['parameters'][0])}")
    ).click()
    state = tab.settled_state()
    assert state["regex"] == "1"
    expect(grid(tab).locator(".body-row")).to_have_count(1)
    expect(grid(tab).locator(".body-row")).to_contain_text(rows["parameters"][0])
    tab.page.reload()
    tab.idle()
    expect(points(tab).and_(tab.frame.locator("[aria-pressed=true]"))).to_have_count(1)
    chosen = tab.frame.locator(".chosen")
    chosen.get_by_role("link", name="Its kernels").click()
    expect(grid(tab, "kernels").locator(".body-row")).not_to_have_count(0)
    for text in grid(tab, "kernels").locator(".body-row").all_text_contents():
        assert "aten::addmm" in text
    tab.page.go_back()
    tab.idle()
    chosen.get_by_role("link", name="Longest on the timeline").click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
    assert tab.state()["sel"] == str(rows["event"][0])


def test_the_chart_is_worked_by_keyboard_and_is_a_table_too(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server).load("efficiency", run="h100_vit")
    rows = real_server.answer("efficiency", "h100_vit")["rows"]
    order = sorted(
        drawable(rows), key=lambda row: (rows["intensity"][row], rows["flops_rate"][row])
    )
    tab.frame.locator(".roof-point[tabindex='0']").focus()
    tab.page.keyboard.press("End")
    focused = tab.frame.locator(".roof-point:focus")
    expect(focused).to_have_attribute(
        "aria-label",
        re.compile(rf"^{rows['name'][order[-1]]}: .*{re.escape(rows['parameters'][order[-1]])}"),
    )
    expect(tab.frame.locator(".chart-tip")).to_contain_text(rows["parameters"][order[-1]])
    tab.page.keyboard.press("Enter")
    assert "search" in tab.settled_state()
    tab.page.keyboard.press("Enter")
    assert "search" not in tab.settled_state()
    tab.frame.get_by_role("button", name="Show Roofline as a data table").click()
    expect(
        tab.frame.get_by_role("region", name="Roofline, data table").locator("tbody tr")
    ).to_have_count(len(order))


def test_precisions_and_kernels_are_chosen_and_kept_in_the_address(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server).load("efficiency", run="h100_vit")
    rows = real_server.answer("efficiency", "h100_vit")["rows"]
    tab.frame.get_by_label("fp32", exact=True).check(force=True)
    expect(points(tab)).to_have_count(
        sum(rows["precision"][row] == "fp32" for row in drawable(rows))
    )
    assert tab.settled_state()["precision"] == "fp32"
    tab.frame.get_by_label("kernel", exact=True).check(force=True)
    kernels = real_server.answer("efficiency", "h100_vit", group="kernel")["rows"]
    expect(grid(tab, "kernels")).to_have_attribute("aria-rowcount", str(len(kernels["kernel"]) + 1))
    assert tab.settled_state()["group"] == "kernel"


def test_a_bar_chooses_its_step(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("efficiency", run="synthetic_ddp8")
    steps = sample_server.answer("efficiency", "synthetic_ddp8")["steps"]
    bars = tab.frame.locator("figure", has_text="MFU per step").locator(".stack-bar")
    expect(bars).to_have_count(len(steps))
    bars.nth(2).click()
    assert tab.settled_state()["steps"] == str(steps[2]["index"])
    alone = sample_server.answer("efficiency", "synthetic_ddp8", steps=str(steps[2]["index"]))
    expect(headline(tab)).to_contain_text(f"The step reaches {per_cent(alone['mfu'])}")
    expect(bars).to_have_count(len(steps))
    bars.nth(2).click()
    assert "steps" not in tab.settled_state()


def test_the_table_is_saved_with_exact_figures(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("efficiency", run="synthetic_ddp8")
    rows = sample_server.answer("efficiency", "synthetic_ddp8")["rows"]
    with tab.page.expect_download() as waiting:
        tab.frame.get_by_role("button", name=re.compile("^Download the")).last.click()
    saved = list(
        csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig")))
    )
    assert [row["Operator"] for row in saved] == [name or "" for name in rows["name"]]
    assert [row["Device time (ns)"] for row in saved] == [str(time) for time in rows["time_ns"]]
    assert [row["FLOPs per call (FLOP)"] for row in saved] == [
        "" if flops is None else str(flops) for flops in rows["flops"]
    ]
    assert [row["Family"] for row in saved] == [
        family or "not modelled" for family in rows["family"]
    ]


def test_a_cpu_recording_shows_rates_and_no_peaks(open_tab: OpenTab, sample_server: Server) -> None:
    tab = open_tab(sample_server).load("efficiency", run="transformer")
    expect(headline(tab)).to_contain_text(re.compile(r"^The steps do [\d.]+ GFLOP/s$"))
    expect(tab.frame.locator("main")).to_contain_text("Nothing ran on an accelerator")
    assert tab.frame.locator(".roof").count() == 0
    expect(points(tab)).not_to_have_count(0)
    assert "Of the peak" not in tab.text()
    assert "FLOP/s per step" in tab.text()


def test_peaks_of_an_unknown_device_are_given_in_a_file(
    open_tab: OpenTab, start: Start, tmp_path: Path
) -> None:
    content = traces.trace()
    for event in content["traceEvents"]:
        if event["name"] == "aten::mm":
            event["args"]["Input type"] = ["float", "float"]
    traces.write(tmp_path / "logs" / "run" / "worker.1.pt.trace.json", content)
    server = start(tmp_path / "logs")
    server.settled()
    tab = open_tab(server).load("efficiency", run="run")
    expect(tab.frame.locator("main")).to_contain_text("TORCH_TB_PROFILER_PEAKS")
    expect(tab.frame.locator("main")).to_contain_text("Example GPU")
    assert tab.frame.locator(".roof").count() == 0
    peaks = tmp_path / "peaks.json"
    peaks.write_text(
        json.dumps(
            {
                "Example*": {
                    "bandwidth_gbps": 100,
                    "peaks": {"vector_fp32": 2},
                    "source": "measured by hand",
                }
            }
        ),
        encoding="utf-8",
    )
    server = start(tmp_path / "logs", peaks=str(peaks))
    server.settled()
    tab = open_tab(server).load("efficiency", run="run")
    expect(headline(tab)).to_contain_text("(MFU)")
    expect(tab.frame.locator(".roof")).to_have_count(2)
    tab.frame.locator(".peaks .term", has_text="2.00 TFLOP/s").hover()
    expect(tab.frame.get_by_role("tooltip")).to_contain_text("measured by hand")


def test_a_trace_without_shapes_says_how_to_record_them(
    open_tab: OpenTab, start: Start, tmp_path: Path
) -> None:
    content = traces.trace()
    for event in content["traceEvents"]:
        event.get("args", {}).pop("Input Dims", None)
    traces.write(tmp_path / "run" / "worker.1.pt.trace.json", content)
    server = start(tmp_path)
    server.settled()
    tab = open_tab(server).load("efficiency", run="run")
    expect(headline(tab)).to_contain_text("could be modelled")
    expect(tab.frame.locator("main")).to_contain_text("Not recorded: Input shapes")
    expect(grid(tab).locator(".body-row").first).to_contain_text("not modelled")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_bars_anybody(open_tab: OpenTab, real_server: Server, dark: bool) -> None:
    need_axe()
    tab = open_tab(real_server, dark=dark).load(
        "efficiency", run="mi300_resnet_ddp", group="kernel"
    )
    assert accessibility(tab.frame) == []
    tab.load("efficiency", run="h100_bert_small")
    points(tab).first.click()
    grid(tab).locator(".body-row .toggle").first.click()
    tab.idle()
    assert accessibility(tab.frame) == []
