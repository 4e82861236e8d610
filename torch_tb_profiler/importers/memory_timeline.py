"""Memory timelines of ``prof.export_memory_timeline`` → ``Trace``: categories, but no addresses.

::

    x.raw.json.gz   [[-1, 1, 4096, 0], [1700000000000001234, 2, 512, 4], ...]     (time in ns, action, change in bytes, category)
    x.json(.gz)     [[1700000000000001, ...], [[0, 4096, 0, 0, 0, 512, ...], ...]]  (times in µs, then a 0 and the bytes held per category)

The second format has only sums: we make a record of each change of a category, shrinking ones
first, so that no total exceeds one of the file. Neither format names the device.

Source: ``MemoryProfileTimeline`` in ``torch/profiler/_memory_profiler.py`` (2.13).
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.memory_records import (
    MOST_BYTES,
    UNKNOWN_ACTION,
    UNUSABLE,
    Instants,
    MemoryTrack,
    memory_trace,
    refuse_endless_sums,
    whole_numbers,
)
from torch_tb_profiler.importers.peeked_text import count_problem, pieces
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.categories import RECORDED_CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NONE, StringBuilder

PREEXISTING, DESTROY = 1, 4
_LATEST_NS = 1 << 62
_HINT = "Give the file that prof.export_memory_timeline wrote."
_Raw = msgspec.json.Decoder(list[list[Any]])


def read_memory_timeline(stream: Text, progress: Progress | None = None) -> Trace:
    """Read a memory timeline; see ``importers.read_trace``.

    Raises:
        NotATrace: it is not one, or truncated.
        SourceError: reading failed.
    """
    counts = DefectCounts()
    rows = _decode(stream, progress)
    count_problem(stream, counts)
    if len(rows) == 2 and (not rows[1] or type(rows[1][0]) is list):
        time, change, category, ordinal = _of_sums(rows[0], rows[1], counts)
    else:
        time, change, category, ordinal = _of_records(rows, counts)
    refuse_endless_sums(change)
    n = len(time)
    unknown = np.full(n, -1)
    records = {
        "time": time,
        "track": np.zeros(n),
        "device_type": unknown,
        "device": unknown,
        "address": np.zeros(n),
        "bytes": change,
        "allocated": np.cumsum(change),
        "reserved": unknown,
        "frames": np.full(n, NONE),
        "category": category,
        "ordinal": ordinal,
    }
    tracks = [MemoryTrack("memory", "", "", "")]
    return memory_trace(records, Instants(), tracks, StringBuilder(), counts, "timeline", len(rows))


def _decode(stream: Text, progress: Progress | None) -> list[list[Any]]:
    try:
        return _Raw.decode(b"".join(pieces(stream, "A memory timeline", progress)))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotATrace(f"The memory timeline is truncated or damaged: {error}.", _HINT) from None


def _of_records(rows: list[list[Any]], counts: DefectCounts) -> tuple[Ints, Ints, Ints, Ints]:
    rows_of_four = [position for position, row in enumerate(rows) if len(row) == 4]
    counts.add(UNUSABLE, len(rows) - len(rows_of_four))
    time, action, category = (
        whole_numbers([rows[i][k] for i in rows_of_four], high)
        for k, high in ((0, _LATEST_NS), (1, 256), (3, 256))
    )
    # Changes may be −1 byte, so another number marks invalid ones.
    change = np.array(
        [
            v if type(v := rows[i][2]) is int and abs(v) < MOST_BYTES else MOST_BYTES
            for i in rows_of_four
        ],
        np.int64,
    )
    counts.add(UNKNOWN_ACTION, int(((action < PREEXISTING) | (action > DESTROY)).sum()))
    before = (action == PREEXISTING) | (time < 0)
    usable = change < MOST_BYTES
    counts.add(UNUSABLE, int((~usable).sum()))
    ordinal = np.where(before, -1, np.array(rows_of_four, np.int64))
    order = np.flatnonzero(usable)
    # Blocks from before the recording come first; the others by time, then in file order.
    order = order[np.lexsort((order, np.where(before, 0, time)[order], ~before[order]))]
    return time[order], change[order], _categories(category, counts)[order], ordinal[order]


def _of_sums(
    times: list[Any], sums: list[Any], counts: DefectCounts
) -> tuple[Ints, Ints, Ints, Ints]:
    kinds = len(RECORDED_CATEGORIES) + 1
    usable = [i for i, row in enumerate(sums) if type(row) is list and len(row) == kinds + 1]
    counts.add(UNUSABLE, max(len(times), len(sums)) - len(usable))
    usable = [i for i in usable if i < len(times)]
    time = whole_numbers([times[i] for i in usable], _LATEST_NS // 1000) * 1000
    bytes_held = np.array([whole_numbers(sums[i], MOST_BYTES) for i in usable], np.int64).reshape(
        len(usable), kinds + 1
    )[:, 1:]
    fine = (time >= 0) & (bytes_held >= 0).all(axis=1)
    counts.add(UNUSABLE, int((~fine).sum()))
    order_of_time = np.flatnonzero(fine)[np.argsort(time[fine], kind="stable")]
    change = np.diff(bytes_held[order_of_time], axis=0, prepend=np.zeros((1, kinds), np.int64))
    moment, category = np.nonzero(change)
    delta = change[moment, category]
    order = np.lexsort((delta, moment))
    moment, category, delta = moment[order], category[order], delta[order]
    # The first sums are what was allocated before the recording.
    return (
        time[order_of_time][moment],
        delta,
        _categories(category, counts),
        np.where(moment == 0, -1, moment),
    )


def _categories(numbers: Ints, counts: DefectCounts) -> Array:
    known = len(RECORDED_CATEGORIES)
    counts.add(d.UNKNOWN_CATEGORY, int(((numbers < 0) | (numbers > known)).sum()))
    return np.where((numbers >= 0) & (numbers < known), numbers, -1)
