"""The critical path of each step through all ranks of a run.

::

    rank 0   [ compute ]──[ all_reduce: waits       | transfer ]    the path, from its end: transfer,
    rank 1   [ compute                             ]─[transfer ]    then what rank 1 did before it began

A collective, or a transfer, ends when its last rank has begun and the data has moved. Of a rank that began earlier
only the transfer is on the path; the rest is the time of the rank that began last, where the path goes on. So it
ends with what began a delay, through any number of pipeline stages, and not with who came last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import largest_by
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.critical_path.walk import Place, Walk, in_order
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace

Leg = tuple[Ints, Ints, Ints, Ints, Array, Ints]


@dataclass(frozen=True)
class RankTrace:
    """The trace of one rank."""

    trace: Trace
    facts: Facts
    insight: Insight


@dataclass(frozen=True)
class RanksPath:
    """Stretches in the order of steps and time, int64 of shape (stretches,); those of a step cover it without hole
    or overlap.

    step: among the common steps. rank: index of the rank. start, end: ns on the common clock. cause: ``PathCause``.
    event: row of spans of the rank, −1 none. begin, stop: of each common step, from the earliest begin to the latest
    end over the ranks; both 0 where the path is not known.
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

    def __init__(self, figures: RunFigures, open_rank: Callable[[int], RankTrace | None]) -> None:
        self._figures, self._open = figures, open_rank
        self._offset = [clock.offset for clock in figures.aligned]
        self._walks: dict[int, Walk | None] = {}
        self._meetings: dict[int, dict[int, int]] = {}

    def paths(self, most_spans: int | None = None) -> RanksPath:
        """The paths of all common steps; the longest first until so many spans are in the traces that were opened."""
        begin, stop, last = self._bounds()
        legs: dict[int, list[Leg]] = {}
        for step in np.argsort(begin - stop, kind="stable").tolist():
            if last[step] >= 0 and (most_spans is None or self._spans() <= most_spans):
                legs[step] = self._path(step, int(begin[step]), int(stop[step]), int(last[step]))
            if not legs.get(step):
                begin[step] = stop[step] = 0
        parts = [leg for step in sorted(legs) for leg in legs[step]]
        columns = list(zip(*parts, strict=True)) or [(np.zeros(0, np.int64),)] * 6
        step_of, rank, start, end, cause, event = map(np.concatenate, columns)
        return RanksPath(step_of, rank, start, end, cause, event, begin, stop)

    def _spans(self) -> int:
        return sum(self._figures.ranks[rank].spans for rank in self._walks)

    def _bounds(self) -> tuple[Ints, Ints, Ints]:
        """``(begin, end, rank that ends last)`` of the common steps; rank −1: no rank has it."""
        figures = self._figures
        count = len(figures.steps.names)
        place = np.concatenate([np.zeros(0, np.int64), *figures.steps.place])
        lengths = [len(own) for own in figures.steps.place]
        rank = np.repeat(np.arange(len(lengths)), lengths)
        offset = np.array(self._offset, np.int64)[rank]
        start, end = (
            np.concatenate([np.zeros(0, np.int64), *columns]) + offset
            for columns in zip(
                *((own.step_start, own.step_end) for own in figures.ranks), strict=True
            )
        )
        known = np.flatnonzero(place >= 0)
        latest = largest_by(place[known], count, end[known])
        last = np.append(rank[known], -1)[latest]
        begin = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(begin, place[known], start[known])
        return begin, np.append(end[known], 0)[latest], last

    def _path(self, step: int, begin: int, stop: int, rank: int) -> list[Leg]:
        """The legs of the path of a step, the first in time first."""
        walk = self._walk(rank)
        if walk is None:
            return []
        own = int(np.flatnonzero(self._figures.steps.place[rank] == step)[-1])
        place, time = walk.end_of(own), stop
        legs = []
        while True:
            offset = self._offset[rank]
            pieces, event = walk.leg(place, begin - offset)
            match = self._meetings[rank][event] if event >= 0 else -1
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
            walk, place = following, self._start_of(following, rank, match, time)

    def _start_of(self, walk: Walk, rank: int, match: int, time: int) -> Place:
        """Where the rank that came last to a match stands then."""
        own = self._figures.matched.matches.row[self._figures.waits.last_entry[match]]
        event = int(self._figures.ranks[rank].event[own])
        return walk.begin_of(event, time - self._offset[rank])

    def _walk(self, rank: int) -> Walk | None:
        if rank not in self._walks:
            opened = self._open(rank)
            self._walks[rank] = None
            if opened is not None:
                trace, facts = opened.trace, opened.facts
                walk = Walk(trace, facts, gather(trace, facts, opened.insight["collectives"]))
                self._walks[rank] = walk
                event, release, match = arrivals(self._figures, rank)
                walk.meet(event, release)
                self._meetings[rank] = dict(zip(event.tolist(), match.tolist(), strict=True))
        return self._walks[rank]


def arrivals(figures: RunFigures, rank: int) -> tuple[Ints, Ints, Ints]:
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
