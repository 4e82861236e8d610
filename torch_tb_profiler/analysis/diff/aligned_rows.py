"""What is drawn of two steps on one axis: what their threads and devices did, in as many parts as there are pixels."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, shared, subtract, union
from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.critical_path.host import blocking_calls
from torch_tb_profiler.analysis.diff.aligned_steps import AlignedSteps, DrawnStep, Gaps
from torch_tb_profiler.analysis.facts.host_names import host_names, name_mask
from torch_tb_profiler.hardware.kernel_names import communication_library
from torch_tb_profiler.store.columns import Ints, Mask
from torch_tb_profiler.store.roles import Role

_COMPUTE, _COPIES, _DATA, _COMMUNICATION, _, _HOST, _ = range(len(GROUPS))
MOST_TIES = 40
"""Pairs that a line is drawn for, those that take longest."""


class Row(msgspec.Struct, frozen=True):
    """What was done on the threads (``host``) or devices of a side; arrays of shape (segments,): begin and end on the axis,
    ns, and the group as a number in ``GROUPS``.
    """

    host: bool
    start: Ints
    end: Ints
    group: Ints


class Ties(msgspec.Struct, frozen=True):
    """Where matched operations begin on the axis, ns, arrays of shape (ties,); ``row``: of spans of the first side."""

    before: Ints
    after: Ints
    row: Ints


def aligned_rows(steps: AlignedSteps, parts: int) -> tuple[list[Row], list[Row]]:
    """The rows of both sides, in ``parts`` parts of the axis; none where the steps are not aligned."""
    if steps.gaps is None or not steps.length:
        return [], []
    edges = steps.length * np.arange(parts + 1) // parts
    sides = (steps.before, steps.after)
    on_device = any(len(side.events.device) for side in sides)
    threads = [_threads(side) for side in sides]
    found = []
    for number, side in enumerate(sides):
        rows = [(True, _host_groups(side, threads[number], _HOST if on_device else _COMPUTE))]
        if on_device:
            rows.append((False, _device_groups(side)))
        found.append(
            [Row(host, *_drawn(steps.gaps, number, groups, edges)) for host, groups in rows]
        )
    return found[0], found[1]


def drawn_ties(steps: AlignedSteps, least: int) -> Ties:
    """The longest matched operations of the outermost ones, at least ``least`` ns apart from each other."""
    none = np.zeros(0, np.int64)
    if steps.gaps is None:
        return Ties(none, none, none)
    first, second = steps.matched.host
    events = steps.before.events
    outer = np.flatnonzero((events.parent[first] < 0) & np.isin(first, events.operations))
    rows = [
        side.events.host[own[outer]]
        for side, own in zip((steps.before, steps.after), (first, second), strict=True)
    ]
    places = []
    for number, (side, row) in enumerate(zip((steps.before, steps.after), rows, strict=True)):
        places.append(steps.gaps.on_axis(number, side.times(row)[0]))
    chosen: list[int] = []
    taken: list[int] = []
    longest = np.argsort(-steps.before.trace["spans"]["dur"][rows[0]], kind="stable")
    for i in longest[: 25 * MOST_TIES].tolist():
        at = int(places[0][i])
        if len(chosen) < MOST_TIES and all(abs(at - other) >= least for other in taken):
            chosen.append(i)
            taken.append(at)
    own = np.array(sorted(chosen, key=lambda i: int(places[0][i])), np.int64)
    return Ties(places[0][own], places[1][own], rows[0][own])


def _threads(side: DrawnStep) -> Ints:
    """The threads that the path comes by, and the one with most events: others only serve these."""
    spans = side.trace["spans"]
    met = np.unique(spans["track"][side.path.event[side.path.event >= 0]])
    tracks, count = np.unique(side.events.track, return_counts=True)
    busiest = tracks[count == count.max(initial=0)][:1]
    return np.union1d(np.intersect1d(met, tracks), busiest)


def _host_groups(side: DrawnStep, threads: Ints, work: int) -> list[tuple[int, Intervals]]:
    """When the threads loaded data, and when they did other work without waiting for a device."""
    spans, row = side.trace["spans"], side.events.host
    row = row[np.isin(side.events.track, threads)]
    data = host_names(side.trace.strings, spans["name"][row]).dataloader[spans["name"][row]]
    waits = blocking_calls(side.trace, side.path.facts)[row]
    loading = _when(side, row[data])
    busy = subtract(_when(side, row[~data & ~waits]), _when(side, row[waits]))
    return [(_DATA, loading), (work, subtract(busy, loading))]


def _device_groups(side: DrawnStep) -> list[tuple[int, Intervals]]:
    """When the devices computed, communicated and copied; of two at a time the first."""
    spans, row = side.trace["spans"], side.events.device
    kernels = spans["role"][row] == Role.KERNEL
    names = name_mask(side.trace.strings, spans["name"][row[kernels]], communication_library)
    moves: Mask = kernels & names[spans["name"][row]]
    found: list[tuple[int, Intervals]] = []
    taken = union(np.zeros(0, np.int64), np.zeros(0, np.int64))
    for group, own in ((_COMPUTE, kernels & ~moves), (_COMMUNICATION, moves), (_COPIES, ~kernels)):
        when = _when(side, row[own])
        found.append((group, subtract(when, taken)))
        taken = union(np.append(taken.start, when.start), np.append(taken.end, when.end))
    return found


def _when(side: DrawnStep, row: Ints) -> Intervals:
    return union(*side.times(row))


def _drawn(
    gaps: Gaps, side: int, groups: list[tuple[int, Intervals]], edges: Ints
) -> tuple[Ints, Ints, Ints]:
    """``(start, end, group)`` of the parts of the axis of which at least half is taken, by the group that takes most."""
    moment, shift = gaps.shift(side)
    far = np.iinfo(np.int64).max
    pieces = Intervals(np.append(-1, moment), np.append(moment, far))
    shift = np.append(0, shift)
    taken = np.zeros((len(groups), len(edges) - 1), np.int64)
    for place, (_, when) in enumerate(groups):
        # A gap parts what goes on across it.
        window, start, end = shared(when.start, when.end, pieces)
        piece = np.searchsorted(pieces.start, start, side="right") - 1
        del window
        on_axis = union(start + shift[piece], end + shift[piece])
        taken[place] = measure(on_axis, edges[:-1], edges[1:])
    most = taken.argmax(axis=0)
    number = np.array([group for group, _ in groups])[most]
    number = np.where(2 * taken.sum(axis=0) >= np.maximum(np.diff(edges), 1), number, -1)
    begin = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
    start, end, number = edges[begin], np.append(edges[begin[1:]], edges[-1]), number[begin]
    drawn = number >= 0
    return start[drawn], end[drawn], number[drawn]
