"""Who is late: for each step the rank that the others waited for most."""

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
    """The rank (place among the ranks) that made the others wait most in a step. Times in ns.

    caused: waiting of all others in the collectives at which it came last. longest: of that, the
        most that one rank waited. lead: by how much it came after
    the one before it, summed over these collectives: what the step could gain from this rank alone.
    collectives: how many these are.
    match: the collective that cost the others most. waiter: the rank that waited longest there.
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
    """One item for every step in which somebody waited, in the order of the steps."""
    if not matches.row.shape[1] or len(ranks) < 2:
        return []
    step = _steps_of(ranks, steps, matches, waits)
    cost = np.maximum(waits.wait, 0).sum(axis=0)
    cost = np.where(waits.spoiled | (step < 0), 0, cost)
    found = []
    for number in np.unique(step[cost > 0]).tolist():
        inside = np.flatnonzero((step == number) & (cost > 0))
        by_rank = np.zeros(len(ranks), np.int64)
        np.add.at(by_rank, waits.last[inside], cost[inside])
        rank = int(by_rank.argmax())
        own = inside[waits.last[inside] == rank]
        dearest = int(own[int(cost[own].argmax())])
        waited = np.maximum(waits.wait[:, own], 0).sum(axis=1)
        found.append(
            StepStraggler(
                number,
                rank,
                int(by_rank[rank]),
                int(waited.max()),
                int(waits.lead[own].sum()),
                len(own),
                dearest,
                int(waits.wait[:, dearest].argmax()),
            )
        )
    return found


def _steps_of(ranks: Sequence[Rank], steps: CommonSteps, matches: Matches, waits: Waits) -> Ints:
    """The step of each match: that of the rank that came last."""
    own = np.full(matches.row.shape[1], -1, np.int64)
    for place, rank in enumerate(ranks):
        mine = waits.last == place
        if mine.any():
            own[mine] = step_of(steps, place, rank.step[matches.row[place, mine]])
    return own


def preceding_match(
    matches: Matches, waits: Waits, ranks: Sequence[Rank], match: int, places: Sequence[int]
) -> int:
    """The last match that ended before another began, on all of some ranks; -1 when there is none:
    what lies between is why one came late.
    """
    good = np.ones(matches.row.shape[1], np.bool_)
    latest = np.zeros(matches.row.shape[1], np.int64)
    for place in places:
        row = matches.row[place]
        has = row >= 0
        end = np.where(has, ranks[place].end[np.where(has, row, 0)], np.iinfo(np.int64).max)
        good &= has & (end <= ranks[place].start[row[match]])
        latest = np.maximum(latest, np.where(has, end, 0))
    found = np.flatnonzero(good)
    return int(found[int(latest[found].argmax())]) if len(found) else -1
