"""Memory snapshots and memory timelines: the same tables and questions as of a trace's records."""

from __future__ import annotations

import json

import pytest

from tests.analysis.memory.recorded import blocks, built, case, devices, out_of_memory
from tests.builders.drawn import trace_of
from tests.builders.snapshots import SEGMENT, Allocator, pickled, snapshot, stack
from tests.builders.splitting import FORWARD, Splitting
from tests.importers.reading import Stream
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.failures import Failure, failed_allocations
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at
from torch_tb_profiler.analysis.memory.window import curve_in
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace

LINEAR = stack(
    "/w/torch/nn/functional.py:5:linear", "/w/model.py:12:forward", "/w/train.py:40:main"
)
ADAM = stack("/w/adam.py:7:step", "/w/train.py:44:main")


def of(data: bytes) -> tuple[Trace, Insight]:
    trace = read_trace(Stream(data), Settings())
    return trace, built(trace, derive(trace))


def test_a_snapshots_blocks_have_their_own_stacks() -> None:
    device = Allocator()
    first = device.alloc(1000, LINEAR)
    device.alloc(3 * SEGMENT, ADAM)
    device.free(first)
    _, found = of(pickled(snapshot(device)))
    assert found.about["memory_source"] == "snapshot"
    assert blocks(found) == [(1000, 0, 20), (3 * SEGMENT, 10, None)]
    assert found.strings.many(found["allocations"]["line"]) == [
        "/w/model.py(12): forward",
        "/w/adam.py(7): step",
    ]
    assert (
        found.strings[int(found["allocations"]["frames"][1])]
        == "/w/adam.py(7): step\n/w/train.py(44): main"
    )
    (row,) = devices(found)
    assert (row["begin"], row["end"], row["peak"], row["peak_reserved"], row["mismatched"]) == (
        0,
        3 * SEGMENT,
        1000 + 3 * SEGMENT,
        4 * SEGMENT,
        0,
    )


def test_what_a_snapshot_tells_of_before_its_buffer_is_alive_from_the_begin() -> None:
    device = Allocator()
    kept, gone = device.alloc(100, LINEAR), device.alloc(200)
    device.alloc(300)
    device.free(gone)
    assert kept
    _, found = of(pickled(snapshot(device, last=4)))
    (row,) = devices(found)
    assert (row["begin"], row["end"], row["records"]) == (300, 400, 3)
    assert sorted(blocks(found), key=str) == sorted(
        [(200, None, 10), (100, None, None), (300, 0, None)], key=str
    )
    start = live_memory_at(found, 0, 0)
    assert (start.allocated, start.unknown, int(start.bytes.sum())) == (600, 0, 600)
    lines = dict(zip(found.strings.many(start.line), start.bytes.tolist(), strict=True))
    assert lines["/w/model.py(12): forward"] == 100


RAW = [
    [-1, 1, 32768, 0],
    [-1, 1, 512, 7],
    [1000, 2, 8192, 2],
    [2000, 2, 16384, 4],
    [3000, 3, -8192, 2],
    [3000, 3, 8192, 3],
    [4000, 4, -16384, 4],
    [5000, 2, 4, 7],
]
NAMES = dict(enumerate(BLOCK_CATEGORIES))


@pytest.fixture(scope="module")
def timeline() -> Insight:
    return of(json.dumps(RAW).encode())[1]


def test_a_timelines_categories_add_up_to_what_is_allocated(timeline: Insight) -> None:
    curve = curve_in(timeline, 0, (0, 10_000), 100)
    assert timeline.about["memory_source"] == "timeline"
    assert curve.categories.sum(axis=0).tolist() == curve.allocated.tolist()
    last = {
        NAMES.get(row, "unknown"): int(values[-1])
        for row, values in enumerate(curve.categories)
        if values[-1]
    }
    assert last == {"parameter": 32768, "temporary": 8192, "unknown": 516}
    assert curve.allocated[0] == 33280


def test_what_is_alive_in_a_timeline_is_known_by_category(timeline: Insight) -> None:
    (row,) = devices(timeline)
    assert (row["begin"], row["end"], row["peak"]) == (33280, 41476, 57856)
    peak = live_memory_at(timeline, 0, None)
    assert {NAMES[int(c)]: int(b) for c, b in zip(peak.category, peak.bytes, strict=True)} == {
        "parameter": 32768,
        "activation": 16384,
        "input": 8192,
    }
    assert (peak.unknown, peak.count.tolist()) == (512, [-1, -1, -1])


def test_a_snapshots_failed_allocation() -> None:
    device = Allocator()
    device.alloc(1000)
    device.fail(5 << 30)
    device.fail(6 << 30)
    trace, found = of(pickled(snapshot(device)))
    assert failed_allocations(trace, derive(trace), found, 1) == (
        [Failure(1000, 5 << 30, 1000, 0, ())],
        2,
    )


def test_a_failed_allocation_of_a_snapshot_has_its_stack() -> None:
    device = Splitting()
    device.alloc(1000, FORWARD)
    device.fail(5 << 30, 77, ("/w/attention.py:88:softmax", *FORWARD))
    trace, found = of(pickled(device.snapshot()))
    ((failure,), count) = failed_allocations(trace, derive(trace), found, 9)
    assert (failure.bytes, failure.free, failure.device, count) == (5 << 30, 77, 0, 1)
    assert failure.line == "/w/attention.py(88): softmax"
    assert failure.stack[-1] == "/w/train.py(12): train"


def test_a_failed_allocation_of_a_trace_has_the_calls_around_it() -> None:
    entry = out_of_memory(**{"Bytes": 7, "Device Type": 1, "Device Id": 0})
    trace, facts, found = case("main 3 gpu0 a +64", "main [aten::linear]", [entry])
    ((failure,), _) = failed_allocations(trace, facts, found, 9)
    assert (failure.stack, failure.device) == (("aten::linear",), 0)


@pytest.mark.parametrize("args", [{"Bytes": "many"}, {}, {"Bytes": 1.5}, {"Bytes": 1 << 70}])
def test_failures_that_do_not_say_their_size(args: dict[str, object]) -> None:
    trace = trace_of([out_of_memory(**args)])
    facts = derive(trace)
    (failures, count) = failed_allocations(trace, facts, built(trace, facts), 9)
    assert ([failure.bytes for failure in failures], count) == ([-1], 1)
