"""Allocator records alone → ``Trace``: shared by the importers of snapshots and memory timelines."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Table
from torch_tb_profiler.store.defects import DefectCounts, Severity, declare
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NONE, StringBuilder

UNKNOWN_ACTION = declare(
    "unknown_memory_action",
    Severity.DATA_LOSS,
    "A memory record has an unsupported action.",
    "memory",
)
UNUSABLE = declare(
    "unusable_memory_record",
    Severity.DATA_LOSS,
    "A memory record has no valid size and was dropped.",
    "memory",
)
MOST_BYTES = 1 << 48
"""No block is larger; a larger size is damage."""
_MOST_SUM = 1 << 62


Records = dict[str, Array]
"""Columns of the table ``memory``: times in ns as in the file, ascending.

``ordinal`` −1 marks a block from before the recording, whose time becomes that of the first record.
``track``: rows of ``tracks``.
"""


class Instants(msgspec.Struct):
    """Columns of the table ``instants``; ``name`` and ``args`` are texts."""

    time: list[int] = msgspec.field(default_factory=list)
    track: list[int] = msgspec.field(default_factory=list)
    name: list[str] = msgspec.field(default_factory=list)
    args: list[str] = msgspec.field(default_factory=list)
    ordinal: list[int] = msgspec.field(default_factory=list)


class MemoryTrack(NamedTuple):
    """A row of ``tracks``."""

    process: str
    label: str
    thread: str
    name: str


def memory_trace(
    records: Records,
    instants: Instants,
    streams: list[MemoryTrack],
    strings: StringBuilder,
    counts: DefectCounts,
    source: str,
    entries: int,
) -> Trace:
    """A trace of nothing but memory.

    ``source`` becomes ``header["memory_source"]``; ``entries``: number of records in the file.
    """
    before = records["ordinal"] < 0
    known = np.concatenate((records["time"][~before], np.array(instants.time, np.int64)))
    origin = int(known.min()) if len(known) else 0
    time = np.where(before, 0, records["time"] - origin)
    tables: dict[str, Table] = {spec.name: spec.empty() for spec in schema.TRACE_TABLES}
    if not len(known) and not len(time):
        counts.add(d.NO_EVENTS)
    memory = schema.MEMORY.build(**{**records, "time": time})
    if (time[1:] < time[:-1]).any() or (before[1:] & ~before[:-1]).any():
        memory = memory.take(np.lexsort((~before, time)))
    tables["memory"] = memory
    tables["instants"] = _instants(instants, origin, strings)
    tables["tracks"] = _tracks(streams, strings)
    return Trace(
        strings.table(), tables, {"memory_source": source}, counts, entries, origin_ns=origin
    )


def whole_numbers(values: list[Any], high: int) -> Ints:
    """The integers of a list, int64; −1 for anything else or outside [0, high)."""
    try:
        integers = np.array(values, np.int64)
        if integers.shape == (len(values),) and set(map(type, values)) <= {int}:
            return np.where((integers >= 0) & (integers < high), integers, -1)
    except (OverflowError, TypeError, ValueError):
        pass
    return np.array([v if type(v) is int and 0 <= v < high else -1 for v in values], np.int64)


def refuse_endless_sums(sizes: Ints) -> None:
    """Raise NotATrace if the sizes overflow 64 bits when summed; no device is that large."""
    if float(np.abs(sizes).sum(dtype=np.float64)) > _MOST_SUM:
        raise NotATrace(
            "The sizes of the memory records add up to more than any device can hold.",
            "Check the program that wrote the file.",
        )


def _instants(instants: Instants, origin: int, strings: StringBuilder) -> Table:
    time = np.array(instants.time, np.int64) - origin
    table = schema.INSTANTS.build(
        time=time,
        track=instants.track,
        name=strings.intern_all(instants.name),
        category=np.full(len(time), strings.intern("memory")),
        phase=np.full(len(time), ord("i")),
        args=strings.intern_all(instants.args),
        ordinal=instants.ordinal,
    )
    return table.take(np.argsort(time, kind="stable"))


def _tracks(streams: list[MemoryTrack], strings: StringBuilder) -> Table:
    n = len(streams)
    return schema.TRACKS.build(
        pid=strings.intern_all(s.process for s in streams),
        tid=strings.intern_all(s.thread for s in streams),
        process_name=np.full(n, NONE),
        process_label=strings.intern_all(s.label for s in streams),
        thread_name=strings.intern_all(s.name for s in streams),
        process_sort=np.zeros(n),
        thread_sort=np.zeros(n),
    )
