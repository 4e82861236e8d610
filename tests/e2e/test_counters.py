"""The Counters page in a browser: profiled kernels with their operators."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe

ALEXNET = "a100_alexnet_cupti_ranges"
FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"


def test_alexnet_has_77_kernels_with_nine_counters_each(
    open_tab: OpenTab, real_server: Server
) -> None:
    need_axe()
    tab = open_tab(real_server, dark=True).load("counters", run=ALEXNET)
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
    assert accessibility(tab.frame) == []
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
