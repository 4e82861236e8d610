"""The Distributed page of a thousand ranks in a browser; the page is the product's, its payloads are made of written ranks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from msgspec.structs import replace
from playwright.sync_api import Route, expect

from tests.analysis.distributed.written_ranks import Call, rank_of
from tests.e2e.conftest import OpenTab
from tests.e2e.pages import Tab
from tests.e2e.server import Server
from tests.e2e.watch import accessibility, need_axe
from torch_tb_profiler.analysis.critical_path.verdict import UNKNOWN
from torch_tb_profiler.analysis.distributed.collectives import ProcessGroup
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.run import run_figures
from torch_tb_profiler.views.distributed.payload import (
    PlacedWorker,
    distributed_map_payload,
    distributed_payload,
)
from torch_tb_profiler.views.distributed.process_groups import process_groups_payload
from torch_tb_profiler.views.distributed.wire import Measure
from torch_tb_profiler.views.wire import to_json

RANKS, STEPS, LATE = 1024, 12, 517
MS = 1_000_000


def written(number: int) -> Rank:
    """An all_reduce of all ranks in each step of 100 ms, which one rank reaches 12 ms late."""
    after = [
        (number * 37 + step * 11) % 300 * 1000 + 12 * MS * (number == LATE) for step in range(STEPS)
    ]
    calls = [
        Call(
            "all_reduce",
            s * 100 * MS + late,
            60 * MS - late,
            1 << 20,
            "f",
            "0",
            RANKS,
            sequence=s,
            step=s,
        )
        for s, late in enumerate(after)
    ]
    shares = np.repeat(
        [[50 * MS + number], [10 * MS], [20 * MS], [20 * MS - number]], STEPS, axis=1
    )
    group = ProcessGroup("0", tuple(range(RANKS)), "default_pg", "cuda:nccl", RANKS)
    return replace(rank_of(number, calls, steps=range(STEPS)), shares=shares, groups=(group,))


@lru_cache(maxsize=1)
def payloads() -> dict[str, bytes]:
    """Path below ``/distributed``, with the measure of a map, → the reply."""
    figures = run_figures([written(number) for number in range(RANKS)])
    placed = [
        PlacedWorker(f"node{n // 8}_{1000 + n}", "1", n, "distributedInfo", "ready", "", n)
        for n in range(RANKS)
    ]
    replies: dict[str, Any] = {
        "": distributed_payload(placed, figures, (), UNKNOWN, 1.0, RANKS),
        "/groups": process_groups_payload(placed, figures, 1.0),
        **{
            f"/map {measure}": distributed_map_payload(placed, figures, measure, 1.0)
            for measure in get_args(Measure)
        },
    }
    return {path: to_json(reply) for path, reply in replies.items()}


def reply(route: Route) -> None:
    url = urlsplit(route.request.url)
    path = url.path.rpartition("/distributed")[2]
    measure = parse_qs(url.query).get("measure")
    body = payloads()[f"{path} {measure[0]}" if measure else path]
    route.fulfill(status=200, content_type="application/json", body=body)


@pytest.fixture(name="tab", params=[False, True], ids=["light", "dark"])
def _tab(open_tab: OpenTab, sample_server: Server, request: pytest.FixtureRequest) -> Tab:
    tab = open_tab(sample_server, dark=request.param, width=1280, height=800)
    tab.page.route(re.compile(r"/distributed(/map|/groups)?\?"), reply)
    return tab.load("distributed", run="synthetic_ddp8")


def test_of_a_thousand_ranks_those_that_stand_out_have_rows_beside_quantiles(tab: Tab) -> None:
    need_axe()
    main = tab.frame.locator("main")
    expect(main).to_contain_text("1 rank that stands out; of the other 1\u202f023 the quantiles")
    heat = tab.frame.get_by_role("group", name="Late by rank and step: 4 rows")
    expect(heat.locator(".heat-rows text")).to_have_text(
        [f"rank {LATE}", "others: highest 5 %", "others: median", "others: lowest 5 %"]
    )
    heat.focus()
    for key in ("ArrowDown", "End", "Enter"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".heat-chosen")).to_contain_text(f"rank {LATE}, step 11")
    main.get_by_label("Step time", exact=True).check(force=True)
    expect(main).to_contain_text("How long each step takes")
    main.get_by_text("Computation, synchronizing and communication overview").click()
    expect(main.get_by_role("grid", name="Figures per worker")).to_be_visible()
    assert accessibility(tab.frame) == []
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
