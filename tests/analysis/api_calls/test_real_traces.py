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
from torch_tb_profiler.analysis.api_calls.queues import queue_table, queues_of
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.roles import Role

RUNS = ["h100_owlv2", "mi300_resnet_ddp", "v100_resnet50_num_workers_0", "mtia_inference"]
LIMIT = 200


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


def test_queues_of_streams(opened: Opened) -> None:
    """Walked change by change."""
    trace, facts, selection = opened.trace, opened.facts, _whole(opened)
    launches = launches_of(trace, facts, selection)
    queues = queues_of(trace, launches, LIMIT)
    table = queue_table(trace, facts, selection, queues, 10**9)
    events = _events(opened)
    first: dict[int, dict[str, Any]] = {}
    for event in sorted(events, key=lambda event: event["start"]):
        if Role.KERNEL <= event["role"] <= Role.MEMSET and event["launch"] >= 0:
            first.setdefault(event["launch"], event)
    expected = []
    tracks: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for launch, event in first.items():
        begin = min(events[launch]["start"], event["start"])
        tracks[event["track"]].append((begin, event["start"], begin + events[launch]["dur"]))
    for own in tracks.values():
        changes = sorted([(b, 1) for b, _, _ in own] + [(e, -1) for _, e, _ in own])
        length = most = waiting = full = 0
        for (time, change), (after, _) in zip(changes, [*changes[1:], changes[-1]], strict=True):
            length += change
            if after > time:
                most = max(most, length)
                waiting += (after - time) * (length >= 1)
                full += (after - time) * (length >= LIMIT)
        expected.append((len(own), most, waiting, full))
    names = ("launches", "max_length", "waiting_ns", "full_ns")
    found = list(zip(*(table[key].tolist() for key in names), strict=True))
    assert sorted(found) == sorted(expected)
    held_up = set(queues.blocked.tolist())
    for queue in queues.streams:
        order = queue.launch.tolist()
        begun = [first[launch]["start"] for launch in order]
        for place in range(0, len(order), 11):
            launch, begin = order[place], int(queue.begin[place])
            returned = begin + events[launch]["dur"]
            before = sum(start >= begin for start in begun[:place])
            after = sum(start > returned for start in begun[:place])
            assert (launch in held_up) == (before >= LIMIT > after)
