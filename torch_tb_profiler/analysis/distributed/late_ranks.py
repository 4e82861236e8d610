"""Which rank the others waited for most in each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.distributed.collectives import Matches
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.steps import CommonSteps, step_of
from torch_tb_profiler.analysis.distributed.waiting import Waits
from torch_tb_profiler.store.columns import Ints


@dataclass(frozen=True)
class StepStraggler:
    """The rank (index) that made the others wait most in a step. Times in ns.

    caused: Σ waiting of all others in the collectives where it came last.
    longest: the most that a single rank waited there.
    lead: Σ of how much later it came than the last but one: what the step could gain from this rank
        alone.
    collectives: the number of these collectives.
    match: the collective that cost the others most.
    waiter: the rank that waited longest there.
    """

    step: int
    rank: int
    caused: int
    longest: int
    lead: int
    collectives: int
    match: int
    waiter: int


def late_ranks(
    ranks: Sequence[Rank], steps: CommonSteps, matches: Matches, waits: Waits
) -> list[StepStraggler]:
    """One item for every step in which a rank waited, in step order."""
    if not matches.row.shape[1] or len(ranks) < 2:
        return []
    step = _steps_of(ranks, steps, matches, waits)
    cost = np.maximum(waits.wait, 0).sum(axis=0)
    cost = np.where(waits.spoiled | (step < 0), 0, cost)
    stragglers = []
    for number in np.unique(step[cost > 0]).tolist():
        inside = np.flatnonzero((step == number) & (cost > 0))
        by_rank = np.zeros(len(ranks), np.int64)
        np.add.at(by_rank, waits.last[inside], cost[inside])
        rank = int(by_rank.argmax())
        own = inside[waits.last[inside] == rank]
        worst = int(own[int(cost[own].argmax())])
        waited = np.maximum(waits.wait[:, own], 0).sum(axis=1)
        stragglers.append(
            StepStraggler(
                number,
                rank,
                int(by_rank[rank]),
                int(waited.max()),
                int(waits.lead[own].sum()),
                len(own),
                worst,
                int(waits.wait[:, worst].argmax()),
            )
        )
    return stragglers


def _steps_of(ranks: Sequence[Rank], steps: CommonSteps, matches: Matches, waits: Waits) -> Ints:
    """The step of each match: that of the rank that came last."""
    own = np.full(matches.row.shape[1], -1, np.int64)
    for index, rank in enumerate(ranks):
        is_last = waits.last == index
        if is_last.any():
            own[is_last] = step_of(steps, index, rank.step[matches.row[index, is_last]])
    return own


def preceding_match(
    matches: Matches, waits: Waits, ranks: Sequence[Rank], match: int, places: Sequence[int]
) -> int:
    """The last match that ended before ``match`` began on each of some ranks; −1 none."""
    good = np.ones(matches.row.shape[1], np.bool_)
    latest = np.zeros(matches.row.shape[1], np.int64)
    for index in places:
        row = matches.row[index]
        takes_part = row >= 0
        end = np.where(
            takes_part, ranks[index].end[np.where(takes_part, row, 0)], np.iinfo(np.int64).max
        )
        good &= takes_part & (end <= ranks[index].start[row[match]])
        latest = np.maximum(latest, np.where(takes_part, end, 0))
    candidates = np.flatnonzero(good)
    return int(candidates[int(latest[candidates].argmax())]) if len(candidates) else -1
