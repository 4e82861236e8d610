"""Memory snapshots: the true figures of a small allocator come back."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any

import numpy as np
import pytest

from tests.builders.snapshots import BASE_US, ROUND, SEGMENT, Allocator, pickled, snapshot, stack
from tests.importers.reading import Stream, defects
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.importers.snapshot import DISAGREES, UNTIMED
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.model import Trace

LINEAR = stack("/w/model.py:12:forward", "/w/train.py:40:main")
ADAM = stack("/w/adam.py:7:step", "/w/train.py:44:main")


def read(value: object, protocol: int = 4, piece: int = 1 << 30) -> Trace:
    return read_trace(Stream(pickled(value, protocol), piece), Settings())


def rows(trace: Trace, *names: str) -> list[tuple[Any, ...]]:
    return list(zip(*(trace["memory"][n].tolist() for n in names), strict=True))


def small() -> Allocator:
    device = Allocator()
    first = device.alloc(1000, LINEAR)
    device.alloc(3 * SEGMENT, ADAM)
    device.free(first)
    return device


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_records_in_order_with_running_totals(protocol: int) -> None:
    trace = read(snapshot(small()), protocol)
    assert rows(trace, "time", "bytes", "allocated", "reserved") == [
        (0, 0, 0, SEGMENT),
        (0, 1000, 1000, SEGMENT),
        (10_000, 0, 1000, 4 * SEGMENT),
        (10_000, 3 * SEGMENT, 1000 + 3 * SEGMENT, 4 * SEGMENT),
        (20_000, -1000, 3 * SEGMENT, 4 * SEGMENT),
    ]
    assert trace.header == {"memory_source": "snapshot", "memory_backend": "cuda"}
    assert trace.origin_ns == (BASE_US + 10) * 1000
    assert trace.entries == 6
    assert defects(trace) == {}


def test_a_record_carries_its_stack_innermost_first_without_the_machinery() -> None:
    trace = read(snapshot(small()))
    assert (
        trace.strings[int(trace["memory"]["frames"][1])]
        == "/w/model.py(12): forward\n/w/train.py(40): main"
    )
    assert trace["memory"]["frames"][4] == -1


def test_the_device_and_the_stream_are_told() -> None:
    first, second = Allocator(device=0), Allocator(device=1)
    second.alloc(5, stream=7)
    trace = read(snapshot(first, second))
    assert set(rows(trace, "device_type", "device")) == {(1, 1)}
    tracks = trace["tracks"]
    track = int(trace["memory"]["track"][1])
    assert [
        trace.strings[int(tracks[c][track])] for c in ("pid", "tid", "process_label", "thread_name")
    ] == ["1", "7", "GPU 1", "stream 7"]


def test_what_was_alive_before_the_buffer_begins_stands_in_front() -> None:
    device = Allocator()
    kept, gone = device.alloc(100, LINEAR), device.alloc(200)
    device.alloc(300)
    device.free(gone)
    trace = read(snapshot(device, last=4))
    # The buffer holds: segment_alloc and alloc of 300, free_requested and free_completed of 200.
    assert rows(trace, "ordinal", "bytes", "allocated", "address")[:2] == [
        (-1, 200, 200, gone),
        (-1, 100, 300, kept),
    ]
    assert trace["memory"]["time"][:2].tolist() == [0, 0]
    assert trace.strings[int(trace["memory"]["frames"][1])].startswith("/w/model.py(12)")
    assert trace["memory"]["allocated"].tolist() == [200, 300, 300, 600, 400]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("last", [None, 1, 17, 60])
def test_every_total_is_the_true_one_however_much_the_buffer_lost(
    seed: int, last: int | None
) -> None:
    chance = random.Random(seed)
    device = Allocator(cache=chance.random() < 0.5)
    for _ in range(60):
        if device.held and chance.random() < 0.5:
            device.free(chance.choice(sorted(device.held)), pending_us=chance.choice([0, 3]))
        else:
            device.alloc(
                chance.choice([1, 511, 512, 5000, SEGMENT, 5 * SEGMENT + 1]),
                after_us=chance.choice([0, 1, 20]),
            )
    trace = read(snapshot(device, last=last))
    memory = trace["memory"]
    change = (memory["ordinal"] >= 0) & (memory["bytes"] != 0)
    totals = memory["allocated"][change].tolist()
    assert totals == ([b for _, b in device.allocated][-len(totals) :] if totals else [])
    if last is None:
        assert memory["reserved"][memory["ordinal"] >= 0].tolist() == [
            b for (_, b), e in zip(device.reserved, _noted(device), strict=True) if e
        ]
    assert int(memory["bytes"].sum()) == sum(b["requested_size"] for b in device.held.values())
    assert int(memory["reserved"][-1]) == sum(s["total_size"] for s in device.segments.values())
    assert defects(trace) == {}


def _noted(device: Allocator) -> list[bool]:
    """Which of the entries become records: a request to free changes nothing."""
    return [e["action"] != "free_requested" for e in device.entries]


def test_a_block_counts_until_the_other_stream_is_done() -> None:
    device = Allocator()
    device.free(device.alloc(64), after_us=10, pending_us=25)
    assert rows(read(snapshot(device)), "time", "bytes")[-1] == (35_000, -64)


def test_requests_stand_in_where_completions_were_not_recorded() -> None:
    device = Allocator()
    device.free(device.alloc(64), pending_us=25)
    value = snapshot(device)
    value["device_traces"][0] = [
        e for e in value["device_traces"][0] if e["action"] != "free_completed"
    ]
    assert rows(read(value), "time", "bytes")[-1] == (10_000, -64)


def test_an_out_of_memory_error_and_a_snapshot_are_instants() -> None:
    device = small()
    device.fail(1 << 40, free=77)
    device.entries.append(
        {
            "action": "snapshot",
            "addr": 0,
            "size": 0,
            "stream": 0,
            "time_us": device.now + 4,
            "frames": [],
        }
    )
    trace = read(snapshot(device))
    instants = trace["instants"]
    assert trace.strings.many(instants["name"]) == ["[OutOfMemory]", "memory snapshot"]
    assert json.loads(trace.strings[int(instants["args"][0])]) == {
        "Device Type": 1,
        "Device Id": 0,
        "Bytes": 1 << 40,
        "Device Free": 77,
    }
    assert instants["time"].tolist() == [21_000, 25_000]


def test_without_a_history_what_is_alive_is_still_known() -> None:
    device = small()
    value = {**snapshot(device), "device_traces": [[]]}
    assert rows(read(value), "time", "bytes", "allocated", "reserved", "ordinal") == [
        (0, 3 * SEGMENT, 3 * SEGMENT, 4 * SEGMENT, -1)
    ]


def test_blocks_of_pytorch_2_0_have_a_history_and_no_address() -> None:
    frames = stack("/w/old.py:3:f")
    blocks = [
        {"size": ROUND, "state": "inactive"},
        {
            "size": 2 * ROUND,
            "state": "active_allocated",
            "history": [{"addr": 0, "real_size": 700, "frames": frames}],
        },
    ]
    segment = {"device": 0, "address": 4096, "total_size": SEGMENT, "stream": 0, "blocks": blocks}
    trace = read({"segments": [segment], "device_traces": [[]]})
    assert rows(trace, "address", "bytes") == [(4096 + ROUND, 700)]
    assert trace.strings[int(trace["memory"]["frames"][0])] == "/w/old.py(3): f"


def test_records_without_times_stand_one_microsecond_apart_and_are_counted() -> None:
    value = snapshot(small())
    for entry in value["device_traces"][0]:
        del entry["time_us"]
    trace = read(value)
    assert trace["memory"]["time"].tolist() == [0, 1000, 2000, 3000, 4000]
    assert defects(trace) == {UNTIMED: 5}


def test_a_buffer_that_contradicts_the_blocks_is_counted() -> None:
    device = small()
    value = snapshot(device)
    value["device_traces"][0] = value["device_traces"][0][:-2]
    assert defects(read(value)) == {DISAGREES: 1}


def test_records_of_several_devices_stand_in_the_order_of_time() -> None:
    devices = [Allocator(device=number) for number in range(3)]
    for turn in range(30):
        for device in devices:
            device.alloc(turn + 1, after_us=7 + device.device)
    memory = read(snapshot(*devices, last=20))["memory"]
    times = memory["time"].tolist()
    assert times == sorted(times)
    for device in devices:
        mine = memory["device"] == device.device
        assert memory["allocated"][mine][-1] == 30 * 31 // 2
        assert (np.diff(memory["ordinal"][mine & (memory["ordinal"] >= 0)]) > 0).all()
    assert (memory["ordinal"][:60] < 0).all()


def test_clocks_that_run_backwards_change_no_order() -> None:
    device = small()
    device.entries[-1]["time_us"] = BASE_US
    assert rows(read(snapshot(device)), "time", "bytes")[-1] == (10_000, -1000)


def test_strange_values_are_counted_and_cost_only_their_record() -> None:
    device = small()
    value = snapshot(device)
    strange: list[dict[str, Any]] = [
        {"action": "alloc", "addr": 5, "size": 1 << 80, "stream": 0, "time_us": BASE_US},
        {
            "action": "alloc",
            "addr": 5,
            "size": "7",
            "stream": None,
            "time_us": "now",
            "frames": [3, {"filename": 4}],
        },
        {"action": ["alloc"], "addr": 5, "size": 1},
        {"action": "defragment", "addr": 5, "size": 1},
    ]
    value["device_traces"][0] = value["device_traces"][0] + strange
    value["segments"] += [
        7,
        {"blocks": 3},
        {"device": -1, "total_size": 1, "blocks": []},
        {"device": 0, "total_size": 1, "blocks": [{}, 3]},
    ]
    trace = read(value)
    # The one byte of the last segment was reserved before: a state without any change.
    known = read(snapshot(small()))["memory"]["bytes"].tolist()
    assert trace["memory"]["bytes"].tolist() == [0, *known]
    assert defects(trace) == {
        UNTIMED: 3,
        "unknown_memory_action": 1,
        "other_memory_action": 1,
        "unusable_memory_record": 2 + 3 + 2,
    }


def test_pieces_of_any_size_give_the_same() -> None:
    device = Allocator()
    for size in range(1, 300):
        device.alloc(size, LINEAR if size % 2 else ADAM)
    whole = read(snapshot(device))
    for piece in (1, 7, 4096):
        reread = read(snapshot(device), piece=piece)
        for name, column in whole["memory"].items():
            assert np.array_equal(column, reread["memory"][name]), name


def test_compressed_and_by_its_content_alone() -> None:
    from torch_tb_profiler.sources.streams import TextInMemory

    assert read_trace(TextInMemory(pickled(snapshot(small()))), Settings())["memory"].n == 5
    assert gzip.decompress(gzip.compress(pickled(snapshot(small()))))[:1] == b"\x80"
