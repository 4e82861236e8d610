"""The tables of memory: its curve, its blocks, sums by operator or module, and what is alive."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.memory.alive import Alive
from torch_tb_profiler.analysis.memory.usage import Usage
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.block_categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable, known
from torch_tb_profiler.store.insight import Insight

UNKNOWN_CATEGORY = "unknown"
_EVENT = "row of events"
_C = DisplayColumn
MEMORY = DisplaySpec(
    "memory",
    "One row per record of the allocator, by device and time: the memory curve.",
    (
        _C("device", "category", "", "The device, e.g. `GPU 0`, `CPU`.", page=False),
        _C("time_ns", "time", "", "When, after the first event of the trace."),
        _C(
            "change_bytes",
            "delta bytes",
            "",
            "Allocated (above 0) or released (below 0).",
            page=False,
        ),
        _C("allocated_bytes", "bytes", "", "Allocated after it."),
        _C("reserved_bytes", "bytes", "", "Reserved after it.", optional=True),
        _C("operator", "category", "", "The innermost operator that ran then.", page=False),
        _C("module", "category", "", "The innermost module around it.", page=False),
        _C("event", "row", "", "That operator's call.", unit=_EVENT, page=False),
    ),
)
MEMORY_BLOCKS = DisplaySpec(
    "memory_blocks",
    "One row per block of memory from its allocation to its release.",
    (
        _C("device", "category", "", "The device.", page=False),
        _C(
            "operator",
            "category",
            "Operator",
            "The operator that allocated it.",
            "memory_block_operator",
            True,
            width=200,
        ),
        _C("parent", "category", "Called by", "", "memory_block_parent", True, width=180),
        _C(
            "module",
            "category",
            "Module",
            "The module around that.",
            "memory_block_module",
            True,
            width=150,
        ),
        _C(
            "line",
            "category",
            "Line",
            "Where the program allocated it.",
            "memory_block_line",
            True,
            width=220,
        ),
        _C(
            "category",
            "category",
            "Category",
            "What the file says that it is for (memory timelines).",
            "memory_block_category",
            True,
            width=120,
        ),
        _C("bytes", "bytes", "Size", "Size.", "memory_block_bytes", bar=True, width=100),
        _C(
            "allocated_ns",
            "time",
            "Allocated at",
            "When it was allocated; missing before the recording.",
            "memory_allocated_at",
            True,
            width=100,
        ),
        _C(
            "released_ns",
            "time",
            "Released at",
            "When it was released; missing where not within the recording.",
            "memory_released_at",
            True,
            width=100,
        ),
        _C("lifetime_ns", "time", "Lifetime", "", "memory_lifetime", True, width=84),
        _C("event", "row", "", "The allocating call.", unit=_EVENT),
        _C("release_event", "row", "", "The releasing call.", unit=_EVENT, page=False),
    ),
)
"""``parent``: the operator around the one that allocated; of ``aten::empty`` and its like it says more."""
MEMORY_STATISTICS = DisplaySpec(
    "memory_statistics",
    "One row per operator or module; a total counts a recursion once.",
    (
        _C("name", "code", "Name", "", width=240),
        _C("calls", "count", "Calls", "", "memory_calls", True, width=80),
        _C(
            "increase_bytes",
            "delta bytes",
            "Size increase",
            "",
            "memory_increase",
            pool="sum",
            width=116,
        ),
        _C(
            "self_increase_bytes",
            "delta bytes",
            "Self size increase",
            "",
            "memory_self_increase",
            pool="sum",
            bar=True,
            width=120,
        ),
        _C("allocations", "count", "Allocations", "", "memory_allocations", pool="sum", width=104),
        _C(
            "self_allocations",
            "count",
            "Self allocations",
            "",
            "memory_self_allocations",
            pool="sum",
            width=104,
        ),
        _C(
            "allocation_bytes",
            "bytes",
            "Allocated in all",
            "",
            "memory_allocation_bytes",
            pool="sum",
            width=116,
        ),
        _C(
            "self_allocation_bytes",
            "bytes",
            "Self allocated in all",
            "",
            "memory_self_allocation_bytes",
            pool="sum",
            bar=True,
            width=120,
        ),
    ),
)
"""``increase`` is allocated less released; ``self`` without the operators or modules beneath. ``calls``: all calls of that name
that share time with the window, whether or not they allocated.
"""
MEMORY_ALIVE = DisplaySpec(
    "memory_alive",
    "What is alive at a moment, blocks of one origin together, the largest first.",
    (
        _C("device", "text", "", "The device.", page=False),
        _C(
            "operator",
            "code",
            "Operator",
            "The operator that allocated.",
            "memory_block_operator",
            True,
            width=200,
        ),
        _C(
            "parent",
            "code",
            "Called by",
            "The operator around it.",
            "memory_block_parent",
            True,
            width=180,
        ),
        _C("module", "code", "Module", "The module.", "memory_block_module", True, width=150),
        _C(
            "line",
            "code",
            "Line",
            "Where the program allocated.",
            "memory_block_line",
            True,
            width=220,
        ),
        _C(
            "category",
            "text",
            "Category",
            "What the file says that it is for.",
            "memory_block_category",
            True,
            width=120,
        ),
        _C("bytes", "bytes", "Alive", "Together.", "memory_alive", bar=True, width=110),
        _C(
            "blocks",
            "count",
            "Blocks",
            "How many.",
            "memory_alive_count",
            True,
            unit="blocks",
            width=80,
        ),
        _C("largest_bytes", "bytes", "Largest", "The largest.", "memory_largest", True, width=92),
        _C(
            "oldest_ns",
            "time",
            "Oldest",
            "Begin of the oldest; missing before the recording.",
            "memory_oldest",
            True,
            width=100,
        ),
    ),
)
"""``blocks`` and ``largest_bytes`` are unknown where the file gives sums only."""
_TOTALS = ("increase_bytes", "allocations", "allocation_bytes")


def block_table(insight: Insight, rows: Ints) -> DisplayTable:
    """Some rows of ``allocations``, without their devices and categories."""
    table, nodes = insight["allocations"].take(rows), insight["memory_nodes"]
    name, parent, event = (np.append(nodes[key], -1) for key in ("name", "parent", "event"))
    node, begin, end = table["node"], table["begin"], table["end"]
    return MEMORY_BLOCKS.build(
        insight.strings,
        operator=name[node],
        parent=name[parent[node]],
        module=module_names_of(insight)[table["path"]],
        line=table["line"],
        bytes=table["bytes"],
        allocated_ns=begin,
        released_ns=end,
        lifetime_ns=np.where((begin >= 0) & (end >= 0), end - begin, -1),
        event=event[node],
        release_event=event[table["released_by"]],
    )


def statistics_table(insight: Insight, sums: Usage, calls: Ints | None, limit: int) -> DisplayTable:
    """The first ``limit`` names; the rest stand together, by their own figures only: of these rows
    some lie beneath others, so that their totals cannot be added.
    """
    table = MEMORY_STATISTICS.build(
        insight.strings,
        name=sums.name,
        calls=known(sums.name, False) if calls is None else calls[sums.name],
        increase_bytes=sums.increase,
        self_increase_bytes=sums.self_increase,
        allocations=sums.allocations,
        self_allocations=sums.self_allocations,
        allocation_bytes=sums.allocated,
        self_allocation_bytes=sums.self_allocated,
    )
    pooled = table.head(limit)
    if pooled is not table:
        for name in _TOTALS:
            pooled[name][-1] = pooled[f"self_{name}"][-1]
    return pooled


def alive_table(insight: Insight, alive: Alive) -> DisplayTable:
    """What is alive, without the device."""
    return MEMORY_ALIVE.build(
        insight.strings,
        operator=alive.operator,
        parent=alive.parent,
        module=alive.module,
        line=alive.line,
        category=category_texts(insight, alive.category),
        bytes=alive.bytes,
        blocks=alive.count,
        largest_bytes=alive.largest,
        oldest_ns=alive.oldest,
    )


def category_names(insight: Insight) -> list[str]:
    """What the file says that blocks are for, the unknown one last; empty where it says nothing."""
    if not insight.about["memory_begin_categories"]:
        return []
    return [*(name.replace("_", " ") for name in BLOCK_CATEGORIES), UNKNOWN_CATEGORY]


def category_texts(insight: Insight, numbers: Array) -> list[str | None]:
    """Categories by their numbers; None unknown."""
    names = dict(enumerate(category_names(insight)[:-1]))
    return [names.get(number) for number in numbers.tolist()]
