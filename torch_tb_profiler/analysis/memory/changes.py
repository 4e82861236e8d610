"""What a device held at one moment and at another, by where it was allocated.

::

    blocks     [a      ]  [b    ]        before ─▶ after
                  [c         ][d ]       a, c      c, b      b was allocated between, a released
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.memory.live_memory import alive_blocks, block_origins, last_record
from torch_tb_profiler.analysis.memory.table import category_texts
from torch_tb_profiler.analysis.memory.window import by_category, of_device
from torch_tb_profiler.store.categories import BLOCK_CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.strings import NO_STRINGS

MemoryBy = Literal["operator", "parent", "module", "line", "stack", "category"]
MOST_STACK = 2000
"""Characters of a stack that names a row."""
BETWEEN = " ← "
"""Between its frames."""
MEMORY_CHANGES = display_spec("""
memory_changes: One row per operator, caller, module, line, call stack or category: what it held at one moment and at another, the largest change first.
  `allocated_bytes` and `freed_bytes` are missing between two traces.
    name             code         Name       optional width=320                      What the row is of.
    delta_bytes      delta bytes  Change     term=memory_delta bar                   After − before.
    before_bytes     bytes        Before     term=memory_alive                       At the first moment.
    after_bytes      bytes        After      term=memory_alive                       At the second.
    allocated_bytes  bytes        Allocated  term=memory_allocated_between optional  Between.
    freed_bytes      bytes        Released   term=memory_freed_between optional      Between.
    delta_blocks     delta        -          unit=blocks                             More blocks than before.
""")


class Moment(NamedTuple):
    """A device of an insight at a time, ns; None: its peak."""

    insight: Insight
    device: int
    time: int | None


def changes_table(before: Moment, after: Moment, by: MemoryBy) -> DisplayTable:
    """The table ``memory_changes``, sorted by the size of the change."""
    same = before.insight is after.insight and before.device == after.device
    rows = _within(before, after, by) if same else _across(before, after, by)
    names, columns = rows
    delta = columns["after_bytes"] - columns["before_bytes"]
    order = np.lexsort((-columns["after_bytes"], -np.abs(delta)))
    table = MEMORY_CHANGES.build(NO_STRINGS, name=names, delta_bytes=delta, **columns)
    return table.take(order)


Rows = tuple[list[str | None], dict[str, Ints]]


def _within(before: Moment, after: Moment, by: MemoryBy) -> Rows:
    """Between two moments of one recording, the earlier one first or not."""
    insight, device = before.insight, before.device
    low, high = (last_record(insight, device, moment.time) for moment in (before, after))
    if not _has_blocks(insight, device):
        return _of_sums(insight, device, low, high)
    swapped = low > high
    low, high = min(low, high), max(low, high)
    table = insight["allocations"]
    rows = of_device(table, device)
    record, release = table["record"][rows], table["release"][rows].astype(np.int64)
    ends = np.where(release < 0, np.iinfo(np.int64).max, release)
    row = rows.start + np.flatnonzero((record <= high) & (ends > low))
    record, ends = record[row - rows.start], ends[row - rows.start]
    key = block_origins(insight, row)[by].astype(np.int64)
    first, group = group_rows([key])
    n, size = len(first), table["bytes"][row]

    def total(chosen: Array) -> Ints:
        return sum_by(group[chosen], n, size[chosen])

    early, late, came, went = record <= low, ends > high, record > low, ends <= high
    counts = np.bincount(group[late], minlength=n) - np.bincount(group[early], minlength=n)
    sums = [total(early), total(late), total(came), total(went)]
    if swapped:
        sums, counts = [sums[1], sums[0], sums[3], sums[2]], -counts
    names = ("before_bytes", "after_bytes", "allocated_bytes", "freed_bytes")
    columns = dict(zip(names, sums, strict=True)) | {"delta_blocks": counts.astype(np.int64)}
    return _texts(insight, key[first], by), columns


def _of_sums(insight: Insight, device: int, low: int, high: int) -> Rows:
    """By category alone, of files that contain only sums."""
    levels = by_category(insight, device, np.sort(np.array([low, high])))
    if not len(levels):
        none = np.zeros(0, np.int64)
        names = ("before_bytes", "after_bytes", "allocated_bytes", "freed_bytes", "delta_blocks")
        return [], dict.fromkeys(names, none)
    held = levels[:-2] if low <= high else levels[:-2, ::-1]
    curve = insight["memory_curve"]
    rows = slice(min(low, high) + 1, max(low, high) + 1)
    category, size = curve["category"][rows], curve["bytes"][rows]
    grown, shrunk = (
        sum_by(category[chosen], len(BLOCK_CATEGORIES), np.abs(size[chosen]))
        for chosen in ((category >= 0) & (size > 0), (category >= 0) & (size < 0))
    )
    if low > high:
        grown, shrunk = shrunk, grown
    used = np.flatnonzero(held.any(axis=1) | (grown > 0))
    return category_texts(used), {
        "before_bytes": held[used, 0],
        "after_bytes": held[used, 1],
        "allocated_bytes": grown[used],
        "freed_bytes": shrunk[used],
        "delta_blocks": np.zeros(len(used), np.int64),
    }


def _across(before: Moment, after: Moment, by: MemoryBy) -> Rows:
    """Between two traces: blocks of equal name belong together."""
    sides = [_alive(moment, by) for moment in (before, after)]
    names = list(dict.fromkeys([*sides[0], *sides[1]]))
    held, counts = (
        [np.array([side.get(name, (0, 0))[i] for name in names], np.int64) for side in sides]
        for i in (0, 1)
    )
    unknown = np.full(len(names), -1, np.int64)
    return names, {
        "before_bytes": held[0],
        "after_bytes": held[1],
        "allocated_bytes": unknown,
        "freed_bytes": unknown,
        "delta_blocks": counts[1] - counts[0],
    }


def _alive(moment: Moment, by: MemoryBy) -> dict[str | None, tuple[int, int]]:
    """Bytes and blocks by name at a moment."""
    insight, device = moment.insight, moment.device
    last = last_record(insight, device, moment.time)
    if not _has_blocks(insight, device):
        levels = by_category(insight, device, np.array([last]))[:-2].sum(axis=1)
        texts = category_texts(np.arange(len(levels)))
        return {text: (size, 0) for text, size in zip(texts, levels.tolist(), strict=True) if size}
    row = alive_blocks(insight, device, last)
    key = block_origins(insight, row)[by].astype(np.int64)
    first, group = group_rows([key])
    size = sum_by(group, len(first), insight["allocations"]["bytes"][row]).tolist()
    count = np.bincount(group, minlength=len(first)).tolist()
    found: dict[str | None, tuple[int, int]] = {}
    for name, own, blocks in zip(_texts(insight, key[first], by), size, count, strict=True):
        before = found.get(name, (0, 0))
        found[name] = before[0] + own, before[1] + blocks
    return found


def _has_blocks(insight: Insight, device: int) -> bool:
    rows = of_device(insight["allocations"], device)
    return bool(rows.stop > rows.start)


def _texts(insight: Insight, keys: Ints, by: MemoryBy) -> list[str | None]:
    if by == "category":
        return category_texts(keys)
    return [_short(insight.strings[key]) if key >= 0 else None for key in keys.tolist()]


def _short(text: str) -> str:
    return text.replace("\n", BETWEEN)[:MOST_STACK]
