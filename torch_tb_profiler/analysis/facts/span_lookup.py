"""The span that a time of a thread or stream belongs to."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.nesting import nest
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace

_KEY_LIMIT = 1 << 62


def span_at(trace: Trace, track: Array, time: Ints) -> Ints:
    """Rows of spans for places (track, time): the shortest span that begins there, else the
    innermost around it; −1 none.
    """
    spans = trace["spans"]
    has = np.zeros(trace["tracks"].n, np.bool_)
    has[track] = True
    rows = np.flatnonzero(has[spans["track"]])
    if not len(rows):
        return np.full(len(track), -1, np.int64)
    of = spans["track"][rows]
    rows = rows[
        np.argsort(of.astype(np.uint16) if trace["tracks"].n <= 1 << 16 else of, kind="stable")
    ]
    key, wanted = _keys(spans["track"][rows], spans["start"][rows], track, time)
    place = np.searchsorted(key, wanted, side="right") - 1
    found = rows[np.maximum(place, 0)]
    found[(place < 0) | (spans["track"][found] != track)] = -1
    inexact = np.flatnonzero((found >= 0) & (spans["start"][found] != time))
    if len(inexact):
        found[inexact] = _around(trace, track[inexact], time[inexact])
    return found


def _keys(track_a: Array, time_a: Ints, track_b: Array, time_b: Ints) -> tuple[Ints, Ints]:
    """(track, time) as one integer each, comparable between a and b where b asks for the last a
    that is not later.
    """
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
    """Rows of the innermost spans around places of a track, −1 none: the places are nested as spans
    without a length.
    """
    spans = trace["spans"]
    # Equal places would nest in one another.
    first, of = group_rows((track, time))
    track, time = track[first], time[first]
    has = np.zeros(trace["tracks"].n, np.bool_)
    has[track] = True
    rows = np.flatnonzero(has[spans["track"]])
    n = len(rows)
    begin = np.concatenate((spans["start"][rows], time))
    length = np.concatenate((spans["dur"][rows], np.zeros(len(time), np.int64)))
    order = np.lexsort((-length, begin))
    nested = nest(
        np.concatenate((spans["track"][rows], track))[order], begin[order], (begin + length)[order]
    )
    parent = np.full(len(begin), -1, np.int64)
    parent[order] = np.where(nested.parent >= 0, order[nested.parent], -1)
    found = parent[n:]
    return np.where(found >= 0, rows[np.maximum(found, 0)], -1)[of]
