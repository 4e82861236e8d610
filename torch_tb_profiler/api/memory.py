"""The allocator's records of one trace as DataFrames: the curve, the blocks, what is alive."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.api import frame_columns as columns
from torch_tb_profiler.api.frame import category, coded, frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.block_categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.views.memory_devices import device_names, in_order
from torch_tb_profiler.views.memory_tables import memory_alive_payload

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_ORIGINS = 1 << 20


def curve(context: TraceContext) -> DataFrame:
    """See ``columns.MEMORY``."""
    insight = context.insight
    table = insight["memory_curve"]
    name, event = (
        np.append(insight["memory_nodes"][key], -1)[table["node"]] for key in ("name", "event")
    )
    values: dict[str, Any] = {
        "device": _devices(insight, table["device"]),
        "time_ns": table["time"],
        "change_bytes": table["bytes"],
        "allocated_bytes": table["allocated"],
        "reserved_bytes": table["reserved"],
        "operator": category(name, insight.strings),
        "module": category(module_names_of(insight)[table["path"]], insight.strings),
        "event": event,
    }
    return frame(columns.MEMORY, values, share=True)


def blocks(context: TraceContext) -> DataFrame:
    """See ``columns.MEMORY_BLOCKS``."""
    insight = context.insight
    table, nodes = insight["allocations"], insight["memory_nodes"]
    name, event = (np.append(nodes[key], -1) for key in ("name", "event"))
    category_code = np.where(table["category"] < len(BLOCK_CATEGORIES), table["category"], -1)
    values: dict[str, Any] = {
        "device": _devices(insight, table["device"]),
        "bytes": table["bytes"],
        "allocated_ns": table["begin"],
        "released_ns": table["end"],
        "operator": category(name[table["node"]], insight.strings),
        "module": category(module_names_of(insight)[table["path"]], insight.strings),
        "line": category(table["line"], insight.strings),
        "category": coded(category_code, BLOCK_CATEGORIES),
        "event": event[table["node"]],
        "release_event": event[table["released_by"]],
    }
    return frame(columns.MEMORY_BLOCKS, values, share=True)


def alive(context: TraceContext, time_ns: int | None, device: str | None) -> DataFrame:
    """See ``columns.MEMORY_ALIVE``; without a time at the peak of each device.

    Raises:
        NotFound: there is no such device.
        TypeError: the time is no integer.
    """
    import pandas

    # DataFrames hold numpy integers.
    time_ns = None if time_ns is None else index(time_ns)
    devices = context.insight["memory_devices"]
    names = device_names(devices)
    if device is not None and device not in names:
        raise NotFound(
            f"There is no memory device {device!r}.",
            f"The trace has {', '.join(names) or 'none: record with profile_memory=True'}.",
        )
    wanted = [row for row in in_order(devices) if device in (None, names[row])]
    listed = [_alive_on(context.insight, row, names[row], time_ns) for row in wanted]
    if not listed:
        return frame(
            columns.MEMORY_ALIVE, {column.name: [] for column in columns.MEMORY_ALIVE.columns}
        )
    joined: DataFrame = pandas.concat(listed, ignore_index=True) if len(listed) > 1 else listed[0]
    joined.attrs = listed[0].attrs
    return joined


def _alive_on(insight: Insight, row: int, name: str, time_ns: int | None) -> DataFrame:
    rows = memory_alive_payload(insight, row, time_ns, MOST_ORIGINS).rows
    values: dict[str, Any] = {
        key: getattr(rows, key)
        for key in (
            "operator",
            "parent",
            "module",
            "line",
            "category",
            "bytes",
            "largest_bytes",
            "oldest_ns",
        )
    }
    return frame(
        columns.MEMORY_ALIVE, {**values, "device": [name] * len(rows.bytes), "blocks": rows.count}
    )


def _devices(insight: Insight, numbers: Array) -> Any:
    return coded(numbers, device_names(insight["memory_devices"]))
