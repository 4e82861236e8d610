"""When each point of a graph comes if things last as long as said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, length_before, totals
from torch_tb_profiler.analysis.critical_path.host import HostSegments
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.what_if.graph import NONE, ROOT, Graph
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts

_BLOCK = 1 << 16
"""Of segments and points that are looked at together: arrays of all of them would be most of the memory."""


@dataclass
class Durations:
    """What lasts how long, ns, float64; a change writes to it.

    segment: each segment of a host thread; as measured ``Lengths``. work: each piece of device work. lead, latency, after: as in
    ``Graph``. waits: which host points wait for what released them, bool. floor: least length of each step.
    differs: of each of these that is otherwise than measured, the positions where it is, ascending, int32.
    """

    segment: Array
    work: Array
    lead: Array
    latency: Array
    after: Array
    waits: Mask
    floor: Array
    differs: Mapping[str, Array] = field(default_factory=dict)

    def less(self, changed: Durations, part: str) -> Iterator[tuple[Array, Array]]:
        """Where a change changes a part, and by how much each is shorter there, at least 0 ns; block by block."""
        differs = changed.differs.get(part, np.zeros(0, np.int32))
        measured, now = getattr(self, part), getattr(changed, part)
        for begin in range(0, len(differs), _BLOCK):
            row = differs[begin : begin + _BLOCK]
            yield row, np.maximum(measured.take(row) - now.take(row), 0)


class Edited(Durations):
    """Copies of what a change writes to; what nothing asks for is not copied."""

    def __init__(self, measured: Durations) -> None:
        self._measured = measured

    def __getattr__(self, key: str) -> Array:
        value: Array = getattr(self._measured, key).copy()
        setattr(self, key, value)
        return value

    def changed(self) -> Durations:
        """All of them; those that are as measured are the same arrays."""
        all_of, differs = vars(self._measured).copy(), {}
        for key, value in vars(self._measured).items():
            if key in vars(self) and len(row := _differing(vars(self)[key], value)):
                all_of[key], differs[key] = vars(self)[key], row
        return Durations(**all_of | {"differs": differs})


def _differing(a: Array, b: Array) -> Array:
    blocks = [
        (begin + np.flatnonzero(a[begin : begin + _BLOCK] != b[begin : begin + _BLOCK])).astype(
            np.int32
        )
        for begin in range(0, len(a), _BLOCK)
    ]
    return np.concatenate([np.zeros(0, np.int32), *blocks])


def take_away(
    durations: Durations,
    host: HostSegments,
    periods: Mapping[int, Intervals],
    counts: Mask | None = None,
) -> None:
    """Threads (rows of tracks) do nothing in some periods; ``counts``: in which segments, None in all."""
    for track, period in periods.items():
        if not len(period.start):
            continue
        total = totals(period)
        for block in host.blocks(track, int(period.start[0]), int(period.end[-1])):
            # Segments follow each other.
            edges = np.append(host.start[block], host.end[block.stop - 1])
            time = np.diff(length_before(period, total, edges))
            if counts is not None:
                time *= counts[block]
            if time.any():
                durations.segment[block] = np.maximum(durations.segment[block] - time, 0)


def measured_durations(graph: Graph, facts: Facts) -> Durations:
    """Everything as in the trace."""
    host, work = graph.host, graph.work
    return Durations(
        segment=cast(Array, host.lengths),
        work=(work.end - work.start).astype(np.float64),
        lead=graph.lead.copy(),
        latency=graph.latency.copy(),
        after=graph.after.copy(),
        waits=np.ones(len(graph.hosts), np.bool_),
        floor=np.zeros(facts["steps"].n),
    )


class Delays(msgspec.Struct, frozen=True):
    """``first_ns``, ``second_ns`` of each point, ns, float64 of shape (points,)."""

    first: Array
    second: Array


def delays(graph: Graph, durations: Durations, between: Array | None = None) -> Delays:
    """How long after what it waits for each point comes; ``between``: as of the graph, if it is known."""
    first, second = np.zeros((2, len(graph.time)))
    on_host = graph.between(durations.segment) if between is None else between.copy()
    rooted = graph.first[graph.hosts] == ROOT
    on_host[rooted] += graph.opened[rooted]
    first[graph.hosts] = on_host
    second[graph.hosts[~durations.waits]] = -np.inf
    first[graph.ends] = durations.lead + durations.work
    second[graph.ends] = durations.latency + durations.work
    second[graph.ends[graph.joined]] = durations.work[graph.joined]
    first[graph.joints] = durations.after
    second[graph.joints] = durations.latency[graph.joined]
    return Delays(first, second)


def replay(first: Ints, second: Ints, delay: Delays) -> Array:
    """When each point comes, ns, float64 of shape (points,); ``first``, ``second``: as of ``Graph``."""
    time = [-np.inf, 0.0]
    put = time.append
    # Plain numbers of Python: one by one they are far quicker than elements of arrays.
    for one_point, other_point, after_one, after_other in zip(
        first[2:].tolist(),
        second[2:].tolist(),
        delay.first[2:].tolist(),
        delay.second[2:].tolist(),
        strict=True,
    ):
        one, other = time[one_point] + after_one, time[other_point] + after_other
        put(one if one > other else other)
    return np.array(time)


class StepTimes(msgspec.Struct, frozen=True):
    """Begin and end of each step, ns, float64 of shape (steps,), and the point with which each ends."""

    start: Array
    end: Array
    last: Array


def latest(graph: Graph, delay: Delays, times: StepTimes) -> Array:
    """When each point could come at the latest without moving the end of any step, ns, float64 of shape (points,);
    infinite where no step depends on it.
    """
    limit = np.full(len(graph.time), np.inf)
    launched = np.flatnonzero(graph.step >= 0)
    limit[graph.ends[launched]] = times.end[graph.step[launched]]
    marks = graph.hosts[graph.points.marks]
    steps = len(times.end)
    if len(marks) == 2 * steps:
        limit[marks[steps:]] = times.end
    else:
        limit[marks] = times.end.max(initial=0)
    until = limit.tolist()
    columns = (graph.first, graph.second, delay.first, delay.second)
    for end in range(len(until), 2, -_BLOCK):
        block = range(end - 1, max(end - _BLOCK, 2) - 1, -1)
        parts = (column[block.stop + 1 : end][::-1].tolist() for column in columns)
        for point, first, second, after_first, after_second in zip(block, *parts, strict=True):
            own = until[point]
            if own - after_first < until[first]:
                until[first] = own - after_first
            if own - after_second < until[second]:
                until[second] = own - after_second
    return np.array(until)


def step_times(graph: Graph, facts: Facts, time: Array, floor: Array | None = None) -> StepTimes:
    """When the steps begin and end if the points come at ``time``: as ``steps`` are defined, from the later of
    the begin of its annotation and the end of the step before, to the later of the end of its annotation
    and of the work launched in it; no shorter than ``floor``. The first begins with the work that ended
    when it began, if that was later than its annotation.
    """
    steps = facts["steps"]
    n = steps.n
    start, end = np.zeros((2, n))
    last = np.full(n, NONE)
    if not n:
        return StepTimes(start, end, last)
    marks = graph.hosts[graph.points.marks]
    whole = bool(int(steps["flags"][0]) & StepFlag.WHOLE)
    has_marks = not whole and len(marks) == 2 * n
    launched = np.flatnonzero(graph.step >= 0)
    of_step, points = graph.step[launched], graph.ends[launched]
    ended, latest_end = time[points], np.full(n, -np.inf)
    np.maximum.at(latest_end, of_step, ended)
    final = np.full(n, NONE)
    is_final = ended == latest_end[of_step]
    final[of_step[is_final]] = points[is_final]
    previous, rest = float(steps["start"][0]), 0.0
    if whole and len(marks):
        last[:] = marks[np.argmax(time[marks])]
    elif has_marks:
        last = marks[n:].copy()
        opens = _opening(graph, steps)
        previous += float(time[opens] - graph.time[opens])
    if whole:
        # What came last by the clock of the recording held nothing back: it is as long after as it was.
        known = np.concatenate((marks, points))
        rest = max(float(steps["end"][0] - graph.time[known].max()), 0.0) if len(known) else 0.0
    last = np.where(time[final] > time[last], final, last)
    for step in range(n):
        begin = float(time[marks[step]]) if has_marks else previous
        start[step] = begin = max(previous, begin)
        end[step] = max(begin, float(time[last[step]]) + rest)
        if floor is not None:
            end[step] = max(end[step], begin + floor[step])
        previous = end[step]
    return StepTimes(start, end, last)


def _opening(graph: Graph, steps: Table) -> int:
    """The point at which the first step begins: its mark, or the end of work from before that reached into it."""
    begin = int(steps["start"][0])
    ended = np.flatnonzero((graph.work.end == begin) & (graph.step != 0))
    if begin > int(steps["host_start"][0]) and len(ended):
        return int(graph.ends[ended[-1]])
    return int(graph.hosts[graph.points.marks[0]])


def before_steps(graph: Graph, facts: Facts) -> dict[str, Ints]:
    """Of each part of ``Durations`` the positions of what was before the first step."""
    steps = facts["steps"]
    if not steps.n or int(steps["flags"][0]) & StepFlag.WHOLE:
        return {}
    begin, points = int(steps["host_start"][0]), graph.points
    known, done = points.launch >= 0, graph.work.end <= int(steps["start"][0])
    launched = np.append(points.time, 0)[points.launch]
    # Of a call that returns as the step begins.
    launched_before = (launched < begin) | (launched == begin) & (graph.step != 0)
    work = np.where(known, launched_before, done)
    of_work = np.flatnonzero(work)
    return {
        "segment": np.flatnonzero((graph.host.end <= begin) & (graph.host.track >= 0)),
        "work": of_work,
        "lead": of_work,
        "latency": of_work,
        "after": np.flatnonzero(work[graph.joined]),
        "waits": np.flatnonzero(points.time <= begin),
    }


def keep_before(before: Mapping[str, Ints], durations: Durations, measured: Durations) -> None:
    """What was ``before_steps`` lasts as long as it did: a change is of the steps."""
    for key, row in before.items():
        # What a change did not ask for is not there.
        if key in vars(durations):
            getattr(durations, key)[row] = getattr(measured, key)[row]


def acted_on(
    graph: Graph,
    facts: Facts,
    measured: Durations,
    changed: Durations,
) -> Array:
    """By how much all that a change acts on in each step is shorter: no step can be shorter by more. ns, float64 of shape
    (steps,).

    A step's host work lies from the begin of its annotation to its end; its device work is what it launched. A host that no
    longer waits runs ahead, so that its waits count in later steps as well.
    """
    steps, points, differs = facts["steps"], graph.points, changed.differs
    total = np.zeros(steps.n)
    for row, time in measured.less(changed, "segment"):
        total += _by_step(graph.host, steps, row, time)
    if (released := differs.get("waits")) is not None:
        waited = points.time[released] - points.reach[released]
        first = np.searchsorted(steps["end"], points.reach[released], side="right")
        stop = np.searchsorted(steps["host_start"], points.time[released])
        total += np.cumsum(_in_steps(steps.n, first, np.maximum(stop, first), waited))
    for part in ("work", "lead", "latency", "after"):
        for row, time in measured.less(changed, part):
            step = graph.step[graph.joined[row] if part == "after" else row]
            np.add.at(total, step[step >= 0], time[step >= 0])
    return total


def _by_step(host: HostSegments, steps: Table, row: Array, time: Array) -> Array:
    """Sums of the times of some segments (ascending) by the steps that each reaches into, float64 of shape (steps,)."""
    total, before = np.zeros(steps.n), np.append(0, np.cumsum(time))
    edges = np.searchsorted(row, host.bounds)
    # Segments of a thread follow each other: those of a step do so, too.
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if begin < end:
            own = row[begin:end]
            first = np.searchsorted(host.end.take(own), steps["host_start"], side="right")
            stop = np.searchsorted(host.start.take(own), steps["end"])
            total += before[begin + np.maximum(first, stop)] - before[begin + first]
    return total


def _in_steps(steps: int, first: Array, stop: Array, time: Array) -> Array:
    """Sums of the times of some intervals by the steps that each reaches into, float64 of shape (steps,)."""
    total = np.zeros(steps + 1)
    np.add.at(total, first, time)
    np.add.at(total, stop, -time)
    return np.cumsum(total)[:-1]
