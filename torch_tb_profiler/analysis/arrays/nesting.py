"""Who encloses whom on a thread, without a loop over spans.

For spans ordered by (start, -dur), the innermost enclosing span of span i is the nearest one before
it that ends no earlier. Finding the nearest previous greater-or-equal value is done for all spans
at once by pointer jumping: every span first looks at its predecessor; while that one ends too
early, it takes over that one's candidate. What lies between the two ended earlier still, so nothing
is jumped over. The number of rounds grows with the logarithm of the longest row of siblings, not
with the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Mask, Table

BLOCK = 1 << 20
"""Spans that are looked at together: what a round needs beside its results does not grow with the
trace. Parents stand before children, so that what an
earlier block found is final, and the order in which candidates are rejected decides nothing."""
_NARROW = 1 << 16
Times = Callable[[Array], Ints]
"""Positions of spans → their times."""


@dataclass(frozen=True)
class Nesting:
    """Attributes, arrays of shape (n,) in the order of the spans that were nested.

    parent: int32, position of the innermost enclosing span; −1 none.
    overlapping: bool, whether the span begins inside an earlier one of its track and ends after it.
        Such a span is nobody's child by that: it stands beside the earlier one, under the first
        span that encloses it whole.
    """

    parent: Array
    overlapping: Mask


def nest(track: Array, start: Ints, end: Ints) -> Nesting:
    """Nest spans that are ordered by (start, -dur); tracks may be mixed.

    A span encloses another when it begins no later, ends no earlier, and the other begins before
    its end: what begins exactly at the end of a span follows it, also when it has no length. Of two
    equal spans the first encloses the second.
    """
    return _nested(track, lambda at: start[at], lambda at: end[at])


def nest_rows(spans: Table, row: Array) -> Nesting:
    """The same for rows of the table ``spans``, ascending; without a copy of all their times."""
    start, dur = spans["start"], spans["dur"]
    return _nested(
        spans["track"][row], lambda at: start[row[at]], lambda at: start[row[at]] + dur[row[at]]
    )


def _nested(track: Array, begins: Times, ends: Times) -> Nesting:
    n = len(track)
    parent, overlapping = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
    for at in _whole_tracks(track):
        candidate = np.arange(-1, len(at) - 1, dtype=np.int32)
        if track[at[0]] != track[at[-1]]:
            candidate[1 + np.flatnonzero(np.diff(track[at]))] = -1
        overlapping[at] = _reject(candidate, at, begins, ends)
        for begin in range(0, len(at), BLOCK):
            some = slice(begin, begin + BLOCK)
            known = candidate[some] >= 0
            parent[at[some][known]] = at[candidate[some][known]]
    return Nesting(parent, overlapping)


def _reject(candidate: Array, at: Array, begins: Times, ends: Times) -> Mask:
    """Replace each span's candidate by the first one beyond it that encloses the span; whether a
    rejected one overlaps it is returned.

    ``at``: the spans' positions; candidates count among them.
    """
    overlapping = np.zeros(len(candidate), np.bool_)
    end = np.empty(len(at), np.int64)
    for begin in range(0, len(at), BLOCK):
        end[begin : begin + BLOCK] = ends(at[begin : begin + BLOCK])
        active = begin + np.flatnonzero(candidate[begin : begin + BLOCK] >= 0)
        own_start = begins(at[active])
        while len(active):
            found = candidate[active]
            found_end = end[found]
            crossing = found_end < end[active]
            apart = found_end <= own_start
            overlapping[active[crossing & ~apart]] = True
            rejected = np.flatnonzero(crossing | apart)
            active, own_start = active[rejected], own_start[rejected]
            following = candidate[found[rejected]]
            candidate[active] = following
            left = following >= 0
            active, own_start = active[left], own_start[left]
    return overlapping


def _whole_tracks(track: Array) -> Iterator[Array]:
    """Positions by track, those of one in their order, int32: as many tracks at a time as a block
    holds, at least one.
    """
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
    """(positions by track and in their order within it, int32; how many each track has), block by
    block: numpy sorts 16-bit integers stably in linear time.
    """
    order = np.empty(len(track), np.int32)
    counts = sum(
        (
            np.bincount(track[begin : begin + BLOCK] - low, minlength=tracks)
            for begin in range(0, len(track), BLOCK)
        ),
        np.zeros(tracks, np.int64),
    )
    place = np.cumsum(counts) - counts
    for begin in range(0, len(track), BLOCK):
        key = (track[begin : begin + BLOCK] - low).astype(np.uint16)
        sorted_at = np.argsort(key, kind="stable")
        here = np.bincount(key, minlength=tracks)
        order[np.arange(len(key)) + (place - np.cumsum(here) + here)[key[sorted_at]]] = (
            sorted_at + begin
        )
        place += here
    return order, counts


def climb(parent: Array, begin: Array, wanted: Mask) -> Array:
    """From each position of ``begin`` (−1 allowed) up the parents to the first for which ``wanted``
    holds, itself included; −1 if none.

    Of the shape and dtype of ``begin``.
    """
    found = begin.copy()
    for first in range(0, len(found), BLOCK):
        active = first + np.flatnonzero(found[first : first + BLOCK] >= 0)
        active = active[~wanted[found[active]]]
        while len(active):
            found[active] = parent[found[active]]
            active = active[found[active] >= 0]
            active = active[~wanted[found[active]]]
    return np.asarray(found)


def nearest(parent: Array, wanted: Mask) -> Array:
    """For every node of a forest the nearest one at or above it for which ``wanted`` holds, −1
    without any; int32 of the shape of ``parent``.

    By doubling: every round doubles how far each node has looked, so that the cost does not grow
    with the depth times the nodes. ``climb`` is cheaper for few nodes that find theirs near by.
    """
    n = len(parent)
    found = np.where(wanted, np.arange(n, dtype=np.int32), np.int32(-1))
    above = parent.astype(np.int32)
    # What an earlier block found is found at once; where children stand before their parents it
    # only takes more rounds.
    for begin in range(0, n, BLOCK):
        active = begin + np.flatnonzero(
            (found[begin : begin + BLOCK] < 0) & (above[begin : begin + BLOCK] >= 0)
        )
        while len(active):
            to = above[active]
            near, further = found[to], above[to]
            found[active], above[active] = near, further
            active = active[(near < 0) & (further >= 0)]
    return found


def with_ancestors(parent: Array, wanted: Mask) -> Mask:
    """The nodes of a forest for which ``wanted`` holds and all around them; bool of the shape of
    ``parent``.
    """
    marked = wanted.copy()
    jump = parent.astype(np.int32)
    active = np.flatnonzero(jump >= 0)
    # Every round doubles how far up is marked, and how far each node has looked.
    while len(active):
        marked[jump[active[marked[active]]]] = True
        jump[active] = jump[jump[active]]
        active = active[jump[active] >= 0]
    return np.asarray(marked)


def innermost_at(
    track: Array, start: Ints, end: Ints, parent: Array, point_track: Array, point_time: Ints
) -> Ints:
    """For points (track, time) the position of the innermost span around each, −1 none; int64 of
    the points' shape.

    The spans are ordered by (start, -dur); ``parent`` is that of ``nest``, or among some of its
    spans the nearest of them. A span is around a point from its begin, and until just before its
    end.
    """
    n = len(start)
    if not n:
        return np.full(len(point_time), -1, np.int64)
    by_track = np.argsort(track, kind="stable")
    key = track[by_track].astype(np.int64) * (n + 1) + by_track
    begun = np.searchsorted(start, point_time, side="right")
    last = np.maximum(np.searchsorted(key, point_track.astype(np.int64) * (n + 1) + begun) - 1, 0)
    found = np.where(track[by_track[last]] == point_track, by_track[last], -1)
    found[found >= begun] = -1
    active = np.flatnonzero(found >= 0)
    # Whatever is open at a point began before the last span that began, and is around it.
    while len(active := active[end[found[active]] <= point_time[active]]):
        found[active] = parent[found[active]]
        active = active[found[active] >= 0]
    return found


def depths(parent: Array) -> Ints:
    """Distance to the root of every node of a forest, by doubling: int64 of the shape of
    ``parent``.
    """
    depth = (parent >= 0).astype(np.int32)
    jump = parent.astype(np.int32)
    active = np.flatnonzero(jump >= 0)
    while len(active):
        to = jump[active]
        add, following = depth[to], jump[to]
        depth[active] += add
        jump[active] = following
        active = active[following >= 0]
    return depth.astype(np.int64)


def subtree_totals(parent: Array, values: Array, join: np.ufunc = np.add) -> Array:
    """Every node's own value joined with those of all beneath it (their sum, or by ``np.maximum``
    the largest), of the shape and dtype of ``values``.

    One round per level.
    """
    total = values.copy()
    depth = depths(parent)
    deepest = int(depth.max(initial=0))
    # numpy sorts 16-bit integers stably in linear time.
    order = np.argsort(depth.astype(np.uint16) if deepest < 1 << 16 else depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(1, deepest + 1))
    for level in reversed(np.split(order, bounds)[1:]):
        join.at(total, parent[level], total[level])
    return np.asarray(total)
