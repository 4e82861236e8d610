"""The tables ``ranges`` and ``range_steps``.

::

    host     ├──── attn ────┤                  one call: host time
               ↓launch    ↓launch
    stream 7        ├ kernel ┤      ├ kernel ┤
    stream 20          ├ copy ─┤
                    └── device: first to last ┘     busy: └────────┘      └────────┘

Every call of a range has what its thread launches while it lasts, on any stream, and what calls within it launch. Times of a step are
those of the work that this step launched, so that sums over steps are sums over rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, sum_by
from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, shared, union, window_at
from torch_tb_profiler.analysis.arrays.nesting import depths, innermost_at, nest_rows
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.analysis.facts.host_names import HIDDEN, is_engine_call, named
from torch_tb_profiler.store import insight_schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.insight_schema import RangeKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

ALL = -1
"""The range of rows that hold the sums over everything."""

_MOST_DEPTH = 64
"""Annotations nested deeper count as part of the one around them."""


@dataclass(frozen=True)
class _RangeCalls:
    """Calls of annotations that are no steps, in the order of the table spans; arrays of shape (calls,). Of calls that overlap
    and do not nest, what lies in both belongs to the later one.

    The calls of annotations as a forest: which call encloses which, also from the autograd engine's threads.

    ::

        main thread    ├────────── "backward" ──────────┤         the thread waits in loss.backward()
        autograd thread     ├ "nccl:all_reduce" ┤  launch          both lie in "backward"

    row: rows of spans. name: numbers of strings. start, end: ns.
    parent: position of the enclosing call; −1 none. depth: how many enclose it.
    outermost: whether none of them has its name and lasts until its end.
    caller: the thread whose calls enclose those of autograd threads; −1 unknown.
    nested: ``parent`` on the own thread alone. autograd: rows of tracks.
    """

    row: Array
    name: Array
    start: Ints
    end: Ints
    parent: Array
    depth: Ints
    outermost: Mask
    caller: int
    nested: Array
    autograd: Array
    track: Array

    def at(self, track: Array, time: Ints) -> Ints:
        """The innermost call around each point of a thread; −1 none."""
        found = innermost_at(self.track, self.start, self.end, self.nested, track, time)
        if self.caller >= 0:
            left = np.flatnonzero((found < 0) & np.isin(track, self.autograd))
            caller = np.full(len(left), self.caller, np.int64)
            found[left] = innermost_at(
                self.track, self.start, self.end, self.nested, caller, time[left]
            )
        return found


@dataclass(frozen=True)
class _Work:
    """Stretches of device work of shape (stretches,): the call that it belongs to, −1 none, the step that launched it, begin and
    end in ns, and how many pieces it is made of.
    """

    call: Ints
    step: Ints
    start: Ints
    end: Ints
    pieces: Ints

    def take(self, rows: Array) -> _Work:
        return _Work(*(values[rows] for values in vars(self).values()))


@dataclass
class _Sums:
    """Rows of ``range_steps`` before those of all figures are joined: figure, range, step and its sum there."""

    parts: list[tuple[str, Array, Array, Array]]

    def add(self, figure: str, number: Array, step: Array, values: Array) -> None:
        """Count values for ranges in steps."""
        first, group = group_rows((step, number))
        self.parts.append((figure, number[first], step[first], sum_by(group, len(first), values)))

    def table(self) -> Table:
        """All of it, in the order of steps and ranges."""
        figures = ("calls", "host", "device", "busy", "launched", "path")
        number = np.concatenate([part[1] for part in self.parts] or [np.zeros(0, np.int64)])
        step = np.concatenate([part[2] for part in self.parts] or [np.zeros(0, np.int64)])
        first, group = group_rows((step, number))
        columns = {}
        for figure in figures:
            values = np.concatenate(
                [
                    part[3] if part[0] == figure else np.zeros(len(part[3]), np.int64)
                    for part in self.parts
                ]
                or [np.zeros(0, np.int64)]
            )
            columns[figure] = sum_by(group, len(first), values)
        return insight_schema.RANGE_STEPS.build(range=number[first], step=step[first], **columns)


def build_ranges(trace: Trace, facts: Facts, path: Table) -> dict[str, Table]:
    """The tables of a trace. ``path``: the table ``critical_path``."""
    calls = _range_calls(trace, facts)
    names, number = np.unique(calls.name, return_inverse=True)
    alone = _device_calls(trace, facts, calls)
    own, own_place = np.unique(alone.name, return_inverse=True)
    own_number = own_place + len(names)
    sums = _Sums([])
    _add_host(facts, calls, number, sums)
    _add_device(_launched(trace, facts, calls), calls, number, sums)
    _add_path(trace, facts, path, calls, number, sums)
    _add_device_calls(trace, facts, alone, own_number, sums)
    longest = largest_by(number, len(names), calls.end - calls.start)
    own_longest = largest_by(own_place, len(own), alone.end - alone.start)
    table = insight_schema.RANGES.build(
        name=np.concatenate((names, own)),
        kind=np.repeat([RangeKind.HOST, RangeKind.DEVICE], [len(names), len(own)]),
        event=np.concatenate((calls.row[longest], alone.row[own_longest])),
    )
    return {"ranges": table, "range_steps": sums.table()}


def _windows(facts: Facts) -> Intervals:
    """Host windows of the steps, each up to the next one."""
    steps = facts["steps"]
    start, end = steps["host_start"], steps["host_end"]
    until = np.append(start[1:], np.iinfo(np.int64).max) if len(start) else start
    return Intervals(start, np.minimum(end, until))


def _add_host(facts: Facts, calls: _RangeCalls, number: Ints, sums: _Sums) -> None:
    """Calls, and the host time of outermost ones: its part in each step, and the rest outside all."""
    windows = _windows(facts)
    begun = window_at(windows.start, windows.end, calls.start)
    sums.add("calls", number, begun, np.ones(len(number), np.int64))
    row = np.flatnonzero(calls.outermost)
    start, end = calls.start[row], calls.end[row]
    window, first, last = shared(start, end, windows)
    step = window_at(windows.start, windows.end, first)
    sums.add("host", number[row][window], step, last - first)
    outside = (end - start) - sum_by(window, len(row), last - first)
    left = np.flatnonzero(outside > 0)
    sums.add("host", number[row][left], np.full(len(left), -1, np.int32), outside[left])


def _launched(trace: Trace, facts: Facts, calls: _RangeCalls) -> _Work:
    """All device work, with the innermost call around its launch."""
    spans, links = trace["spans"], facts["span_links"]
    row = device_rows(trace)
    anchor = _anchors(facts, row)
    call = np.full(len(row), -1, np.int64)
    known = anchor >= 0
    at = anchor[known]
    call[known] = calls.at(spans["track"][at], spans["start"][at])
    start = spans["start"][row]
    end, step = start + spans["dur"][row], links["step"][row].astype(np.int64)
    return _Work(call, step, start, end, np.ones(len(row), np.int64))


def _anchors(facts: Facts, row: Ints) -> Ints:
    """The launch of device work, else its operator; −1 unknown."""
    links = facts["span_links"]
    launch = links["launch"][row]
    return np.where(launch >= 0, launch, links["operator"][row]).astype(np.int64)


def _merged(work: _Work) -> tuple[_Work, Ints, Ints]:
    """Stretches of one call and step as the disjoint ones that they cover, with the first stretch of each call and step, and
    the length from there to its last end.

    A call and step has as many starts as ends: sorted each on its own, a gap is before a start that is after the end before it.
    """
    by_start = np.lexsort((work.start, work.step, work.call))
    by_end = np.lexsort((work.end, work.step, work.call))
    call, step = work.call[by_start], work.step[by_start]
    start, end = work.start[by_start], work.end[by_end]
    first = np.append(True, (call[1:] != call[:-1]) | (step[1:] != step[:-1]))[: len(call)]
    opens = np.flatnonzero(first | np.append(True, start[1:] > end[:-1])[: len(call)])
    last = np.append(opens[1:], len(call)) - 1 if len(opens) else opens
    pieces = np.add.reduceat(work.pieces[by_start], opens) if len(opens) else opens
    merged = _Work(call[opens], step[opens], start[opens], end[last], pieces)
    groups = np.flatnonzero(first[opens])
    beyond = np.append(groups[1:], len(opens)) - 1 if len(groups) else groups
    return merged, groups, merged.end[beyond] - merged.start[groups]


def _add_device(work: _Work, calls: _RangeCalls, number: Ints, sums: _Sums) -> None:
    """Device times of every call, the innermost first: what lies in a call also lies in the one around it."""
    _count(replace(work, call=np.full(len(work.call), -1, np.int64)), np.array([ALL]), sums)
    work = work.take(work.call >= 0)
    counts = np.append(np.where(calls.outermost, number, ALL), ALL)
    for depth in range(int(calls.depth[work.call].max(initial=-1)), -1, -1):
        here = calls.depth[work.call] == depth
        merged = _count(work.take(here), counts, sums, skip=ALL)
        above = replace(merged, call=calls.parent[merged.call])
        above, rest = above.take(above.call >= 0), work.take(~here)
        work = _Work(
            *(
                np.concatenate((a, b))
                for a, b in zip(vars(above).values(), vars(rest).values(), strict=True)
            )
        )


def _count(work: _Work, number: Ints, sums: _Sums, skip: int | None = None) -> _Work:
    """Count the stretches for the range of each call; returns them merged."""
    merged, group, window = _merged(work)
    own = number[merged.call]
    kept = own != skip
    sums.add("busy", own[kept], merged.step[kept], (merged.end - merged.start)[kept])
    sums.add("launched", own[kept], merged.step[kept], merged.pieces[kept])
    kept = own[group] != skip
    sums.add("device", own[group][kept], merged.step[group][kept], window[kept])
    return merged


def _add_path(
    trace: Trace, facts: Facts, path: Table, calls: _RangeCalls, number: Ints, sums: _Sums
) -> None:
    """Time of the critical path on what lies in each range."""
    spans = trace["spans"]
    time = path["end"] - path["start"]
    step = path["step"].astype(np.int64)
    sums.add("path", np.full(path.n, ALL, np.int64), step, time)
    row = np.flatnonzero(path["event"] >= 0)
    event = path["event"][row].astype(np.int64)
    role = spans["role"][event]
    on_device = (role >= Role.KERNEL) & (role <= Role.MEMSET)
    anchor = np.where(on_device, _anchors(facts, event), event)
    row, at = row[anchor >= 0], anchor[anchor >= 0]
    # A host event may outlast the range that it began in: where the stretch lies counts.
    when = np.where(on_device[anchor >= 0], spans["start"][at], path["start"][row])
    call = calls.at(spans["track"][at], when)
    while len(row):
        row, call = row[call >= 0], call[call >= 0]
        counted = calls.outermost[call]
        sums.add("path", number[call[counted]], step[row[counted]], time[row[counted]])
        call = calls.parent[call]


def _device_calls(trace: Trace, facts: Facts, calls: _RangeCalls) -> _RangeCalls:
    """Outermost calls on device streams of names that no host call has."""
    alone = _range_calls(trace, facts, Role.DEVICE_ANNOTATION)
    row = np.flatnonzero(~np.isin(alone.name, calls.name) & alone.outermost)
    shaped = {k: v[row] if k in _PER_CALL else v for k, v in vars(alone).items()}
    return _RangeCalls(**shaped)


_PER_CALL = (
    "row", "name", "start", "end", "parent", "depth", "outermost", "nested", "track"
)  # fmt: skip


def _add_device_calls(
    trace: Trace, facts: Facts, alone: _RangeCalls, number: Ints, sums: _Sums
) -> None:
    """Ranges of which only the device's part is recorded: their time, and what of it the stream worked."""
    spans, steps = trace["spans"], facts["steps"]
    step = window_at(steps["start"], steps["end"], alone.start)
    sums.add("calls", number, step, np.ones(len(number), np.int64))
    sums.add("device", number, step, alone.end - alone.start)
    work = device_rows(trace)
    busy = np.zeros(len(number), np.int64)
    order = np.argsort(spans["track"][work], kind="stable")
    tracks = spans["track"][work][order]
    for track in unique_values(alone.track).tolist():
        own = work[order[slice(*np.searchsorted(tracks, (track, track + 1)).tolist())]]
        points = union(spans["start"][own], spans["start"][own] + spans["dur"][own])
        there = alone.track == track
        busy[there] = measure(points, alone.start[there], alone.end[there])
    sums.add("busy", number, step, busy)


def _range_calls(trace: Trace, facts: Facts, role: Role = Role.ANNOTATION) -> _RangeCalls:
    """The calls of all annotations of a role; on device streams with ``Role.DEVICE_ANNOTATION``."""
    spans, steps = trace["spans"], facts["steps"]
    row = np.flatnonzero(spans["role"] == role)
    row = row[~named(trace, row, lambda text: text in HIDDEN)]
    # A range may begin in one step and end in the next: steps enclose nothing here.
    is_step = np.isin(spans["name"][row], steps["name"])
    if role is Role.ANNOTATION:
        is_step &= np.isin(spans["start"][row], steps["host_start"])
    of_steps, row = spans["track"][row[is_step]], row[~is_step]
    row = row[depths(nest_rows(spans, row).parent) < _MOST_DEPTH]
    nested = nest_rows(spans, row).parent
    track, name = spans["track"][row], spans["name"][row]
    start = spans["start"][row]
    end = start + spans["dur"][row]
    caller, autograd = (
        _threads(trace, track, of_steps) if role is Role.ANNOTATION else (-1, np.zeros(0, np.int64))
    )
    parent = nested.astype(np.int64)
    if caller >= 0:
        left = np.flatnonzero((nested < 0) & np.isin(track, autograd))
        points = np.full(len(left), caller, np.int64)
        parent[left] = innermost_at(track, start, end, nested, points, start[left])
    outermost = _outermost(parent, name, end)
    return _RangeCalls(
        row, name, start, end, parent, depths(parent), outermost, caller, nested, autograd, track
    )  # fmt: skip


def _threads(trace: Trace, annotated: Array, of_steps: Array) -> tuple[int, Array]:
    """The thread that calls the autograd engine, −1 unknown, and the threads of its process on which the engine evaluates
    functions; rows of tracks. Without a device the engine evaluates on the caller's thread.
    """
    spans = trace["spans"]
    row = np.flatnonzero(spans["role"] == Role.OPERATOR)
    row = row[named(trace, row, is_engine_call)]
    autograd = unique_values(spans["track"][row])
    candidates = (
        annotated[~np.isin(annotated, autograd)],
        unique_values(of_steps),
        unique_values(annotated),
    )
    caller = next((int(tracks[0]) for tracks in candidates if len(tracks) == 1), -1)
    if caller < 0:
        return -1, autograd[:0]
    pid = trace["tracks"]["pid"]
    return caller, autograd[(autograd != caller) & (pid[autograd] == pid[caller])]


def _outermost(parent: Ints, name: Array, end: Ints) -> Mask:
    """Whether no ancestor of the same name lasts at least as long: one of another thread may end earlier."""
    same = np.zeros(len(parent), np.bool_)
    row = np.flatnonzero(parent >= 0)
    above = parent[row]
    while len(row):
        same[row] |= (name[above] == name[row]) & (end[above] >= end[row])
        going = ~same[row] & (parent[above] >= 0)
        row, above = row[going], parent[above[going]]
    return ~same
