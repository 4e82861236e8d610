"""The critical path on the lanes of the timeline.

::

    lane 0    [ aten::mm      ]                              path: mm, launch, a, b, sync
    lane 1       [launch]            [ sync     ]
    stream 7               [  a   ][   b  ]                  arrows: launch → a, b → sync
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import extreme_by, group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.timeline.arrows import spread
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Trace

BETWEEN = (PathCause.NOT_RECORDED, PathCause.LAUNCH, PathCause.BEFORE_RECORDING)
"""Time between events, during which the event that is noted with it does not run yet."""


_RUNS = np.array([cause not in BETWEEN for cause in PathCause])
"""Per cause whether its event runs during the segment."""
_TRIED = 64
"""Arrows of which one is drawn at most."""
NEAR_PX = 8
"""Arrows whose ends are nearer to each other than this are drawn as one."""


class PathOverlay(msgspec.Struct, frozen=True):
    """The path in a window. Arrays of shape (segments,), by lane and start, and (arrows,), by time.

    lane: row of lanes. cause: the one that takes most of the segments that are drawn as one. event: that of the longest of
    them. Times: ns.
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

    Segments of a lane with less than a pixel between them are one, unless both are wider and have other causes; and
    where these are still too many, with less than two pixels, four, and so on.
    """
    path, (begin, end) = insight["critical_path"], window
    row = np.flatnonzero((path["end"] > begin) & (path["start"] < end))
    row = row[_RUNS[path["cause"][row]] & (path["event"][row] >= 0)]
    row = row[lane_of_event[path["event"][row]] >= 0]
    event, start, stop = path["event"][row], path["start"][row], path["end"][row]
    lane = lane_of_event[event].astype(np.int64)
    track, step = trace["spans"]["track"][event], path["step"][row]
    pixel = max(1, (end - begin) // parts)
    leaves = np.flatnonzero((track[1:] != track[:-1]) & (step[1:] == step[:-1]))
    few = spread(leaves, _TRIED * most[1])
    distinct = _distinct(NEAR_PX * pixel, track[few], track[few + 1], stop[few], start[few + 1])
    shown = spread(few[distinct], most[1])
    length = stop - start
    alone = _Pieces(lane, start, stop, np.arange(len(row)), length, path["cause"][row], length)
    pieces = _merged(_in_pixels(alone, pixel), pixel, most[0])
    return PathOverlay(
        lane=pieces.lane,
        start=pieces.start,
        end=pieces.end,
        cause=pieces.cause,
        event=event[pieces.longest].astype(np.int64),
        source_lane=lane[shown],
        source_time=stop[shown],
        target_lane=lane[shown + 1],
        target_time=start[shown + 1],
        total=len(leaves),
    )


class _Pieces(NamedTuple):
    """Segments drawn as one. ``longest``, ``length``: position of the longest of them, and its ns. ``cause``: the one that
    takes most of ``time``, ns, which is that of all of them.
    """

    lane: Ints
    start: Ints
    end: Ints
    longest: Ints
    length: Ints
    cause: Array
    time: Ints

    def take(self, rows: Array) -> _Pieces:
        return _Pieces(*(column[rows] for column in self))

    def joined(self, group: Ints, groups: int) -> _Pieces:
        """One piece per group."""
        longest = largest_by(group, groups, self.length)
        of_cause = sum_by(group * len(PathCause) + self.cause, groups * len(PathCause), self.time)
        return _Pieces(
            self.lane[longest],
            extreme_by(np.minimum, group, groups, self.start),
            extreme_by(np.maximum, group, groups, self.end),
            self.longest[longest],
            self.length[longest],
            of_cause.reshape(groups, len(PathCause)).argmax(axis=1),
            sum_by(group, groups, self.time),
        )


def _in_pixels(segments: _Pieces, pixel: int) -> _Pieces:
    """Segments shorter than a pixel, those of a lane that begin in the same one together: linear in
    them, so that the rest has few.
    """
    short = segments.end - segments.start < pixel
    if not short.any():
        return segments
    small = segments.take(short)
    first, group = group_rows((small.lane, small.start // pixel))
    joined = small.joined(group, len(first))
    return _Pieces(*map(np.concatenate, zip(segments.take(~short), joined, strict=True)))


def _merged(segments: _Pieces, pixel: int, most: int) -> _Pieces:
    ordered = segments.take(np.lexsort((segments.start, segments.lane)))
    first = _begins(ordered, pixel, most)
    return ordered.joined(np.cumsum(first) - 1, int(first.sum()))


def _distinct(near: int, source: Array, target: Array, leaves: Ints, arrives: Ints) -> Ints:
    """Of arrows between the same tracks that are near each other the first; positions, ascending."""
    return np.sort(group_rows((source, target, leaves // near, arrives // near))[0])


def _begins(ordered: _Pieces, pixel: int, most: int) -> Mask:
    """Which segments, ordered by lane and start, are not drawn as one with that before them."""
    lane, start, end = ordered.lane, ordered.start, ordered.end
    length, turns = end - start, ordered.cause[1:] != ordered.cause[:-1]
    first = np.ones(len(lane), np.bool_)
    if len(lane) < 2:
        return first
    width = int(end.max()) + 1
    reach = np.maximum.accumulate(lane * width + end)[:-1] - lane[:-1] * width
    other = lane[1:] != lane[:-1]
    while True:
        wide = np.minimum(length[1:], length[:-1]) >= pixel
        first[1:] = other | (start[1:] - reach >= pixel) | (turns & wide)
        if int(first.sum()) <= max(most, int(other.sum()) + 1):
            return first
        pixel *= 2


class EventOnPath(msgspec.Struct, frozen=True):
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
    between = ~_RUNS[path["cause"]]
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
