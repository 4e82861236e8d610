"""Allocations that failed for lack of memory."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from torch_tb_profiler.store.model import Trace

OUT_OF_MEMORY = "[OutOfMemory]"
"""Kineto's name for them, also used for those of snapshots."""

_ENDLESS = 1 << 62


@dataclass(frozen=True)
class Failure:
    """The first failed allocation: time in ns, requested bytes (−1 unknown); and the count."""

    time: int
    bytes: int
    count: int


class _Args(msgspec.Struct):
    size: int = msgspec.field(default=-1, name="Bytes")


def failed_allocations(trace: Trace) -> Failure | None:
    """The failed allocations of a trace; None without any."""
    instants, number = trace["instants"], trace.strings.number(OUT_OF_MEMORY)
    row = np.flatnonzero(instants["name"] == number) if number >= 0 else np.zeros(0, np.int64)
    if not len(row):
        return None
    try:
        size = msgspec.json.decode(trace.strings[int(instants["args"][row[0]])], type=_Args).size
    except msgspec.MsgspecError:
        size = -1
    return Failure(int(instants["time"][row[0]]), size if 0 <= size < _ENDLESS else -1, len(row))
