"""How much launched work waits on each stream.

::

    main     <a><b><c>
    gpu           {a      }{b  }{c }
    waiting  1  2    1     1    0        a launch waits from its begin until its work begins
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.api_calls.launches import Launches
from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, group_rows
from torch_tb_profiler.analysis.facts.devices import device_of
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import NO_STRINGS

FULL = 1024
"""Launches that a stream of a CUDA device takes before a further launch blocks; as in HTA."""
MOST_STREAMS = 64
"""Streams with a row; those with the most launches."""

_C = DisplayColumn
QUEUES = DisplaySpec(
    "queues",
    "One row per device and stream: launches that wait for their work to begin, those with the most launches first. A replayed graph counts once.",
    (
        _C("stream", "text", "Stream", "Device and stream.", "queue_stream", width=160),
        _C("launches", "count", "Launches", "Launches of the steps.", "queue_launches", unit="launches"),
        _C("mean_length", "number", "Mean length", "Waiting launches, weighted by time.", "queue_mean", unit="launches"),
        _C("max_length", "count", "Max length", "Most launches that waited at once.", "queue_max", unit="launches"),
        _C("waiting_ns", "time", "Waiting", "Time with a launch waiting.", "queue_waiting", bar=True),
        _C("full_ns", "time", "At the limit", "Time with as many launches waiting as the limit, by default 1,024, the depth of a CUDA stream.", "queue_full"),
        _C("full_share", "share", "Share", "Of the time of the steps.", "queue_share", True),
        _C("blocked", "count", "Blocked launches", "Launches that began at the limit and returned once fewer waited.", "queue_blocked", unit="launches"),
        _C("blocked_ns", "time", "Blocked time", "Their time.", "queue_blocked_time"),
        _C("event", "row", "", "The longest of them, else the launch after which most waited."),
    ),
)  # fmt: skip


class Queue(msgspec.Struct, frozen=True):
    """Of one stream. time: when the length changes, ns, ascending; length: from then on.

    launch: rows of the launches, by ``begin``, when each begins to wait. blocked: whether it was held up.
    """

    device: int
    stream: int
    launch: Ints
    begin: Ints
    time: Ints
    length: Array
    blocked: Mask


class Queues(msgspec.Struct, frozen=True):
    """Of all streams; ``limit``: so many launches fill a queue."""

    streams: tuple[Queue, ...]
    limit: int

    @property
    def blocked(self) -> Ints:
        """Rows of the launches that were held up."""
        held_up = [queue.launch[queue.blocked] for queue in self.streams]
        return np.concatenate([*held_up, np.zeros(0, np.int64)])


def queues_of(trace: Trace, launches: Launches, limit: int = FULL) -> Queues:
    """What waits on each stream; the streams with the most launches first."""
    rows = np.flatnonzero(launches.first)
    device = device_of(trace, launches.work)[rows]
    stream = device_arguments(trace, launches.work, ("stream",))["stream"][rows]
    first, group = group_rows([device, stream])
    count = np.bincount(group, minlength=len(first))
    # Numbers of one or two bytes are sorted in a fourth of the time (measured).
    order = np.argsort(group.astype(np.min_scalar_type(len(first))), kind="stable")
    edges = np.append(0, np.cumsum(count))
    queues = []
    for number in np.argsort(-count, kind="stable")[:MOST_STREAMS].tolist():
        own = rows[order[edges[number] : edges[number + 1]]]
        place = device[first[number]], stream[first[number]]
        queues.append(_queue(trace, launches, own, (int(place[0]), int(place[1])), limit))
    return Queues(tuple(queues), limit)


def _queue(
    trace: Trace, launches: Launches, own: Ints, place: tuple[int, int], limit: int
) -> Queue:
    """``own``: the first works of the launches of one stream, by their begin."""
    end = launches.start[own]
    own = own[np.argsort(launches.called[own], kind="stable")]
    launch, begin = launches.launch[own], launches.called[own]
    time = np.concatenate((begin, end))
    order = np.argsort(time, kind="stable")
    time = time[order]
    began = order < len(begin)
    length = np.cumsum(2 * began.astype(np.int32) - 1, dtype=np.int32)
    final = np.append(time[1:] != time[:-1], True)
    blocked = np.zeros(len(launch), np.bool_)
    if int(length.max()) > limit:
        blocked = _blocked(trace, launch, begin, end, length[began] - 1, limit)
    return Queue(*place, launch, begin, time[final], length[final], blocked)


def _blocked(trace: Trace, launch: Ints, begin: Ints, end: Ints, others: Array, limit: int) -> Mask:
    """Which launches began while ``limit`` others waited, and did not return before fewer did.

    A launch that returns while as many still wait was not held up by them: that queue holds more.
    """
    blocked = others >= limit
    late = np.flatnonzero(blocked)
    returned = begin[late] + trace["spans"]["dur"][launch[late]]
    blocked[late] = late - np.searchsorted(end, returned, side="right") < limit
    return np.asarray(blocked)


def queue_table(
    trace: Trace, facts: Facts, selection: Selection, queues: Queues, time: int
) -> DisplayTable:
    """One row per stream. ``time``: of the selected steps, ns."""
    rows = [_row(trace, facts, selection, queue, queues.limit, time) for queue in queues.streams]
    names = [column.name for column in QUEUES.columns]
    columns: dict[str, Array | list[str]] = {
        name: np.array([row[name] for row in rows]) if rows else np.zeros(0, np.int64)
        for name in names[1:]
    }
    stream = [stream_name(queue) for queue in queues.streams]
    return QUEUES.build(NO_STRINGS, stream=stream, **columns)


def stream_name(queue: Queue) -> str:
    """``0 · stream 7``: device and stream."""
    device = "?" if queue.device < 0 else str(queue.device)
    return f"{device} · stream {queue.stream if queue.stream >= 0 else '?'}"


def _row(
    trace: Trace, facts: Facts, selection: Selection, queue: Queue, limit: int, time: int
) -> dict[str, float]:
    steps = facts["steps"]
    begin, end = (steps[key][selection.steps] for key in ("start", "end"))
    if selection.whole:
        begin, end = queue.time[:1], queue.time[-1:] + 1
    chosen = mask(selection, facts["span_links"]["step"][queue.launch])
    blocked = np.flatnonzero(chosen & queue.blocked)
    full_ns = int(_integral(queue, queue.length >= limit, begin, end))
    held_up = queue.launch[blocked]
    lost = trace["spans"]["dur"][held_up]
    first, last = (np.searchsorted(queue.time, at) for at in (begin, end))
    inside = expand_ranges(first, last - first)
    top = inside[queue.length[inside].argmax()] if len(inside) else -1
    before = np.searchsorted(queue.time, begin, side="right") - 1
    entering = np.where(before >= 0, queue.length[before], 0).max(initial=0)
    fullest = queue.launch[max(0, np.searchsorted(queue.begin, queue.time[top], "right") - 1)]
    return {
        "launches": int(chosen.sum()),
        "mean_length": _integral(queue, queue.length, begin, end) / time if time else np.nan,
        "max_length": max(int(queue.length[top]) if top >= 0 else 0, int(entering)),
        "waiting_ns": int(_integral(queue, queue.length > 0, begin, end)),
        "full_ns": full_ns,
        "full_share": full_ns / time if time else np.nan,
        "blocked": len(held_up),
        "blocked_ns": int(lost.sum()),
        "event": int(held_up[lost.argmax()] if len(held_up) else fullest),
    }


def _integral(queue: Queue, height: Array, begin: Ints, end: Ints) -> float:
    """``height`` from each time on × ns, within the windows."""
    if not height.any():
        return 0.0
    time = queue.time
    area = np.zeros(len(time), np.int64)
    np.cumsum(height[:-1] * np.diff(time), out=area[1:])

    def until(moment: Ints) -> Ints:
        moment = np.clip(moment, time[0], time[-1])
        place = np.searchsorted(time, moment, side="right") - 1
        return np.asarray(area[place] + height[place] * (moment - time[place]))

    return float((until(end) - until(begin)).sum())
