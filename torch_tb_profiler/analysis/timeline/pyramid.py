"""Levels of detail: level L merges neighbours shorter than 2^L ns within buckets of 2^L ns.

::

    bucket      |       0       |       1       |       2       |
    level 0     [a][b] [c]       [d                 ] [e][f]
    level L     [3 events ]      [d                 ] [2    ]

A summary spans its first to last event and records their number, busy time and the longest one. So
counts and busy time agree on all levels, and gaps between summaries are real. Each level is built
from the one below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.store.columns import Array, Ints, unique_values

FEW = 2000
"""The last stored level has fewer slices; coarser ones are computed on request."""
SHRINK = 4
"""The first stored level has at most 1/4 of the events; finer ones are computed on request."""
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Slices:
    """Columns over slices ordered by (lane, start), disjoint per lane; all of shape (n,).

    start, dur, busy: int64 ns.
    count: number of events, int64.
    event: the longest one.
    longest: its duration in ns.
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

    def take(self, rows: Array | slice) -> Slices:
        """Some of them."""
        return Slices(**{name: column[rows] for name, column in vars(self).items()})


def single_events(lane: Array, start: Ints, dur: Ints, event: Array) -> Slices:
    """A slice per event."""
    return Slices(lane, start, dur, dur, np.ones(len(start), np.int64), event, dur)


def merge(slices: Slices, level: int) -> Slices:
    """The slices of a level from those of a finer one, or from the events."""
    joins = _joins(slices, level)
    if not joins.any():
        return slices
    first = np.flatnonzero(~joins)
    last = np.append(first[1:], len(joins)) - 1
    many = np.flatnonzero(last > first)
    merged = slices.take(first)
    # Only runs of several are summed: on most levels most slices stay as they are.
    size = last[many] - first[many] + 1
    member, run = expand_ranges(first[many], size), np.cumsum(size) - size
    merged.dur[many] = slices.start[last[many]] + slices.dur[last[many]] - merged.start[many]
    merged.busy[many] = np.add.reduceat(slices.busy[member], run)
    merged.count[many] = np.add.reduceat(slices.count[member], run)
    length = slices.longest[member]
    merged.longest[many] = np.maximum.reduceat(length, run)
    group = np.repeat(many, size)
    # Assigned in reverse, so the first of the longest wins.
    top = np.flatnonzero(length == merged.longest[group])[::-1]
    merged.event[group[top]] = slices.event[member[top]]
    return merged


def _joins(slices: Slices, level: int) -> Array:
    """Whether each slice joins the previous one; bool of shape (n,)."""
    short = (slices.count > 1) | (slices.dur < (1 << level))
    lane, bucket = slices.lane, slices.start >> level
    joins = np.zeros(len(slices), np.bool_)
    joins[1:] = short[1:] & short[:-1] & (bucket[1:] == bucket[:-1]) & (lane[1:] == lane[:-1])
    return joins


def build_levels(events: Slices) -> list[tuple[int, Slices]]:
    """The stored levels, ascending; none for a small trace."""
    if len(events) < FEW:
        return []
    levels: list[tuple[int, Slices]] = []
    level, slices = _first_level(events), events
    while level < 62:
        slices = merge(slices, level)
        if len(slices) * SHRINK <= len(events):
            levels.append((level, slices))
        if len(slices) < FEW or (levels and _settled(slices)):
            break
        level += 1
    return levels


def _settled(slices: Slices) -> bool:
    """Whether no coarser level can have fewer slices: one per lane is left."""
    return bool((slices.lane[1:] != slices.lane[:-1]).all())


def _first_level(events: Slices) -> int:
    """About the first level with 1/4 of the slices, estimated from samples of the events."""
    n = len(events)
    stretch = max(1, _SAMPLE // 16)
    begins = unique_values(np.linspace(0, max(0, n - stretch), 16).astype(np.int64))
    for level in range(62):
        joined = seen = 0
        for begin in begins.tolist():
            joins = _joins(events.take(slice(begin, begin + stretch)), level)
            joined, seen = joined + int(joins.sum()), seen + len(joins)
        if (seen - joined) * SHRINK <= seen:
            return level
    return 61
