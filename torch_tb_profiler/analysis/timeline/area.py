"""Statistics of a time window on some lanes.

Slices of a lane do not overlap, so only its first and last can cross the window's edges. The others
count in full, whole blocks of them as sums that the timeline stores::

    lane    [a   ][b][c ][d     ]
    window     |             |          a and d clipped, b and c whole
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, mask_of
from torch_tb_profiler.analysis.arrays.intervals import join, union
from torch_tb_profiler.analysis.timeline.kinds import KIND_OF_LOOK, KINDS, Kind
from torch_tb_profiler.store import timeline_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import BLOCK_SLICES, GroupKind, Look

_C = DisplayColumn
AREA = DisplaySpec(
    "area",
    "Events of a window by name and look. Times are clipped to the window.",
    (
        _C("name", "code", "Name", "", width=216),
        _C("look", "id", "Kind", "", width=124),
        _C("count", "count", "Count", "", "area_count", width=68),
        _C("total_ns", "time", "Total", "", "area_total", width=92),
        _C("self_ns", "time", "Self", "", "area_self", bar=True, width=104),
        _C("share", "share", "Share", "", "area_share", width=76),
        _C("mean_ns", "time", "Mean", "", "area_mean", width=88),
        _C("shortest_ns", "time", "Min", "", "area_shortest", width=88),
        _C("longest_ns", "time", "Max", "", "area_longest", width=88),
        _C("longest_event", "row", "", ""),
    ),
)
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
    """Sums by key (row of names × 16 + look), int64, keys distinct; ``row``: a longest slice.
    ``nested``: time of the slices whose ``around`` has the key; where only those are known
    ``count`` is 0.
    """

    key: Ints
    count: Ints
    total: Ints
    nested: Ints
    shortest: Ints
    longest: Ints
    row: Ints

    def take(self, rows: Array) -> Sums:
        """Some of them."""
        return Sums(*(column[rows] for column in vars(self).values()))


class GroupBusy(msgspec.Struct, frozen=True):
    """A group of lanes: row, busy ns of its chosen lanes, and events that touch the window."""

    group: int
    busy: int
    events: int


class Overlap(msgspec.Struct, frozen=True):
    """Device time of the window; the four add up to its length."""

    computation_ns: int
    overlap_ns: int
    communication_ns: int
    idle_ns: int


class Area(msgspec.Struct, frozen=True):
    """Statistics of a window.

    rows: by total time, then count, descending. ``self_ns``: what is in no event of the selection
        and of the same kind beneath.
    kinds: kind, number of names, of events, and ns of self time, of those that there are.
    groups: those with a chosen lane, in order.
    overlap: None without a chosen lane of device work.
    """

    rows: DisplayTable
    kinds: tuple[tuple[Kind, int, int, int], ...]
    groups: tuple[GroupBusy, ...]
    overlap: Overlap | None


def block_tables(slices: Table, places: Table) -> dict[str, Table]:
    """The tables ``blocks`` and ``block_sums`` of a timeline."""
    parts: list[Sums] = []
    rows = 0
    for first in range(0, slices.n - BLOCK + 1, BLOCK):
        run = np.arange(first, first + BLOCK)
        event = slices["event"][run]
        parts.append(_sums(places, event, run, slices["dur"][run], places["around"][event]))
        rows += len(parts[-1].key)
        if rows >= KEPT_ROWS:
            break
    if not parts:
        return {spec.name: spec.empty() for spec in (schema.BLOCKS, schema.BLOCK_SUMS)}
    edges = np.cumsum([0, *(len(part.key) for part in parts)])
    sums = _joined(parts)
    return {
        "blocks": schema.BLOCKS.build(first=edges),
        "block_sums": schema.BLOCK_SUMS.build(
            name=sums.key // _LOOKS,
            look=sums.key % _LOOKS,
            count=sums.count,
            total=sums.total,
            nested=sums.nested,
            shortest=sums.shortest,
            longest=sums.longest,
            slice=sums.row,
        ),
    }


def area_of(trace: Trace, timeline: Timeline, begin: int, end: int, lanes: Sequence[int]) -> Area:
    """Statistics of [begin, end), ns, on ``lanes`` (ascending, each once).

    An event counts with its part within the window. Events without a length count if they lie
    in it.
    """
    window = window_of(timeline, begin, end, np.array(lanes, np.int64))
    sums = _grouped(_joined([*window.whole(), window.clipped()]))
    sums = sums.take(np.flatnonzero(sums.count))
    sums = sums.take(np.lexsort((sums.key, -sums.count, -sums.total)))
    kind, own = KIND_OF_LOOK[sums.key % _LOOKS], sums.total - sums.nested
    names, events, busy = (
        np.bincount(kind, weights, len(KINDS)) for weights in (None, sums.count, own)
    )
    rows = AREA.build(
        trace.strings,
        name=timeline["names"]["text"][sums.key // _LOOKS],
        look=sums.key % _LOOKS,
        count=sums.count,
        total_ns=sums.total,
        self_ns=own,
        share=own / np.where(busy > 0, busy, np.nan)[kind],
        mean_ns=(2 * sums.total + sums.count) // (2 * sums.count),
        shortest_ns=sums.shortest,
        longest_ns=sums.longest,
        longest_event=timeline["slices"]["event"][sums.row],
    )
    kinds = tuple(
        (each, int(names[i]), int(events[i]), int(busy[i]))
        for i, each in enumerate(KINDS)
        if names[i]
    )
    return Area(rows, kinds, window.groups(), window.overlap())


class Window(msgspec.Struct, frozen=True, dict=True):
    """Rows of slices that touch [begin, end) per chosen lane; arrays of shape (chosen lanes,).

    first, stop: all rows.
    whole_first, whole_stop: the rows entirely inside.
    """

    timeline: Timeline
    begin: int
    end: int
    lane: Ints
    first: Ints
    stop: Ints
    whole_first: Ints
    whole_stop: Ints

    @property
    def count(self) -> int:
        """How many slices there are."""
        return int((self.stop - self.first).sum())

    def events(self) -> tuple[Ints, Ints]:
        """The events and what lies of each within the window, ns."""
        row = _rows(self.first, self.stop)
        slices = self.timeline["slices"]
        start, end = self._clip(slices["start"][row], slices["dur"][row])
        return slices["event"][row].astype(np.int64), end - start

    def whole(self) -> list[Sums]:
        """Sums of the slices entirely inside; blocks may span adjacent lanes."""
        filled = self.whole_stop > self.whole_first
        first, stop = self.whole_first[filled], self.whole_stop[filled]
        if not len(first):
            return []
        rooted = self.rooted[filled]
        begins = np.append(True, (first[1:] != stop[:-1]) | (rooted[1:] != rooted[:-1]))
        first, stop = first[begins], stop[np.append(begins[1:], True)]
        inner, outer = -(-first // BLOCK), stop // BLOCK
        large = np.flatnonzero(inner < outer)
        small = inner >= outer
        kept = np.where(rooted[begins], np.minimum(outer, self.timeline["blocks"].n - 1), 0)
        stored = np.maximum(inner, kept)
        rows = np.sort(
            _rows(
                np.concatenate((first[small], first[large], stored[large] * BLOCK)),
                np.concatenate((stop[small], inner[large] * BLOCK, stop[large])),
            )
        )
        dur = self.timeline["slices"]["dur"]
        return [
            *(
                self._stored(int(inner[run]), int(stored[run]))
                for run in large.tolist()
                if stored[run] > inner[run]
            ),
            *(
                self._sums(part, dur[part])
                for part in np.split(rows, range(BLOCK, len(rows), BLOCK))
            ),
        ]

    def _stored(self, low: int, high: int) -> Sums:
        """Sums of the stored blocks [low, high)."""
        edges, table = self.timeline["blocks"]["first"], self.timeline["block_sums"]
        rows = slice(int(edges[low]), int(edges[high]))
        name, look, *figures = (
            table[column][rows].astype(np.int64)
            for column in (
                "name",
                "look",
                "count",
                "total",
                "nested",
                "shortest",
                "longest",
                "slice",
            )
        )
        return _grouped(Sums(name * _LOOKS + look, *figures))

    def clipped(self) -> Sums:
        """Sums of the slices that cross an edge of the window."""
        before = self.first[self.first < self.whole_first]
        row = unique_values(before, self.stop[self.stop > self.whole_stop] - 1)
        start, end = self._clip(*(self.timeline["slices"][name][row] for name in ("start", "dur")))
        return self._sums(row, end - start)

    def _sums(self, row: Ints, part: Ints) -> Sums:
        """Sums of slices that count with ``part`` ns each."""
        places = self.timeline["places"]
        event = self.timeline["slices"]["event"][row]
        outer = places["around"][event]
        if not self.rooted.all():
            outer = np.where((outer >= 0) & self.chosen[places["lane"][outer]], outer, -1)
        return _sums(places, event, row, part, outer)

    @cached_property
    def chosen(self) -> Mask:
        """Which lanes of the timeline are chosen."""
        chosen = mask_of(self.timeline["lanes"].n, self.lane)
        return chosen

    @cached_property
    def rooted(self) -> Mask:
        """Of which chosen lanes all lanes above in the group are chosen, too: stored sums count
        what is nested in any.
        """
        lanes, groups = self.timeline["lanes"], self.timeline["groups"]
        place = np.append(0, np.cumsum(self.chosen))
        first = groups["lane"][lanes["group"][self.lane]]
        return np.asarray(place[self.lane] - place[first] == self.lane - first)

    def groups(self) -> tuple[GroupBusy, ...]:
        """The groups with a chosen lane."""
        lanes, groups = self.timeline["lanes"], self.timeline["groups"]
        group = lanes["group"][self.lane]
        busy_groups = []
        edges = np.flatnonzero(np.diff(group, prepend=-1, append=-1))
        for low, high in pairwise(edges.tolist()):
            number, own = int(group[low]), np.arange(low, high)
            first = int(groups["lane"][number])
            depth = lanes["depth"][first : first + int(groups["lanes"][number])]
            covered = _covered(depth, self.chosen[first : first + len(depth)])[
                self.lane[own] - first
            ]
            start, end = self._parts(own[~covered])
            # Slices of one lane do not overlap.
            busy = int((end - start).sum()) if (~covered).sum() == 1 else union(start, end).length
            events = int((self.stop[own] - self.first[own]).sum())
            busy_groups.append(GroupBusy(number, busy, events))
        return tuple(busy_groups)

    def _parts(self, places: Ints) -> tuple[Ints, Ints]:
        """Starts and ends of the slices of some of the chosen lanes, clipped to the window."""
        return self._clip(*(self._column(name, places) for name in ("start", "dur")))

    def _clip(self, start: Ints, dur: Ints) -> tuple[Ints, Ints]:
        """Starts and ends, clipped to the window."""
        return np.maximum(start, self.begin), np.minimum(start + dur, self.end)

    def _column(self, name: str, places: Ints) -> Array:
        """A column of the window's slices on some of the chosen lanes."""
        first, stop, column = self.first[places], self.stop[places], self.timeline["slices"][name]
        if len(places) > _FEW:
            return np.asarray(column[_rows(first, stop)])
        return np.concatenate(
            [column[low:high] for low, high in zip(first.tolist(), stop.tolist(), strict=True)]
        )

    def overlap(self) -> Overlap | None:
        """Device time of the chosen lanes."""
        kind = self.timeline["groups"]["kind"][self.timeline["lanes"]["group"][self.lane]]
        working = np.flatnonzero(kind == GroupKind.WORK)
        if not len(working):
            return None
        start, end = self._parts(working)
        look = np.take(self.timeline["places"]["look"], self._column("event", working), mode="wrap")
        is_communication = look == Look.COMMUNICATION
        communication = union(start[is_communication], end[is_communication])
        computation = union(start[~is_communication], end[~is_communication])
        busy = join(computation, communication).length
        return Overlap(
            computation_ns=busy - communication.length,
            overlap_ns=computation.length + communication.length - busy,
            communication_ns=busy - computation.length,
            idle_ns=self.end - self.begin - busy,
        )


def window_of(timeline: Timeline, begin: int, end: int, lane: Ints) -> Window:
    """The slices of some lanes (ascending) that touch [begin, end), ns."""
    slices, lanes = timeline["slices"], timeline["lanes"]
    start, dur, first = slices["start"], slices["dur"], lanes["first"][lane]
    behind = first + lanes["count"][lane]
    low, high = (_earliest(start, first, behind, edge) for edge in (begin, end))
    # Only the last slice of a lane that starts before an edge can cross it.
    over = np.flatnonzero(low > first)
    over = over[start[low[over] - 1] + dur[low[over] - 1] > begin]
    beyond = np.flatnonzero(high > low)
    beyond = beyond[start[high[beyond] - 1] + dur[high[beyond] - 1] > end]
    outer, inner = low.copy(), high.copy()
    outer[over] -= 1
    inner[beyond] -= 1
    return Window(timeline, begin, end, lane, outer, high, low, inner)


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


def _sums(places: Table, event: Array, row: Ints, part: Ints, outer: Array) -> Sums:
    """Sums of some slices (their events and rows), of each of which ``part`` counts, ns; ``outer``:
    the events that they are nested in, −1 none.
    """
    inner = np.flatnonzero(outer >= 0)
    key, around = _keys(places, event), _keys(places, outer[inner])
    none, zero = np.zeros(len(inner), np.int64), np.zeros(len(row), np.int64)
    never, least = np.full(len(inner), np.iinfo(np.int64).max), np.full(len(inner), -1)
    return _grouped(
        Sums(
            *(
                np.concatenate(columns)
                for columns in (
                    (key, around),
                    (zero + 1, none),
                    (part, none),
                    (zero, part[inner]),
                    (part, never),
                    (part, least),
                    (row, least),
                )
            )
        )
    )


def _keys(places: Table, event: Array) -> Ints:
    name, look = (np.take(places[column], event, mode="wrap") for column in ("name", "look"))
    return np.asarray(name.astype(np.int64) * _LOOKS + look)


def _joined(parts: list[Sums]) -> Sums:
    columns = (vars(part).values() for part in parts)
    return Sums(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def _grouped(rows: Sums) -> Sums:
    """Sums with each key once, ascending."""
    n = len(rows.key)
    size = int(rows.key.max()) + 1 if n else 0
    if size <= _DENSE * max(n, BLOCK):
        index = rows.key
    else:
        keys, index = np.unique(rows.key, return_inverse=True)
        size = len(keys)
    count, total, nested = (np.zeros(size, np.int64) for _ in range(3))
    longest = np.full(size, -1)
    shortest, first = (np.full(size, np.iinfo(np.int64).max) for _ in range(2))
    np.add.at(count, index, rows.count)
    np.add.at(total, index, rows.total)
    np.add.at(nested, index, rows.nested)
    np.minimum.at(shortest, index, rows.shortest)
    np.maximum.at(longest, index, rows.longest)
    best = np.flatnonzero(rows.longest == longest[index])
    np.minimum.at(first, index[best], rows.row[best])
    used = np.flatnonzero((count > 0) | (nested > 0))
    key = used if index is rows.key else keys[used]
    return Sums(key, *(column[used] for column in (count, total, nested, shortest, longest, first)))


def _covered(depth: Array, chosen: Mask) -> Mask:
    """Which lanes lie within chosen ones: events of a depth lie within those above."""
    deepest = int(depth.max(initial=0))
    missing = mask_of(deepest + 1, depth[~chosen])
    above = np.append(False, ~missing)
    return above[depth]
