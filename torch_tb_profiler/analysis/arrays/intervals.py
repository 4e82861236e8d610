"""Sets of time points as sorted, disjoint, half-open intervals in integer nanoseconds."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges
from torch_tb_profiler.analysis.arrays.nesting import BLOCK
from torch_tb_profiler.native import kernels
from torch_tb_profiler.native.kernels import compiled_as
from torch_tb_profiler.store.columns import Array, Ints


class Intervals(msgspec.Struct, frozen=True):
    """``start`` and ``end``: int64 of shape (n,), ascending, start < end < next start."""

    start: Ints
    end: Ints

    @property
    def length(self) -> int:
        """Total length in ns."""
        return int((self.end - self.start).sum())


def union(start: Ints, end: Ints) -> Intervals:
    """The points covered by any interval [start, end). Touching intervals are merged."""
    filled = end > start
    if not filled.all():
        start, end = start[filled], end[filled]
    start, end = (
        np.sort(times, kind="stable") if (times[1:] < times[:-1]).any() else times
        for times in (start, end)
    )
    return _covered(start, end)


def join(*sets: Intervals) -> Intervals:
    """The union of interval sets."""
    start, end = np.concatenate([s.start for s in sets]), np.concatenate([s.end for s in sets])
    # The stable sort merges the sorted runs: 20 times as fast as the default sort here.
    start.sort(kind="stable")
    end.sort(kind="stable")
    return _covered(start, end)


def _covered(start: Ints, end: Ints) -> Intervals:
    """The union of non-empty intervals, given their starts and ends, each sorted on its own.

    There is a gap before the i-th start if i intervals have ended before it, no matter which ones.
    """
    if len(start) == 0:
        return Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))
    opens = np.flatnonzero(start[1:] > end[:-1]) + 1
    return Intervals(start[np.append(0, opens)], end[np.append(opens, len(start)) - 1])


def shared(start: Ints, end: Ints, points: Intervals) -> tuple[Ints, Ints, Ints]:
    """The pieces of a set within each window [start, end): ``(window, start, end)``, int64 of shape
    (pieces,).

    Windows may overlap.
    """
    low = np.searchsorted(points.end, start, side="right")
    count = np.maximum(np.searchsorted(points.start, end, side="left") - low, 0)
    window = np.repeat(np.arange(len(start)), count)
    piece = expand_ranges(low, count)
    return (
        window,
        np.maximum(start[window], points.start[piece]),
        np.minimum(end[window], points.end[piece]),
    )


def window_at(start: Ints, end: Ints, time: Ints) -> Array:
    """The window [start, end) that contains each time, −1 none; int32. Windows are ascending and do not overlap."""
    window = np.searchsorted(start, time, side="right").astype(np.int32) - 1
    return np.where((window >= 0) & (time < np.append(end, 0).take(window)), window, np.int32(-1))


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """The points of both sets."""
    _, start, end = shared(a.start, a.end, b)
    return Intervals(start, end)


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """The points of ``a`` outside ``b``."""
    if not len(a.start) or not len(b.start):
        return a
    beyond = max(int(a.end[-1]), int(b.end[-1])) + 1
    before = min(int(a.start[0]), int(b.start[0])) - 1
    return intersect(
        a, Intervals(np.concatenate(([before], b.end)), np.concatenate((b.start, [beyond])))
    )


def measure(points: Intervals, begin: Ints, end: Ints) -> Ints:
    """The length of the set within each window [begin, end), int64 ns. Windows may overlap."""
    result = np.zeros(len(begin), np.int64)
    if len(points.start):
        total = totals(points)
        for first in range(0, len(begin), BLOCK):
            block = slice(first, first + BLOCK)
            np.subtract(
                length_before(points, total, end[block]),
                length_before(points, total, begin[block]),
                out=result[block],
            )
    return result


def totals(points: Intervals) -> Ints:
    """The length of the set before each interval and behind the last, int64 ns of shape (n + 1,)."""
    total = np.zeros(len(points.start) + 1, np.int64)
    np.cumsum(points.end - points.start, out=total[1:])
    return total


@compiled_as(kernels.length_before)
def length_before(points: Intervals, total: Ints, time: Ints) -> Ints:
    """The length of the set before each time, from its ``totals``; int64 ns."""
    number = np.searchsorted(points.start, time, side="right")
    if not len(points.end):
        return total[number]
    over = np.maximum(points.end[np.maximum(number - 1, 0)] - time, 0)
    return total[number] - np.where(number > 0, over, 0)


def open_total(start: Ints, end: Ints, weight: Array, cap: float) -> tuple[Ints, Array]:
    """``(time, total)``: all starts and ends in order, and after each the total weight of the open
    intervals, capped at ``cap``.

    int64 ns and float64 of shape (2 n,). Of equal times the last entry counts.
    """
    time = np.concatenate((start, end))
    order = np.argsort(time, kind="stable")
    running = np.cumsum(
        np.concatenate((np.ones(len(start), np.int8), np.full(len(end), -1, np.int8)))[order],
        dtype=np.int64,
    )
    total = np.cumsum(np.concatenate((weight, -weight))[order])
    # Clear rounding residue where no interval is open.
    return time[order], np.where(running > 0, np.clip(total, 0.0, cap), 0.0)
