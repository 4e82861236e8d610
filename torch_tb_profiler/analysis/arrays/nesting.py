"""Nesting of intervals, and walks over forests of parent indices, without a loop over spans.

For spans ordered by (start, −dur), the innermost enclosing span of span i is the nearest earlier
one that does not end before it. All spans search at once by pointer jumping: each starts at its
predecessor and, while that one ends too early, moves on to that one's candidate. Spans skipped in
between ended even earlier. The number of rounds grows with the logarithm of the longest row of
siblings, not with the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from torch_tb_profiler.native import kernels
from torch_tb_profiler.native.kernels import compiled_as
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table

BLOCK = 1 << 20
"""Spans per block, which bounds the memory of a round. Parents come before children, so results of
earlier blocks are final.
"""
_NARROW = 1 << 16
Times = Callable[[Array], Ints]
"""Positions of spans → their times, ns."""


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
    return _nested(track, lambda i: start[i], lambda i: end[i])


def nest_rows(spans: Table, row: Array) -> Nesting:
    """``nest`` for ascending rows of the table ``spans``, without a copy of all times."""
    start, dur = spans["start"], spans["dur"]
    return _nested(
        spans["track"][row], lambda i: start[row[i]], lambda i: start[row[i]] + dur[row[i]]
    )


def _nested(track: Array, begins: Times, ends: Times) -> Nesting:
    n = len(track)
    parent, overlapping = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
    for positions in _whole_tracks(track):
        candidate = np.arange(-1, len(positions) - 1, dtype=np.int32)
        if track[positions[0]] != track[positions[-1]]:
            candidate[1 + np.flatnonzero(np.diff(track[positions]))] = -1
        overlapping[positions] = _reject(candidate, positions, begins, ends)
        for begin in range(0, len(positions), BLOCK):
            block = slice(begin, begin + BLOCK)
            known = candidate[block] >= 0
            parent[positions[block][known]] = positions[candidate[block][known]]
    return Nesting(parent, overlapping)


def _reject(candidate: Array, positions: Array, begins: Times, ends: Times) -> Mask:
    """Advance each candidate to the first one that encloses its span; returns which spans overlap a
    rejected one.

    ``positions``: positions of the spans; candidates index into it.
    """
    overlapping = np.zeros(len(candidate), np.bool_)
    end = np.empty(len(positions), np.int64)
    for begin in range(0, len(positions), BLOCK):
        end[begin : begin + BLOCK] = ends(positions[begin : begin + BLOCK])
        active = begin + np.flatnonzero(candidate[begin : begin + BLOCK] >= 0)
        own_start = begins(positions[active])
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


def _whole_tracks(track: Array) -> Iterator[Array]:
    """Positions grouped by track, int32: per block as many whole tracks as fit, at least one."""
    n = len(track)
    low, high = (int(track.min()), int(track.max())) if n else (0, 0)
    if low == high:
        if n:
            yield np.arange(n, dtype=np.int32)
        return
    if high - low >= _NARROW:
        order = np.argsort(track, kind="stable").astype(np.int32)
        bounds = np.append(np.flatnonzero(np.diff(track[order], prepend=low - 1)), n)
    else:
        order, counts = _by_track(track, low, high - low + 1)
        bounds = np.append(0, np.cumsum(counts[counts > 0]))
    first = 0
    while first < len(bounds) - 1:
        last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + BLOCK, side="right")) - 1)
        yield order[bounds[first] : bounds[last]]
        first = last


def _by_track(track: Array, low: int, tracks: int) -> tuple[Array, Ints]:
    """``(order, counts)``: positions sorted stably by track, int32, and the size of each track.

    numpy sorts 16-bit integers stably in linear time.
    """
    order = np.empty(len(track), np.int32)
    counts = sum(
        (
            np.bincount(track[begin : begin + BLOCK] - low, minlength=tracks)
            for begin in range(0, len(track), BLOCK)
        ),
        np.zeros(tracks, np.int64),
    )
    offset = np.cumsum(counts) - counts
    for begin in range(0, len(track), BLOCK):
        key = (track[begin : begin + BLOCK] - low).astype(np.uint16)
        sorted_at = np.argsort(key, kind="stable")
        in_block = np.bincount(key, minlength=tracks)
        order[np.arange(len(key)) + (offset - np.cumsum(in_block) + in_block)[key[sorted_at]]] = (
            sorted_at + begin
        )
        offset += in_block
    return order, counts


@compiled_as(kernels.climb)
def climb(parent: Array, begin: Array, wanted: Mask) -> Array:
    """The first ``wanted`` position at or above each one of ``begin`` (−1 allowed); −1 if none."""
    ancestor = begin.copy()
    for first in range(0, len(ancestor), BLOCK):
        active = first + np.flatnonzero(ancestor[first : first + BLOCK] >= 0)
        active = active[~wanted[ancestor[active]]]
        while len(active):
            ancestor[active] = parent[ancestor[active]]
            active = active[ancestor[active] >= 0]
            active = active[~wanted[ancestor[active]]]
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
    for begin in range(0, n, BLOCK):
        active = begin + np.flatnonzero(
            (ancestor[begin : begin + BLOCK] < 0) & (above[begin : begin + BLOCK] >= 0)
        )
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
    by_track = np.argsort(track, kind="stable")
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
    deepest = int(depth.max(initial=0))
    # numpy sorts 16-bit integers stably in linear time.
    order = np.argsort(depth.astype(np.uint16) if deepest < 1 << 16 else depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(1, deepest + 1))
    for level in reversed(np.split(order, bounds)[1:]):
        join.at(total, parent[level], total[level])
    return np.asarray(total)
