"""The ranks of a run on one clock.

Traces have their own time origins and, on several machines, their own clocks. The Unix times of
their first events give offsets; shared collectives correct them, because a collective ends on all
ranks at nearly the same moment::

    rank 0   ──[allreduce]────[allreduce]──        medians over the ranks   |        |
    rank 1   ───[allreduce]────[allreduce]─        rank 1 is late by        ─▸       ─▸    their median is its correction
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.arrays.grouping import mask_of
from torch_tb_profiler.analysis.distributed.collectives import SYNCHRONISING, Matches
from torch_tb_profiler.store.columns import Ints, Mask

Method = Literal["collectives", "clock", "none"]
Floats = NDArray[np.float64]

LEAST_MATCHES = 3
"""Fewer collectives correct no clock: a single wrong match could move a rank anywhere."""
MOST_USED = 2048
"""Matched collectives, evenly sampled, that correct the clocks."""
ROUNDS = 20
CLOSE_NS = 0.5


class ClockOffset(msgspec.Struct, frozen=True):
    """The clock of one rank.

    offset: ns to add to its own times.
    method: the source of the offset; ``none``: it is assumed to start with the first rank.
    error: median distance of its collectives' ends from the median over the ranks, ns.
    matched: number of collectives that another rank shares.
    """

    offset: int
    method: Method
    error: int | None
    matched: int


def align(begins: Sequence[int | None], matches: Matches) -> list[ClockOffset]:
    """The clock offsets of the ranks; the earliest starts at 0.

    begins: ``unix_begin`` of each rank.
    matches: ``match_collectives`` of the same ranks.
    """
    if not begins:
        return []
    known = [begin for begin in begins if begin is not None]
    origin = min(known, default=0)
    # A rank without a Unix time is assumed to start with the first one until corrected.
    offset = np.array([begin - origin if begin is not None else 0 for begin in begins], np.int64)
    matched = np.bincount(matches.rank, minlength=len(begins))
    used = mask_of(len(matches), _used(matches))
    sampled = matches.take(used)
    ends = np.full((len(begins), len(sampled)), np.nan)
    ends[sampled.rank, sampled.match] = sampled.end + offset[sampled.rank]
    correction, error = correct(ends)
    # Corrections below the remaining error are noise: the ranks' shared clock is more precise.
    is_noise = len(known) == len(begins) and not (np.abs(correction) > error).any()
    if is_noise:
        correction = np.zeros(len(begins))
    left = distances(ends + np.nan_to_num(correction)[:, None])
    offset += np.rint(np.nan_to_num(correction)).astype(np.int64)
    offset -= offset.min()
    offsets = []
    for rank, begin in enumerate(begins):
        is_known = bool(np.isfinite(left[rank]))
        method: Method = "clock" if begin is not None and len(known) > 1 else "none"
        offsets.append(
            ClockOffset(
                int(offset[rank]),
                "collectives" if is_known and not is_noise else method,
                round(float(left[rank])) if is_known else None,
                int(matched[rank]),
            )
        )
    return offsets


def _used(matches: Matches) -> Ints:
    """The matches that correct the clocks: of synchronising kinds if there are enough, else all."""
    wait = np.array([label.kind in SYNCHRONISING for label in matches.labels], np.bool_)
    chosen = np.flatnonzero(wait[matches.label]) if len(wait) else np.zeros(0, np.int64)
    if len(chosen) < LEAST_MATCHES:
        chosen = np.arange(len(matches))
    if len(chosen) <= MOST_USED:
        return chosen
    return chosen[np.linspace(0, len(chosen) - 1, MOST_USED).astype(np.int64)]


def correct(ends: Floats) -> tuple[Floats, Floats]:
    """``(correction, error)`` per rank, ns; NaN for a rank with fewer than ``LEAST_MATCHES`` ends.

    Each rank moves by its median distance from the median over the ranks, until none moves. Groups
    of ranks pull on each other, so this takes several rounds.

    ends: float64 of shape (ranks, collectives), NaN where a rank takes no part.
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
    """Median distance of each rank's ends from the median over the ranks, ns; NaN if unknown."""
    return median(np.abs(_apart(np.where(_counted(ends)[:, None], ends, np.nan))))


def _counted(ends: Floats) -> Mask:
    return np.asarray(np.isfinite(ends).sum(axis=1) >= LEAST_MATCHES)


def _apart(ends: Floats) -> Floats:
    """How far each end lies before the median over the ranks; NaN where only one rank has an end."""
    is_single = np.isfinite(ends).sum(axis=0) < 2
    return np.where(is_single, np.nan, median(ends.T) - ends)


def median(values: Floats) -> Floats:
    """Row medians, ignoring NaN; NaN for an all-NaN row, where ``np.nanmedian`` warns."""
    if not values.shape[1]:
        return np.full(values.shape[0], np.nan)
    ordered = np.sort(values, axis=1)
    count = np.isfinite(ordered).sum(axis=1)
    rank = np.arange(len(values))
    low, high = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[1] - 1)
    return np.asarray(np.where(count > 0, (ordered[rank, low] + ordered[rank, high]) / 2, np.nan))
