"""The graphs of all ranks of a run, joined where ranks wait for each other.

::

    rank 0   ─[ compute ]─B─────────┐             B: a rank begins a collective; M: the last one has begun
    rank 1   ─[ compute      ]─B────M─E           E: the data has moved, on every rank
    rank 2   ─[ compute   ]─B───────┘
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import (
    extreme_by,
    group_rows,
    occurrences,
    positions_of,
)
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.critical_path.ranks import RankTrace
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.what_if.graph import NONE, ROOT, Graph, build_graph
from torch_tb_profiler.analysis.what_if.replay import Delays, Durations, delays, replay
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

LEAST_APART, TOGETHER, LEAST_TIMES = 100_000, 0.1, 2
"""Work that begins at least so many ns apart on different ranks, ends within this share of that, and does so at least so
often, waits for all of them.
"""


class Meetings(msgspec.Struct, frozen=True):
    """Pieces of communication that wait for other ranks, by match and begin; arrays of shape (pieces,).

    place: index of the rank among those that were read. work: position of its device work. match: the collective or
    transfer. transfer: ns from the last begin of its match to its end. opens: the first of its match; last: index of
    the last of its match. again: a second piece of the same work, as where a send and a receive run as one.
    """

    place: Ints
    work: Ints
    match: Ints
    transfer: Array
    opens: Mask
    last: Ints
    again: Mask


class RanksGraph(msgspec.Struct, frozen=True):
    """The points of all ranks and of their meetings, in the order of time.

    rank, offset: index of each rank that was read, and what its clock is ahead, ns. graphs: theirs; points: the
    numbers of their points here. time: when each point came, ns, of shape (points,). begins, joins: the points B and
    M of each meeting.
    """

    rank: Ints
    offset: Ints
    graphs: tuple[Graph, ...]
    points: tuple[Ints, ...]
    time: Ints
    meetings: Meetings
    begins: Ints
    joins: Ints


def build_ranks(figures: RunFigures, traces: Sequence[RankTrace | None]) -> RanksGraph:
    """The graph of a run; ranks that could not be read are None and hold nobody back."""
    rank = np.array([i for i, one in enumerate(traces) if one is not None], np.int64)
    offset = np.array([clock.offset for clock in figures.aligned], np.int64)[rank]
    graphs = tuple(
        build_graph(one.trace, one.facts, gather(one.trace, one.facts, one.insight["collectives"]))
        for one in traces
        if one is not None
    )
    read = [one for one in traces if one is not None]
    known = _matched(figures, rank, offset, graphs)
    hidden = _hidden(figures, rank, offset, graphs, read)
    meetings, arrival = _meetings(
        [np.concatenate(column) for column in zip(known, hidden, strict=True)]
    )
    n = len(arrival)
    own = [graph.time[2:] + ahead for graph, ahead in zip(graphs, offset.tolist(), strict=True)]
    latest = arrival[meetings.last]
    time = np.concatenate([*own, arrival, np.minimum(arrival, latest), np.zeros(0, np.int64)])
    sizes = [len(times) for times in own]
    kind = np.repeat([0, 1, 2], (sum(sizes), n, n))
    detail = np.concatenate([*map(np.arange, sizes), np.arange(n), np.arange(n)])
    order = np.lexsort((detail, kind, time))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(2, len(order) + 2)
    *points, begins, joins = np.split(number, np.cumsum([*sizes, n]))
    ordered = np.concatenate(([0, 0], time[order]))
    numbered = tuple(np.concatenate(([NONE, ROOT], one)) for one in points)
    return RanksGraph(rank, offset, graphs, numbered, ordered, meetings, begins, joins)


def _matched(
    figures: RunFigures, rank: Ints, offset: Ints, graphs: Sequence[Graph]
) -> tuple[Array, ...]:
    """``(place, work, match, start, end)`` of recorded communication; ns on the common clock."""
    matches, waits = figures.matched.matches, figures.waits
    none = np.zeros(0, np.int64)
    parts: list[tuple[Array, ...]] = [(none,) * 5]
    for place, graph in enumerate(graphs):
        number = int(rank[place])
        entry = matches.of_rank(number)
        entry = entry[(waits.wait[entry] >= 0) | (waits.last[matches.match[entry]] == number)]
        work = positions_of(graph.work.row, figures.ranks[number].event[matches.row[entry]])
        entry, work = entry[work >= 0], work[work >= 0]
        times = (time[work] + offset[place] for time in (graph.work.start, graph.work.end))
        parts.append((np.full(len(work), place), work, matches.match[entry], *times))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _hidden(
    figures: RunFigures,
    rank: Ints,
    offset: Ints,
    graphs: Sequence[Graph],
    traces: Sequence[RankTrace],
) -> tuple[Array, ...]:
    """``(place, work, match, start, end)`` of work that waits for all ranks without being recorded as communication: it begins
    at different times and ends everywhere at once, time after time.

    ::

        rank 0   ──[ clip gradients: waits  ]
        rank 1   ──────────────[ clip       ]
        rank 2   ─────────────────────[ clip]
    """
    texts = StringBuilder()
    none = np.zeros(0, np.int64)
    parts: list[tuple[Array, ...]] = [(none,) * 6]
    for place, (graph, one) in enumerate(zip(graphs, traces, strict=True)):
        common = np.append(figures.steps.place[int(rank[place])], -1)
        step = common[np.where(graph.step >= 0, graph.step, -1)]
        work = np.flatnonzero(
            (step >= 0) & (one.trace["spans"]["role"][graph.work.row] == Role.KERNEL)
        )
        used, inverse = np.unique(
            one.trace["spans"]["name"][graph.work.row[work]], return_inverse=True
        )
        numbers = texts.intern_all([text or "" for text in one.trace.strings.many(used)])
        name = np.array(numbers, np.int64)[inverse]
        times = (time[work] + offset[place] for time in (graph.work.start, graph.work.end))
        parts.append((np.full(len(work), place), work, step[work], name, *times))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    where, work, step, name, start, end = columns
    _, own = group_rows((step, name, where))
    first, match = group_rows((step, name, occurrences(own)))
    n = len(first)
    whole = (np.bincount(match, minlength=n) == len(graphs)) & (len(graphs) > 1)
    apart, together = (
        extreme_by(np.maximum, match, n, time) - extreme_by(np.minimum, match, n, time)
        for time in (start, end)
    )
    clear = whole & (apart >= LEAST_APART) & (together <= TOGETHER * apart)
    # One coincidence proves nothing: most of those of its name that begin apart must end together.
    names = name[first]
    many = int(names.max(initial=-1)) + 1
    seen = np.bincount(names[whole & (apart >= LEAST_APART)], minlength=many)
    ended = np.bincount(names[clear], minlength=many)
    waits = whole & ((ended >= LEAST_TIMES) & (ended > seen / 2))[names]
    chosen = waits[match]
    rows = (where, work, match + len(figures.waits.last), start, end)
    return tuple(column[chosen] for column in rows)


def _meetings(columns: Sequence[Array]) -> tuple[Meetings, Ints]:
    """The meetings, and when each piece began, ns on the common clock."""
    order = np.lexsort((columns[3], columns[2]))
    place, work, match, arrival, end = (column[order] for column in columns)
    n = len(match)
    ends = np.append(match[1:] != match[:-1], np.True_)[:n]
    opens = np.append(np.True_, ends[:-1])[:n]
    closing = np.flatnonzero(ends)
    last = closing[np.searchsorted(closing, np.arange(n))]
    transfer = np.maximum(end - arrival[last], 0).astype(np.float64)
    again = np.zeros(n, np.bool_)
    same = np.lexsort((work, place))
    again[same[1:]] = (work[same][1:] == work[same][:-1]) & (place[same][1:] == place[same][:-1])
    return Meetings(place, work, match, transfer, opens, last, again), arrival


def replay_ranks(graph: RanksGraph, edited: Sequence[Durations], transfer: Array) -> list[Array]:
    """When the points of each rank come, ns on the common clock.

    edited: the durations of each rank. transfer: ns of each meeting, float64.
    """
    total, meetings = len(graph.time), graph.meetings
    first, second = np.full((2, total), NONE, np.int64)
    after_first, after_second = np.zeros((2, total))
    end, busy = np.zeros(len(meetings.work), np.int64), np.zeros(len(meetings.work))
    for place, (own, points, durations) in enumerate(
        zip(graph.graphs, graph.points, edited, strict=True)
    ):
        delay, here = delays(own, durations), points[2:]
        first[here], second[here] = points[own.first[2:]], points[own.second[2:]]
        after_first[here], after_second[here] = delay.first[2:], delay.second[2:]
        after_first[here[own.first[2:] == ROOT]] += graph.offset[place]
        mine = meetings.place == place
        end[mine] = points[own.ends[meetings.work[mine]]]
        busy[mine] = durations.work[meetings.work[mine]]
    begins, joins, met = graph.begins, graph.joins, graph.joins[meetings.last]
    first[begins], second[begins] = first[end], second[end]
    after_first[begins], after_second[begins] = after_first[end] - busy, after_second[end] - busy
    first[joins] = np.where(meetings.opens, NONE, np.roll(joins, 1))
    second[joins] = begins
    for side, after, chosen in (
        (first, after_first, ~meetings.again),
        (second, after_second, meetings.again),
    ):
        side[end[chosen]], after[end[chosen]] = met[chosen], transfer[chosen]
    once = end[~np.isin(end, end[meetings.again])]
    second[once] = NONE
    for side in (first, second):
        side[side >= np.arange(total)] = NONE
    lost = np.flatnonzero((first == NONE) & (second == NONE))[2:]
    first[lost], after_first[lost] = ROOT, graph.time[lost]
    time = replay(first, second, Delays(after_first, after_second))
    return [time[points] for points in graph.points]
