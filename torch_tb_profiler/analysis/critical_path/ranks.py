"""The critical path of each step through all ranks of a run.

::

    rank 0   [ compute ]──[ all_reduce: waits       | transfer ]    the path, from its end: transfer,
    rank 1   [ compute                             ]─[transfer ]    then what rank 1 did before it began

A collective, or a transfer, ends when its last rank has begun and the data has moved. Of a rank that began earlier
only the transfer is on the path; the rest is the time of the rank that began last, where the path goes on. So it
ends with what began a delay, through any number of pipeline stages, and not with who came last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.critical_path.walk import (
    NO_SPAN,
    Piece,
    Walk,
    WalkPosition,
    in_order,
)
from torch_tb_profiler.analysis.distributed.arrivals import Latest
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.columns import Array, Ints, SpanRow, StepRow
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace

MOST_OPENED = 2048
"""Ranks that are opened for one run; one that was let go counts again."""
MOST_ROWS = 1 << 22
"""Rows of own paths of ranks that are kept meanwhile."""
Leg = tuple[Ints, Ints, Ints, Ints, Array, Ints]


class _OwnPath:
    """Goes back along the critical path that the insight of a rank holds already, where its trace is too large to be gone through
    again (``Walk``): over copied rows of the table ``critical_path``, some 20 bytes each.

    ::

        own path of the rank   [ a ][ b ][ all_reduce ][ c ]      from c back to the all_reduce, if another rank was late to it,
                                     ◀───────────────────── c     else through it and on to a

    It takes what the rank's own path did at that time. The walk through the trace (``walk.py``) says the same where it comes
    out on that path, and may find another reason where what it starts from was not on it.
    """

    def __init__(self, insight: Insight) -> None:
        path = insight["critical_path"]
        order = np.argsort(path["start"], kind="stable")
        self._start, self._end, self._cause, self._event = (
            path[key][order] for key in ("start", "end", "cause", "event")
        )
        self._met = self._release = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._start)

    def meet(self, event: Ints, release: Ints) -> None:
        """Of some rows of spans, communication for which another rank was late: when that one began, ns."""
        order = np.argsort(event, kind="stable")
        at = positions_of(event[order], self._event.astype(np.int64))
        row = np.flatnonzero((at >= 0) & (self._cause == PathCause.COMMUNICATION))
        late = release[order][at[row]]
        own = (late > self._start[row]) & (late < self._end[row])
        self._met, self._release = row[own], late[own]

    def end_of(self, step: StepRow, time: int) -> WalkPosition:
        """Where the end of a step is."""
        return WalkPosition(time)

    def begin_of(self, event: SpanRow, time: int) -> WalkPosition:
        """The path at ``time``; the event need not be on it."""
        return WalkPosition(time)

    def leg(self, place: WalkPosition, floor: int) -> tuple[list[Piece], SpanRow]:
        """Goes back from a place to ``floor``, or to where another rank was late; returns what was noted and the row of spans of
        that communication, −1 at the floor.
        """
        time = place.time
        if time <= floor:
            return [], NO_SPAN
        last = int(np.searchsorted(self._start, time, "left")) - 1
        first, late = int(np.searchsorted(self._end, floor, "right")), -1
        met = int(np.searchsorted(self._met, last, "right")) - 1
        while met >= 0 and self._met[met] >= first:
            if floor < self._release[met] < time:
                first, late = int(self._met[met]), int(self._release[met])
                break
            met -= 1
        if last < first:
            return [_not_recorded(floor)], NO_SPAN
        row = np.arange(last, first - 1, -1)
        start, cause, event = self._start[row], self._cause[row], self._event[row].astype(np.int64)
        if late >= 0:
            start[-1] = late
        # What lies between two rows, as between steps, is on no path.
        hole = np.flatnonzero(self._end[row[1:]] < start[:-1]) + 1
        until = self._end[row[hole]]
        pieces = (
            np.insert(start, hole, until),
            np.insert(cause, hole, np.uint8(PathCause.NOT_RECORDED)),
            np.insert(event, hole, -1),
        )
        before = [_not_recorded(int(self._end[last]))] if self._end[last] < time else []
        after = [_not_recorded(floor)] if late < 0 and start[-1] > floor else []
        return [*before, pieces, *after], NO_SPAN if late < 0 else SpanRow(int(event[-1]))


class RankTrace(msgspec.Struct, frozen=True):
    """The trace of one rank."""

    trace: Trace
    facts: Facts
    insight: Insight


class RanksPath(msgspec.Struct, frozen=True):
    """Stretches in the order of steps and time, int64 of shape (stretches,); those of a step cover it without hole
    or overlap.

    step: among the common steps. rank: index of the rank. start, end: ns on the common clock. cause: ``PathCause``.
    event: row of spans of the rank, −1 none. begin, stop: of each common step (``RunFigures.job_steps``); both 0 where the path is not
    known.
    """

    step: Ints
    rank: Ints
    start: Ints
    end: Ints
    cause: Array
    event: Ints
    begin: Ints
    stop: Ints


class RanksWalk:
    """Goes back through the traces of a run. ``open_rank``: the trace of a rank by its index, None if it cannot be
    had; only those that a path comes through are opened.
    """

    def __init__(
        self,
        figures: RunFigures,
        open_rank: Callable[[int], RankTrace | None],
        most_spans: int | None = None,
    ) -> None:
        """``most_spans``: in the traces that are gone through, None any number; of further ranks it takes their own paths."""
        self._figures, self._open, self._most_spans = figures, open_rank, most_spans
        self._offset = [clock.offset for clock in figures.aligned]
        self._whole: dict[int, _Met | None] = {}
        self._own: dict[int, _Met] = {}
        self._spans = self._opened = 0

    def paths(self) -> RanksPath:
        """The paths of all common steps, the longest first; those are not known that begin after ``MOST_OPENED``."""
        begin, stop, last = self._figures.job_steps()
        legs: dict[int, list[Leg]] = {}
        for step in np.argsort(begin - stop, kind="stable").tolist():
            if last[step] >= 0 and (self._most_spans is None or self._opened < MOST_OPENED):
                legs[step] = self._path(step, int(begin[step]), int(stop[step]), int(last[step]))
            if not legs.get(step):
                begin[step] = stop[step] = 0
        return _path_of(legs, begin, stop)

    def to_latest(self, latest: Sequence[Latest]) -> RanksPath:
        """The path of some steps to where the others waited longest for a rank, or where it ends the step in which it fell behind."""
        begin, until, _ = self._figures.job_steps()
        stop = np.zeros(len(begin), np.int64)
        waits, legs = self._figures.waits, dict[int, list[Leg]]()
        for one in latest:
            time, walk = int(waits.start[waits.last_entry[one.match]]), self._walk(one.rank)
            floor, end = int(begin[one.step]), int(until[one.step])
            if walk is not None and floor < time:
                place = self._start_of(walk.path, one.rank, one.match, time)
                if time > end:
                    time, place = end, self._end_of(walk, one.rank, one.step, end)
                legs[one.step] = self._back(one.step, floor, time, one.rank, walk, place)
                stop[one.step] = time
        return _path_of(legs, np.where(stop > 0, begin, 0), stop)

    def _path(self, step: int, begin: int, stop: int, rank: int) -> list[Leg]:
        """The legs of the path of a step, the first in time first."""
        walk = self._walk(rank)
        if walk is None:
            return []
        return self._back(step, begin, stop, rank, walk, self._end_of(walk, rank, step, stop))

    def _end_of(self, walk: _Met, rank: int, step: int, stop: int) -> WalkPosition:
        own = StepRow(int(np.flatnonzero(self._figures.steps.place[rank] == step)[-1]))
        return walk.path.end_of(own, stop - self._offset[rank])

    def _back(
        self, step: int, begin: int, time: int, rank: int, walk: _Met, place: WalkPosition
    ) -> list[Leg]:
        """The legs from ``time`` at a place of a rank back to ``begin``, the first in time first."""
        legs: list[Leg] = []
        while True:
            offset = self._offset[rank]
            pieces, event = walk.path.leg(place, begin - offset)
            match = walk.match[event] if event >= 0 else -1
            left = int(pieces[-1][0][-1]) + offset if event >= 0 else begin
            start, end, cause, row = in_order(pieces, left - offset, time - offset)
            count = len(start)
            legs.append(
                (
                    np.full(count, step),
                    np.full(count, rank),
                    start + offset,
                    end + offset,
                    cause,
                    row,
                )
            )
            if event < 0:
                return legs[::-1]
            time, rank = left, int(self._figures.waits.last[match])
            following = self._walk(rank)
            if following is None:
                legs.append(_unread(step, rank, begin, time))
                return legs[::-1]
            walk, place = following, self._start_of(following.path, rank, match, time)

    def _start_of(self, walk: Walk | _OwnPath, rank: int, match: int, time: int) -> WalkPosition:
        """Where the rank that came last to a match stands then."""
        own = self._figures.matched.matches.row[self._figures.waits.last_entry[match]]
        event = SpanRow(int(self._figures.ranks[rank].event[own]))
        return walk.begin_of(event, time - self._offset[rank])

    def _walk(self, rank: int) -> _Met | None:
        """A rank's walk, or its own path where too many spans were gone through; None if it cannot be read."""
        if rank in self._whole:
            return self._whole[rank]
        if rank in self._own:
            return self._own[rank]
        opened = self._open(rank)
        self._opened += 1
        if opened is None:
            self._whole[rank] = None
            return None
        spans = self._figures.ranks[rank].spans
        if self._most_spans is None or self._spans + spans <= self._most_spans:
            self._spans += spans
            trace, facts = opened.trace, opened.facts
            walk = Walk(trace, facts, gather(trace, facts, opened.insight["collectives"]))
            found = self._whole[rank] = self._met(rank, walk)
            return found
        found = self._met(rank, _OwnPath(opened.insight))
        while self._own and len(found) + sum(map(len, self._own.values())) > MOST_ROWS:
            del self._own[next(iter(self._own))]
        self._own[rank] = found
        return found

    def _met(self, rank: int, path: Walk | _OwnPath) -> _Met:
        event, release, match = releases(self._figures, rank)
        path.meet(event, release)
        return _Met(path, dict(zip(event.tolist(), match.tolist(), strict=True)))


def _path_of(legs: Mapping[int, Sequence[Leg]], begin: Ints, stop: Ints) -> RanksPath:
    parts = [leg for step in sorted(legs) for leg in legs[step]]
    columns = list(zip(*parts, strict=True)) or [(np.zeros(0, np.int64),)] * 6
    step_of, rank, start, end, cause, event = map(np.concatenate, columns)
    return RanksPath(step_of, rank, start, end, cause, event, begin, stop)


class _Met(msgspec.Struct, frozen=True):
    """How to go back in a rank. match: of each event for which another rank was late."""

    path: Walk | _OwnPath
    match: dict[int, int]

    def __len__(self) -> int:
        """Rows that are kept of its own path."""
        return len(self.path) if isinstance(self.path, _OwnPath) else 0


def releases(figures: RunFigures, rank: int) -> tuple[Ints, Ints, Ints]:
    """``(event, release, match)`` of a rank's collectives for which another rank was late; ``release``: when
    that one began, on this rank's clock.
    """
    waits, matches, own = figures.waits, figures.matched.matches, figures.ranks[rank]
    offset = figures.aligned[rank].offset
    entry = matches.of_rank(rank)
    entry = entry[(waits.wait[entry] > 0) & (waits.last[matches.match[entry]] != rank)]
    match, row = matches.match[entry], matches.row[entry]
    release = own.start[row] + waits.wait[entry]
    # Without a common clock a rank may seem to begin after what it released.
    sound = waits.start[waits.last_entry[match]] <= release + offset
    match, row, release = match[sound], row[sound], release[sound]
    event, start, end = (column[row] for column in (own.event, own.start, own.end))
    # A send and a receive that run as one begin and end together: the later of both releases them.
    order = np.lexsort((release, end, start))
    match, release, event, start, end = (
        column[order] for column in (match, release, event, start, end)
    )
    same = (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    for i in np.flatnonzero(same)[::-1].tolist():
        match[i], release[i] = match[i + 1], release[i + 1]
    return event, release, match


def _unread(step: int, rank: int, start: int, end: int) -> Leg:
    """What cannot be told of a rank whose trace cannot be read."""
    s, r, b, e = (np.array([number]) for number in (step, rank, start, end))
    return s, r, b, e, np.array([PathCause.NOT_RECORDED], np.uint8), np.array([-1])


def _not_recorded(start: int) -> tuple[Array, Array, Array]:
    return np.array([start]), np.array([PathCause.NOT_RECORDED], np.uint8), np.array([-1])
