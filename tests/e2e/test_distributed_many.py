"""The Distributed page of a thousand ranks in a browser; the page is the product's, its payloads are made of written ranks."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
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


def test_a_thousand_ranks_are_seen_at_once_named_and_accessible(tab: Tab) -> None:
    need_axe()
    main = tab.frame.locator("main")
    expect(main).to_contain_text("Each cell is 4 ranks × 1 step; the largest value is shown.")
    expect(main.locator(".heat-marks text")).to_have_text([f"rank {LATE}"])
    expect(main.get_by_role("group", name=re.compile("per worker, 13 bars"))).to_have_count(2)
    heat = tab.frame.get_by_role("group", name="Lateness by worker and step: 1024 rows")
    heat.focus()
    for key in ("ArrowDown", "End", "Enter"):
        tab.page.keyboard.press(key)
    expect(tab.frame.locator(".heat-chosen")).to_contain_text(re.compile(r"rank [0-3], step 11"))
    main.get_by_label("Show", exact=True).select_option("step")
    expect(main).to_contain_text("How long each step took, per worker")
    assert accessibility(tab.frame) == []
    assert tab.frame.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )


def test_every_rank_has_a_row_of_its_own_when_asked(
    open_tab: OpenTab, sample_server: Server
) -> None:
    tab = open_tab(sample_server, width=1280, height=800)
    tab.page.route(re.compile(r"/distributed(/map|/groups)?\?"), reply)
    tab.load("distributed", run="synthetic_ddp8", by="largest")
    tab.frame.get_by_label("All in sight").uncheck()
    heat = tab.frame.get_by_role("group", name="Lateness by worker and step: 1024 rows")
    drawn = heat.locator("canvas").evaluate(
        "c => [c.width, c.height, [...c.getContext('2d').getImageData(0, 0, 1, 1).data]]"
    )
    assert drawn[:2] == [STEPS, RANKS]
    assert drawn[2][3] == 255, "the latest rank is on top, in a colour"
    heat.focus()
    tab.page.keyboard.press("ArrowRight")
    expect(tab.frame.locator(".tooltip")).to_contain_text(f"rank {LATE}, step 0: 12.")
