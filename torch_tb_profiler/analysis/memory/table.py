"""The tables of memory: its curve, its blocks, sums by operator or module, and what is alive."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.memory.live_memory import LiveMemory, block_origins
from torch_tb_profiler.analysis.memory.usage import Usage
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES, CATEGORY_RULES
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import (
    Coded,
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    Kind,
    display_columns,
    display_spec,
    known,
)
from torch_tb_profiler.store.insight import Insight

BEFORE, UNKNOWN_CATEGORY = "before the recording", "unknown"
RECORDED = "recorded"
_NAMES = tuple(name.replace("_", " ") for name in BLOCK_CATEGORIES)
_TERMS = {"known_by": "memory_known_by"}
_C = DisplayColumn


def _origin(kind: Kind) -> tuple[DisplayColumn, ...]:
    """Where blocks were allocated; of ``aten::empty`` and its like the parent says more."""
    return tuple(
        _C(name, kind, label, doc, _TERMS.get(name, f"memory_block_{name}"), True, width=width)
        for name, label, doc, width in (
            ("operator", "Operator", "The operator that allocated.", 200),
            ("parent", "Called by", "The operator around it.", 180),
            ("module", "Module", "The module around that.", 150),
            ("line", "Line", "Where the program allocated.", 220),
            ("category", "Category", "What it is for.", 120),
            ("known_by", "Known by", "`recorded`, or the rule by which its life tells.", 160),
        )
    )


def _sums(name: str, kind: Kind, label: str, term: str) -> tuple[DisplayColumn, DisplayColumn]:
    """A total, and the sum without what lies beneath."""
    own, bar = f"Self {label.lower()}", kind != "count"
    return (
        _C(name, kind, label, "", f"memory_{term}", pool="sum", width=116),
        _C(f"self_{name}", kind, own, "", f"memory_self_{term}", pool="sum", bar=bar, width=120),
    )


MEMORY = display_spec("""
memory: One row per record of the allocator, by device and time: the memory curve.
    device           category     -  unsent    The device, e.g. `GPU 0`, `CPU`.
    time_ns          time         -  -         When, after the first event of the trace.
    change_bytes     delta bytes  -  unsent    Allocated, or released (below 0).
    allocated_bytes  bytes        -  -         Allocated after it.
    reserved_bytes   bytes        -  optional  Reserved after it.
    operator         category     -  unsent    The innermost operator that ran then.
    module           category     -  unsent    The innermost module around it.
    event            row          -  unsent    That operator's call.
""")
MEMORY_CATEGORIES = DisplaySpec(
    "memory_categories",
    "One row per record of the allocator, by device and time: what was allocated after it, by category."
    " The categories add up to `allocated_bytes`.",
    (
        _C("device", "category", "", "The device."),
        _C("time_ns", "time", "", "When, after the first event of the trace."),
        _C("allocated_bytes", "bytes", "", "Allocated after it."),
        *(
            _C(f"{name}_bytes", "bytes", "", f"Of that {name.replace('_', ' ')}.")
            for name in BLOCK_CATEGORIES
        ),
        _C("before_bytes", "bytes", "", "From before the recording, of no known block."),
        _C(
            "unknown_bytes",
            "delta bytes",
            "",
            "Unknown; below 0 where records contradict each other.",
        ),
    ),
)
MEMORY_BLOCKS = DisplaySpec(
    "memory_blocks",
    "One row per block of memory from its allocation to its release. `allocated_ns` is missing"
    " before the recording, `released_ns` where it is not within it.",
    (
        _C("device", "category", "", "The device.", page=False),
        *_origin("category"),
        *display_columns("""
    bytes          bytes  Size          term=memory_block_bytes bar             Size.
    allocated_ns   time   Allocated at  term=memory_allocated_at optional       When.
    released_ns    time   Released at   term=memory_released_at optional        When.
    lifetime_ns    time   Lifetime      term=memory_lifetime optional width=84
    event          row    -             -                                       The allocating call.
    release_event  row    -             unsent                                  The releasing call.
"""),
    ),
)
MEMORY_STATISTICS = DisplaySpec(
    "memory_statistics",
    "One row per operator or module; a total counts a recursion once.",
    (
        _C("name", "code", "Name", "", width=240),
        _C("calls", "count", "Calls", "", "memory_calls", True, width=80),
        *_sums("increase_bytes", "delta bytes", "Size increase", "increase"),
        *_sums("allocations", "count", "Allocations", "allocations"),
        *_sums("allocation_bytes", "bytes", "Allocated in all", "allocation_bytes"),
    ),
)
"""``increase`` is allocated less released. ``calls``: all calls of that name that share time with
the window, whether or not they allocated.
"""
MEMORY_ALIVE = DisplaySpec(
    "memory_alive",
    "What is alive at a moment, blocks of one origin together, the largest first. `oldest_ns` is"
    " missing before the recording.",
    (
        _C("device", "text", "", "The device.", page=False),
        *_origin("code"),
        *display_columns("""
    bytes          bytes  Alive    term=memory_alive bar                         Together.
    blocks         count  Blocks   term=memory_alive_count optional unit=blocks  How many.
    largest_bytes  bytes  Largest  term=memory_largest optional                  The largest.
    oldest_ns      time   Oldest   term=memory_oldest optional                   Begin of the oldest.
"""),
    ),
)
"""``blocks`` and ``largest_bytes`` are unknown where the file gives sums only."""
_TOTALS = ("increase_bytes", "allocations", "allocation_bytes")


def block_table(insight: Insight, rows: Ints) -> DisplayTable:
    """Some rows of ``allocations``, without their devices."""
    table, origin = insight["allocations"].take(rows), block_origins(insight, rows)
    event, begin, end = (
        np.append(insight["memory_nodes"]["event"], -1),
        table["begin"],
        table["end"],
    )
    told = np.where(table["category"] < len(BLOCK_CATEGORIES), table["category"], -1)
    rule = np.where(told >= 0, table["rule"] + 1, -1)
    return MEMORY_BLOCKS.build(
        insight.strings,
        **{key: origin[key] for key in ("operator", "parent", "module", "line")},
        bytes=table["bytes"],
        allocated_ns=begin,
        released_ns=end,
        lifetime_ns=np.where((begin >= 0) & (end >= 0), end - begin, -1),
        event=event[table["node"]],
        release_event=event[table["released_by"]],
        category=Coded(told, _NAMES),
        known_by=Coded(rule, (RECORDED, *(text for _, text in CATEGORY_RULES))),
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


def alive_table(insight: Insight, alive: LiveMemory) -> DisplayTable:
    """What is alive, without the device."""
    return MEMORY_ALIVE.build(
        insight.strings,
        operator=alive.operator,
        parent=alive.parent,
        module=alive.module,
        line=alive.line,
        category=category_texts(alive.category),
        known_by=rule_texts(alive.category, alive.rule),
        bytes=alive.bytes,
        blocks=alive.count,
        largest_bytes=alive.largest,
        oldest_ns=alive.oldest,
    )


def category_names(insight: Insight) -> list[str]:
    """What blocks are for, then what was there before the recording, then what is unknown; empty
    where no category is known.
    """
    if not insight.about["memory_begin_categories"]:
        return []
    return [*_NAMES, BEFORE, UNKNOWN_CATEGORY]


def category_texts(numbers: Array) -> list[str | None]:
    """Categories by their numbers; None unknown."""
    names = dict(enumerate(_NAMES))
    return [names.get(number) for number in numbers.tolist()]


def rule_texts(category: Array, rule: Array) -> list[str | None]:
    """How the categories of blocks are known; None unknown."""
    return [
        None if not 0 <= of < len(_NAMES) else CATEGORY_RULES[by][1] if by >= 0 else RECORDED
        for of, by in zip(category.tolist(), rule.tolist(), strict=True)
    ]
