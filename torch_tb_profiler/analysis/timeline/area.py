"""Statistics of a time window on some lanes.

Slices of a lane do not overlap, so only its first and last can cross the window's edges::

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

from torch_tb_profiler.analysis.arrays.grouping import (
    expand_ranges,
    extreme_by,
    group_rows,
    mask_of,
    positions_of,
    sum_by,
)
from torch_tb_profiler.analysis.arrays.intervals import join, union
from torch_tb_profiler.analysis.timeline.kinds import KIND_OF_LOOK, KINDS, Kind
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import GroupKind, Look

AREA = display_spec("""
area: Events of a window by name and look. Times are clipped to the window.
    name           code   Name   width=216
    look           id     Kind   width=124
    count          count  Count  term=area_count width=68
    total_ns       time   Total  term=area_total width=92
    self_ns        time   Self   term=area_self bar width=104
    share          share  Share  term=area_share width=76
    mean_ns        time   Mean   term=area_mean width=88
    shortest_ns    time   Min    term=area_shortest width=88
    longest_ns     time   Max    term=area_longest width=88
    longest_event  row    -      -
""")
_LOOKS = 16


@dataclass(frozen=True)
class Sums:
    """Sums by key (row of names × 16 + look), int64, keys distinct; ``row``: a longest slice.
    ``nested``: time of the slices whose ``around`` has the key.
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


def area_of(trace: Trace, timeline: Timeline, begin: int, end: int, lanes: Sequence[int]) -> Area:
    """Statistics of [begin, end), ns, on ``lanes`` (ascending, each once).

    An event counts with its part within the window. Events without a length count if they lie
    in it.
    """
    window = window_of(timeline, begin, end, np.array(lanes, np.int64))
    sums = window.sums()
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
    """Rows [first, stop) of slices that touch [begin, end) per chosen lane; arrays of shape (chosen lanes,)."""

    timeline: Timeline
    begin: int
    end: int
    lane: Ints
    first: Ints
    stop: Ints

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

    def sums(self) -> Sums:
        """Sums by name and look. What is nested in an event of a lane that is not chosen is nested in none."""
        row, places = _rows(self.first, self.stop), self.timeline["places"]
        event, part = self.events()
        outer = places["around"][event]
        outer = np.where((outer >= 0) & self.chosen[places["lane"][outer]], outer, -1)
        inner = np.flatnonzero(outer >= 0)
        return _summed(_keys(places, event), row, part, _keys(places, outer[inner]), part[inner])

    @cached_property
    def chosen(self) -> Mask:
        """Which lanes of the timeline are chosen."""
        return mask_of(self.timeline["lanes"].n, self.lane)

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
        rows = _rows(self.first[places], self.stop[places])
        return np.asarray(self.timeline["slices"][name][rows])

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
    low[over] -= 1
    return Window(timeline, begin, end, lane, low, high)


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


def _keys(places: Table, event: Array) -> Ints:
    name, look = (np.take(places[column], event, mode="wrap") for column in ("name", "look"))
    return np.asarray(name.astype(np.int64) * _LOOKS + look)


def _summed(key: Ints, row: Ints, part: Ints, around: Ints, nested: Ints) -> Sums:
    """Sums of slices, ``row``, each of which counts with ``part`` ns; ``around``: keys of what is around some, which take ``nested`` ns."""
    representative, index = group_rows((key,))
    used, n = key[representative], len(representative)
    count, total = np.bincount(index, minlength=n), sum_by(index, n, part)
    shortest = extreme_by(np.minimum, index, n, part)
    longest = extreme_by(np.maximum, index, n, part)
    best = np.flatnonzero(part == longest[index])
    first = extreme_by(np.minimum, index[best], n, row[best])
    own = positions_of(used, around)
    inside = sum_by(own[own >= 0], n, nested[own >= 0])
    return Sums(used, count, total, inside, shortest, longest, first)


def _covered(depth: Array, chosen: Mask) -> Mask:
    """Which lanes lie within chosen ones: events of a depth lie within those above."""
    deepest = int(depth.max(initial=0))
    missing = mask_of(deepest + 1, depth[~chosen])
    above = np.append(False, ~missing)
    return above[depth]
