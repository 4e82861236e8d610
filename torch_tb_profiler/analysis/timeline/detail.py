"""The details of one event of a timeline."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.timeline.call_path import (
    CallPath,
    call_path,
    device_work,
    event_stack,
    launched_by,
    longest_first,
)
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.timeline import Timeline

T = TypeVar("T")
MOST_LAUNCHED = 50
MOST_ARROWS = 50


class Peers(msgspec.Struct, frozen=True):
    """All events of one name and look in time order, int32; times in ns."""

    events: Array
    total: int
    shortest: int
    longest: int
    slowest: int
    fastest: int


class PeerRank(msgspec.Struct, frozen=True):
    """One event among its peers; ``rank`` 1 is the slowest; ``previous``, ``next``: −1 none."""

    rank: int
    previous: int
    next: int


class Memoise(Protocol):
    """Caches results with the trace: ``Opened.memoise``."""

    def __call__(self, key: Hashable, make: Callable[[], T]) -> T: ...


class Neighbours(msgspec.Struct, frozen=True):
    """Events around one, −1 none; ``children``: number of direct children."""

    parent: int
    children: int
    first_child: int
    previous: int
    next: int


class Arrow(msgspec.Struct, frozen=True):
    """An arrow of the event; ``kind``: row of ``about["arrow_kinds"]``."""

    kind: int
    outgoing: bool
    other: int


class Launched(msgspec.Struct, frozen=True):
    """Device work launched within the event: the longest ``MOST_LAUNCHED``, number and total ns."""

    first: tuple[int, ...]
    total: int
    time: int


class Detail(msgspec.Struct, frozen=True):
    """``delay``, ``queue``: ns, start of the launch to that of its device work, and the part of it
    in which the stream was still busy, None without a launch and its device work; ``operator``,
    ``kernel``: rows of spans, −1 none.
    """

    around: Neighbours
    way: CallPath
    launched: Launched
    delay: int | None
    queue: int | None
    peers: Peers
    peer_rank: PeerRank
    arrows: tuple[Arrow, ...]
    arrows_total: int
    step: int
    operator: int
    kernel: int
    stack: tuple[str, ...]


def is_event(trace: Trace, timeline: Timeline, event: int) -> bool:
    """Whether there is such an event on the timeline; counter samples are not events."""
    return 0 <= event < timeline["places"].n and int(timeline["places"]["lane"][event]) >= 0


def event_detail(
    trace: Trace, facts: Facts, timeline: Timeline, event: int, memoise: Memoise
) -> Detail:
    """The details of an event for which ``is_event`` holds."""
    spans, places = trace["spans"], timeline["places"]
    work = memoise("device work", lambda: device_work(trace, facts))
    name, look = int(places["name"][event]), int(places["look"][event])
    among = memoise(("family", name, look), lambda: find_peers(trace, timeline, name, look))
    arrows, arrows_total = _arrows(timeline, event)
    launched, path, stack = Launched((), 0, 0), CallPath((), -1, -1), tuple[str, ...]()
    operator = kernel = -1
    if event < spans.n:
        launched = _launched(trace, launched_by(trace, work, event))
        is_work = Role.KERNEL <= spans["role"][event] <= Role.MEMSET
        longest = event if is_work else next(iter(launched.first), -1)
        path = call_path(trace, facts, event, longest)
        operator, kernel = _operator_and_kernel(trace, facts, event, path)
        stack = tuple(event_stack(trace, facts, event))
    delay = queue = None
    if path.launch >= 0 and path.work >= 0:
        # Negative if host and device clocks differ.
        delay = int(spans["start"][path.work]) - int(spans["start"][path.launch])
        queue = _queue_time(trace, timeline, path)
    return Detail(
        _neighbours(trace, facts, timeline, event),
        path,
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


def _launched(trace: Trace, rows: Ints) -> Launched:
    first = longest_first(trace, rows, MOST_LAUNCHED)
    return Launched(tuple(first.tolist()), len(rows), int(trace["spans"]["dur"][rows].sum()))


def _queue_time(trace: Trace, timeline: Timeline, path: CallPath) -> int:
    """The launch delay after the launch call in which the stream was still busy."""
    spans = trace["spans"]
    begin = int(spans["start"][path.work])
    called = int(spans["start"][path.launch]) + int(spans["dur"][path.launch])
    return max(0, min(begin, _end_before(timeline, path.work, begin)) - called)


def _end_before(timeline: Timeline, event: int, begin: int) -> int:
    """The latest end of earlier work on the event's stream; a time before everything without any."""
    slices = timeline["slices"]
    latest = -(1 << 62)
    for lane in _lanes_of_group(timeline, int(timeline["places"]["lane"][event])):
        rows = _slices_of(timeline, lane)
        # Slices of a lane do not overlap, so the last one that starts earlier ends last.
        row = rows.start + int(np.searchsorted(slices["start"][rows], begin)) - 1
        if row >= rows.start:
            latest = max(latest, int(slices["start"][row]) + int(slices["dur"][row]))
    return latest


def _lanes_of_group(timeline: Timeline, lane: int) -> range:
    """The lanes of a lane's group."""
    groups, group = timeline["groups"], int(timeline["lanes"]["group"][lane])
    first = int(groups["lane"][group])
    return range(first, first + int(groups["lanes"][group]))


def _slices_of(timeline: Timeline, lane: int) -> slice:
    """The rows of slices of a lane."""
    first = int(timeline["lanes"]["first"][lane])
    return slice(first, first + int(timeline["lanes"]["count"][lane]))


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
    # Children start within their parent and come after it.
    child = np.flatnonzero(parent[event + 1 : behind] == event)
    return Neighbours(
        int(parent[event]),
        len(child),
        event + 1 + int(child[0]) if len(child) else -1,
        previous,
        following,
    )


def _beside(timeline: Timeline, event: int) -> tuple[int, int]:
    """The previous and next event on the event's lane, −1 none; events of a lane ascend."""
    rows = _slices_of(timeline, int(timeline["places"]["lane"][event]))
    events = timeline["slices"]["event"][rows]
    index = int(np.searchsorted(events, events.dtype.type(event)))
    previous = int(events[index - 1]) if index else -1
    return previous, int(events[index + 1]) if index + 1 < len(events) else -1


def _family_by_lane(trace: Trace, timeline: Timeline, event: int) -> tuple[int, int, int]:
    """(parent, children, first child) of what nests on a stream, where only lanes know the depth."""
    spans, slices, depth = trace["spans"], timeline["slices"], timeline["lanes"]["depth"]
    lane = int(timeline["places"]["lane"][event])
    begin = int(spans["start"][event])
    end = begin + int(spans["dur"][event])
    parent, count = -1, 0
    first_children: list[int] = []
    for other in _lanes_of_group(timeline, lane):
        rows = _slices_of(timeline, other)
        start, dur, events = (slices[name][rows] for name in ("start", "dur", "event"))
        if depth[other] == depth[lane] - 1:
            outer = int(np.searchsorted(start, begin, side="right")) - 1
            if outer >= 0 and int(start[outer]) + int(dur[outer]) >= end:
                parent = int(events[outer])
        elif depth[other] == depth[lane] + 1:
            inside = slice(*np.searchsorted(start, [begin, end]).tolist())
            children = events[inside][start[inside] + dur[inside] <= end]
            count += len(children)
            first_children += children[:1].tolist()
    return parent, count, min(first_children, default=-1)


def _arrows(timeline: Timeline, event: int) -> tuple[tuple[Arrow, ...], int]:
    arrows = timeline["arrows"]
    rows = np.flatnonzero((arrows["source"] == event) | (arrows["target"] == event))
    first = rows[:MOST_ARROWS]
    columns = (arrows[name][first].tolist() for name in ("kind", "source", "target"))
    first_arrows = [
        Arrow(kind, source == event, target if source == event else source)
        for kind, source, target in zip(*columns, strict=True)
    ]
    return tuple(first_arrows), len(rows)


def _step(trace: Trace, facts: Facts, event: int) -> int:
    """Row of steps; −1 outside all."""
    spans, steps = trace["spans"], facts["steps"]
    if event < spans.n:
        return int(facts["span_links"]["step"][event])
    time = trace["instants"]["time"][event - spans.n : event - spans.n + 1]
    return int(window_at(steps["host_start"], steps["host_end"], time)[0])


def _operator_and_kernel(trace: Trace, facts: Facts, event: int, path: CallPath) -> tuple[int, int]:
    """The (operator, kernel) of an operator, launch or device work; −1 otherwise."""
    role = trace["spans"]["role"]
    if not Role.OPERATOR <= role[event] <= Role.MEMSET:
        return -1, -1
    kernel = path.work if path.work >= 0 and role[path.work] == Role.KERNEL else -1
    is_operator = role[event] == Role.OPERATOR
    return event if is_operator else int(facts["span_links"]["operator"][event]), kernel


def find_peers(trace: Trace, timeline: Timeline, name: int, look: int) -> Peers:
    """The peers of a name and look; one scan of two columns, worth keeping."""
    places = timeline["places"]
    events = np.flatnonzero(places["name"] == name)
    events = events[(places["look"][events] == look) & (places["lane"][events] >= 0)].astype(
        np.int32
    )
    dur = _durations(trace, events)
    slowest, fastest = int(np.argmax(dur)), int(np.argmin(dur))
    ends = (dur[fastest], dur[slowest], events[slowest], events[fastest])
    return Peers(events, int(dur.sum()), *map(int, ends))


def _durations(trace: Trace, events: Array) -> Ints:
    """Durations of events, int64 ns; 0 for instants."""
    spans = trace["spans"]
    if not len(events) or int(events[-1]) < spans.n:
        return np.asarray(spans["dur"][events])
    is_span = events < spans.n
    dur = np.zeros(len(events), np.int64)
    dur[is_span] = spans["dur"][events[is_span]]
    return dur


def rank_among(trace: Trace, among: Peers, event: int) -> PeerRank:
    """The rank of an event among its peers."""
    index = int(np.searchsorted(among.events, event))
    dur = _durations(trace, among.events)
    own = dur[index]
    rank = 1 + int(np.count_nonzero(dur > own)) + int(np.count_nonzero(dur[:index] == own))
    around = np.pad(among.events, 1, constant_values=-1)
    return PeerRank(rank, int(around[index]), int(around[index + 2]))
