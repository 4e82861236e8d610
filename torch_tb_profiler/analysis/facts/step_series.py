"""Steps of several profilers in one loop: which marks make up the steps of the trace.

Each profiler marks steps of its own, numbered upward, that do not overlap::

    one       [#1        ][#2        ][#3        ]        covers most: kept
    another     [#1  ][#2  ]  [#3  ][#4  ]                left out

A mark continues the series whose last step has the nearest smaller number and ended before it. Where series overlap in
time, the one that covers most of it is kept. Profilers that ran one after the other do not overlap, and all are kept.
"""

from __future__ import annotations

import heapq

import numpy as np

from torch_tb_profiler.store.columns import Ints, Mask

TOUCH_NS = 2_000
"""Where steps meet, times rounded to whole microseconds may overlap by as much."""
DOUBLED_SHARE = 0.5
"""Marks of different profilers overlap by more than this share of the shorter one; less is an odd clock."""
SERIES_SOUGHT = 64
"""Of series without an open step, those that ended last are looked at."""


def kept_marks(start: Ints, end: Ints, number: Ints) -> Mask:
    """Which marks of one thread are the steps of the trace.

    Args:
        start, end: of each mark, int64 ns of shape (n,), in ascending order of start, the longer first of equal ones.
        number: N of ``ProfilerStep#N``.
    """
    kept = np.ones(len(start), np.bool_)
    if not _doubled(start, end):
        return kept
    series = _series(start, end, number)
    count = int(series.max()) + 1
    covered = np.bincount(series, weights=end - start, minlength=count)
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(first, series, start)
    np.maximum.at(last, series, end)
    order = np.argsort(first, kind="stable")
    reach = np.maximum.accumulate(last[order])
    apart = np.concatenate(([False], first[order][1:] >= reach[:-1] - TOUCH_NS))
    together = np.empty(count, np.int64)
    together[order] = np.cumsum(apart)
    best = np.lexsort((-np.arange(count), covered, together))
    best = best[np.append(np.diff(together[best]) > 0, True)]
    return np.isin(series, best)


def _doubled(start: Ints, end: Ints) -> bool:
    """Whether any mark overlaps an earlier one by much of its own or of that one's length."""
    if len(start) < 2:
        return False
    dur = end - start
    latest = np.maximum.accumulate(end)
    # The earlier mark that reaches farthest.
    where = np.maximum.accumulate(np.where(end == latest, np.arange(len(end)), 0))[:-1]
    overlap = np.minimum(latest[:-1], end[1:]) - start[1:]
    return bool((overlap > DOUBLED_SHARE * np.minimum(dur[1:], dur[where])).any())


def _series(start: Ints, end: Ints, number: Ints) -> Ints:
    """The series of each mark, int64."""
    series: list[int] = []
    open_: list[tuple[int, int, int]] = []
    ended: list[tuple[int, int, int]] = []
    """(end, number, series) of each series' last step."""
    count = 0
    for begin, until, own in zip(start.tolist(), end.tolist(), number.tolist(), strict=True):
        while open_ and open_[0][0] <= begin + TOUCH_NS:
            ended.append(heapq.heappop(open_))
        del ended[:-SERIES_SOUGHT]
        before = [last for last in ended if last[1] < own]
        if before:
            continued = max(before, key=lambda last: (last[1], last[0]))
            ended.remove(continued)
            chosen = continued[2]
        else:
            chosen, count = count, count + 1
        series.append(chosen)
        heapq.heappush(open_, (until, own, chosen))
    return np.array(series, np.int64)
