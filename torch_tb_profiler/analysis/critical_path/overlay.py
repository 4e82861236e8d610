"""The critical path on the lanes of the timeline.

::

    lane 0    [ aten::mm      ]                              path: mm, launch, a, b, sync
    lane 1       [launch]            [ sync     ]
    stream 7               [  a   ][   b  ]                  arrows: launch → a, b → sync
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import largest_by
from torch_tb_profiler.analysis.timeline.arrows import spread
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Trace

BETWEEN = (PathCause.NOT_RECORDED, PathCause.LAUNCH, PathCause.BEFORE_RECORDING)
"""Time between events, during which the event that is noted with it does not run yet."""


NEAR_PX = 8
"""Arrows whose ends are nearer to each other than this are drawn as one."""


@dataclass(frozen=True)
class PathOverlay:
    """The path in a window. Arrays of shape (segments,), by lane and start, and (arrows,), by time.

    lane: row of lanes. cause, event: of the longest of the segments that are drawn as one. Times: ns.
    source_lane, source_time, target_lane, target_time: from where the path leaves a thread or stream
    to where it goes on on another. total: how many arrows there are before they are thinned.
    """

    lane: Ints
    start: Ints
    end: Ints
    cause: Array
    event: Ints
    source_lane: Ints
    source_time: Ints
    target_lane: Ints
    target_time: Ints
    total: int


def path_overlay(
    trace: Trace,
    insight: Insight,
    lane_of_event: Array,
    window: tuple[int, int],
    parts: int,
    most: tuple[int, int],
) -> PathOverlay:
    """The path in a window of ``parts`` pixels; ``most``: how many segments and arrows.

    Segments of a lane with less than a pixel between them are one, and where these are still too
    many, with less than two pixels, four, and so on.
    """
    path, (begin, end) = insight["critical_path"], window
    row = np.flatnonzero((path["end"] > begin) & (path["start"] < end))
    event = path["event"][row].astype(np.int64)
    running = (event >= 0) & ~np.isin(path["cause"][row], BETWEEN)
    row, event = row[running], event[running]
    lane = lane_of_event[event].astype(np.int64)
    drawn = lane >= 0
    row, event, lane = row[drawn], event[drawn], lane[drawn]
    start, stop = path["start"][row], path["end"][row]
    track, step = trace["spans"]["track"][event], path["step"][row]
    leaves = np.flatnonzero((track[1:] != track[:-1]) & (step[1:] == step[:-1]))
    pixel = max(1, (end - begin) // parts)
    distinct = _distinct(
        NEAR_PX * pixel, track[leaves], track[leaves + 1], stop[leaves], start[leaves + 1]
    )
    shown = spread(leaves[distinct], most[1])
    order = np.lexsort((start, lane))
    first = _pieces(lane[order], start[order], stop[order], pixel, most[0])
    group = np.cumsum(first) - 1
    longest = order[largest_by(group, int(first.sum()), (stop - start)[order])]
    head = np.flatnonzero(first)
    return PathOverlay(
        lane=lane[order][head],
        start=start[order][head],
        end=np.maximum.reduceat(stop[order], head) if len(head) else stop,
        cause=path["cause"][row][longest],
        event=event[longest],
        source_lane=lane[shown],
        source_time=stop[shown],
        target_lane=lane[shown + 1],
        target_time=start[shown + 1],
        total=len(leaves),
    )


def _distinct(near: int, source: Array, target: Array, leaves: Ints, arrives: Ints) -> Ints:
    """Of arrows between the same tracks that are near each other the first; positions, ascending."""
    keys = np.stack((source, target, leaves // near, arrives // near))
    return np.sort(np.unique(keys, axis=1, return_index=True)[1])


def _pieces(lane: Ints, start: Ints, end: Ints, pixel: int, most: int) -> Mask:
    """Which segments, ordered by lane and start, begin a piece."""
    first = np.ones(len(lane), np.bool_)
    if len(lane) < 2:
        return first
    width = int(end.max()) + 1
    reach = np.maximum.accumulate(lane * width + end)[:-1] - lane[:-1] * width
    other = lane[1:] != lane[:-1]
    while True:
        first[1:] = other | (start[1:] - reach >= pixel)
        if int(first.sum()) <= max(most, int(other.sum()) + 1):
            return first
        pixel *= 2


@dataclass(frozen=True)
class EventOnPath:
    """What the path has of an event, ns. itself: in it alone; within: in it or what it called on its
    thread; before: from its launch, or the work before it, until it began. slack: how much later it could
    have ended without moving the end of any step; −1 where nothing recorded waits for it.
    """

    itself: int
    within: int
    before: int
    slack: int


def event_on_path(trace: Trace, insight: Insight, event: int) -> EventOnPath:
    """The time of a row of spans on the path."""
    path, spans = insight["critical_path"], trace["spans"]
    begin = int(spans["start"][event])
    end = begin + int(spans["dur"][event])
    own = path["event"] == event
    between = np.isin(path["cause"], BETWEEN)
    inside = np.flatnonzero((path["event"] >= 0) & (path["end"] > begin) & (path["start"] < end))
    inside = inside[~between[inside]]
    inside = inside[spans["track"][path["event"][inside]] == spans["track"][event]]
    within = np.minimum(path["end"][inside], end) - np.maximum(path["start"][inside], begin)
    time = path["end"] - path["start"]
    return EventOnPath(
        int(time[own & ~between].sum()),
        int(within.sum()),
        int(time[own & between].sum()),
        _slack(insight["slack"], int(spans["track"][event]), end),
    )


def _slack(slack: Table, track: int, time: int) -> int:
    """How much later a thread or stream could go on from a time: as much as it could come to its next
    moment.
    """
    begin, end = np.searchsorted(slack["track"], (track, track + 1)).tolist()
    next_moment = begin + int(np.searchsorted(slack["time"][begin:end], time))
    return int(slack["slack"][next_moment]) if next_moment < end else -1
