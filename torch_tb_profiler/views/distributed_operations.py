"""The table of communication operations: columns of rows per kind and message size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_tb_profiler.analysis.distributed.bandwidth import ALL, Operation
from torch_tb_profiler.views.distributed_wire import OperationColumns

MOST_ROWS = 4096
"""Rows of single workers at most: beyond that only those of all workers together are given."""
MOST_SORTS = 10_000
"""Rows of all workers together, those that take most time."""


def operation_columns(rows: Sequence[Operation], seat: Mapping[int, int]) -> OperationColumns:
    """All workers together first, then each worker; within these what takes most time first.
    ``seat``: place of each rank among the workers.
    """
    together = sorted((row for row in rows if row.rank == ALL), key=lambda row: -row.total)[
        :MOST_SORTS
    ]
    single = [row for row in rows if row.rank != ALL]
    listed = together + (
        sorted(single, key=lambda row: (seat[row.rank], -row.total))
        if len(single) <= MOST_ROWS
        else []
    )
    return OperationColumns(
        worker=[ALL if row.rank == ALL else seat[row.rank] for row in listed],
        kind=[row.sort.kind for row in listed],
        library=[row.sort.library or None for row in listed],
        group=[row.sort.group or None for row in listed],
        group_size=[row.sort.group_size if row.sort.group_size > 0 else None for row in listed],
        dtype=[row.sort.dtype or None for row in listed],
        bytes=[row.sort.bytes if row.sort.bytes >= 0 else None for row in listed],
        calls=[row.calls for row in listed],
        total_ns=[row.total for row in listed],
        mean_ns=[round(row.sum / row.calls) for row in listed],
        exposed_ns=[row.exposed for row in listed],
        waiting_ns=[row.waiting if row.split_calls else None for row in listed],
        transfer_ns=[row.transfer if row.split_calls else None for row in listed],
        split=[row.split for row in listed],
        algorithm_bandwidth=[row.algorithm_bandwidth for row in listed],
        bus_bandwidth=[row.bus_bandwidth for row in listed],
    )
