"""The figures of all ranks of a run together.

::

    Rank, Rank … ─▶ matching ─▶ alignment ─▶ waiting ─▶ steps, operations
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset, align
from torch_tb_profiler.analysis.distributed.bandwidth import Operation, operations
from torch_tb_profiler.analysis.distributed.collectives import Matches, kind_of
from torch_tb_profiler.analysis.distributed.matching import RunMatches, match_ranks
from torch_tb_profiler.analysis.distributed.pipelines import (
    between_pipelines,
    pipelines,
    tied_sets,
)
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.steps import (
    CommonSteps,
    common_steps,
    job_steps,
    overlap_shares,
    waiting_shares,
)
from torch_tb_profiler.analysis.distributed.waiting import Waits, wait_times
from torch_tb_profiler.store.columns import Ints, Mask

MOST_CELLS = 1 << 20
"""Ranks × steps."""
MOST_STEPS = 1 << 15


class RunFigures(msgspec.Struct, frozen=True):
    """Figures of the ranks of a run, in their order.

    overlap, waiting: ns of shape (ranks, steps) by name, −1 where a rank has no such step.
    skew: how far apart the recordings started, ns; None if the clocks are not aligned.
    left_out: number of matched collectives that the profilers' start distorts.
    tied: the ranks that matched collectives join, bool of shape (ranks,). whole: whether nobody else can have kept these
    waiting, so that one of them can be named as the cause. pipeline: number of that which each is a stage of, see
    ``pipelines``. judged: which matches tell who is late, bool of shape (matches,).
    """

    ranks: tuple[Rank, ...]
    aligned: tuple[ClockOffset, ...]
    matched: RunMatches
    waits: Waits
    steps: CommonSteps
    overlap: dict[str, Ints]
    waiting: dict[str, Ints]
    operations: tuple[Operation, ...]
    skew: int | None
    left_out: int
    tied: Mask
    whole: bool
    pipeline: Ints
    judged: Mask

    @property
    def together(self) -> Ints:
        """The ranks that step together: those that are tied, or the only one there is."""
        return np.zeros(1, np.int64) if len(self.ranks) == 1 else np.flatnonzero(self.tied)

    @property
    def recorded_by_all(self) -> Ints:
        """The common steps that all of these recorded."""
        found = np.arange(len(self.steps.names))
        for rank in self.together.tolist():
            found = np.intersect1d(found, self.steps.place[rank])
        return found

    def job_steps(self) -> tuple[Ints, Ints, Ints]:
        """``(begin, end, rank that ends it)`` of the common steps, see ``steps.job_steps``."""
        # Steps of ranks that nothing ties to each other have no common path.
        own = [
            (number, rank.step_start + ahead, rank.step_end + ahead)
            for number in self.together.tolist()
            for rank, ahead in ((self.ranks[number], self.aligned[number].offset),)
        ]
        begin, end, last = job_steps(self.ranks, self.steps, own)
        return begin.astype(np.int64), end.astype(np.int64), last


def run_figures(ranks: Sequence[Rank]) -> RunFigures:
    """The figures of a run; a single rank has no waiting times."""
    matched = match_ranks(ranks)
    aligned = align([rank.begin for rank in ranks], matched.matches)
    waits = wait_times(ranks, matched.matches, aligned)
    most = min(MOST_STEPS, max(1, MOST_CELLS // max(1, len(ranks))))
    steps = common_steps(ranks, most, aligned)
    offsets = [clock.offset for clock in aligned if clock.method != "none"]
    together, pipeline = _tied(matched.matches), pipelines(ranks, matched.matches)
    judged = ~waits.spoiled & between_pipelines(matched.matches, pipeline)
    return RunFigures(
        tuple(ranks),
        tuple(aligned),
        matched,
        waits,
        steps,
        overlap_shares(ranks, steps),
        waiting_shares(ranks, steps, matched.matches, waits, judged),
        tuple(operations(ranks, matched.matches, waits)),
        max(offsets) - min(offsets) if 1 < len(offsets) == len(ranks) else None,
        int(waits.spoiled.sum()),
        together,
        _is_whole(ranks, together),
        pipeline,
        judged,
    )


def _tied(matches: Matches) -> Mask:
    """The largest set of ranks that matches join, bool of shape (ranks,); none where nothing was matched.

    Which ranks are known to have waited for each other, and whether anybody else may have kept them waiting.

    Only ranks that share a matched collective or transfer are compared, have a path in common, or can be to blame::

        rank 0  rank 1  rank 2      rank 5         ranks 0, 1 and 2 are tied; nothing ties rank 5 to them
           └──all_reduce──┘            .
                    └─send─┘
    """
    of = tied_sets(matches)
    sizes = np.bincount(of, minlength=len(of))
    if not len(of) or sizes.max() < 2:
        return np.zeros(len(of), np.bool_)
    return np.asarray(of == int(sizes.argmax()))


def _is_whole(ranks: Sequence[Rank], among: Mask) -> bool:
    """Whether all members of each process group in which some ranks called a collective are among these, as far as sizes
    are known; of groups of unknown size all ranks of the job.
    """
    called: dict[tuple[str, tuple[int, ...]], int] = {}
    sizes: dict[tuple[str, tuple[int, ...]], int] = {}
    for number in np.flatnonzero(among).tolist():
        rank = ranks[number]
        members = {group.name: group.ranks for group in rank.groups}
        own: dict[tuple[str, tuple[int, ...]], int] = {}
        for key in rank.sorts:
            if kind_of(key.kind):
                known = members.get(key.group, ())
                size = key.group_size if key.group_size > 0 else len(known) or rank.world_size or 0
                group = (key.group, known)
                own[group] = max(own.get(group, 0), size)
        for group, size in own.items():
            called[group] = called.get(group, 0) + 1
            sizes[group] = max(sizes.get(group, 0), size)
    return bool(among.any()) and all(called[group] >= size for group, size in sizes.items())
