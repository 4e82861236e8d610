"""Who encloses whom on a thread, without a loop over spans.

For spans ordered by (start, -dur), the innermost enclosing span of span i is the nearest one before it that ends no earlier. Finding the
nearest previous greater-or-equal value is done for all spans at once by pointer jumping: every span first looks at its predecessor; while
that one ends too early, it takes over that one's candidate. What lies between the two ended earlier still, so nothing is jumped over.
The number of rounds grows with the logarithm of the longest row of siblings, not with the depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Array, Ints, Mask


@dataclass(frozen=True)
class Nesting:
    """Attributes, arrays of shape (n,) in the order of the spans that were nested.

    parent: int64, position of the innermost enclosing span; −1 none.
    overlapping: bool, whether the span begins inside an earlier one of its track and ends after it. Such a span is nobody's child by that:
        it stands beside the earlier one, under the first span that encloses it whole.
    """

    parent: Ints
    overlapping: Mask


def nest(track: Array, start: Ints, end: Ints) -> Nesting:
    """Nest spans that are ordered by (start, -dur); tracks may be mixed.

    A span encloses another when it begins no later, ends no earlier, and the other begins before its end: what begins exactly at the end of
    a span follows it, also when it has no length. Of two equal spans the first encloses the second.
    """
    n = len(start)
    # numpy sorts 16-bit integers stably in linear time.
    key = track.astype(np.uint16) if n and int(track.max()) < 1 << 16 and int(track.min()) >= 0 else track
    order = np.argsort(key, kind="stable")
    track, start, end = track[order], start[order], end[order]
    candidate = np.arange(-1, n - 1, dtype=np.int32)
    candidate[np.flatnonzero(np.diff(track, prepend=-1))] = -1
    overlapping = np.zeros(n, np.bool_)
    active = np.flatnonzero(candidate >= 0).astype(np.int32)
    while len(active):
        found = candidate[active]
        found_end, own_start = end[found], start[active]
        crossing = found_end < end[active]
        apart = found_end <= own_start
        overlapping[active[crossing & ~apart]] = True
        rejected = crossing | apart
        active = active[rejected]
        following = candidate[found[rejected]]
        candidate[active] = following
        active = active[following >= 0]
    parent = np.full(n, -1, np.int64)
    known = candidate >= 0
    parent[order[known]] = order[candidate[known]]
    marked = np.zeros(n, np.bool_)
    marked[order] = overlapping
    return Nesting(parent, marked)


def climb(parent: Ints, begin: Ints, wanted: Mask) -> Ints:
    """From each position of ``begin`` (−1 allowed) up the parents to the first for which ``wanted`` holds, itself included; −1 if none."""
    found = begin.copy()
    active = np.flatnonzero(found >= 0)
    active = active[~wanted[found[active]]]
    while len(active):
        found[active] = parent[found[active]]
        active = active[found[active] >= 0]
        active = active[~wanted[found[active]]]
    return np.asarray(found)


def nearest(parent: Array, wanted: Mask) -> Array:
    """For every node of a forest the nearest one at or above it for which ``wanted`` holds, −1 without any; int32 of the shape of ``parent``.

    By doubling: every round doubles how far each node has looked, so that the cost does not grow with the depth times the nodes. ``climb`` is
    cheaper for few nodes that find theirs near by.
    """
    n = len(parent)
    found = np.where(wanted, np.arange(n, dtype=np.int32), np.int32(-1))
    above = parent.astype(np.int32)
    active = np.flatnonzero((found < 0) & (above >= 0))
    while len(active):
        to = above[active]
        near, further = found[to], above[to]
        found[active], above[active] = near, further
        active = active[(near < 0) & (further >= 0)]
    return found


def with_ancestors(parent: Array, wanted: Mask) -> Mask:
    """The nodes of a forest for which ``wanted`` holds and all around them; bool of the shape of ``parent``."""
    marked = wanted.copy()
    jump = parent.astype(np.int32)
    active = np.flatnonzero(jump >= 0)
    # Every round doubles how far up is marked, and how far each node has looked.
    while len(active):
        marked[jump[active[marked[active]]]] = True
        jump[active] = jump[jump[active]]
        active = active[jump[active] >= 0]
    return np.asarray(marked)


def around(track: Array, start: Ints, end: Ints, parent: Array, point_track: Array, point_time: Ints) -> Ints:
    """For points (track, time) the position of the innermost span around each, −1 none; int64 of the points' shape.

    The spans are ordered by (start, -dur); ``parent`` is that of ``nest``, or among some of its spans the nearest of them. A span is around a point from
    its begin, and until just before its end.
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
    """Distance to the root of every node of a forest, by doubling: int64 of the shape of ``parent``."""
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


def carried_up(parent: Array, values: Array, join: np.ufunc = np.add) -> Array:
    """Every node's own value joined with those of all beneath it (their sum, or by ``np.maximum`` the largest), of the shape and dtype of ``values``.

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
