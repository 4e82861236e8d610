"""The table of communication operations: rows per kind, group, data type and message size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch_tb_profiler.analysis.distributed.bandwidth import ALL, Operation
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.strings import StringTable

MOST_ROWS = 4096
"""Rows of single workers at most; beyond that only those of all workers together are given."""
MOST_SORTS = 10_000
"""Rows of all workers together, those that take the most time."""
OPERATIONS = display_spec("""
operations: One row per communication operation of all workers (`worker` −1) and of each worker.
    worker               row    -                    -                                               Place of the worker; −1: all workers together.
    kind                 text   Operation            term=distributed_operation width=120
    bytes                bytes  Message              term=distributed_bytes optional width=88
    dtype                text   Type                 term=distributed_dtype optional width=80
    library              text   Library              term=distributed_library optional width=70
    group                text   Group                term=distributed_group optional width=76
    group_size           count  Ranks                term=distributed_group_size optional width=64
    calls                count  Calls                term=calls width=70
    total_ns             time   Total                term=distributed_total bar width=110
    mean_ns              time   Mean                 term=distributed_mean width=84
    exposed_ns           time   Exposed              term=distributed_exposed width=84
    waiting_ns           time   Waiting              term=distributed_waiting optional width=84
    transfer_ns          time   Transferring         term=distributed_transfer optional width=98
    algorithm_bandwidth  B/s    Algorithm bandwidth  term=distributed_algorithm_bandwidth width=104
    bus_bandwidth        B/s    Bus bandwidth        term=distributed_bus_bandwidth width=104
    split                flag   Without waiting      term=distributed_split width=92 hidden
""")
"""``bytes``: of one call. ``total_ns``: time with at least one such call under way on the worker, of which ``waiting_ns`` and
``transfer_ns`` are told apart where that is known. Bandwidths by the formulas of nccl-tests, over the durations without waiting
where all are known (``split``), else over the whole durations.
"""


def operation_table(rows: Sequence[Operation], place: Mapping[int, int]) -> DisplayTable:
    """All workers together first, then each worker; within these the longest total first.
    ``place``: of each rank among the workers.
    """
    together = sorted((row for row in rows if row.rank == ALL), key=lambda row: -row.total)
    single = [row for row in rows if row.rank != ALL]
    by_worker = sorted(single, key=lambda row: (place[row.rank], -row.total))
    listed = together[:MOST_SORTS] + (by_worker if len(single) <= MOST_ROWS else [])

    def column(value: Callable[[Operation], Any]) -> list[Any]:
        return [value(row) for row in listed]

    return OPERATIONS.build(
        StringTable.of([]),
        worker=column(lambda row: ALL if row.rank == ALL else place[row.rank]),
        kind=column(lambda row: row.sort.kind),
        library=column(lambda row: row.sort.library or None),
        group=column(lambda row: row.sort.group or None),
        group_size=column(lambda row: row.sort.group_size if row.sort.group_size > 0 else None),
        dtype=column(lambda row: row.sort.dtype or None),
        bytes=column(lambda row: row.sort.bytes if row.sort.bytes >= 0 else None),
        calls=column(lambda row: row.calls),
        total_ns=column(lambda row: row.total),
        mean_ns=column(lambda row: round(row.sum / row.calls)),
        exposed_ns=column(lambda row: row.exposed),
        waiting_ns=column(lambda row: row.waiting if row.split_calls else None),
        transfer_ns=column(lambda row: row.transfer if row.split_calls else None),
        split=column(lambda row: row.split),
        algorithm_bandwidth=column(lambda row: row.algorithm_bandwidth),
        bus_bandwidth=column(lambda row: row.bus_bandwidth),
    )
