"""Which collectives of the ranks of a run match, and why others do not.

``collectives.py`` matches by process group, kind and sequence number or position. Here data type
and, for kinds with equal parts, message size must agree as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.distributed.collectives import (
    MOST_COLLECTIVES,
    Matches,
    match_collectives,
)
from torch_tb_profiler.analysis.distributed.rank import TRANSFER, Rank, matchable
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values

MOST_CELLS = 1 << 22
"""Ranks × matched collectives of a run."""
EQUAL_SIZES = ("allreduce", "broadcast", "reduce", "reducescatter")
"""Kinds in which every rank contributes the same number of bytes."""

Reason = Literal["alone", "counts", "arguments", "group"]


class UnmatchedCollectives(msgspec.Struct, frozen=True):
    """Unmatched collectives of a kind and group: how many each rank that knows them recorded, by its
    index, and why.
    """

    kind: str
    group: str
    counts: dict[int, int]
    reason: Reason


class RunMatches(msgspec.Struct, frozen=True):
    """The matches of a run. ``matches.row``: index into the rank's collectives.

    unmatched: what is left unmatched.
    cut: number of collectives beyond the limit, which are not considered.
    likely: number of matches by their order alone: without a sequence number, and not at one time by the clocks.
    """

    matches: Matches
    unmatched: tuple[UnmatchedCollectives, ...]
    cut: int
    likely: int = 0


def match_ranks(ranks: Sequence[Rank]) -> RunMatches:
    """Match the collectives of the ranks of a run."""
    most = min(MOST_COLLECTIVES, max(1, MOST_CELLS // max(1, len(ranks))))
    considered = [matchable(rank, most) for rank in ranks]
    labelled = sum(int((rank.label >= 0).sum()) for rank in ranks)
    cut = labelled - sum(len(collectives.row) for collectives in considered)
    matches = match_collectives(considered, [rank.begin for rank in ranks])
    arguments, group = _differ(ranks, matches), _too_many(ranks, matches)
    good = ~(arguments | group)
    matching = matches.take(good)
    if len(ranks) < 2:
        return RunMatches(matching, (), cut)
    why: dict[tuple[str, str], Reason] = {}
    for mask, reason in ((arguments, "arguments"), (group & ~arguments, "group")):
        for number in unique_values(matches.label[mask]).tolist():
            label = matches.labels[number]
            why.setdefault((label.kind, label.group), reason)  # type: ignore[arg-type]
    rows = [collectives.row for collectives in considered]
    return RunMatches(
        matching, _left_over(ranks, rows, matching, why), cut, _likely(ranks, matching)
    )


def gather(matches: Matches, values: Sequence[Array]) -> Ints:
    """``values`` of each rank's collectives for every entry of the matches; int64."""
    begins = np.cumsum([0, *map(len, values)])[:-1]
    every = np.concatenate([np.zeros(0, np.int64), *values])
    return np.asarray(every[begins[matches.rank] + matches.row], np.int64)


def _labels_mask(matches: Matches, says: Callable[[str], bool]) -> Mask:
    """Of which matches the kind satisfies ``says``."""
    return np.array([says(label.kind) for label in matches.labels] + [False])[matches.label]


def _of_sort(ranks: Sequence[Rank], matches: Matches, values: Sequence[Sequence[int]]) -> Ints:
    """A number of each rank's keys, for every entry of the matches."""
    own = [np.array(of, np.int64)[rank.sort] for of, rank in zip(values, ranks, strict=True)]
    return gather(matches, own)


def message_sizes(ranks: Sequence[Rank], matches: Matches) -> Ints:
    """Bytes of the call of each entry of the matches, −1 unknown."""
    return _of_sort(ranks, matches, [[sort.bytes for sort in rank.sorts] for rank in ranks])


def _differ(ranks: Sequence[Rank], matches: Matches) -> Mask:
    """Which matches have ranks that move a different size or type."""
    types: dict[str, int] = {}
    size = message_sizes(ranks, matches)
    dtype = _of_sort(
        ranks,
        matches,
        [
            [types.setdefault(sort.dtype, len(types)) if sort.dtype else -1 for sort in rank.sorts]
            for rank in ranks
        ],
    )
    equal = _labels_mask(matches, lambda kind: kind in EQUAL_SIZES or kind.startswith(TRANSFER))
    differ = (_several(matches, size) & equal) | _several(matches, dtype)
    # If positions alone match them, one mismatch means that the others may be shifted, too.
    by_place = matches.reduced(np.maximum, gather(matches, [rank.sequence for rank in ranks])) < 0
    shifted = mask_of(len(matches.labels) + 1, matches.label[differ & by_place])
    return np.asarray(differ | (by_place & shifted[matches.label]))


def _several(matches: Matches, values: Ints) -> Mask:
    """Which matches hold several distinct known values."""
    lowest = matches.reduced(np.minimum, np.where(values >= 0, values, np.iinfo(np.int64).max))
    highest = matches.reduced(np.maximum, values)
    return np.asarray((highest >= 0) & (highest != lowest))


def _likely(ranks: Sequence[Rank], matches: Matches) -> int:
    """How many matches nothing but their order confirms."""
    by_place = matches.reduced(np.maximum, gather(matches, [rank.sequence for rank in ranks])) < 0
    begin = np.array([-1 if rank.begin is None else rank.begin for rank in ranks], np.int64)
    known = matches.reduced(np.minimum, begin[matches.rank]) >= 0
    start = gather(matches, [rank.start for rank in ranks]) + begin[matches.rank]
    latest = matches.reduced(np.maximum, start)
    earliest = matches.reduced(np.minimum, matches.end + begin[matches.rank])
    return int((by_place & ~(known & (latest <= earliest))).sum())


def _too_many(ranks: Sequence[Rank], matches: Matches) -> Mask:
    """Which matches have more ranks than their group: groups of one name whose members are unknown."""
    sizes = [[sort.group_size for sort in rank.sorts] for rank in ranks]
    size = matches.reduced(np.maximum, _of_sort(ranks, matches, sizes))
    size = np.where(_labels_mask(matches, lambda kind: kind.startswith(TRANSFER)), 2, size)
    return np.asarray((size > 0) & (np.diff(matches.first) > size))


def _left_over(
    ranks: Sequence[Rank],
    considered: Sequence[Ints],
    matches: Matches,
    why: dict[tuple[str, str], Reason],
) -> tuple[UnmatchedCollectives, ...]:
    counts: dict[tuple[str, str], dict[int, int]] = {}
    open_ones: set[tuple[str, str]] = set()
    for index, (rank, rows) in enumerate(zip(ranks, considered, strict=True)):
        taken = mask_of(len(rank), matches.row[matches.of_rank(index)])
        every = np.bincount(rank.label[rows], minlength=len(rank.labels))
        left = np.bincount(rank.label[rows[~taken[rows]]], minlength=len(rank.labels))
        for number, label in enumerate(rank.labels):
            key = (label.kind, label.group)
            own = counts.setdefault(key, {})
            own[index] = own.get(index, 0) + int(every[number])
            if left[number]:
                open_ones.add(key)
    return tuple(
        UnmatchedCollectives(
            key[0],
            key[1],
            counts[key],
            why.get(key, "alone" if len(counts[key]) < 2 else "counts"),
        )
        for key in sorted(open_ones)
    )
