"""The tables of the allocator's records: the curve, the blocks, what is alive, what changed, what failed."""

from __future__ import annotations

from operator import index

import numpy as np

from torch_tb_profiler.analysis.memory.allocator_state import allocator_state_at
from torch_tb_profiler.analysis.memory.changes import (
    MEMORY_CHANGES,
    MemoryBy,
    Moment,
    changes_table,
)
from torch_tb_profiler.analysis.memory.failures import MEMORY_FAILURES, failed_allocations
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at
from torch_tb_profiler.analysis.memory.map_table import MEMORY_SEGMENTS, segments_table
from torch_tb_profiler.analysis.memory.table import (
    MEMORY,
    MEMORY_ALIVE,
    MEMORY_BLOCKS,
    MEMORY_CATEGORIES,
    alive_table,
    block_table,
)
from torch_tb_profiler.analysis.memory.window import by_category, of_device
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import Coded, DisplayTable
from torch_tb_profiler.tables.source import TableSource, computes
from torch_tb_profiler.views.memory.devices import (
    NO_RECORDS,
    device_names,
    in_order,
    same_device,
)
from torch_tb_profiler.views.words.vocabulary import vocabulary

MOST_FAILURES = 1000
"""Failed allocations that are listed."""


@computes(MEMORY)
def memory(of: TableSource) -> DisplayTable:
    """Every allocator record and the memory after it, in all steps."""
    insight = of.insight
    table = insight["memory_curve"]
    name, event = (
        np.append(insight["memory_nodes"][key], -1)[table["node"]] for key in ("name", "event")
    )
    return MEMORY.build(
        insight.strings,
        device=_devices(of, table["device"]),
        time_ns=table["time"],
        change_bytes=table["bytes"],
        allocated_bytes=table["allocated"],
        reserved_bytes=table["reserved"],
        operator=name,
        module=module_names_of(insight)[table["path"]],
        event=event,
    )


@computes(MEMORY_BLOCKS)
def memory_blocks(of: TableSource) -> DisplayTable:
    """Memory blocks from allocation to release, in all steps."""
    table = of.insight["allocations"]
    blocks = block_table(of.insight, np.arange(table.n))
    return blocks.with_columns(
        device=_devices(of, table["device"]),
        category=Coded(blocks["category"].codes, BLOCK_CATEGORIES),
    )


@computes(MEMORY_CATEGORIES)
def memory_categories(of: TableSource) -> DisplayTable:
    """What was allocated after every record, by what it is for: parameters, gradients, activations …"""
    insight = of.insight
    table, names = insight["memory_curve"], _names(of)
    levels = [
        by_category(insight, row, np.arange(rows.start, rows.stop))
        for row in range(len(names))
        if (rows := of_device(table, row)).stop > rows.start
    ]
    columns = [f"{name}_bytes" for name in (*BLOCK_CATEGORIES, "before", "unknown")]
    known = np.concatenate(levels, axis=1) if levels else np.zeros((len(columns), 0), np.int64)
    if not len(known):
        known = np.zeros((len(columns), table.n), np.int64)
        known[-1] = table["allocated"]
    return MEMORY_CATEGORIES.build(
        insight.strings,
        device=_devices(of, table["device"]),
        time_ns=table["time"],
        allocated_bytes=table["allocated"],
        **dict(zip(columns, known, strict=True)),
    )


@computes(MEMORY_SEGMENTS)
def memory_segments(
    of: TableSource, time_ns: int | None = None, device: str | None = None
) -> DisplayTable:
    """The segments of a memory snapshot, when it was written or at a time, and how full they are.

    Raises:
        NotFound: there is no such device.
        TypeError: the time is no integer.
    """
    time_ns = None if time_ns is None else index(time_ns)
    insight, names = of.insight, _names(of)
    tables = [
        segments_table(of.trace, held, names[row])
        for row in _wanted(of, device)
        if (held := allocator_state_at(of.trace, insight, row, time_ns)) is not None
    ]
    return MEMORY_SEGMENTS.joined(tables)


@computes(MEMORY_CHANGES)
def memory_changes(
    of: TableSource,
    before_ns: int | None = None,
    after_ns: int | None = None,
    by: MemoryBy = "line",
    device: str | None = None,
    other: TableSource | None = None,
) -> DisplayTable:
    """What grew between two times of a device, by default the first, by ``"operator"``, ``"parent"``, ``"module"``, ``"line"``,
    ``"stack"`` or ``"category"``, the largest change first; with ``other`` the second time is of that
    trace. Without times: the peaks.

    Raises:
        NotFound: there is no such device.
        TypeError: a time is no integer.
    """
    before, after = (None if time is None else index(time) for time in (before_ns, after_ns))
    wanted = _wanted(of, device)
    second = (other or of).insight
    if not wanted or not second["memory_devices"].n:
        return MEMORY_CHANGES.joined([])
    row = wanted[0]
    to = row if other is None else same_device(of.insight, row, second)
    return changes_table(Moment(of.insight, row, before), Moment(second, to, after), by)


@computes(MEMORY_FAILURES)
def memory_failures(of: TableSource) -> DisplayTable:
    """Allocations that failed for lack of memory."""
    insight, names = of.insight, _names(of)
    found, _ = failed_allocations(of.trace, of.facts, insight, MOST_FAILURES)
    held = [live_memory_at(insight, f.device, f.time) if f.device >= 0 else None for f in found]
    return MEMORY_FAILURES.build(
        insight.strings,
        device=[names[f.device] if f.device >= 0 else None for f in found],
        time_ns=np.array([f.time for f in found], np.int64),
        requested_bytes=np.array([f.bytes for f in found], np.int64),
        free_bytes=np.array([f.free for f in found], np.int64),
        allocated_bytes=np.array([h.allocated if h else -1 for h in held], np.int64),
        reserved_bytes=np.array([h.reserved if h else -1 for h in held], np.int64),
        line=[f.line or None for f in found],
        stack=["\n".join(f.stack) or None for f in found],
    )


@computes(MEMORY_ALIVE)
def memory_alive(
    of: TableSource, time_ns: int | None = None, device: str | None = None
) -> DisplayTable:
    """What is alive at a time, by default at each device's peak, by where it was allocated.

    Raises:
        NotFound: there is no such device.
        TypeError: the time is no integer.
    """
    # DataFrames hold numpy integers.
    time_ns = None if time_ns is None else index(time_ns)
    insight, names = of.insight, _names(of)
    tables = []
    for row in _wanted(of, device):
        table = alive_table(insight, live_memory_at(insight, row, time_ns))
        tables.append(table.with_columns(device=[names[row]] * table.n))
    return MEMORY_ALIVE.joined(tables)


def _wanted(of: TableSource, device: str | None) -> list[int]:
    """The rows of ``memory_devices`` of a name; None: all, in order.

    Raises:
        NotFound: there is no such device.
    """
    devices, names = of.insight["memory_devices"], _names(of)
    if device is not None and device not in names:
        raise NotFound(
            f"There is no memory device {device!r}.",
            f"The trace has {', '.join(names)}." if names else f"The trace has none. {NO_RECORDS}.",
        )
    return [row for row in in_order(devices) if device in (None, names[row])]


def _devices(of: TableSource, numbers: Array) -> Coded:
    return Coded(numbers, _names(of))


def _names(of: TableSource) -> list[str]:
    return device_names(of.insight["memory_devices"], vocabulary(of.facts))
