"""The figures of all ranks of a run together.

::

    Rank, Rank … ─▶ matching ─▶ alignment ─▶ waiting ─▶ steps, operations
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset, align
from torch_tb_profiler.analysis.distributed.bandwidth import Operation, operations
from torch_tb_profiler.analysis.distributed.matching import RunMatches, match_ranks
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.steps import (
    CommonSteps,
    common_steps,
    overlap_shares,
    waiting_shares,
)
from torch_tb_profiler.analysis.distributed.ties import is_whole, tied
from torch_tb_profiler.analysis.distributed.waiting import Waits, wait_times
from torch_tb_profiler.store.columns import Ints, Mask

MOST_CELLS = 1 << 20
"""Ranks × steps."""
MOST_STEPS = 1 << 15


@dataclass(frozen=True)
class RunFigures:
    """Figures of the ranks of a run, in their order.

    overlap, waiting: ns of shape (ranks, steps) by name, −1 where a rank has no such step.
    skew: how far apart the recordings started, ns; None if the clocks are not aligned.
    left_out: number of matched collectives that the profilers' start distorts.
    tied: the ranks that matched collectives join, bool of shape (ranks,). whole: whether nobody else can have kept these
    waiting, so that one of them can be named as the cause.
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


def run_figures(ranks: Sequence[Rank]) -> RunFigures:
    """The figures of a run; a single rank has no waiting times."""
    matched = match_ranks(ranks)
    aligned = align([rank.begin for rank in ranks], matched.matches)
    waits = wait_times(ranks, matched.matches, aligned)
    most = min(MOST_STEPS, max(1, MOST_CELLS // max(1, len(ranks))))
    steps = common_steps(ranks, most, aligned)
    offsets = [clock.offset for clock in aligned if clock.method != "none"]
    together = tied(matched.matches)
    return RunFigures(
        tuple(ranks),
        tuple(aligned),
        matched,
        waits,
        steps,
        overlap_shares(ranks, steps),
        waiting_shares(ranks, steps, matched.matches, waits),
        tuple(operations(ranks, matched.matches, waits)),
        max(offsets) - min(offsets) if 1 < len(offsets) == len(ranks) else None,
        int(waits.spoiled.sum()),
        together,
        is_whole(ranks, together),
    )
