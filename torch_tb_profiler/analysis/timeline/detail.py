"""Everything about one event of a timeline, as numbers of other events and figures."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from torch_tb_profiler.analysis.facts.steps import host_step
from torch_tb_profiler.analysis.timeline.call_path import (
    CallPath,
    DeviceWork,
    call_path,
    device_work,
    launched_by,
    longest_first,
)
from torch_tb_profiler.analysis.timeline.event_stack import event_stack
from torch_tb_profiler.analysis.timeline.peers import PeerRank, Peers, find_peers, rank_among
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline import Timeline

T = TypeVar("T")
MOST_LAUNCHED = 50
MOST_ARROWS = 50


class Memoise(Protocol):
    """Keeps results with the trace: ``Opened.memoise``."""

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T: ...


@dataclass(frozen=True)
class Neighbours:
    """Events around one; -1 where there is none. ``children``: how many it encloses directly."""

    parent: int
    children: int
    first_child: int
    previous: int
    next: int


@dataclass(frozen=True)
class Arrow:
    """An arrow of the event. ``kind``: row of ``about["arrow_kinds"]``; ``outgoing``: the event is
    where it begins.
    """

    kind: int
    outgoing: bool
    other: int


@dataclass(frozen=True)
class Launched:
    """Device work that the event or what it called launched: ``first`` the longest of it, at most
    ``MOST_LAUNCHED``; ``time`` in ns.
    """

    first: tuple[int, ...]
    total: int
    time: int


@dataclass(frozen=True)
class Detail:
    """``delay`` and ``queue`` are ns, None where the way has no launch with its device work;
    ``operator`` and ``kernel`` are rows of spans, -1 none.
    """

    around: Neighbours
    way: CallPath
    launched: Launched
    delay: int | None
    queue: int | None
    among: Peers
    rank_among: PeerRank
    arrows: tuple[Arrow, ...]
    arrows_total: int
    step: int
    operator: int
    kernel: int
    stack: tuple[str, ...]


def is_event(trace: Trace, timeline: Timeline, event: int) -> bool:
    """Whether there is such an event on the timeline: samples of counters are none."""
    return 0 <= event < timeline["places"].n and int(timeline["places"]["lane"][event]) >= 0


def event_detail(
    trace: Trace, facts: Facts, timeline: Timeline, event: int, memoise: Memoise
) -> Detail:
    """The detail of an event for which ``is_event`` holds."""
    spans, places = trace["spans"], timeline["places"]
    work = memoise("device work", lambda: device_work(trace, facts))
    name, look = int(places["name"][event]), int(places["look"][event])
    among = memoise(("family", name, look), lambda: find_peers(trace, timeline, name, look))
    arrows, arrows_total = _arrows(timeline, event)
    launched, way, stack = Launched((), 0, 0), CallPath((), -1, -1), tuple[str, ...]()
    operator = kernel = -1
    if event < spans.n:
        rows = launched_by(trace, work, event)
        launched = _launched(trace, rows)
        way = call_path(trace, facts, event, _target(trace, work, event, launched))
        operator, kernel = _to_look_up(trace, facts, event, way)
        stack = tuple(event_stack(trace, facts, event))
    delay = queue = None
    if way.launch >= 0 and way.work >= 0:
        delay, queue = launch_delay(trace, way), queue_time(trace, timeline, way)
    return Detail(
        _neighbours(trace, facts, timeline, event),
        way,
        launched,
        delay,
        queue,
        among,
        rank_among(trace, among, event),
        arrows,
        arrows_total,
        _step(trace, facts, event),
        operator,
        kernel,
        stack,
    )


def _target(trace: Trace, work: DeviceWork, event: int, launched: Launched) -> int:
    if Role.KERNEL <= trace["spans"]["role"][event] <= Role.MEMSET:
        return event
    return launched.first[0] if launched.first else -1


def _launched(trace: Trace, rows: Ints) -> Launched:
    first = longest_first(trace, rows, MOST_LAUNCHED)
    return Launched(tuple(first.tolist()), len(rows), int(trace["spans"]["dur"][rows].sum()))


def launch_delay(trace: Trace, way: CallPath) -> int:
    """Begin of the launch to begin of the device work; negative where the clocks of host and device
    disagree.
    """
    start = trace["spans"]["start"]
    return int(start[way.work]) - int(start[way.launch])


def queue_time(trace: Trace, timeline: Timeline, way: CallPath) -> int:
    """The part of the launch delay, after the launch call's end, in which the stream was busy with
    earlier work.
    """
    spans = trace["spans"]
    begin = int(spans["start"][way.work])
    called = int(spans["start"][way.launch]) + int(spans["dur"][way.launch])
    return max(0, min(begin, _end_before(timeline, way.work, begin)) - called)


def _end_before(timeline: Timeline, event: int, begin: int) -> int:
    """When the work of the event's stream that began before it ended, the latest of it; a time
    before everything without any.
    """
    lanes, groups, slices = timeline["lanes"], timeline["groups"], timeline["slices"]
    group = int(lanes["group"][timeline["places"]["lane"][event]])
    first = int(groups["lane"][group])
    latest = -(1 << 62)
    for lane in range(first, first + int(groups["lanes"][group])):
        low = int(lanes["first"][lane])
        # Slices of a lane do not overlap, so the last one that began before ended last.
        place = (
            low
            + int(np.searchsorted(slices["start"][low : low + int(lanes["count"][lane])], begin))
            - 1
        )
        if place >= low:
            latest = max(latest, int(slices["start"][place]) + int(slices["dur"][place]))
    return latest


def _neighbours(trace: Trace, facts: Facts, timeline: Timeline, event: int) -> Neighbours:
    previous, following = _beside(timeline, event)
    if event >= trace["spans"].n:
        return Neighbours(-1, 0, -1, previous, following)
    if trace["spans"]["role"][event] == Role.DEVICE_ANNOTATION:
        return Neighbours(*_family_by_lane(trace, timeline, event), previous, following)
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    behind = max(
        int(np.searchsorted(spans["start"], int(spans["start"][event]) + int(spans["dur"][event]))),
        event + 1,
    )
    # A child begins after its parent and before its end; of two that begin together the longer
    # stands first.
    child = np.flatnonzero(parent[event + 1 : behind] == event)
    return Neighbours(
        int(parent[event]),
        len(child),
        event + 1 + int(child[0]) if len(child) else -1,
        previous,
        following,
    )


def _beside(timeline: Timeline, event: int) -> tuple[int, int]:
    lanes, slices = timeline["lanes"], timeline["slices"]
    lane = int(timeline["places"]["lane"][event])
    low = int(lanes["first"][lane])
    high = low + int(lanes["count"][lane])
    place = low + _place_in_lane(timeline, lane, event)
    return int(slices["event"][place - 1]) if place > low else -1, int(
        slices["event"][place + 1]
    ) if place + 1 < high else -1


def _place_in_lane(timeline: Timeline, lane: int, event: int) -> int:
    """Which slice of its lane an event is; events of a lane lie in the order of their numbers, as
    spans and instants do in that of time.
    """
    lanes, slices = timeline["lanes"], timeline["slices"]
    low = int(lanes["first"][lane])
    events = slices["event"][low : low + int(lanes["count"][lane])]
    return int(np.searchsorted(events, events.dtype.type(event)))


def _family_by_lane(trace: Trace, timeline: Timeline, event: int) -> tuple[int, int, int]:
    """(parent, children, first child) of what nests on a stream, where only the lanes know the
    depth.
    """
    spans = trace["spans"]
    lanes = timeline["lanes"]
    groups = timeline["groups"]
    slices = timeline["slices"]
    lane = int(timeline["places"]["lane"][event])
    group, depth = int(lanes["group"][lane]), int(lanes["depth"][lane])
    begin = int(spans["start"][event])
    end = begin + int(spans["dur"][event])
    parent, children = -1, []
    count = 0
    for other in range(
        int(groups["lane"][group]), int(groups["lane"][group]) + int(groups["lanes"][group])
    ):
        low, n = int(lanes["first"][other]), int(lanes["count"][other])
        start = slices["start"][low : low + n]
        if int(lanes["depth"][other]) == depth - 1:
            place = low + int(np.searchsorted(start, begin, side="right")) - 1
            if place >= low and int(slices["start"][place]) + int(slices["dur"][place]) >= end:
                parent = int(slices["event"][place])
        elif int(lanes["depth"][other]) == depth + 1:
            inside = slice(
                low + int(np.searchsorted(start, begin)), low + int(np.searchsorted(start, end))
            )
            whole = slices["event"][inside][slices["start"][inside] + slices["dur"][inside] <= end]
            count += len(whole)
            children += whole[:1].tolist()
    return parent, count, min(children, default=-1)


def _arrows(timeline: Timeline, event: int) -> tuple[tuple[Arrow, ...], int]:
    arrows = timeline["arrows"]
    rows = np.flatnonzero((arrows["source"] == event) | (arrows["target"] == event))
    first = rows[:MOST_ARROWS]
    columns = (arrows[name][first].tolist() for name in ("kind", "source", "target"))
    found = [
        Arrow(kind, source == event, target if source == event else source)
        for kind, source, target in zip(*columns, strict=True)
    ]
    return tuple(found), len(rows)


def _step(trace: Trace, facts: Facts, event: int) -> int:
    """Row of steps; -1 outside all."""
    spans, steps = trace["spans"], facts["steps"]
    if event < spans.n:
        return int(facts["span_links"]["step"][event])
    time = trace["instants"]["time"][event - spans.n : event - spans.n + 1]
    return int(host_step(steps["host_start"], steps["host_end"], time)[0])


def _to_look_up(trace: Trace, facts: Facts, event: int, way: CallPath) -> tuple[int, int]:
    """(operator, kernel) that an operator, a launch or device work belongs to; -1 where none is
    known, and for what stands above operators.
    """
    role = trace["spans"]["role"]
    if not Role.OPERATOR <= role[event] <= Role.MEMSET:
        return -1, -1
    kernel = way.work if way.work >= 0 and role[way.work] == Role.KERNEL else -1
    return event if role[event] == Role.OPERATOR else int(
        facts["span_links"]["operator"][event]
    ), kernel
