"""Which collectives of the ranks of a run are the same one, and which are not, and why.

``timeline/collectives.py`` matches by process group, kind and sequence number or place. Here the
arguments must agree as well: what moves another number of bytes, or another type, is another
collective, whatever its place. Kinds whose ranks may hold parts of different sizes are spared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.distributed.collectives import (
    MOST_COLLECTIVES,
    Matches,
    match_collectives,
)
from torch_tb_profiler.analysis.distributed.rank import TRANSFER, OperationKey, Rank, matchable
from torch_tb_profiler.store.columns import Array, Ints, Mask

MOST_CELLS = 1 << 22
"""Ranks times matched collectives of a run."""
EQUAL_SIZES = ("allreduce", "broadcast", "reduce", "reducescatter")
"""Kinds of which every rank gives the same number of bytes."""

Reason = Literal["alone", "counts", "arguments", "group"]


@dataclass(frozen=True)
class UnmatchedCollectives:
    """Collectives of a kind and group that are not matched: how many of them each rank recorded,
    and why.
    """

    kind: str
    group: str
    counts: tuple[int, ...]
    reason: Reason


@dataclass(frozen=True)
class RunMatches:
    """``matches.row``: places among each rank's collectives. ``unlike``: what is left. ``cut``:
    collectives beyond the limit, which nothing is said of.
    """

    matches: Matches
    unlike: tuple[UnmatchedCollectives, ...]
    cut: int


def match_ranks(ranks: Sequence[Rank]) -> RunMatches:
    """Match the collectives of the ranks of a run."""
    most = min(MOST_COLLECTIVES, max(1, MOST_CELLS // max(1, len(ranks))))
    listed = [matchable(rank, most) for rank in ranks]
    cut = sum(int((rank.label >= 0).sum()) for rank in ranks) - sum(
        len(found.row) for found in listed
    )
    matches = match_collectives(listed)
    arguments, group = _differ(ranks, matches), _too_many(ranks, matches)
    good = ~(arguments | group)
    kept = replace(
        matches,
        row=matches.row[:, good],
        end=matches.end[:, good],
        label=matches.label[good],
        number=matches.number[good],
    )
    if len(ranks) < 2:
        return RunMatches(kept, (), cut)
    why: dict[tuple[str, str], Reason] = {}
    for mask, reason in ((arguments, "arguments"), (group & ~arguments, "group")):
        for label in np.unique(matches.label[mask]).tolist():
            one = matches.labels[label]
            why.setdefault((one.kind, one.group), reason)  # type: ignore[arg-type]
    return RunMatches(
        kept,
        _left_over(ranks, listed_rows=[found.row for found in listed], matches=kept, why=why),
        cut,
    )


def gather(ranks: Sequence[Rank], row: Array, values: Sequence[Array], missing: int = -1) -> Ints:
    """``values`` of each rank's collectives at the places of ``row``, int64 of its shape (ranks,
    matches); ``missing`` where a rank has none.
    """
    found = np.full(row.shape, missing, np.int64)
    for place, own in enumerate(values):
        known = row[place] >= 0
        found[place, known] = own[row[place, known]]
    return found


def _of_sort(ranks: Sequence[Rank], matches: Matches, values: Sequence[Sequence[int]]) -> Ints:
    """A number of each rank's sorts, for every match."""
    return gather(
        ranks,
        matches.row,
        [
            np.array(own, np.int64)[rank.sort] if own else rank.sort
            for rank, own in zip(ranks, values, strict=True)
        ],
    )


def _differ(ranks: Sequence[Rank], matches: Matches) -> Mask:
    """Which matches have ranks that move other bytes or another type."""
    types: dict[str, int] = {}
    size = _of_sort(ranks, matches, [[sort.bytes for sort in rank.sorts] for rank in ranks])
    dtype = _of_sort(
        ranks,
        matches,
        [
            [types.setdefault(sort.dtype, len(types)) if sort.dtype else -1 for sort in rank.sorts]
            for rank in ranks
        ],
    )
    equal = np.array(
        [label.kind in EQUAL_SIZES or label.kind.startswith(TRANSFER) for label in matches.labels]
        + [False],
        np.bool_,
    )[matches.label]
    differ = (_several(size) & equal) | _several(dtype)
    # Where places alone told them, one that does not fit says that the others may be shifted, too.
    by_place = (
        gather(ranks, matches.row, [rank.sequence for rank in ranks]).max(axis=0, initial=-1) < 0
    )
    shifted = np.zeros(len(matches.labels) + 1, np.bool_)
    shifted[matches.label[differ & by_place]] = True
    return np.asarray(differ | (by_place & shifted[matches.label]))


def _several(values: Ints) -> Mask:
    """Which columns hold several known values."""
    if not len(values):
        return np.zeros(values.shape[1], np.bool_)
    known = values >= 0
    low = np.where(known, values, np.iinfo(np.int64).max).min(axis=0)
    return np.asarray(known.any(axis=0) & (values.max(axis=0) != low))


def _too_many(ranks: Sequence[Rank], matches: Matches) -> Mask:
    """Which matches have more ranks than their group: groups of one name on ranks that do not say
    who belongs to them.
    """
    if not len(ranks):
        return np.zeros(0, np.bool_)
    size = _of_sort(
        ranks, matches, [[sort.group_size for sort in rank.sorts] for rank in ranks]
    ).max(axis=0)
    ends = np.array(
        [2 if label.kind.startswith(TRANSFER) else 0 for label in matches.labels] + [0], np.int64
    )[matches.label]
    size = np.where(ends > 0, ends, size)
    return np.asarray((size > 0) & ((matches.row >= 0).sum(axis=0) > size))


def _left_over(
    ranks: Sequence[Rank],
    listed_rows: Sequence[Ints],
    matches: Matches,
    why: dict[tuple[str, str], Reason],
) -> tuple[UnmatchedCollectives, ...]:
    counts: dict[tuple[str, str], list[int]] = {}
    open_ones: set[tuple[str, str]] = set()
    seen: dict[tuple[str, str], set[int]] = {}
    for place, (rank, rows) in enumerate(zip(ranks, listed_rows, strict=True)):
        taken = np.zeros(len(rank), np.bool_)
        taken[matches.row[place][matches.row[place] >= 0]] = True
        every = np.bincount(rank.label[rows], minlength=len(rank.labels))
        left = np.bincount(rank.label[rows[~taken[rows]]], minlength=len(rank.labels))
        for number, label in enumerate(rank.labels):
            key = (label.kind, label.group)
            counts.setdefault(key, [0] * len(ranks))[place] += int(every[number])
            seen.setdefault(key, set()).add(place)
            if left[number]:
                open_ones.add(key)
    return tuple(
        UnmatchedCollectives(
            key[0],
            key[1],
            tuple(counts[key]),
            why.get(key, "alone" if len(seen[key]) < 2 else "counts"),
        )
        for key in sorted(open_ones)
    )


def match_operation(ranks: Sequence[Rank], matches: Matches, match: int) -> OperationKey:
    """What a match is, as the first of its ranks tells it."""
    place = int(np.argmax(matches.row[:, match] >= 0))
    rank = ranks[place]
    return rank.sorts[int(rank.sort[matches.row[place, match]])]
