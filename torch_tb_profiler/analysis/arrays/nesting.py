"""Nesting of intervals, and walks over forests of parent indices, without a loop over spans.

For spans ordered by (start, −dur), the innermost enclosing span of span i is the nearest earlier
one that does not end before it. All spans search at once by pointer jumping: each starts at its
predecessor and, while that one ends too early, moves on to that one's candidate. Spans skipped in
between ended even earlier. The number of rounds grows with the logarithm of the longest row of
siblings, not with the depth.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked, stable_order
from torch_tb_profiler.native import kernels
from torch_tb_profiler.native.kernels import compiled_as
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table

BLOCK = 1 << 20
"""Spans per block, which bounds the memory of a round. Parents come before children, so results of
earlier blocks are final.
"""


class Nesting(msgspec.Struct, frozen=True):
    """Arrays of shape (n,) in the order of the nested spans.

    parent: int32, position of the innermost enclosing span; −1 none.
    overlapping: the span starts inside an earlier one of its track and ends after it. It is then a
        sibling of that span.
    """

    parent: Array
    overlapping: Mask


def nest(track: Array, start: Ints, end: Ints) -> Nesting:
    """Nest spans ordered by (start, −dur); tracks may be interleaved.

    A span encloses another that starts no earlier, ends no later, and starts before the outer one
    ends. Of two equal spans the first encloses the second.
    """
    return Nesting(*_nested(track, start, end))


def nest_rows(spans: Table, row: Array) -> Nesting:
    """``nest`` for ascending rows of the table ``spans``."""
    start = spans["start"].take(row)
    return nest(spans["track"].take(row), start, start + spans["dur"].take(row))


@compiled_as(kernels.nested)
def _nested(track: Array, start: Ints, end: Ints) -> tuple[Array, Mask]:
    """``parent`` and ``overlapping`` as of ``Nesting``."""
    n = len(track)
    parent, overlapping = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
    order = stable_order(track).astype(np.int32)
    candidate = np.arange(-1, n - 1, dtype=np.int32)
    on = track[order]
    candidate[1:][on[1:] != on[:-1]] = -1
    overlapping[order] = _reject(candidate, start[order], end[order])
    known = np.flatnonzero(candidate >= 0)
    parent[order[known]] = order[candidate[known]]
    return parent, overlapping


def _reject(candidate: Array, start: Ints, end: Ints) -> Mask:
    """Advance each candidate to the first one that encloses its span; returns which spans overlap a
    rejected one.
    """
    overlapping = np.zeros(len(candidate), np.bool_)
    for begin in range(0, len(candidate), BLOCK):
        active = begin + np.flatnonzero(candidate[begin : begin + BLOCK] >= 0)
        own_start = start[active]
        while len(active):
            outer = candidate[active]
            outer_end = end[outer]
            crossing = outer_end < end[active]
            apart = outer_end <= own_start
            overlapping[active[crossing & ~apart]] = True
            rejected = np.flatnonzero(crossing | apart)
            active, own_start = active[rejected], own_start[rejected]
            following = candidate[outer[rejected]]
            candidate[active] = following
            left = following >= 0
            active, own_start = active[left], own_start[left]
    return overlapping


_MANY = 32
"""Positions of a forest for each one that is asked, from which on each climbs by itself."""


def climb(parent: Array, begin: Array, wanted: Mask) -> Array:
    """The first ``wanted`` position at or above each one of ``begin`` (−1 allowed); −1 if none."""
    if _MANY * len(begin) < len(parent):
        return _climb(parent, begin, wanted)
    return picked(nearest(parent, wanted), begin).astype(begin.dtype, copy=False)


@compiled_as(kernels.climb)
def _climb(parent: Array, begin: Array, wanted: Mask) -> Array:
    ancestor = begin.copy()
    active = np.flatnonzero(ancestor >= 0)
    while len(active := active[~wanted[ancestor[active]]]):
        ancestor[active] = parent[ancestor[active]]
        active = active[ancestor[active] >= 0]
    return np.asarray(ancestor)


@compiled_as(kernels.nearest)
def nearest(parent: Array, wanted: Mask) -> Array:
    """The nearest ``wanted`` node at or above each node of a forest, −1 if none; int32 of shape
    (nodes,).

    Pointer doubling: the cost does not grow with depth times nodes. For few nodes ``climb`` is
    cheaper.
    """
    n = len(parent)
    ancestor = np.where(wanted, np.arange(n, dtype=np.int32), np.int32(-1))
    above = parent.astype(np.int32)
    active = np.flatnonzero((ancestor < 0) & (above >= 0))
    while len(active):
        jump = above[active]
        jump_ancestor, next_jump = ancestor[jump], above[jump]
        ancestor[active], above[active] = jump_ancestor, next_jump
        active = active[(jump_ancestor < 0) & (next_jump >= 0)]
    return ancestor


@compiled_as(kernels.with_ancestors)
def with_ancestors(parent: Array, wanted: Mask) -> Mask:
    """The ``wanted`` nodes of a forest and all their ancestors, bool of shape (nodes,)."""
    marked = wanted.copy()
    jump = parent.astype(np.int32)
    active = np.flatnonzero(jump >= 0)
    # Pointer doubling, as in ``nearest``.
    while len(active):
        marked[jump[active[marked[active]]]] = True
        jump[active] = jump[jump[active]]
        active = active[jump[active] >= 0]
    return np.asarray(marked)


def ancestry(parent: Array, row: int, most: int | None = None) -> list[int]:
    """One node of a forest and those above it, the innermost first; ``most`` of them at most; empty for −1."""
    found: list[int] = []
    while row >= 0 and (most is None or len(found) < most):
        found.append(row)
        row = int(parent[row])
    return found


def innermost_at(
    track: Array, start: Ints, end: Ints, parent: Array, point_track: Array, point_time: Ints
) -> Ints:
    """The position of the innermost span around each point (track, time), −1 none; int64 of shape
    (points,).

    Spans are ordered by (start, −dur); ``parent`` comes from ``nest``. A span covers [start, end).
    """
    n = len(start)
    if not n:
        return np.full(len(point_time), -1, np.int64)
    by_track = stable_order(track)
    key = track[by_track].astype(np.int64) * (n + 1) + by_track
    begun = np.searchsorted(start, point_time, side="right")
    last = np.maximum(np.searchsorted(key, point_track.astype(np.int64) * (n + 1) + begun) - 1, 0)
    span = np.where(track[by_track[last]] == point_track, by_track[last], -1)
    span[span >= begun] = -1
    return still_open(span, point_time, end, parent)


@compiled_as(kernels.still_open)
def still_open(span: Ints, time: Ints, end: Ints, parent: Array) -> Ints:
    """The innermost span that is open at each time, −1 none; int64 of shape (times,).

    ``span``: the span of its track that began last, −1 none; overwritten. ``end``, ``parent``: of
    all spans.
    """
    # Every span that is open at a point encloses, or is, the last one that started before it.
    place = np.flatnonzero((span >= 0) & (end[span] <= time))
    ended, when = span[place], time[place]
    while len(place):
        outer = parent[ended]
        left = (outer >= 0) & (end[outer] <= when)
        span[place[~left]] = outer[~left]
        place, ended, when = place[left], outer[left], when[left]
    return span


@compiled_as(kernels.depths)
def depths(parent: Array) -> Ints:
    """The number of ancestors of each node of a forest, int64; by pointer doubling."""
    depth = (parent >= 0).astype(np.int32)
    jump = parent.astype(np.int32)
    active = np.flatnonzero(jump >= 0)
    while len(active):
        target = jump[active]
        add, following = depth[target], jump[target]
        depth[active] += add
        jump[active] = following
        active = active[following >= 0]
    return depth.astype(np.int64)


def subtree_totals(parent: Array, values: Array, join: np.ufunc = np.add) -> Array:
    """Each node's value added to, or maximised with, those of all its descendants."""
    total = values.copy()
    depth = depths(parent)
    order = stable_order(depth)
    bounds = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 1))
    for level in reversed(np.split(order, bounds)[1:]):
        join.at(total, parent[level], total[level])
    return np.asarray(total)
