"""What a device and its host did while the critical path ran: two lanes, of which each moment shows one category.

::

    device    [ compute ][ comm. ]         [ compute ]      what runs, the first of its lane's categories
    path   ───────────┐                ┌───────────────     on one of the lanes at every moment
                      └────────────────┘
    host      [ forward      ][ backward    ][ waits   ]    the categories in the order of ``LANES``

Where the path is on a lane, the lane shows what the path was spent on; else what was recorded there. So what is on the path
adds up to the step, and what is filled of the device's lane is how long it was busy, whatever runs beside something else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    join,
    measure,
    subtract,
    union,
)
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.critical_path.device import device_causes
from torch_tb_profiler.analysis.critical_path.host import (
    blocking_calls,
    host_segments,
    program_thread,
)
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.earlier_work import stretches
from torch_tb_profiler.analysis.facts.host_names import spans_named
from torch_tb_profiler.analysis.facts.step_work import OPTIMIZER
from torch_tb_profiler.analysis.facts.workload_kind import BACKWARD
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.strings import StringTable

Lane = Literal["device", "host"]
LaneCategory = Literal[
    "compute",
    "communication",
    "waiting",
    "copies",
    "data_loading",
    "forward",
    "backward",
    "optimizer",
    "python",
    "device_wait",
    "not_recorded",
]
LANES: Mapping[Lane, tuple[LaneCategory, ...]] = {
    "device": ("compute", "communication", "waiting", "copies"),
    "host": (
        "data_loading",
        "communication",
        "waiting",
        "compute",
        "forward",
        "backward",
        "optimizer",
        "python",
        "device_wait",
        "not_recorded",
    ),
}
"""The categories of each lane as they are stacked. ``waiting``: for another rank; ``device_wait``: the host for the device;
``compute`` of the host: operators where no device was recorded.
"""
PARTS = [(lane, category) for lane, all_ in LANES.items() for category in all_]
"""Lane and category; parts are told by their place here."""
BUSY = ("compute", "communication", "waiting")
"""Categories of the device's lane that count as busy: a kernel runs."""
COLUMNS = 700
"""Columns that a step is drawn in, at most."""
_PLACE: dict[tuple[str, str], int] = {part: place for place, part in enumerate(PARTS)}
_ON_DEVICE = {
    PathCause.KERNEL: "compute",
    PathCause.MEMCPY: "copies",
    PathCause.MEMSET: "copies",
    PathCause.COMMUNICATION: "communication",
    PathCause.WAITING: "waiting",
}
_FORWARD = regex(r"nn\.Module: |(?:.*\W)?forward$", re.IGNORECASE)
_PHASES = ("python", "forward", "backward", "optimizer")
_BACKWARD = _PHASES.index("backward")


class LaneWork(msgspec.Struct, frozen=True):
    """What a trace shows of its lanes: times by category; those of a lane may overlap, then the first of ``LANES`` is drawn.

    Attributes:
        times: by place in ``PARTS``, of those that occur.
        phase: place in ``_PHASES`` of each row of spans, of device work that of its launch; uint8, with one more for no row.
        backward: when the backward pass runs, also between its functions.
        on_device: whether a row of spans is device work; bool, with one more for no row.
        has_device: whether an accelerator was recorded; without one operators are what computes.
        cuts: starts at which nothing shows what the device did: silent, or with work from before the recording.
    """

    times: Mapping[int, Intervals]
    phase: Array
    backward: Intervals
    on_device: Mask
    has_device: bool
    cuts: Intervals


_NO_TIMES = Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64))
NO_WORK = LaneWork({}, np.zeros(1, np.uint8), _NO_TIMES, np.zeros(1, np.bool_), False, _NO_TIMES)
"""Of a trace that cannot be read."""


def lane_work(trace: Trace, facts: Facts, insight: Insight) -> LaneWork:
    """What the lanes of a whole trace did."""
    spans, has_device = trace["spans"], facts.summary.has_device
    phase, backward = _phases(trace, facts)
    times: dict[int, Intervals] = {}

    def put(lane: Lane, category: str, found: Intervals) -> None:
        if found.length:
            times[_PLACE[lane, category]] = found

    row = device_rows(trace)
    begin = spans["start"][row]
    times |= device_times(device_causes(trace, facts, row), begin, begin + spans["dur"][row])
    moved = insight["collectives"]["event"].astype(np.int64)
    moved = moved[~np.isin(spans["role"][moved], DEVICE_ROLES)]
    begin = spans["start"][moved]
    put("host", "communication", union(begin, begin + spans["dur"][moved]))

    host = host_segments(trace, facts, blocking_calls(trace, facts))
    main = host.track == program_thread(trace, facts, host)
    waits, loads = host.cause == PathCause.SYNCHRONIZATION, host.cause == PathCause.DATALOADER
    moves = host.cause == PathCause.COMMUNICATION
    called = (host.cause == PathCause.OPERATOR) | (host.cause == PathCause.RUNTIME)
    # Of other threads counts what they call: their Python frames may do nothing but wait.
    runs = (called | main & (host.span >= 0)) & ~waits & ~loads & ~moves
    computes = (host.cause == PathCause.OPERATOR) & (not has_device)
    of = phase[host.span]
    phases = {name: runs & (of == place) for place, name in enumerate(_PHASES)}
    masks = {"data_loading": loads & main, "compute": computes, **phases, "device_wait": waits}
    found = {name: union(host.start[own], host.end[own]) for name, own in masks.items()}
    between = intersect(found["python"], backward)
    found["backward"] = join(found["backward"], between)
    found["python"] = subtract(found["python"], between)
    for category, when in found.items():
        put("host", category, when)
    on_device = np.append(np.isin(spans["role"], DEVICE_ROLES), False)
    cuts = stretches(facts["earlier_work"])
    return LaneWork(times, phase, backward, on_device, has_device, cuts)


def device_times(cause: Array, start: Ints, end: Ints) -> dict[int, Intervals]:
    """When device work of each ``PathCause`` runs, by place in ``PARTS``, of those that occur; all of shape (device events,)."""
    found = {}
    for category in ("compute", "communication", "copies"):
        own = np.isin(cause, [c for c, drawn in _ON_DEVICE.items() if drawn == category])
        if (when := union(start[own], end[own])).length:
            found[_PLACE["device", category]] = when
    return found


def _phases(trace: Trace, facts: Facts) -> tuple[Array, Intervals]:
    """``phase`` and ``backward`` of ``LaneWork``: a call belongs to the optimizer or the backward pass where one is around it,
    else to the forward pass where that is, or a gradient was prepared in it.
    """
    spans, links, arguments = trace["spans"], facts["span_links"], trace["operator_args"]
    role, parent = spans["role"], links["parent"]
    called = (role == Role.OPERATOR) | (role == Role.ANNOTATION)
    python = role == Role.PYTHON
    forward = spans_named(trace, called | python, _FORWARD.match)
    recorded = (arguments["sequence"] >= 0) & (arguments["forward_thread"] <= 0)
    forward[arguments["span"][recorded]] = True
    marks = (
        forward,
        spans_named(trace, called, BACKWARD.match),
        spans_named(trace, called | python, OPTIMIZER.match),
    )
    phase = np.zeros(spans.n + 1, np.uint8)
    for place, mark in enumerate(marks, 1):
        phase[:-1][nearest(parent, mark) >= 0] = place
    begins = np.flatnonzero(marks[0] | marks[1] | marks[2])
    back = phase[begins] == _BACKWARD
    device = device_rows(trace)
    phase[device] = phase[links["launch"][device]]
    if not back.any():
        return phase, _NO_TIMES
    first = np.flatnonzero(back & ~np.append(False, back[:-1]))
    start = spans["start"][begins]
    # No call ends before it begins: of those that are no backward function only the begin is taken.
    end = np.where(back, start + spans["dur"][begins], start)
    last = np.maximum.reduceat(end, np.flatnonzero(np.append(True, back[1:] != back[:-1])))
    return phase, union(start[first], last[0 if back[0] else 1 :: 2])


class PathSegments(msgspec.Struct, frozen=True):
    """The path of one step: arrays of shape (segments,) that follow each other; times in ns.

    source: key of the trace that it is on. event: row of spans there, -1 none. cause: ``PathCause``. name, line: numbers of
    ``strings``, -1 none.
    """

    strings: StringTable
    source: Ints
    start: Ints
    end: Ints
    cause: Array
    event: Ints
    name: Ints
    line: Ints

    @property
    def bounds(self) -> tuple[int, int]:
        """Begin and end of the step, ns."""
        return int(self.start[0]), int(self.end[-1])


class Source(msgspec.Struct, frozen=True):
    """A trace that a path is on. ``shift``: what to add to its times for those of the path, ns."""

    work: LaneWork
    shift: int = 0


def parts_of(path: PathSegments, sources: Mapping[int, Source]) -> Ints:
    """What each segment of a path is drawn as: its place in ``PARTS``, int64."""
    part = np.full(len(path.start), _PLACE["host", "not_recorded"], np.int64)
    for place, source in sources.items():
        own = np.flatnonzero(path.source == place)
        event, cause, work = path.event[own], path.cause[own], source.work
        drawn = _HOST_PARTS[work.phase[event], cause]
        if not work.has_device:
            drawn = np.where(cause == PathCause.OPERATOR, _PLACE["host", "compute"], drawn)
        # A launch is the host's, though the work that it is noted with is the device's.
        on_device = work.on_device[event] & (_DEVICE_PARTS[cause] >= 0)
        part[own] = np.where(on_device, _DEVICE_PARTS[cause], drawn)
    return part


class Drawn(msgspec.Struct, frozen=True):
    """The lanes in some windows.

    Attributes:
        times: time of each part in each window, ns, by (place in ``PARTS``, whether it is on the path); int64 of shape (windows,).
        length: of the windows, without what is cut, ns.
    """

    times: Mapping[tuple[int, bool], Ints]
    length: int


class Lanes(msgspec.Struct, frozen=True):
    """The lanes of a path: when each part was on the path, and when beside it. ``cuts``: silent starts, of which nothing is drawn."""

    on: Mapping[int, Intervals]
    beside: Mapping[int, Intervals]
    everything: Mapping[int, Intervals]
    cuts: Intervals

    def measured(self, begin: Ints, end: Ints) -> Drawn:
        """What lies in some windows, ns of shape (windows,)."""
        times = {
            (part, on): measure(when, begin, end)
            for on, sets in ((True, self.on), (False, self.beside))
            for part, when in sets.items()
        }
        cut = measure(self.cuts, begin, end)
        return Drawn(
            {key: time for key, time in times.items() if time.any()},
            int((end - begin - cut).sum()),
        )

    def in_all(self, begin: int, end: int) -> dict[str, int]:
        """Time of each group whose work may run beside the path, on any lane, ns."""
        whole, found = (np.array([begin]), np.array([end])), {}
        for group in ("compute", "copies", "data_loading", "communication"):
            sets = [there for n, there in self.everything.items() if PARTS[n][1] == group]
            if sets:
                found[group] = int(measure(join(*sets), *whole)[0])
        return found

    def edges(self, begin: int, end: int) -> Ints:
        """At most ``COLUMNS`` windows of equal length without the cuts from begin to end, ns."""
        shown = subtract(_span(begin, end), self.cuts)
        lengths = np.cumsum(np.append(0, shown.end - shown.start))
        if not len(shown.start):
            return np.array([begin, end])
        count = min(COLUMNS, int(lengths[-1]))
        (whole, rest), at = divmod(int(lengths[-1]), count), np.arange(count + 1)
        at = whole * at + rest * at // count
        piece = np.minimum(np.searchsorted(lengths, at, side="right") - 1, len(shown.start) - 1)
        edges = shown.start[piece] + at - lengths[piece]
        edges[0], edges[-1] = begin, end
        return np.asarray(edges)


def path_lanes(path: PathSegments, sources: Mapping[int, Source]) -> Lanes:
    """The lanes of what a path goes through; at every moment those of the trace that it is on. ``sources``: those that can be
    read; of others the path is known alone.
    """
    part = parts_of(path, sources)
    on: dict[int, list[Intervals]] = {}
    beside: dict[int, list[Intervals]] = {}
    everything: dict[int, list[Intervals]] = {}
    cuts = [_NO_TIMES]
    for place in unique_values(path.source).tolist():
        own = path.source == place
        source = sources.get(place, Source(NO_WORK))
        shift, work = source.shift, source.work
        when = union(path.start[own], path.end[own])
        cut = intersect(_moved(work.cuts, shift), when)
        cuts.append(cut)
        when = subtract(when, cut)
        own_on: dict[int, Intervals] = {}
        for number in unique_values(part[own]).tolist():
            mine = own & (part == number)
            own_on[number] = intersect(union(path.start[mine], path.end[mine]), when)
        python, backward = _PLACE["host", "python"], _PLACE["host", "backward"]
        if python in own_on:
            during = _moved(work.backward, shift)
            between = intersect(own_on[python], during)
            own_on[backward] = join(own_on.get(backward, _NO_TIMES), between)
            own_on[python] = subtract(own_on[python], during)
        for number, there in own_on.items():
            on.setdefault(number, []).append(there)
        all_ = {n: intersect(_moved(there, shift), when) for n, there in work.times.items()}
        for number, there in all_.items():
            everything.setdefault(number, []).append(there)
        for lane in LANES:
            taken = [there for n, there in own_on.items() if PARTS[n][0] == lane]
            for category in LANES[lane]:
                number = _PLACE[lane, category]
                if category == "not_recorded":
                    all_[number] = when
                if number in all_:
                    left = subtract(all_[number], join(_NO_TIMES, *taken))
                    beside.setdefault(number, []).append(left)
                    taken.append(left)
    bright, pale, every = (
        {number: join(*sets) for number, sets in some.items()} for some in (on, beside, everything)
    )
    return Lanes(bright, pale, every, join(*cuts))


def lane_area(drawn: Drawn, lane: Lane, categories: Sequence[str]) -> int:
    """Time that some categories fill of a lane, ns."""
    return sum(
        int(time.sum())
        for (part, _), time in drawn.times.items()
        if PARTS[part][0] == lane and PARTS[part][1] in categories
    )


def _moved(times: Intervals, shift: int) -> Intervals:
    return Intervals(times.start + shift, times.end + shift) if shift else times


def _span(begin: int, end: int) -> Intervals:
    return union(np.array([begin]), np.array([end]))


def _tables() -> tuple[Ints, Ints]:
    """The part of each cause: on the device, -1 none, of shape (causes,); and on the host, of shape (phases, causes)."""
    device = np.full(len(PathCause), -1)
    for cause, category in _ON_DEVICE.items():
        device[cause] = _PLACE["device", category]
    host = np.full((len(_PHASES), len(PathCause)), _PLACE["host", "not_recorded"])
    for place, phase in enumerate(_PHASES):
        host[place, list(GROUPS["host_code"])] = _PLACE["host", phase]
    for category in ("data_loading", "communication", "waiting"):
        host[:, list(GROUPS[category])] = _PLACE["host", category]
    return device, host


_DEVICE_PARTS, _HOST_PARTS = _tables()
