"""The API Calls page in a browser: its tables, the limit of short kernels, sequences beneath an operator."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import OpenTab
from tests.e2e.server import Server

RUN = "mi300_resnet_ddp"


def test_calls_launches_and_sequences_of_a_real_trace(
    open_tab: OpenTab, real_server: Server
) -> None:
    tab = open_tab(real_server).load("api_calls", run=RUN)
    found = real_server.answer("api_calls", RUN)
    expect(tab.frame.get_by_role("list", name="Time by call")).to_contain_text(
        found["rows"]["name"][0]
    )
    calls = tab.frame.get_by_role("grid", name="Runtime and driver calls")
    expect(calls.locator(".body-row")).to_have_count(len(found["rows"]["name"]))
    tab.frame.get_by_text("Queues of launches").click()
    expect(
        tab.frame.get_by_role("slider", name="Launches that wait on each stream")
    ).to_be_visible()

    short = real_server.answer("api_calls", RUN, short_ns="2000")["launches"]["short"]
    assert sum(short) < sum(found["launches"]["short"])
    tab.frame.locator("summary", has_text=re.compile(r"^\s*Launches$")).click()
    tab.frame.get_by_label("Short below").select_option("2000")
    assert tab.settled_state()["short"] == "2000"
    expect(tab.frame.locator(".headline")).to_contain_text("shorter than 2.00 µs")

    tab.frame.get_by_text("Kernel sequences").click()
    tab.frame.get_by_placeholder("anywhere").fill("aten::miopen_convolution")
    tab.frame.get_by_placeholder("anywhere").press("Enter")
    sequences = tab.frame.get_by_role("grid", name="Kernel sequences")
    expect(sequences.get_by_role("columnheader", name="Operator")).to_be_visible()
    calls.get_by_role("link", name="show").first.click()
    expect(tab.tab("trace")).to_have_attribute("aria-current", "page")
