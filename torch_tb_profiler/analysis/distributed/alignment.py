"""The ranks of a run on one clock.

Each trace has its own first event and, from another machine, its own clock. Where both say what
Unix time their first event was, that gives an offset; where ranks share collectives, their ends
correct it: a collective ends on all of them at nearly the same moment::

    rank 0   ──[allreduce]────[allreduce]──        medians over the ranks   |        |
    rank 1   ───[allreduce]────[allreduce]─        rank 1 is late by        ─▸       ─▸    their median is its correction
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.distributed.collectives import SYNCHRONISING, Matches
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.model import Trace

Method = Literal["collectives", "clock", "none"]
Floats = NDArray[np.float64]

LEAST_MATCHES = 3
"""Fewer collectives than these correct no clock: one wrong match would move a rank anywhere."""
MOST_USED = 2048
"""Collectives that correct the clocks, evenly chosen of those that match."""
ROUNDS = 20
CLOSE_NS = 0.5
EARLIEST_UNIX_NS = 1_000_000_000 * 10**9
"""September 2001: a smaller time is no Unix time."""


@dataclass(frozen=True)
class ClockOffset:
    """One rank. ``offset``: ns to add to its own times. ``error``: median distance in ns of its
    collectives' ends from the median over the ranks.

    ``method``: what the offset comes from; ``none``: it is taken to begin with the first rank.
        ``matched``: collectives that another rank shares.
    """

    offset: int
    method: Method
    error: int | None
    matched: int


def unix_begin(trace: Trace) -> int | None:
    """Unix time of the trace's first event in ns; None when the trace does not say."""
    begin = trace.base_ns + trace.origin_ns
    return begin if begin >= EARLIEST_UNIX_NS else None


def align(begins: Sequence[int | None], matches: Matches) -> list[ClockOffset]:
    """Offsets of the ranks, the first of them to begin at 0.

    Args:
        begins: ``unix_begin`` of each rank.
        matches: ``match_collectives`` of the same ranks.
    """
    if not begins:
        return []
    known = [begin for begin in begins if begin is not None]
    origin = min(known, default=0)
    # A rank that does not know its time is taken to begin with the first one until its collectives
    # tell.
    offset = np.array([begin - origin if begin is not None else 0 for begin in begins], np.int64)
    matched = (matches.row >= 0).sum(axis=1)
    ends = np.where(matches.row >= 0, matches.end + offset[:, None], np.nan)[:, _used(matches)]
    correction, error = correct(ends)
    # Corrections that are all smaller than the distance that they leave are chance: ranks of one
    # machine share a clock that is better.
    chance = len(known) == len(begins) and not (np.abs(correction) > error).any()
    if chance:
        correction = np.zeros(len(begins))
    left = distances(ends + np.nan_to_num(correction)[:, None])
    offset += np.rint(np.nan_to_num(correction)).astype(np.int64)
    offset -= offset.min()
    found = []
    for rank, begin in enumerate(begins):
        told = bool(np.isfinite(left[rank]))
        method: Method = "clock" if begin is not None and len(known) > 1 else "none"
        found.append(
            ClockOffset(
                int(offset[rank]),
                "collectives" if told and not chance else method,
                round(float(left[rank])) if told else None,
                int(matched[rank]),
            )
        )
    return found


def _used(matches: Matches) -> Ints:
    """Which matches correct the clocks: of the kinds that no rank leaves early where there are
    enough, else all.
    """
    wait = np.array([label.kind in SYNCHRONISING for label in matches.labels], np.bool_)
    chosen = np.flatnonzero(wait[matches.label]) if len(wait) else np.zeros(0, np.int64)
    if len(chosen) < LEAST_MATCHES:
        chosen = np.arange(matches.row.shape[1])
    return (
        chosen[
            np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), MOST_USED)).astype(np.int64))
        ]
        if len(chosen)
        else chosen
    )


def correct(ends: Floats) -> tuple[Floats, Floats]:
    """``(correction, error)`` in ns per rank, NaN for a rank with fewer than ``LEAST_MATCHES``
    ends.

    Each rank is moved by the median of its distances from the median over the ranks, until nobody
    moves: ranks of several groups pull one another.

    Args:
        ends: float64 of shape (ranks, collectives), NaN where a rank has no part.
    """
    ends = np.where(_counted(ends)[:, None], ends, np.nan)
    correction = np.zeros(len(ends))
    for _ in range(ROUNDS):
        step = median(_apart(ends + correction[:, None]))
        if not (np.abs(step) > CLOSE_NS).any():
            break
        correction = correction + np.nan_to_num(step)
    error = distances(ends + correction[:, None])
    return np.where(np.isfinite(error), correction, np.nan), error


def distances(ends: Floats) -> Floats:
    """Median distance of each rank's ends from the median over the ranks, ns; NaN for a rank with
    too few.
    """
    return median(np.abs(_apart(np.where(_counted(ends)[:, None], ends, np.nan))))


def _counted(ends: Floats) -> Mask:
    return np.asarray(np.isfinite(ends).sum(axis=1) >= LEAST_MATCHES)


def _apart(ends: Floats) -> Floats:
    """How far each end lies before the median over the ranks; NaN where only one rank has an end."""
    alone = np.isfinite(ends).sum(axis=0) < 2
    return np.where(alone, np.nan, median(ends.T) - ends)


def median(values: Floats) -> Floats:
    """Median of each row, NaN left out; NaN for a row of nothing else. ``np.nanmedian`` warns
    there, and is slower.
    """
    if not values.shape[1]:
        return np.full(values.shape[0], np.nan)
    ordered = np.sort(values, axis=1)
    count = np.isfinite(ordered).sum(axis=1)
    rank = np.arange(len(values))
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
    return np.asarray(np.where(count > 0, (ordered[rank, low] + ordered[rank, high]) / 2, np.nan))
