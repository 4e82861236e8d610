"""Routes ``/memory/blocks``, ``/memory/statistics`` and ``/memory/alive``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.memory.alive import alive_at
from torch_tb_profiler.analysis.memory.calls import calls_in
from torch_tb_profiler.analysis.memory.usage import usage
from torch_tb_profiler.analysis.memory.window import Window, blocks_in
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.memory import category_names
from torch_tb_profiler.views.memory_wire import (
    AliveColumns,
    BlockColumns,
    MemoryAlivePayload,
    MemoryBlocksPayload,
    MemoryGroup,
    MemoryStatisticsColumns,
    MemoryStatisticsPayload,
)
from torch_tb_profiler.views.nullable import OTHER, optional_integers, optional_texts


def memory_blocks_payload(
    insight: Insight, device: int, window: Window | None, limit: int
) -> MemoryBlocksPayload:
    """Blocks that were allocated or released in a window (None: all), the ``limit`` largest listed."""
    table, nodes, texts = insight["allocations"], insight["memory_nodes"], insight.strings
    rows = blocks_in(insight, device, window)
    shown, rest = rows[:limit], rows[limit:]
    node = table["node"][shown]
    names, parents, events = (
        np.append(nodes[column], -1) for column in ("name", "parent", "event")
    )
    columns = BlockColumns(
        operator=optional_texts(texts, names[node]),
        parent=optional_texts(texts, names[parents[node]]),
        module=optional_texts(texts, module_names_of(insight)[table["path"][shown]]),
        line=optional_texts(texts, table["line"][shown]),
        category=_categories(insight, table["category"][shown]),
        bytes=table["bytes"][shown].tolist(),
        allocated_ns=optional_integers(table["begin"][shown]),
        released_ns=optional_integers(table["end"][shown]),
        event=optional_integers(events[node]),
    )
    return MemoryBlocksPayload(
        device=device, rows=columns, pooled=len(rest), pooled_bytes=int(table["bytes"][rest].sum())
    )


def memory_statistics_payload(
    trace: Trace,
    facts: Facts,
    insight: Insight,
    device: int,
    window: Window | None,
    group: MemoryGroup,
    limit: int,
) -> MemoryStatisticsPayload:
    """Sums per operator or module in a window; None: all."""
    sums_by_name = usage(insight, device, window, group)
    calls = calls_in(trace, facts, insight, window, group)
    shown, rest = slice(limit), slice(limit, None)
    pooled = max(0, len(sums_by_name.name) - limit)

    def sums(own: NDArray[Any], total: NDArray[Any]) -> list[int]:
        # Of the pooled rows some lie beneath others: their totals cannot be added.
        return [*total[shown].tolist(), *([int(own[rest].sum())] if pooled else [])]

    blank: list[None] = [None] if pooled else []
    return MemoryStatisticsPayload(
        device=device,
        group=group,
        pooled=pooled,
        outside_bytes=sums_by_name.outside,
        outside_increase_bytes=sums_by_name.outside_increase,
        rows=MemoryStatisticsColumns(
            name=[*insight.strings.many(sums_by_name.name[shown]), *([OTHER] if pooled else [])],
            calls=[
                *(
                    calls[sums_by_name.name[shown]].tolist()
                    if calls is not None
                    else [None] * (len(sums_by_name.name) - pooled)
                ),
                *blank,
            ],
            increase_bytes=sums(sums_by_name.self_increase, sums_by_name.increase),
            self_increase_bytes=sums(sums_by_name.self_increase, sums_by_name.self_increase),
            allocations=sums(sums_by_name.self_allocations, sums_by_name.allocations),
            self_allocations=sums(sums_by_name.self_allocations, sums_by_name.self_allocations),
            allocation_bytes=sums(sums_by_name.self_allocated, sums_by_name.allocated),
            self_allocation_bytes=sums(sums_by_name.self_allocated, sums_by_name.self_allocated),
        ),
    )


def memory_alive_payload(
    insight: Insight, device: int, time: int | None, limit: int
) -> MemoryAlivePayload:
    """What is alive at a time, ns; None: at the device's peak. The ``limit`` largest origins are
    listed.
    """
    alive = alive_at(insight, device, time)
    shown, rest = slice(limit), slice(limit, None)
    operator, parent, module, line = (
        optional_texts(insight.strings, numbers[shown])
        for numbers in (alive.operator, alive.parent, alive.module, alive.line)
    )
    return MemoryAlivePayload(
        device=device,
        time_ns=alive.time,
        allocated_bytes=alive.allocated,
        reserved_bytes=alive.reserved if alive.reserved >= 0 else None,
        fragmented_bytes=alive.reserved - alive.allocated if alive.reserved >= 0 else None,
        unknown_bytes=alive.unknown,
        rows=AliveColumns(
            operator=operator,
            parent=parent,
            module=module,
            line=line,
            category=_categories(insight, alive.category[shown]),
            bytes=alive.bytes[shown].tolist(),
            count=optional_integers(alive.count[shown]),
            largest_bytes=optional_integers(alive.largest[shown]),
            oldest_ns=optional_integers(alive.oldest[shown]),
        ),
        pooled=len(alive.bytes[rest]),
        pooled_bytes=int(alive.bytes[rest].sum()),
    )


def _categories(insight: Insight, numbers: NDArray[Any]) -> list[str | None]:
    names: list[str | None] = [*category_names(insight)[:-1], None]
    last = len(names) - 1
    return [names[number] if 0 <= number < last else None for number in numbers.tolist()]
