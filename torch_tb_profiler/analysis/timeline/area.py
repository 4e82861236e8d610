"""Statistics of a time window on some lanes.

Slices of a lane do not overlap, so only its first and last can cross the window's edges. The others
count in full, whole blocks of them as sums that the timeline stores::

    lane    [a   ][b][c ][d     ]
    window     |             |          a and d clipped, b and c whole
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.analysis.arrays.intervals import join, union
from torch_tb_profiler.store import timeline_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import BLOCK_SLICES, GroupKind, Look

BLOCK = BLOCK_SLICES
KEPT_ROWS = 2_000_000
"""Stored rows of block sums; with mostly distinct names the remaining blocks are summed on demand."""
_LOOKS = 16
_FEW = 64
"""Up to this many lanes are copied one by one."""
_DENSE = 4
"""Keys below this × rows are summed in dense arrays, without a sort."""


@dataclass(frozen=True)
class Sums:
    """Sums by key (row of names × 16 + look), int64, keys distinct; ``row``: a longest slice."""

    key: Ints
    count: Ints
    total: Ints
    shortest: Ints
    longest: Ints
    row: Ints


@dataclass(frozen=True)
class GroupBusy:
    """A group of lanes: row, busy ns of its chosen lanes, and events that touch the window."""

    group: int
    busy: int
    events: int


@dataclass(frozen=True)
class Overlap:
    """Device time of the window, ns; the four add up to its length."""

    computation: int
    both: int
    communication: int
    idle: int


@dataclass(frozen=True)
class Area:
    """Statistics of a window.

    name, look: arrays of shape (rows,), by total time, then count, descending.
    count, total, shortest, longest: of the parts of events within the window; ns.
    event: the one with the longest part.
    groups: those with a chosen lane, in order.
    overlap: None without a chosen lane of device work.
    """

    name: Ints
    look: Ints
    count: Ints
    total: Ints
    shortest: Ints
    longest: Ints
    event: Ints
    groups: tuple[GroupBusy, ...]
    overlap: Overlap | None


@dataclass(frozen=True)
class _Window:
    """Rows of slices that touch [begin, end) per chosen lane; arrays of shape (chosen lanes,).

    first, stop: all rows.
    whole_first, whole_stop: the rows entirely inside.
    """

    begin: int
    end: int
    lane: Ints
    first: Ints
    stop: Ints
    whole_first: Ints
    whole_stop: Ints


def block_tables(slices: Table, places: Table) -> dict[str, Table]:
    """The tables ``blocks`` and ``block_sums`` of a timeline."""
    parts: list[Sums] = []
    rows = 0
    for first in range(0, slices.n - BLOCK + 1, BLOCK):
        run = slice(first, first + BLOCK)
        parts.append(
            _sums(places, slices["event"][run], np.arange(first, first + BLOCK), slices["dur"][run])
        )
        rows += len(parts[-1].key)
        if rows >= KEPT_ROWS:
            break
    if not parts:
        return {
            "blocks": timeline_schema.BLOCKS.empty(),
            "block_sums": timeline_schema.BLOCK_SUMS.empty(),
        }
    edges = np.cumsum([0, *(len(part.key) for part in parts)])
    sums = _joined(parts)
    return {
        "blocks": timeline_schema.BLOCKS.build(first=edges),
        "block_sums": timeline_schema.BLOCK_SUMS.build(
            name=sums.key // _LOOKS,
            look=sums.key % _LOOKS,
            count=sums.count,
            total=sums.total,
            shortest=sums.shortest,
            longest=sums.longest,
            slice=sums.row,
        ),
    }


class Areas:
    """Computes areas of one timeline."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._slices = timeline["slices"]

    def area(self, begin: int, end: int, lanes: Sequence[int]) -> Area:
        """Statistics of [begin, end), ns, on ``lanes`` (ascending, each once).

        An event counts with its part within the window. Events without a length count if they lie
        in it.
        """
        window = self._window(begin, end, np.array(lanes, np.int64))
        sums = _grouped(_joined([*self._whole(window), self._clipped(window)]))
        order = np.lexsort((sums.key, -sums.count, -sums.total))
        return Area(
            name=sums.key[order] // _LOOKS,
            look=sums.key[order] % _LOOKS,
            count=sums.count[order],
            total=sums.total[order],
            shortest=sums.shortest[order],
            longest=sums.longest[order],
            event=self._slices["event"][sums.row[order]].astype(np.int64),
            groups=self._groups(window),
            overlap=self._overlap(window),
        )

    def _window(self, begin: int, end: int, lane: Ints) -> _Window:
        start, dur, table = self._slices["start"], self._slices["dur"], self._timeline["lanes"]
        first = table["first"][lane]
        behind = first + table["count"][lane]
        low, high = (_earliest(start, first, behind, edge) for edge in (begin, end))
        # Only the last slice of a lane that starts before an edge can cross it.
        over = np.flatnonzero(low > first)
        over = over[start[low[over] - 1] + dur[low[over] - 1] > begin]
        beyond = np.flatnonzero(high > low)
        beyond = beyond[start[high[beyond] - 1] + dur[high[beyond] - 1] > end]
        outer, inner = low.copy(), high.copy()
        outer[over] -= 1
        inner[beyond] -= 1
        return _Window(begin, end, lane, outer, high, low, inner)

    def _whole(self, window: _Window) -> list[Sums]:
        """Sums of the slices entirely inside; blocks may span adjacent lanes."""
        filled = window.whole_stop > window.whole_first
        first, stop = window.whole_first[filled], window.whole_stop[filled]
        if not len(first):
            return []
        begins = np.append(True, first[1:] != stop[:-1])
        first, stop = first[begins], stop[np.append(begins[1:], True)]
        inner, outer = -(-first // BLOCK), stop // BLOCK
        large = np.flatnonzero(inner < outer)
        small = inner >= outer
        stored = np.maximum(inner, np.minimum(outer, self._timeline["blocks"].n - 1))
        rows = np.sort(
            _rows(
                np.concatenate((first[small], first[large], stored[large] * BLOCK)),
                np.concatenate((stop[small], inner[large] * BLOCK, stop[large])),
            )
        )
        return [
            *(
                self._stored(int(inner[run]), int(stored[run]))
                for run in large.tolist()
                if stored[run] > inner[run]
            ),
            *(
                self._sums(part, self._slices["dur"][part])
                for part in np.split(rows, range(BLOCK, len(rows), BLOCK))
            ),
        ]

    def _stored(self, low: int, high: int) -> Sums:
        """Sums of the stored blocks [low, high)."""
        edges, table = self._timeline["blocks"]["first"], self._timeline["block_sums"]
        rows = slice(int(edges[low]), int(edges[high]))
        name, look, *figures = (
            table[column][rows].astype(np.int64)
            for column in ("name", "look", "count", "total", "shortest", "longest", "slice")
        )
        return _grouped(Sums(name * _LOOKS + look, *figures))

    def _clipped(self, window: _Window) -> Sums:
        """Sums of the slices that cross an edge of the window."""
        ends = np.concatenate(
            (
                window.first[window.first < window.whole_first],
                window.stop[window.stop > window.whole_stop] - 1,
            )
        )
        row = np.unique(ends)
        start = self._slices["start"][row]
        part = np.minimum(start + self._slices["dur"][row], window.end) - np.maximum(
            start, window.begin
        )
        return self._sums(row, part)

    def _sums(self, row: Ints, part: Ints) -> Sums:
        """Sums of slices (their events and rows) that count with ``part`` ns each."""
        return _sums(self._timeline["places"], self._slices["event"][row], row, part)

    def _groups(self, window: _Window) -> tuple[GroupBusy, ...]:
        lanes, groups = self._timeline["lanes"], self._timeline["groups"]
        group = lanes["group"][window.lane]
        chosen = np.zeros(lanes.n, np.bool_)
        chosen[window.lane] = True
        busy_groups = []
        edges = np.flatnonzero(np.diff(group, prepend=-1, append=-1))
        for low, high in pairwise(edges.tolist()):
            number, own = int(group[low]), np.arange(low, high)
            first = int(groups["lane"][number])
            depth = lanes["depth"][first : first + int(groups["lanes"][number])]
            covered = _covered(depth, chosen[first : first + len(depth)])[window.lane[own] - first]
            start, end = self._parts(window, own[~covered])
            # Slices of one lane do not overlap.
            busy = int((end - start).sum()) if (~covered).sum() == 1 else union(start, end).length
            busy_groups.append(
                GroupBusy(number, busy, int((window.stop[own] - window.first[own]).sum()))
            )
        return tuple(busy_groups)

    def _parts(self, window: _Window, places: Ints) -> tuple[Ints, Ints]:
        """Starts and ends of the slices of some of the chosen lanes, clipped to the window."""
        start, dur = (self._column(name, window, places) for name in ("start", "dur"))
        return np.maximum(start, window.begin), np.minimum(start + dur, window.end)

    def _column(self, name: str, window: _Window, places: Ints) -> Array:
        """A column of the window's slices on some of the chosen lanes."""
        first, stop, column = window.first[places], window.stop[places], self._slices[name]
        if len(places) > _FEW:
            return np.asarray(column[_rows(first, stop)])
        return np.concatenate(
            [column[low:high] for low, high in zip(first.tolist(), stop.tolist(), strict=True)]
        )

    def _overlap(self, window: _Window) -> Overlap | None:
        kind = self._timeline["groups"]["kind"][self._timeline["lanes"]["group"][window.lane]]
        working = np.flatnonzero(kind == GroupKind.WORK)
        if not len(working):
            return None
        start, end = self._parts(window, working)
        is_communication = (
            np.take(
                self._timeline["places"]["look"],
                self._column("event", window, working),
                mode="wrap",
            )
            == Look.COMMUNICATION
        )
        communication = union(start[is_communication], end[is_communication])
        computation = union(start[~is_communication], end[~is_communication])
        busy = join(computation, communication).length
        return Overlap(
            computation=busy - communication.length,
            both=computation.length + communication.length - busy,
            communication=busy - computation.length,
            idle=window.end - window.begin - busy,
        )


def _earliest(start: Array, low: Ints, high: Ints, time: int) -> Ints:
    """The first row of each range [low, high) that starts at ``time`` or later, else ``high``."""
    low, high = low.copy(), high.copy()
    active = np.flatnonzero(low < high)
    while len(active):
        middle = (low[active] + high[active]) // 2
        before = start[middle] < time
        low[active[before]] = middle[before] + 1
        high[active[~before]] = middle[~before]
        active = active[low[active] < high[active]]
    return low


def _rows(first: Ints, stop: Ints) -> Ints:
    """The rows of some ranges, concatenated."""
    return expand_ranges(first, np.maximum(stop - first, 0))


def _sums(places: Table, event: Array, row: Ints, part: Ints) -> Sums:
    """Sums of some slices (their events and rows), of each of which ``part`` counts, ns."""
    key = np.take(places["name"], event, mode="wrap").astype(np.int64) * _LOOKS + np.take(
        places["look"], event, mode="wrap"
    )
    return _grouped(Sums(key, np.ones(len(row), np.int64), part, part, part, row))


def _joined(parts: list[Sums]) -> Sums:
    columns = (vars(part).values() for part in parts)
    return Sums(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _grouped(rows: Sums) -> Sums:
    """The same with each key once, ascending."""
    n = len(rows.key)
    size = int(rows.key.max()) + 1 if n else 0
    if size <= _DENSE * max(n, BLOCK):
        index = rows.key
    else:
        keys, index = np.unique(rows.key, return_inverse=True)
        size = len(keys)
    count, total, longest = (np.zeros(size, np.int64) for _ in range(3))
    shortest, first = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).max)
    np.add.at(count, index, rows.count)
    np.add.at(total, index, rows.total)
    np.minimum.at(shortest, index, rows.shortest)
    np.maximum.at(longest, index, rows.longest)
    best = np.flatnonzero(rows.longest == longest[index])
    np.minimum.at(first, index[best], rows.row[best])
    used = np.flatnonzero(count)
    return Sums(
        used if index is rows.key else keys[used],
        count[used],
        total[used],
        shortest[used],
        longest[used],
        first[used],
    )


def _covered(depth: Array, chosen: Mask) -> Mask:
    """Which lanes lie within chosen ones: events of a depth lie within those above."""
    deepest = int(depth.max(initial=0))
    missing = np.zeros(deepest + 1, np.bool_)
    missing[depth[~chosen]] = True
    above = np.append(False, ~missing)
    return above[depth]
