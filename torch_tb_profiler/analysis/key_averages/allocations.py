"""Attributes allocator records to the host events that were open at the time.

PyTorch's rule (``_parse_kineto_results``): a record counts for every open host event, ends included,
of any thread.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace

MEMORY_NAME, OUT_OF_MEMORY_NAME = "[memory]", "[OutOfMemory]"
_HOST, _DEVICE = (0, 2, 5), (1, 6, 12, 20)
"""``c10::DeviceType``: CPU, MKLDNN, IDEEP; CUDA, HIP, XPU, PrivateUse1."""

HostDeviceBytes = tuple[Ints, Ints]
"""Bytes allocated − released on the host and on accelerators, int64 of one shape."""


class StandaloneRecords(msgspec.Struct, frozen=True):
    """Records that are events of their own, in time order; arrays of shape (records,)."""

    time: Ints
    track: Array
    bytes: HostDeviceBytes
    out_of_memory: Array


def allocated_within(trace: Trace, start: Ints, end: Ints) -> tuple[HostDeviceBytes, Ints]:
    """``(bytes, outside)``: bytes within each interval, and the rows of records in none of them."""
    table = trace["memory"]
    time = table["time"]
    first, last = np.searchsorted(time, start, "left"), np.searchsorted(time, end, "right")
    before = [
        np.concatenate((np.zeros(1, np.int64), np.cumsum(column)))
        for column in _split(table["device_type"], table["bytes"])
    ]
    opened = np.bincount(first, minlength=len(time) + 1) - np.bincount(
        last, minlength=len(time) + 1
    )
    return (before[0][last] - before[0][first], before[1][last] - before[1][first]), np.flatnonzero(
        np.cumsum(opened)[: len(time)] == 0
    )


def standalone_records(trace: Trace, rows: Ints) -> StandaloneRecords:
    """The given records of the table ``memory``, and every out-of-memory event (0 bytes)."""
    table, instants = trace["memory"], trace["instants"]
    out = np.flatnonzero(instants["name"] == trace.strings.number(OUT_OF_MEMORY_NAME))
    nothing = np.zeros(len(out), np.int64)
    host, device = _split(table["device_type"][rows], table["bytes"][rows])
    time = np.concatenate((table["time"][rows], instants["time"][out]))
    order = np.argsort(time, kind="stable")
    return StandaloneRecords(
        time[order],
        np.concatenate((table["track"][rows], instants["track"][out]))[order],
        (np.concatenate((host, nothing))[order], np.concatenate((device, nothing))[order]),
        np.repeat([False, True], [len(rows), len(out)])[order],
    )


def _split(kind: Array, size: Ints) -> HostDeviceBytes:
    return np.where(np.isin(kind, _HOST), size, 0), np.where(np.isin(kind, _DEVICE), size, 0)
