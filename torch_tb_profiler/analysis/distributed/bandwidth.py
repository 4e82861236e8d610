"""How fast the bytes of collectives move, by the formulas of nccl-tests
(https://github.com/NVIDIA/nccl-tests, ``doc/PERFORMANCE.md``).

Algorithm bandwidth is message size / time. Bus bandwidth is that times what each byte costs on the
links, so that it can be held against the hardware whatever the number n of ranks: all_reduce 2 (n −
1) / n; all_gather, reduce_scatter, all_to_all (n − 1) / n; broadcast, reduce, send, recv 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.distributed.collectives import Matches
from torch_tb_profiler.analysis.distributed.rank import OperationKey, Rank
from torch_tb_profiler.analysis.distributed.steps import own_waits, split
from torch_tb_profiler.analysis.distributed.waiting import Waits
from torch_tb_profiler.store.columns import Ints

_SHARED = ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
_WHOLE = ("broadcast", "reduce", "send", "recv")
ALL = -1
"""In place of a rank: all together."""


def bus_factor(kind: str, ranks: int) -> float | None:
    """Bus bandwidth / algorithm bandwidth; None for other kinds and, where it counts, an unknown
    number of ranks (−1).
    """
    if kind in _WHOLE:
        return 1.0
    if ranks < 1:
        return None
    if kind == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if kind in _SHARED else None


@dataclass(frozen=True)
class Operation:
    """Calls of one sort on one rank, or on all (``ALL``). Times in ns, bandwidths in bytes/s; None
    unknown.

    total: time with at least one call under way. waiting + transfer: the part of it that is split.
        sum: of the durations. told: calls that are split.
    carried: durations of the calls without waiting, where every call of the row is split, else all
        durations: what the bandwidths rest on.
    """

    rank: int
    sort: OperationKey
    calls: int
    told: int
    total: int
    sum: int
    exposed: int
    waiting: int
    transfer: int
    carried: int

    @property
    def split(self) -> bool:
        return self.told == self.calls

    @property
    def algorithm_bandwidth(self) -> float | None:
        return (
            self.sort.bytes * self.calls * 1e9 / self.carried
            if self.sort.bytes >= 0 and self.carried > 0
            else None
        )

    @property
    def bus_bandwidth(self) -> float | None:
        factor, speed = bus_factor(self.sort.kind, self.sort.group_size), self.algorithm_bandwidth
        return speed * factor if factor is not None and speed is not None else None


def operations(ranks: Sequence[Rank], matches: Matches, waits: Waits) -> list[Operation]:
    """The rows of every rank, one per sort, and for every sort one row of all ranks together: their
    sums.
    """
    found = [
        row
        for place, rank in enumerate(ranks)
        for row in _of_rank(place, rank, own_waits(place, len(rank), matches, waits))
    ]
    pooled: dict[OperationKey, list[Operation]] = {}
    for row in found:
        pooled.setdefault(row.sort, []).append(row)
    return found + [_together(sort, rows) for sort, rows in pooled.items()]


def _of_rank(place: int, rank: Rank, wait: Ints) -> list[Operation]:
    n = len(rank.sorts)
    shares = split(rank.start, rank.end, wait, rank.sort, n)
    dur = rank.end - rank.start
    told = np.bincount(rank.sort[wait >= 0], minlength=n)
    calls = np.bincount(rank.sort, minlength=n)
    whole = (told == calls)[rank.sort] if n else np.zeros(0, np.bool_)
    sums, exposed, carried = (
        sum_by(rank.sort, n, values)
        for values in (dur, rank.exposed, np.where(whole, dur - wait, dur))
    )
    return [
        Operation(
            place,
            rank.sorts[i],
            int(calls[i]),
            int(told[i]),
            int(shares.total[i]),
            int(sums[i]),
            int(exposed[i]),
            int(shares.waiting[i]),
            int(shares.transfer[i]),
            int(carried[i]),
        )
        for i in range(n)
    ]


def _together(sort: OperationKey, rows: Sequence[Operation]) -> Operation:
    split_everywhere = all(row.split for row in rows)
    carried = sum(row.carried if split_everywhere else row.sum for row in rows)
    return Operation(
        ALL,
        sort,
        sum(row.calls for row in rows),
        sum(row.told for row in rows),
        sum(row.total for row in rows),
        sum(row.sum for row in rows),
        sum(row.exposed for row in rows),
        sum(row.waiting for row in rows),
        sum(row.transfer for row in rows),
        carried,
    )
