"""What holds the memory of a device at a moment, in sentences: what nobody knows first, then the places.

::

    allocated  [ ? ? ? ? ? ? ? | a a | b ]     7 of 10 have no place, 2 are a's: "most" is nobody's
                 before     later
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.memory.live_memory import (
    alive_blocks,
    last_record,
    live_memory_at,
    places_of,
    short_place,
    unrecorded_before,
)
from torch_tb_profiler.analysis.memory.window import by_category, of_device
from torch_tb_profiler.analysis.module.path_modules import module_names_of
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.units import format_bytes, format_count, format_names, format_share

HOLDERS = 3
"""Places that are named."""
_FEWEST = 3
"""Equal blocks that are called a growth."""
_WORDS = {"snapshot": ("no stack", "history"), "timeline": ("no known purpose", "recording")}
"""By the kind of file: what is missing, and since when it tells."""


def holding_sentences(
    insight: Insight, device: int, time: int | None, *, past: bool = False
) -> list[str]:
    """Of a row of ``memory_devices`` at a time, ns (None: its peak): the share of what has no place, that from
    before the first record, then what holds the rest; empty where the file gives totals alone.
    """
    last, held = last_record(insight, device, time), live_memory_at(insight, device, time)
    rows = alive_blocks(insight, device, last)
    levels = by_category(insight, device, np.array([last]))
    if not len(rows) and not len(levels):
        return []
    table = insight["allocations"].take(rows)
    size, old = table["bytes"], table["record"] < 0
    module = module_names_of(insight)[table["path"]]
    nowhere = np.maximum.reduce([table["line"], table["node"], module, table["category"]]) < 0
    rest, old_rest = max(held.unknown, 0), unrecorded_before(insight, device, held)
    unplaced, unplaced_old = (
        int(size[chosen].sum()) + more
        for chosen, more in ((nowhere, rest), (nowhere & old, old_rest))
    )
    before, whole = int(size[old].sum()) + old_rest, max(held.allocated, 1)
    lacks, history = lacks_and_history(insight)
    have, are = ("had", "were") if past else ("have", "are")
    told: list[str] = []
    if unplaced and unplaced == unplaced_old:
        told.append(
            f"{_part(unplaced, whole)} {are} from before the {history} and {have} {lacks}:"
            " record from the start."
        )
    elif unplaced:
        older = f", {format_bytes(unplaced_old)} of it from before the {history}"
        advice = "record from the start" if unplaced_old else 'record with stacks="all"'
        told.append(
            f"{_part(unplaced, whole)} {have} {lacks}{older if unplaced_old else ''}"
            f"{f': {advice}' if unplaced_old or history == 'history' else ''}."
        )
    if before > unplaced_old and insight["memory_devices"]["records"][device]:
        told.append(f"{_part(before, whole)} {are} from before the {history}.")
    return [
        *told,
        *_places(places_of(insight, held, HOLDERS), whole, past),
        *_growth(insight, device, rows),
    ]


def lacks_and_history(insight: Insight) -> tuple[str, str]:
    """What blocks of no place lack, and what they may be older than."""
    return _WORDS.get(insight.about["memory_source"], ("no known place", "recording"))


def _part(part: int, whole: int) -> str:
    """``6.72 of 6.93 GiB (97 %)``, the unit once where it is one."""
    if part >= whole:
        return f"All {format_bytes(whole)}"
    number, unit = format_bytes(part).rsplit(" ", 1)
    total = format_bytes(whole)
    shown = number if total.endswith(f" {unit}") else f"{number} {unit}"
    return f"{shown} of {total} ({format_share(part / whole)})"


def _places(places: list[tuple[str, int]], whole: int, past: bool) -> Iterator[str]:
    """``forward at model.py:12 (14.0 MiB)``, the largest first; "most" is more than half of the whole."""
    if not places:
        return
    are = "was" if past else "is"
    if 2 * sum(size for _, size in places) > whole:
        listed = [f"{place} ({format_bytes(size)})" for place, size in places]
        yield f"Most {are} held by {format_names(listed)}."
        return
    listed = [
        f"{place} ({format_bytes(size)}, {format_share(size / whole)})" for place, size in places
    ]
    yield f"The largest known part {are} held by {format_names(listed)}."


def _growth(insight: Insight, device: int, rows: Ints) -> Iterator[str]:
    """The line that keeps equal blocks, one at a time with releases between, and has released none."""
    table, curve = insight["allocations"], insight["memory_curve"]
    every = of_device(table, device)
    released = unique_values(table["line"][every][table["release"][every] >= 0])
    lines, size, record = (table[name][rows] for name in ("line", "bytes", "record"))
    kept = np.flatnonzero((lines >= 0) & (record >= 0) & ~np.isin(lines, released))
    freed = np.cumsum(curve["bytes"] < 0)
    grown: list[tuple[int, int, int]] = []
    for line in unique_values(lines[kept]).tolist():
        own = kept[lines[kept] == line]
        apart = np.diff(freed[np.sort(record[own])]) > 0
        if len(own) >= _FEWEST and apart.all() and len(unique_values(size[own])) == 1:
            grown.append((len(own) * int(size[own[0]]), line, len(own)))
    if grown:
        total, line, times = max(grown)
        place, each = short_place(insight.strings[line]), format_bytes(total // times)
        yield f"What {place} allocates is never released: {each} more each of {format_count(times)} times."
