"""Ranks of a run as a test writes them down: ``Call("allreduce", 10, 5)`` begins at 10 and takes 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset
from torch_tb_profiler.analysis.distributed.collectives import Label, Matches
from torch_tb_profiler.analysis.distributed.matching import match_ranks
from torch_tb_profiler.analysis.distributed.rank import OperationKey, Rank, Work
from torch_tb_profiler.analysis.distributed.waiting import Waits, wait_times
from torch_tb_profiler.store.summary import Writer

UNIX = 1_700_000_000 * 10**9
KIND = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reducescatter",
    "all_to_all": "alltoall",
}


@dataclass(frozen=True)
class Call:
    """A collective: kind, begin and duration in ns, and whatever else of it a test needs.
    ``label``: matched by this, else by kind and group.
    """

    kind: str
    start: int
    dur: int
    bytes: int = -1
    dtype: str = ""
    group: str = ""
    group_size: int = -1
    members: tuple[int, ...] = ()
    sequence: int = -1
    step: int = 0
    exposed: int = -1
    label: str = ""


def rank_of(
    number: int,
    calls: Sequence[Call],
    begin: int | None = UNIX,
    steps: Sequence[int] = (1,),
    names: Sequence[str] = (),
) -> Rank:
    """A rank with these calls, in time order. ``steps``: numbers of its steps; ``names``: of steps
    without numbers (−1).
    """
    sorts: dict[OperationKey, int] = {}
    labels: dict[Label, int] = {}
    sort = [
        sorts.setdefault(
            OperationKey(c.kind, "nccl", c.group, c.group_size, c.dtype, c.bytes), len(sorts)
        )
        for c in calls
    ]
    label = [
        labels.setdefault(
            Label(c.group, c.members, c.label or KIND.get(c.kind, c.kind)), len(labels)
        )
        for c in calls
    ]

    def column(values: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(values, np.int64)

    n = len(calls)
    shown = tuple(names) or tuple(f"ProfilerStep#{step}" for step in steps)
    return Rank(
        begin=begin,
        sorts=tuple(sorts),
        sort=column(sort),
        labels=tuple(labels),
        label=column(label),
        sequence=column([c.sequence for c in calls]),
        event=np.arange(n),
        start=column([c.start for c in calls]),
        end=column([c.start + c.dur for c in calls]),
        step=column([c.step for c in calls]),
        exposed=column([c.dur if c.exposed < 0 else c.exposed for c in calls]),
        step_name=shown,
        step_number=tuple([-1] * len(shown)) if names else tuple(steps),
        step_start=np.arange(len(shown), dtype=np.int64),
        step_end=np.arange(1, len(shown) + 1, dtype=np.int64),
        step_source="ProfilerStep",
        writer=Writer.LOOP,
        shares=np.arange(4 * len(shown), dtype=np.int64).reshape(4, len(shown)),
        work=Work(column([]), column([]), column([]), column([]), ()),
        on_device=True,
        backend="nccl",
        world_size=None,
        host_name="",
        process="",
        devices=(),
        groups=(),
        spans=n,
        length=max((c.start + c.dur for c in calls), default=0),
    )


def waits_of(ranks: Sequence[Rank], offsets: Sequence[int] | None = None) -> tuple[Matches, Waits]:
    """Matches and waits on clocks with these offsets, all known."""
    matches = match_ranks(ranks).matches
    return matches, wait_times(
        ranks,
        matches,
        [ClockOffset(offset, "collectives", 0, 9) for offset in offsets or [0] * len(ranks)],
    )
