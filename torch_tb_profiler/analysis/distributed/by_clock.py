"""Which collectives without a number are the same, by the clocks of their ranks: those that overlap in time.

::

    rank 0   [0]  [1]  [2]            rank 1 began to record one iteration later: by position 0 would be 1,
    rank 1        [0]  [1]  [2]       by the clocks 1 is 0 and 2 is 1

A collective of one rank overlaps only one of another's, because each rank runs those of a group one after another.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, occurrences
from torch_tb_profiler.store.columns import Ints, Mask

LEAST_SHARE = 0.5
"""Of the collectives that both ranks recorded meanwhile so many overlap, or the clocks do not tell."""


def out_of_place(kind: Ints, cell: Ints, position: Ints, start: Ints, end: Ints) -> Mask:
    """Of which kinds the collectives at equal places do not overlap on some rank, or not all ranks have equally many; bool by
    kind. The others need no look at the clocks.

    cell: number of each collective's kind and rank. position: its place among those.
    """
    first, place = group_rows((kind, position))
    near = (start <= end[first[place]]) & (start[first[place]] <= end)
    count = np.bincount(cell)
    overlap = np.bincount(cell, weights=near)
    example = np.zeros(len(count), np.int64)
    example[cell] = kind
    kinds = int(kind.max(initial=-1)) + 1
    odd = np.zeros(kinds, np.bool_)
    odd[example[overlap < LEAST_SHARE * count]] = True
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
        middle = np.clip(np.searchsorted(closes, end[own]), 1, max(len(most) - 1, 1))
        before = np.abs(closes[middle - 1] - end[own])
        after = np.abs(closes[np.minimum(middle, len(most) - 1)] - end[own])
        near = np.where(before <= after, middle - 1, np.minimum(middle, len(most) - 1))
        overlap = (start[own] <= closes[near]) & (opens[near] <= end[own])
        both = (end[own] >= opens[0]) & (start[own] <= closes[-1])
        if not overlap.any() or overlap.sum() < LEAST_SHARE * both.sum():
            continue
        # Two that overlap the same one: the nearer end is it.
        order = np.lexsort((np.minimum(before, after), near, ~overlap))
        once = np.append(True, (np.diff(near[order]) != 0) | ~overlap[order][1:])
        chosen = np.zeros(len(own), np.bool_)
        chosen[order] = once & overlap[order]
        position[own], matched[own] = near, chosen
