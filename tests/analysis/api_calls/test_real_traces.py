"""Public traces of NVIDIA and AMD devices: every figure as counted call by call from the events."""

from __future__ import annotations

from collections import defaultdict
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.loading import load
from torch_tb_profiler.analysis.api_calls.calls import call_table, calls_of
from torch_tb_profiler.analysis.api_calls.launches import launch_table, launches_of
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.roles import Role

RUNS = ["h100_owlv2", "mi300_resnet_ddp", "v100_resnet50_num_workers_0", "mtia_inference"]


@pytest.fixture(scope="module", params=RUNS)
def opened(request: pytest.FixtureRequest, real_traces: Path) -> Opened:
    path = sorted((real_traces / request.param).glob("*.json*"))[0]
    return load(path.as_posix(), Settings())


def _events(opened: Opened) -> list[dict[str, Any]]:
    spans, links = opened.trace["spans"], opened.facts["span_links"]
    names = ("start", "dur", "name", "track", "role")
    columns = {key: spans[key].tolist() for key in names}
    columns |= {key: links[key].tolist() for key in ("parent", "launch")}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _whole(opened: Opened) -> Selection:
    return Selection(opened.facts["steps"]["start"].argsort(), True)


def test_calls_by_name(opened: Opened) -> None:
    events = _events(opened)
    calls = [e for e in events if e["role"] == Role.RUNTIME]
    durations: dict[str, list[int]] = defaultdict(list)
    for call in calls:
        above = events[call["parent"]] if call["parent"] >= 0 else None
        if not (above and above["role"] == Role.RUNTIME and above["name"] == call["name"]):
            durations[opened.trace.strings[call["name"]]].append(call["dur"])
    selection = _whole(opened)
    launches = launches_of(opened.trace, opened.facts, selection)
    found = calls_of(opened.trace, opened.facts, selection)
    table = call_table(opened.trace, opened.facts, selection, found, launches)
    rows = zip(
        table.texts("name"),
        *(table[key].tolist() for key in ("total_ns", "median_ns", "max_ns")),
        strict=True,
    )
    assert {name: values for name, *values in rows} == {
        name: [sum(own), median(own), max(own)] for name, own in durations.items()
    }
    assert int(table["calls"].sum()) == len(calls)


def test_launches_by_kernel(opened: Opened) -> None:
    events = _events(opened)
    work = [e for e in events if Role.KERNEL <= e["role"] <= Role.MEMSET]
    behind: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in work:
        if event["launch"] >= 0:
            behind[event["launch"]].append(event)
    delays: dict[int, list[int]] = defaultdict(list)
    below: dict[int, int] = defaultdict(int)
    for launch, launched in behind.items():
        first = min(launched, key=lambda event: event["start"])
        if first["role"] == Role.KERNEL:
            delays[first["name"]].append(max(0, first["start"] - events[launch]["start"]))
            below[first["name"]] += len(launched) == 1 and first["dur"] < events[launch]["dur"]
    table = launch_table(
        opened.trace, launches_of(opened.trace, opened.facts, _whole(opened)), 10_000
    )
    numbers = table["name"].tolist()
    kernels = [e for e in work if e["role"] == Role.KERNEL]
    assert dict(zip(numbers, table["calls"].tolist(), strict=True)) == {
        name: sum(e["name"] == name for e in kernels) for name in {e["name"] for e in kernels}
    }
    assert dict(zip(numbers, table["short"].tolist(), strict=True)) == {
        name: sum(e["name"] == name and e["dur"] < 10_000 for e in kernels) for name in numbers
    }
    for name, middle, most, short in zip(
        numbers,
        *(table[key].tolist() for key in ("median_delay_ns", "max_delay_ns", "below_launch")),
        strict=True,
    ):
        own = delays.get(name)
        assert (middle, most) == (
            (median(own), max(own)) if own else (pytest.approx(nan, nan_ok=True), -1)
        )
        assert max(short, 0) == below[name]
