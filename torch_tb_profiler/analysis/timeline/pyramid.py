"""Levels of detail: on level L, what is shorter than 2^L ns is merged with its neighbours in the
same bucket of 2^L ns.

::

    bucket      |       0       |       1       |       2       |
    level 0     [a][b] [c]       [d                 ] [e][f]
    level L     [3 events ]      [d                 ] [2    ]

A summary begins with its first event and ends with its last one; it knows how many they are, how
long they were busy, and which is the longest. So counts and busy time are the same on every level,
and gaps between summaries are true gaps. A level is made from the one below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.store.columns import Array, Ints

FEW = 2000
"""The last stored level has fewer slices than this; coarser ones are made on request."""
SHRINK = 4
"""The first stored level has at most 1/4 of the events; finer ones are made on request from the
events in sight.
"""
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Slices:
    """Columns over slices ordered by (lane, start), disjoint on a lane; all of shape (n,).

    lane: int. start, dur, busy: int64 ns. count: int64. event: the longest one. longest: its length
        in ns.
    """

    lane: Array
    start: Ints
    dur: Ints
    busy: Ints
    count: Ints
    event: Array
    longest: Ints

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: Array) -> Slices:
        """Some of them."""
        return Slices(
            self.lane[rows],
            self.start[rows],
            self.dur[rows],
            self.busy[rows],
            self.count[rows],
            self.event[rows],
            self.longest[rows],
        )


def merge(slices: Slices, level: int) -> Slices:
    """The slices of a level from those of any finer one (or from the events themselves)."""
    joins = _joins(slices.lane, slices.start, slices.dur, slices.count, level)
    if not joins.any():
        return slices
    first = np.flatnonzero(~joins)
    last = np.append(first[1:], len(joins)) - 1
    many = np.flatnonzero(last > first)
    start = slices.start[first]
    dur, busy, count = slices.dur[first], slices.busy[first], slices.count[first]
    event, longest = slices.event[first], slices.longest[first]
    # Only the runs of several are added up: on most levels most slices are left as they are.
    size = last[many] - first[many] + 1
    member, run = expand_ranges(first[many], size), np.cumsum(size) - size
    dur[many] = slices.start[last[many]] + slices.dur[last[many]] - start[many]
    busy[many] = np.add.reduceat(slices.busy[member], run)
    count[many] = np.add.reduceat(slices.count[member], run)
    length = slices.longest[member]
    longest[many] = np.maximum.reduceat(length, run)
    of = np.repeat(np.arange(len(many)), size)
    top = np.flatnonzero(length == longest[many][of])[::-1]
    # Written backwards, so that of equally long ones the first stays.
    chosen = np.empty(len(many), slices.event.dtype)
    chosen[of[top]] = slices.event[member[top]]
    event[many] = chosen
    return Slices(slices.lane[first], start, dur, busy, count, event, longest)


def _joins(lane: Array, start: Ints, dur: Ints, count: Ints, level: int) -> Array:
    """Whether each slice joins the one before; bool of shape (n,)."""
    short = (count > 1) | (dur < (1 << level))
    bucket = start >> level
    joins = np.zeros(len(start), np.bool_)
    joins[1:] = short[1:] & short[:-1] & (bucket[1:] == bucket[:-1]) & (lane[1:] == lane[:-1])
    return joins


def build_levels(events: Slices) -> list[tuple[int, Slices]]:
    """The levels that are kept, ascending; none for a small trace."""
    if len(events) < FEW:
        return []
    found: list[tuple[int, Slices]] = []
    level, slices = _first_level(events), events
    while level < 62:
        slices = merge(slices, level)
        if len(slices) * SHRINK <= len(events):
            found.append((level, slices))
        if len(slices) < FEW or (found and _settled(slices)):
            break
        level += 1
    return found


def _settled(slices: Slices) -> bool:
    """Whether no coarser level can have fewer slices: one per lane is left."""
    return bool((slices.lane[1:] != slices.lane[:-1]).all())


def _first_level(events: Slices) -> int:
    """About the first level with a quarter of the slices, from stretches spread over the events:
    finer ones need not be made.
    """
    n = len(events)
    stretch = max(1, _SAMPLE // 16)
    begins = np.unique(np.linspace(0, max(0, n - stretch), 16).astype(np.int64))
    for level in range(62):
        joined = seen = 0
        for begin in begins.tolist():
            part = slice(begin, min(n, begin + stretch))
            joins = _joins(
                events.lane[part], events.start[part], events.dur[part], events.count[part], level
            )
            joined, seen = joined + int(joins.sum()), seen + len(joins)
        if (seen - joined) * SHRINK <= seen:
            return max(0, level)
    return 61
