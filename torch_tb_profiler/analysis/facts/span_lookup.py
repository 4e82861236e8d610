"""The span at a time of a thread or stream."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    mask_of,
    positions_of,
    stable_order,
)
from torch_tb_profiler.analysis.arrays.nesting import nest
from torch_tb_profiler.store.categories import GRAPH_CAPTURE
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace

_KEY_LIMIT = 1 << 62


def span_at(trace: Trace, track: Array, time: Ints) -> Ints:
    """Rows of spans at points (track, time): the shortest span that starts there, else the
    innermost around it; −1 none.
    """
    spans = trace["spans"]
    is_wanted = mask_of(trace["tracks"].n, track)
    rows = np.flatnonzero(is_wanted[spans["track"]])
    if not len(rows):
        return np.full(len(track), -1, np.int64)
    rows = rows[stable_order(spans["track"][rows])]
    key, wanted = _keys(spans["track"][rows], spans["start"][rows], track, time)
    position = np.searchsorted(key, wanted, side="right") - 1
    span = rows[np.maximum(position, 0)]
    span[(position < 0) | (spans["track"][span] != track)] = -1
    inexact = np.flatnonzero((span >= 0) & (spans["start"][span] != time))
    if len(inexact):
        span[inexact] = _around(trace, track[inexact], time[inexact])
    return span


def _keys(track_a: Array, time_a: Ints, track_b: Array, time_b: Ints) -> tuple[Ints, Ints]:
    """Each (track, time) as one integer; b compares as "the last a not later than b"."""
    low, width = int(time_a.min()) - 1, int(time_a.max()) - int(time_a.min()) + 2
    if (int(max(track_a.max(), track_b.max())) + 1) * width >= _KEY_LIMIT:
        times, number = np.unique(time_a, return_inverse=True)
        time_a, time_b = number.astype(np.int64), np.searchsorted(times, time_b, side="right") - 1
        low, width = -1, len(times) + 1
    inside = np.clip(time_b, low, low + width - 1)
    return track_a.astype(np.int64) * width + (time_a - low), track_b.astype(np.int64) * width + (
        inside - low
    )


def _around(trace: Trace, track: Array, time: Ints) -> Ints:
    """Rows of the innermost spans around points, −1 none."""
    rows = np.flatnonzero(mask_of(trace["tracks"].n, track)[trace["spans"]["track"]])
    return innermost(trace, rows, trace["spans"]["track"][rows], track, time)


def innermost(trace: Trace, row: Ints, place: Array, on: Array, time: Ints) -> Ints:
    """The innermost of some spans (rows), each at a place, around points ``(on, time)`` of these places; −1 none."""
    spans = trace["spans"]
    # Points nest as spans of no length; equal ones would enclose one another.
    first, group = group_rows((on, time))
    place, n = np.concatenate((place, on[first])), len(row)
    begin = np.concatenate((spans["start"][row], time[first]))
    length = np.concatenate((spans["dur"][row], np.zeros(len(first), np.int64)))
    order = np.lexsort((-length, begin))
    nested = nest(place[order], begin[order], (begin + length)[order])
    parent = np.full(len(begin), -1, np.int64)
    parent[order] = np.where(nested.parent >= 0, order[nested.parent], -1)
    return np.append(row, -1)[parent[n:]][group]


_BEGIN, _FINISH = ord("s"), ord("f")


def captured_at(trace: Trace) -> Ints:
    """The host span that captured what each span replays, −1 none; int64 of shape (spans,)."""
    spans, flows = trace["spans"], trace["flows"]
    captured = np.full(spans.n, -1, np.int64)
    is_capture = flows["category"] == trace.strings.number(GRAPH_CAPTURE)
    begins = np.flatnonzero(is_capture & (flows["phase"] == _BEGIN))
    ends = np.flatnonzero(is_capture & (flows["phase"] == _FINISH))
    if not len(begins) or not len(ends):
        return captured
    begins = begins[np.argsort(flows["id"][begins], kind="stable")]
    source = positions_of(flows["id"][begins], flows["id"][ends])
    ends, source = ends[source >= 0], source[source >= 0]
    host = span_at(trace, flows["track"][begins], flows["time"][begins])[source]
    # A flow end and its device work are one entry of the file; this tells work apart that starts
    # at the same time on the same stream.
    order = np.argsort(spans["ordinal"], kind="stable")
    target = positions_of(spans["ordinal"][order], flows["ordinal"][ends])
    captured[order[target[target >= 0]]] = host[target >= 0]
    return captured
