"""The allocator's records of one trace as DataFrames: the curve, the blocks, what is alive."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.memory.alive import alive_at
from torch_tb_profiler.analysis.memory.changes import (
    MEMORY_CHANGES,
    MemoryBy,
    Moment,
    changes_table,
)
from torch_tb_profiler.analysis.memory.failures import MEMORY_FAILURES, failed_allocations
from torch_tb_profiler.analysis.memory.held import held_at
from torch_tb_profiler.analysis.memory.map_table import MEMORY_SEGMENTS, segments_table
from torch_tb_profiler.analysis.memory.table import (
    MEMORY,
    MEMORY_ALIVE,
    MEMORY_CATEGORIES,
    RECORDED,
    alive_table,
    block_table,
)
from torch_tb_profiler.analysis.memory.window import levels_of_all, of_device
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.api.frame import coded, table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.block_categories import BLOCK_CATEGORIES, CATEGORY_RULES
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import DisplaySpec, DisplayTable
from torch_tb_profiler.store.strings import NO_STRINGS
from torch_tb_profiler.views.memory.devices import (
    NO_RECORDS,
    device_names,
    in_order,
    same_device,
)
from torch_tb_profiler.views.words.vocabulary import vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_FAILURES = 1000
"""Failed allocations that are listed."""


def curve(context: TraceContext) -> DataFrame:
    """See ``analysis.memory.table.MEMORY``."""
    insight = context.insight
    table = insight["memory_curve"]
    name, event = (
        np.append(insight["memory_nodes"][key], -1)[table["node"]] for key in ("name", "event")
    )
    rows = MEMORY.build(
        insight.strings,
        device=_devices(context, table["device"]),
        time_ns=table["time"],
        change_bytes=table["bytes"],
        allocated_bytes=table["allocated"],
        reserved_bytes=table["reserved"],
        operator=name,
        module=module_names_of(insight)[table["path"]],
        event=event,
    )
    return table_frame(rows, share=True)


def blocks(context: TraceContext) -> DataFrame:
    """See ``analysis.memory.table.MEMORY_BLOCKS``."""
    table = context.insight["allocations"]
    told = np.where(table["category"] < len(BLOCK_CATEGORIES), table["category"], -1)
    rule = np.where(told >= 0, table["rule"] + 1, -1)
    rows = block_table(context.insight, np.arange(table.n)).with_columns(
        device=_devices(context, table["device"]),
        category=coded(told, BLOCK_CATEGORIES),
        known_by=coded(rule, (RECORDED, *(text for _, text in CATEGORY_RULES))),
    )
    return table_frame(rows, share=True)


def categories(context: TraceContext) -> DataFrame:
    """See ``analysis.memory.table.MEMORY_CATEGORIES``."""
    insight = context.insight
    table, names = insight["memory_curve"], _names(context)
    levels = [
        levels_of_all(insight, row)
        for row in range(len(names))
        if (rows := of_device(table, row)).stop > rows.start
    ]
    columns = [f"{name}_bytes" for name in (*BLOCK_CATEGORIES, "before", "unknown")]
    known = np.concatenate(levels, axis=1) if levels else np.zeros((len(columns), 0), np.int64)
    if not len(known):
        known = np.zeros((len(columns), table.n), np.int64)
        known[-1] = table["allocated"]
    listed = MEMORY_CATEGORIES.build(
        insight.strings,
        device=_devices(context, table["device"]),
        time_ns=table["time"],
        allocated_bytes=table["allocated"],
        **dict(zip(columns, known, strict=True)),
    )
    return table_frame(listed)


def segments(context: TraceContext, time_ns: int | None, device: str | None) -> DataFrame:
    """See ``analysis.memory.map_table.MEMORY_SEGMENTS``; of every device that tells its segments.

    Raises:
        NotFound: there is no such device.
        TypeError: the time is no integer.
    """
    time_ns = None if time_ns is None else index(time_ns)
    insight, names = context.insight, _names(context)
    tables = [
        segments_table(context.trace, held, names[row])
        for row in _wanted(context, device)
        if (held := held_at(context.trace, insight, row, time_ns)) is not None
    ]
    return _joined(tables, MEMORY_SEGMENTS)


def changes(
    context: TraceContext,
    before_ns: int | None,
    after_ns: int | None,
    by: MemoryBy,
    device: str | None,
    other: TraceContext | None,
) -> DataFrame:
    """See ``analysis.memory.changes.MEMORY_CHANGES``: of one device, by default the first.

    Raises:
        NotFound: there is no such device.
        TypeError: a time is no integer.
    """
    before, after = (None if time is None else index(time) for time in (before_ns, after_ns))
    wanted = _wanted(context, device)
    second = (other or context).insight
    if not wanted or not second["memory_devices"].n:
        return _joined([], MEMORY_CHANGES)
    row = wanted[0]
    to = row if other is None else same_device(context.insight, row, second)
    return table_frame(
        changes_table(Moment(context.insight, row, before), Moment(second, to, after), by)
    )


def failures(context: TraceContext) -> DataFrame:
    """See ``analysis.memory.failures.MEMORY_FAILURES``."""
    insight, names = context.insight, _names(context)
    found, _ = failed_allocations(context.trace, context.facts, insight, MOST_FAILURES)
    held = [alive_at(insight, f.device, f.time) if f.device >= 0 else None for f in found]
    table = MEMORY_FAILURES.build(
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
    return table_frame(table)


def alive(context: TraceContext, time_ns: int | None, device: str | None) -> DataFrame:
    """See ``analysis.memory.table.MEMORY_ALIVE``; at the peak of each device without a time.

    Raises:
        NotFound: there is no such device.
        TypeError: the time is no integer.
    """
    # DataFrames hold numpy integers.
    time_ns = None if time_ns is None else index(time_ns)
    insight, names = context.insight, _names(context)
    tables = []
    for row in _wanted(context, device):
        table = alive_table(insight, alive_at(insight, row, time_ns))
        tables.append(table.with_columns(device=[names[row]] * table.n))
    return _joined(tables, MEMORY_ALIVE)


def _wanted(context: TraceContext, device: str | None) -> list[int]:
    """The rows of ``memory_devices`` of a name; None: all, in order.

    Raises:
        NotFound: there is no such device.
    """
    devices, names = context.insight["memory_devices"], _names(context)
    if device is not None and device not in names:
        raise NotFound(
            f"There is no memory device {device!r}.",
            f"The trace has {', '.join(names)}." if names else f"The trace has none. {NO_RECORDS}.",
        )
    return [row for row in in_order(devices) if device in (None, names[row])]


def _joined(tables: list[DisplayTable], spec: DisplaySpec) -> DataFrame:
    """The tables of several devices as one frame, an empty one of none."""
    import pandas

    if not tables:
        return table_frame(spec.build(NO_STRINGS, **{column.name: [] for column in spec.columns}))
    frames = [table_frame(table) for table in tables]
    joined: DataFrame = pandas.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    joined.attrs = frames[0].attrs
    return joined


def _devices(context: TraceContext, numbers: Array) -> Any:
    return coded(numbers, _names(context))


def _names(context: TraceContext) -> list[str]:
    return device_names(context.insight["memory_devices"], vocabulary(context.facts))
