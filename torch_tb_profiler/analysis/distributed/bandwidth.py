"""Bandwidth of collectives, as nccl-tests defines it (``doc/PERFORMANCE.md`` there).

Algorithm bandwidth is message size / time. Bus bandwidth scales it by the traffic per byte on the
links, so that it compares with the hardware for any number n of ranks: all_reduce 2 (n − 1) / n;
all_gather, reduce_scatter, all_to_all (n − 1) / n; broadcast, reduce, send, recv 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
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
"""Stands for all ranks together."""


def bus_factor(kind: str, ranks: int) -> float | None:
    """Bus bandwidth / algorithm bandwidth; None for other kinds or unknown (−1) ranks."""
    if kind in _WHOLE:
        return 1.0
    if ranks < 1:
        return None
    if kind == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if kind in _SHARED else None


class Operation(msgspec.Struct, frozen=True):
    """Calls with one key on one rank, or on ``ALL``. Times in ns, bandwidths in bytes/s; None
    unknown.

    split_calls: number of calls that are split into waiting and transfer.
    total: time with at least one call in flight.
    sum: Σ durations.
    waiting, transfer: the split part of ``total``.
    carried: time that the bandwidths rest on: Σ durations without waiting if every call is split,
        else ``sum``.
    """

    rank: int
    sort: OperationKey
    calls: int
    split_calls: int
    total: int
    sum: int
    exposed: int
    waiting: int
    transfer: int
    carried: int

    @property
    def split(self) -> bool:
        return self.split_calls == self.calls

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
    """One row per rank and key, then one row per key for all ranks together."""
    per_rank = [
        row
        for index, rank in enumerate(ranks)
        for row in _of_rank(index, rank, own_waits(index, len(rank), matches, waits))
    ]
    by_key: dict[OperationKey, list[Operation]] = {}
    for row in per_rank:
        by_key.setdefault(row.sort, []).append(row)
    return per_rank + [_of_all_ranks(key, rows) for key, rows in by_key.items()]


def _of_rank(index: int, rank: Rank, wait: Ints) -> list[Operation]:
    n = len(rank.sorts)
    shares = split(rank.start, rank.end, wait, rank.sort, n)
    dur = rank.end - rank.start
    split_calls = np.bincount(rank.sort[wait >= 0], minlength=n)
    calls = np.bincount(rank.sort, minlength=n)
    whole = (split_calls == calls)[rank.sort] if n else np.zeros(0, np.bool_)
    sums, exposed, carried = (
        sum_by(rank.sort, n, values)
        for values in (dur, rank.exposed, np.where(whole, dur - wait, dur))
    )
    parts = (shares.total, sums, exposed, shares.waiting, shares.transfer, carried)
    columns = (column.tolist() for column in (calls, split_calls, *parts))
    return [Operation(index, key, *row) for key, *row in zip(rank.sorts, *columns, strict=True)]


def _of_all_ranks(key: OperationKey, rows: Sequence[Operation]) -> Operation:
    sums = {
        name: sum(getattr(row, name) for row in rows) for name in Operation.__struct_fields__[2:]
    }
    if not all(row.split for row in rows):
        sums["carried"] = sums["sum"]
    return Operation(ALL, key, **sums)
