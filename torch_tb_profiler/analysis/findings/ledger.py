"""Who may claim which time: each nanosecond once, and of waiting only what idled the device."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    join,
    measure,
    subtract,
    union,
)
from torch_tb_profiler.store.columns import Ints

NOTHING = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))
THRESHOLD = 0.02
"""Least share of the step that is worth a finding."""


@dataclass(frozen=True)
class Candidate:
    """What a rule found, before the ledger.

    Attributes:
        row: rows of spans that show it, int64 of shape (pieces,); a row may occur more than once.
        start, end: the time that each piece claims, ns, of the same shape; empty pieces claim
        nothing.
        numbers: what the texts name; times in ns.
        words: texts of the trace by what they are.
        costs: False where it is no matter of step time (memory near capacity): it needs no time to
            stand.
    """

    row: Ints
    start: Ints
    end: Ints
    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    costs: bool = True


def without_time(numbers: dict[str, float], row: Ints | None = None) -> Candidate:
    """A candidate that stands whatever time is left, because it claims none."""
    row = np.zeros(0, np.int64) if row is None else row
    nothing = np.zeros(len(row), np.int64)
    return Candidate(row, nothing, nothing, numbers, costs=False)


@dataclass(frozen=True)
class Claim:
    """A candidate after the ledger: ``row`` and ``cost`` (ns, int64) of its evidence, the most
    expensive first, and the time that is its own.
    """

    candidate: Candidate
    own: Intervals
    row: Ints
    cost: Ints


def settle(candidate: Candidate, taken: Intervals, windows: Intervals) -> Claim:
    """What is left for a candidate of the windows, without what is ``taken``."""
    own = subtract(intersect(union(candidate.start, candidate.end), windows), taken)
    cost = measure(own, candidate.start, np.maximum(candidate.end, candidate.start))
    row, group = np.unique(candidate.row, return_inverse=True)
    total = sum_by(group, len(row), cost)
    order = np.argsort(-total, kind="stable")
    if candidate.costs:
        order = order[total[order] > 0]
    return Claim(candidate, own, row[order], total[order])


def worth(claim: Claim, windows: Intervals) -> bool:
    """Whether a claim is large enough, or needs no size."""
    return not claim.candidate.costs or (
        claim.own.length > 0 and claim.own.length >= THRESHOLD * windows.length
    )


def take(taken: Intervals, claim: Claim) -> Intervals:
    """What is taken after a claim."""
    return join(taken, claim.own)


def spent(begin: Ints, length: Ints, gap_start: Ints, gap_end: Ints) -> tuple[Ints, Ints]:
    """How much of each gap would close if the host had not been held up: int64 ns of shape (gaps,),
    and the call it is attributed to, -1 none.

    ``begin`` (ascending) and ``length`` say when and how long calls held the host up, ns. Without a
    hold-up of length b all later launches come b earlier: the gaps after it close by b in all, the
    nearest first, and what is left over is a lead that the host keeps for later gaps. With the
    credit C after each gap, C[-1] = 0::

        C[n] = max(0, C[n-1] + b[n] - gap[n])        closed[n] = min(gap[n], C[n-1] + b[n])

    A gap is attributed to the longest of the last calls before it where these could pay for it, else at
    the longest of those since the lead was last used up.
    """
    slot = np.searchsorted(gap_end, begin, side="right")
    inside = slot < len(gap_end)
    slot, length = slot[inside], length[inside]
    if not len(slot):
        return np.zeros(len(gap_end), np.int64), np.full(len(gap_end), -1, np.int64)
    earned = sum_by(slot, len(gap_end), length)
    gap = gap_end - gap_start
    level = np.cumsum(earned - gap)
    credit = level - np.minimum(np.minimum.accumulate(level), 0)
    closed = np.minimum(gap, np.concatenate((np.zeros(1, np.int64), credit[:-1])) + earned)
    return closed, np.where(
        closed > 0, np.flatnonzero(inside)[_payer(slot, length, earned, credit, closed)], -1
    )


def _payer(slot: Ints, length: Ints, earned: Ints, credit: Ints, closed: Ints) -> Ints:
    """The call that each gap is attributed to (see ``spent``); any where nothing was closed."""
    n = len(closed)
    by_length = np.argsort(length, kind="stable")
    rank = np.empty(len(length), np.int64)
    rank[by_length] = np.arange(len(length))
    longest = np.full(n, -1, np.int64)
    np.maximum.at(longest, slot, rank)
    latest = np.maximum.accumulate(np.where(longest >= 0, np.arange(n), 0))
    used_up = np.concatenate((np.zeros(1, np.int64), np.cumsum(credit == 0)[:-1]))
    since = (
        np.maximum.accumulate(used_up * (len(length) + 1) + longest + 1)
        - used_up * (len(length) + 1)
        - 1
    )
    chosen = np.where(earned[latest] >= closed, longest[latest], since)
    return np.asarray(by_length[np.maximum(chosen, 0)])
