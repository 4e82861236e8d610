"""Segments and blocks of a snapshot, at its end and before, against a plain walk over the allocator."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.analysis.memory.recorded import built
from tests.builders.snapshots import pickled
from tests.builders.splitting import BACKWARD, FORWARD, Splitting, train
from tests.importers.reading import Stream
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.memory.allocator_state import AllocatorState, allocator_state_at
from torch_tb_profiler.analysis.memory.changes import MemoryBy, Moment, changes_table
from torch_tb_profiler.analysis.memory.fragmentation import cells, fill_of, pooled
from torch_tb_profiler.analysis.memory.map_table import (
    map_blocks,
    pool_names,
    pools_table,
    segments_table,
)
from torch_tb_profiler.analysis.memory.window import by_category
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Trace

MIB = 1 << 20


def of(device: Splitting) -> tuple[Trace, Insight]:
    trace = read_trace(Stream(pickled(device.snapshot())), Settings())
    return trace, built(trace, derive(trace))


def state(device: Splitting) -> list[tuple[int, int, list[tuple[int, int, int]]]]:
    """(stream, bytes, stretches with addresses as offsets) of the segments, in the map's order."""
    order = sorted(
        device.segments,
        key=lambda base: (
            device.segments[base]["pool"] != (0, 0),
            device.segments[base]["stream"],
            base,
        ),
    )
    return [
        (
            device.segments[base]["stream"],
            device.segments[base]["bytes"],
            [(address - base, size, asked) for address, size, asked in device.stretches(base)],
        )
        for base in order
    ]


def churn(seed: int, moves: int = 160) -> tuple[Splitting, list[tuple[int, Splitting]]]:
    """Random work, and what the allocator was at some times (ns after its first record)."""
    draw, device, moments = random.Random(seed), Splitting(), []
    for _ in range(moves):
        chance = draw.random()
        if device.live and chance < 0.4:
            device.free(draw.choice(list(device.live)))
        elif chance < 0.43:
            device.empty_cache()
        else:
            pool = (0, 1) if draw.random() < 0.2 else (0, 0)
            device.alloc(draw.randrange(1, 5 * MIB), FORWARD, draw.choice((0, 0, 7)), pool)
        if draw.random() < 0.1:
            copy = Splitting(segments=dict(device.segments), live=dict(device.live))
            moments.append(((device.now - device.entries[0]["time_us"]) * 1000, copy))
    return device, moments


def check(held: AllocatorState, device: Splitting, *, exact: bool) -> None:
    """Equal segments and blocks, and figures that a plain loop counts."""
    wanted = state(device)
    assert held.bytes.tolist() == [size for _, size, _ in wanted]
    listed, begin = [], 0
    for _, size, stretches in wanted:
        listed += [(begin + at, size, asked) for at, size, asked in stretches if asked >= 0]
        begin += size
    assert held.offset.tolist() == [at for at, _, _ in listed]
    assert held.requested.tolist() == [asked for _, _, asked in listed]
    assert held.size.tolist() == [size for _, size, _ in listed]
    if exact:
        assert held.stream.tolist() == [stream for stream, _, _ in wanted]
    fill = fill_of(held)
    for row, (_, size, stretches) in enumerate(wanted):
        free = [length for _, length, asked in stretches if asked < 0]
        used = [(length, asked) for _, length, asked in stretches if asked >= 0]
        assert fill.free[row] == sum(free) == size - sum(length for length, _ in used)
        assert fill.largest[row] == max(free, default=0)
        assert fill.split[row] == (sum(free) if used else 0)
        assert fill.rounding[row] == sum(length - asked for length, asked in used)
        assert fill.blocks[row] == len(used)


@pytest.mark.parametrize("seed", range(6))
def test_the_state_at_the_end_and_before_is_the_allocators(seed: int) -> None:
    device, moments = churn(seed)
    trace, insight = of(device)
    final = allocator_state_at(trace, insight, 0, None)
    assert final is not None
    check(final, device, exact=True)
    assert moments
    for time, then in moments:
        held = allocator_state_at(trace, insight, 0, time)
        assert held is not None
        assert int(held.bytes.sum()) == sum(s["bytes"] for s in then.segments.values())
        by_address = np.argsort(held.address)
        bases = sorted(then.segments)
        assert held.address[by_address].tolist() == bases
        assert held.stream[by_address].tolist() == [then.segments[b]["stream"] for b in bases]
        assert sorted(held.requested.tolist()) == sorted(block[0] for block in then.live.values())
        fill = fill_of(held)
        for row, base in zip(by_address.tolist(), bases, strict=True):
            free = [length for _, length, asked in then.stretches(base) if asked < 0]
            assert (fill.free[row], fill.largest[row]) == (sum(free), max(free, default=0))


@pytest.mark.parametrize("count", [1, 7, 64, 1000])
def test_cells_are_what_a_loop_over_blocks_counts(count: int) -> None:
    trace, insight = of(churn(3)[0])
    held = allocator_state_at(trace, insight, 0, None)
    assert held is not None
    whole = int(held.begin[-1])
    for begin, end in ((0, whole), (whole // 3, whole // 2)):
        width, found = cells(held, begin, end, count)
        assert len(found.reserved) <= count
        assert int(found.reserved.sum()) == end - begin
        for cell in range(len(found.reserved)):
            low, high = begin + cell * width, min(begin + (cell + 1) * width, end)
            used = asked = 0
            for at, size, wanted in zip(
                held.offset.tolist(), held.size.tolist(), held.requested.tolist(), strict=True
            ):
                used += max(0, min(at + size, high) - max(at, low))
                asked += max(0, min(at + wanted, high) - max(at, low))
            assert (found.allocated[cell], found.rounding[cell]) == (used, used - asked)


def test_pools_and_streams_stand_apart() -> None:
    device = Splitting()
    device.alloc(MIB, FORWARD)
    device.alloc(3 * MIB, FORWARD, stream=7)
    device.alloc(30 * MIB, BACKWARD, pool=(0, 1))
    trace, insight = of(device)
    held = allocator_state_at(trace, insight, 0, None)
    assert held is not None
    table, _ = pools_table(trace, held)
    rows = zip(
        table["pool"], table["stream"].tolist(), table["reserved_bytes"].tolist(), strict=True
    )
    assert list(rows) == [
        ("0, 1", 0, 30 * MIB),
        ("default", 7, 20 * MIB),
        ("default", 0, 2 * MIB),
    ]
    names = np.array(pool_names(trace, held.pool), object)
    private = held.only(None, "0, 1", names)
    assert (private.bytes.tolist(), private.offset.tolist()) == ([30 * MIB], [0])
    assert held.only(7, None, names).size.tolist() == [3 * MIB]
    nothing = held.only(99, None, names)
    assert pooled(fill_of(nothing), [])[1].reserved.tolist() == [0]
    assert cells(nothing, 0, 0, 16)[1].reserved.sum() == 0
    assert segments_table(trace, held, "GPU 0").n == 3


def test_blocks_say_their_stack_within_bounds() -> None:
    device, _ = train(steps=2)
    trace, insight = of(device)
    held = allocator_state_at(trace, insight, 0, None)
    assert held is not None
    rows = np.arange(len(held.size))
    table, stacks = map_blocks(trace, insight, held, rows, 1, 10_000)
    assert {stack.count("\n") for stack in stacks} == {0}
    assert set(table["category"]) == {"parameter", "optimizer state", "gradient"}
    none, stacks = map_blocks(trace, insight, held, rows, 12, 0)
    assert (stacks, set(none["stack"])) == ([], {-1})


@pytest.mark.parametrize("by", ["line", "stack", "category"])
def test_changes_are_what_a_loop_over_blocks_counts(by: MemoryBy) -> None:
    device, _ = train(steps=3)
    _, insight = of(device)
    curve, table = insight["memory_curve"], insight["allocations"]
    low, high = int(curve["time"][curve.n // 3]), int(curve["time"][3 * curve.n // 4])
    found = changes_table(Moment(insight, 0, low), Moment(insight, 0, high), by)
    after = found["before_bytes"] + found["allocated_bytes"] - found["freed_bytes"]
    assert after.tolist() == found["after_bytes"].tolist()
    assert (np.diff(np.abs(found["delta_bytes"])) <= 0).all()
    sums = dict.fromkeys(("before_bytes", "after_bytes", "allocated_bytes", "freed_bytes"), 0)
    for row in range(table.n):
        size, begin, end = (int(table[name][row]) for name in ("bytes", "begin", "end"))
        end = end if end >= 0 else 1 << 60
        sums["before_bytes"] += size * (begin <= low < end)
        sums["after_bytes"] += size * (begin <= high < end)
        sums["allocated_bytes"] += size * (low < begin <= high)
        sums["freed_bytes"] += size * (low < end <= high)
    assert {name: int(found[name].sum()) for name in sums} == sums
    back = changes_table(Moment(insight, 0, high), Moment(insight, 0, low), by)
    assert sorted(back["delta_bytes"].tolist()) == sorted((-found["delta_bytes"]).tolist())


def test_two_snapshots_are_compared_by_name() -> None:
    first, second = (of(train(steps=steps)[0])[1] for steps in (1, 2))
    found = changes_table(Moment(first, 0, None), Moment(second, 0, None), "category")
    levels = [
        dict(enumerate(by_category(side, 0, _peak(side))[:-2, 0].tolist()))
        for side in (first, second)
    ]
    assert int(found["after_bytes"].sum()) - int(found["before_bytes"].sum()) == sum(
        levels[1].values()
    ) - sum(levels[0].values()) + _unknown(second) - _unknown(first)
    assert set(found["allocated_bytes"].tolist()) == {-1}


def _peak(insight: Insight) -> np.ndarray:
    return np.array([int(np.argmax(insight["memory_curve"]["allocated"]))])


def _unknown(insight: Insight) -> int:
    return int(by_category(insight, 0, _peak(insight))[-2:, 0].sum())
