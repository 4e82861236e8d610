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
    kept, rest = rows[:limit], rows[limit:]
    node = table["node"][kept]
    names, parents, events = (
        np.append(nodes[column], -1) for column in ("name", "parent", "event")
    )
    columns = BlockColumns(
        operator=optional_texts(texts, names[node]),
        parent=optional_texts(texts, names[parents[node]]),
        module=optional_texts(texts, module_names_of(insight)[table["path"][kept]]),
        line=optional_texts(texts, table["line"][kept]),
        category=_categories(insight, table["category"][kept]),
        bytes=table["bytes"][kept].tolist(),
        allocated_ns=optional_integers(table["begin"][kept]),
        released_ns=optional_integers(table["end"][kept]),
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
    found = usage(insight, device, window, group)
    calls = calls_in(trace, facts, insight, window, group)
    kept, rest = slice(limit), slice(limit, None)
    pooled = max(0, len(found.name) - limit)

    def sums(own: NDArray[Any], total: NDArray[Any]) -> list[int]:
        # Of the pooled rows some lie beneath others: their totals cannot be added.
        return [*total[kept].tolist(), *([int(own[rest].sum())] if pooled else [])]

    blank: list[None] = [None] if pooled else []
    return MemoryStatisticsPayload(
        device=device,
        group=group,
        pooled=pooled,
        outside_bytes=found.outside,
        outside_increase_bytes=found.outside_increase,
        rows=MemoryStatisticsColumns(
            name=[*insight.strings.many(found.name[kept]), *([OTHER] if pooled else [])],
            calls=[
                *(
                    calls[found.name[kept]].tolist()
                    if calls is not None
                    else [None] * (len(found.name) - pooled)
                ),
                *blank,
            ],
            increase_bytes=sums(found.self_increase, found.increase),
            self_increase_bytes=sums(found.self_increase, found.self_increase),
            allocations=sums(found.self_allocations, found.allocations),
            self_allocations=sums(found.self_allocations, found.self_allocations),
            allocation_bytes=sums(found.self_allocated, found.allocated),
            self_allocation_bytes=sums(found.self_allocated, found.self_allocated),
        ),
    )


def memory_alive_payload(
    insight: Insight, device: int, time: int | None, limit: int
) -> MemoryAlivePayload:
    """What is alive at a time, ns; None: at the device's peak. The ``limit`` largest origins are
    listed.
    """
    found = alive_at(insight, device, time)
    kept, rest = slice(limit), slice(limit, None)
    operator, parent, module, line = (
        optional_texts(insight.strings, numbers[kept])
        for numbers in (found.operator, found.parent, found.module, found.line)
    )
    return MemoryAlivePayload(
        device=device,
        time_ns=found.time,
        allocated_bytes=found.allocated,
        reserved_bytes=found.reserved if found.reserved >= 0 else None,
        fragmented_bytes=found.reserved - found.allocated if found.reserved >= 0 else None,
        unknown_bytes=found.unknown,
        rows=AliveColumns(
            operator=operator,
            parent=parent,
            module=module,
            line=line,
            category=_categories(insight, found.category[kept]),
            bytes=found.bytes[kept].tolist(),
            count=optional_integers(found.count[kept]),
            largest_bytes=optional_integers(found.largest[kept]),
            oldest_ns=optional_integers(found.oldest[kept]),
        ),
        pooled=len(found.bytes[rest]),
        pooled_bytes=int(found.bytes[rest].sum()),
    )


def _categories(insight: Insight, numbers: NDArray[Any]) -> list[str | None]:
    names: list[str | None] = [*category_names(insight)[:-1], None]
    last = len(names) - 1
    return [names[number] if 0 <= number < last else None for number in numbers.tolist()]
