"""The allocator's records of one trace as DataFrames: the curve, the blocks, what is alive."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.memory.alive import alive_at
from torch_tb_profiler.analysis.memory.table import MEMORY, MEMORY_ALIVE, alive_table, block_table
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.api.frame import coded, table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.block_categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.views.memory_devices import device_names, in_order
from torch_tb_profiler.views.vocabulary import vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame


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
    rows = block_table(context.insight, np.arange(table.n)).with_columns(
        device=_devices(context, table["device"]), category=coded(told, BLOCK_CATEGORIES)
    )
    return table_frame(rows, share=True)


def alive(context: TraceContext, time_ns: int | None, device: str | None) -> DataFrame:
    """See ``analysis.memory.table.MEMORY_ALIVE``; at the peak of each device without a time.

    Raises:
        NotFound: there is no such device.
        TypeError: the time is no integer.
    """
    import pandas

    # DataFrames hold numpy integers.
    time_ns = None if time_ns is None else index(time_ns)
    devices = context.insight["memory_devices"]
    names = device_names(devices, vocabulary(context.facts))
    if device is not None and device not in names:
        raise NotFound(
            f"There is no memory device {device!r}.",
            f"The trace has {', '.join(names) or 'none: record with profile_memory=True'}.",
        )
    wanted = [row for row in in_order(devices) if device in (None, names[row])]
    listed = [_alive_on(context.insight, row, names[row], time_ns) for row in wanted]
    if not listed:
        nothing: dict[str, list[Any]] = {column.name: [] for column in MEMORY_ALIVE.columns}
        return table_frame(MEMORY_ALIVE.build(context.insight.strings, **nothing))
    joined: DataFrame = pandas.concat(listed, ignore_index=True) if len(listed) > 1 else listed[0]
    joined.attrs = listed[0].attrs
    return joined


def _alive_on(insight: Insight, row: int, name: str, time_ns: int | None) -> DataFrame:
    table = alive_table(insight, alive_at(insight, row, time_ns))
    return table_frame(table.with_columns(device=[name] * table.n))


def _devices(context: TraceContext, numbers: Array) -> Any:
    names = device_names(context.insight["memory_devices"], vocabulary(context.facts))
    return coded(numbers, names)
