"""Which collectives without a number are the same, by the clocks of their ranks: those that overlap in time.

::

    rank 0   [0]  [1]  [2]            rank 1 began to record one iteration later: by position 0 would be 1,
    rank 1        [0]  [1]  [2]       by the clocks 1 is 0 and 2 is 1

A collective of one rank overlaps only one of another's, because each rank runs those of a group one after another. They
end together, so the mean by which the ends of overlapping ones differ is about what the clocks differ by: less that, others
may overlap.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, occurrences
from torch_tb_profiler.store.columns import Ints, Mask

LEAST_SHARE = 0.5
"""Of the collectives that both ranks recorded meanwhile so many overlap, or the clocks do not tell."""


def out_of_place(kind: Ints, cell: Ints, position: Ints, start: Ints, end: Ints) -> Mask:
    """Of which kinds some collectives at equal places do not overlap, or not all ranks have equally many; bool by kind. The
    others need no look at the clocks.

    cell: number of each collective's kind and rank. position: its place among those.
    """
    first, place = group_rows((kind, position))
    opens, closes = start[first[place]], end[first[place]]
    near = (start <= closes) & (opens <= end)
    count = np.bincount(cell)
    overlap = np.bincount(cell, weights=near)
    total = np.bincount(cell, weights=np.where(near, end - closes, 0))
    late = np.rint(total / np.maximum(overlap, 1)).astype(np.int64)[cell]
    apart = ~near & ((start - late > closes) | (opens > end - late))
    example = np.zeros(len(count), np.int64)
    example[cell] = kind
    kinds = int(kind.max(initial=-1)) + 1
    odd = np.zeros(kinds, np.bool_)
    odd[example[overlap < LEAST_SHARE * count]] = True
    odd[kind[apart]] = True
    least, most = np.full(kinds, np.iinfo(np.int64).max), np.zeros(kinds, np.int64)
    np.minimum.at(least, example, count)
    np.maximum.at(most, example, count)
    return np.asarray(odd | (least < most))


def by_clock(kind: Ints, rank: Ints, start: Ints, end: Ints, by_place: Mask) -> tuple[Ints, Mask]:
    """``(position, matched)`` of collectives: equal positions of a kind are the same one.

    Of each kind every rank is laid beside the rank with most of them. Where the clocks do not tell, the place of a
    collective among those of its rank stays its position, if ``by_place`` says that these are comparable.

    kind, rank: of each collective, int64 of shape (n,), each rank's in the order of time. start, end: Unix time, ns.
    """
    position, matched = np.zeros(len(kind), np.int64), by_place.copy()
    _, cell = group_rows((kind, rank))
    position[:] = occurrences(cell)
    order = np.lexsort((position, rank, kind))
    bounds = np.flatnonzero(np.append(True, np.diff(cell[order]) != 0))
    cells = np.split(order, bounds[1:]) if len(order) else []
    of_kind: dict[int, list[Ints]] = {}
    for own in cells:
        of_kind.setdefault(int(kind[own[0]]), []).append(own)
    for ranks in of_kind.values():
        if len(ranks) > 1:
            _lay_beside(ranks, start, end, position, matched)
    return position, matched


def _lay_beside(ranks: list[Ints], start: Ints, end: Ints, position: Ints, matched: Mask) -> None:
    """Give the collectives of all ranks of a kind the positions of those of the rank with most that they overlap."""
    most = max(ranks, key=len)
    opens, closes = start[most], end[most]
    matched[most] = True
    for own in ranks:
        if own is most:
            continue
        near, far, overlap = _nearest(opens, closes, start[own], end[own])
        both = (end[own] >= opens[0]) & (start[own] <= closes[-1])
        if not overlap.any() or overlap.sum() < LEAST_SHARE * both.sum():
            # By place with those that have equally many, and only with them.
            equal = len(own) == len(most)
            matched[own] |= equal
            position[own] += 0 if equal else len(most)
            continue
        late = int(np.mean((end[own] - closes[near])[overlap]))
        corrected = _nearest(opens, closes, start[own] - late, end[own] - late)
        near, far, overlap = np.where(overlap, (near, far, overlap), corrected)
        overlap = overlap.astype(np.bool_)
        # Two that overlap the same one: the nearer end is it.
        order = np.lexsort((far, near, ~overlap))
        once = np.append(True, (np.diff(near[order]) != 0) | ~overlap[order][1:])
        chosen = np.zeros(len(own), np.bool_)
        chosen[order] = once & overlap[order]
        position[own], matched[own] = near, chosen


def _nearest(opens: Ints, closes: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Mask]:
    """For each collective of a rank the other rank's that ends nearest, how far from it, and whether they overlap."""
    last = len(closes) - 1
    after = np.clip(np.searchsorted(closes, end), min(1, last), last)
    before = np.maximum(after - 1, 0)
    near = np.where(end - closes[before] <= np.abs(closes[after] - end), before, after)
    return near, np.abs(closes[near] - end), (start <= closes[near]) & (opens[near] <= end)
