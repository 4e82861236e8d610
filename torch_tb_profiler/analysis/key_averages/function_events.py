"""Spans and allocator records → the list that ``prof.events()`` is, as columns.

Source of the rules: PyTorch 2.13, ``torch/autograd/profiler.py`` (``_parse_kineto_results``) and
``profiler_util.py`` (``EventList._build_tree``). In short: every span but the profiler's own is an
event, Python frames included; a device's do not nest, a host's do, by thread, but for asynchronous
ones; an event whose parent has its name and no other child is one with it; allocations that no host
event was open for are events of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest, nest
from torch_tb_profiler.analysis.facts.names import HIDDEN, distinct
from torch_tb_profiler.analysis.key_averages.allocations import (
    MEMORY_NAME,
    OUT_OF_MEMORY_NAME,
    HostDeviceBytes,
    StandaloneRecords,
    allocated_within,
    standalone_records,
)
from torch_tb_profiler.analysis.key_averages.times import (
    DeviceTimes,
    device_times,
    microseconds,
    self_time,
)
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable

_HOST = (Role.OPERATOR, Role.RUNTIME, Role.ANNOTATION, Role.PYTHON, Role.OVERHEAD)
_DEVICE = (*DEVICE_ROLES, Role.DEVICE_ANNOTATION, Role.SYNC, Role.COUNTER_RANGE)
_OVERLOADED = re.compile(r"(\w+::\w+)\.(\w+)", re.ASCII)
"""``aten::add.Tensor``: written so with ``capture_overload_names``, and kept apart by PyTorch."""
_COLLECTIVE_WORK = re.compile(r"(?:nccl|gloo|ucc|mpi|xccl|hccl|cncl):(?!:)")
"""Titles that ``c10d::Work`` records from the call to its end, wherever that is noticed: they are
asynchronous (torch/csrc/distributed/c10d/Work.cpp).
"""
_STEP, _ANY_STEP = "ProfilerStep#", "ProfilerStep*"


@dataclass(frozen=True)
class FunctionEvents:
    """Attributes, arrays of shape (events,) in PyTorch's order, which is that of (begin, −end);
    positions count events.

    trace: where they come from.
    row: row of spans; −1 for an allocator record that is an event.
    role: uint8 ``Role``; OTHER for an allocator record.
    track: row of tracks; for a host event the thread that PyTorch says it ran on.
    name: number in ``names``: ``ProfilerStep#N`` are one, the overload's name is taken off.
    overload: number in ``names``; −1 none.
    start, end: µs after the start of the recording, float64.
    on_device: it ran on an accelerator.
    is_async: it may end on another thread than it began on.
    parent: position of the host event around it; −1 none, on a device, or asynchronous.
    operator: of work of a device the position of the operator that launched it; −1 unknown.
    memory: bytes allocated less released while it was open.
    """

    trace: Trace
    names: StringTable
    row: Ints
    role: Array
    track: Array
    name: Array
    overload: Array
    start: Array
    end: Array
    on_device: Mask
    is_async: Mask
    parent: Ints
    operator: Ints
    memory: HostDeviceBytes

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def elapsed(self) -> Array:
        """Length in µs."""
        return np.asarray(self.end - self.start)

    @cached_property
    def host_self(self) -> Array:
        """Length less those of the direct children, µs; 0 on a device and of asynchronous ones."""
        return np.where(self.on_device | self.is_async, 0.0, self_time(self.elapsed, self.parent))

    @cached_property
    def device(self) -> DeviceTimes:
        """Of a host event what it launched, of a device's its length, µs."""
        return device_times(self.elapsed, self.on_device, self.parent, self.operator)

    def arguments(self, column: str) -> Array:
        """A column of the table ``operator_args`` for every event; −1 where there is none."""
        table = self.trace["operator_args"]
        of_span = np.full(self.trace["spans"].n + 1, -1, table[column].dtype)
        of_span[table["span"]] = table[column]
        return of_span[self.row]


@dataclass(frozen=True)
class _Texts:
    """Answers by number of a string, the last for −1; numbers of ``FunctionEvents.names``, −1 none.

    name: the key of an event of that name; −1 where PyTorch leaves it out.
    operator: the key of an operator of that name, without its overload.
    overload: the overload in the name of an operator.
    work: whether it is the title of a collective's work.
    """

    name: Ints
    operator: Ints
    overload: Ints
    work: Mask


def function_events(trace: Trace, facts: Facts, python_frames: bool = True) -> FunctionEvents:
    """The events of a recording; without ``python_frames`` as PyTorch before 2.12 makes them, which
    left Python functions out.
    """
    spans = trace["spans"]
    strings = StringBuilder()
    known = _texts(trace, strings)
    name = np.where(
        spans["role"] == Role.OPERATOR, known.operator[spans["name"]], known.name[spans["name"]]
    )
    wanted = np.isin(spans["role"], (*_HOST, *_DEVICE)) & (name >= 0)
    row = np.flatnonzero(wanted if python_frames else wanted & (spans["role"] != Role.PYTHON))
    role = spans["role"][row]
    start = spans["start"][row]
    end = spans["start"][row] + spans["dur"][row]
    host = ~np.isin(role, _DEVICE)
    within, outside = allocated_within(trace, start[host], end[host])
    alone = standalone_records(trace, outside)
    labels = np.array([strings.intern(MEMORY_NAME), strings.intern(OUT_OF_MEMORY_NAME)])
    text = np.concatenate((name[row], labels[alone.out_of_memory.astype(np.int64)]))
    track = np.concatenate((_threads(trace, facts, row, role), alone.track))
    n = len(alone.time)
    start, end = np.concatenate((start, alone.time)), np.concatenate((end, alone.time))
    order = np.lexsort((-end, start))
    row = np.concatenate((row, np.full(n, -1, np.int64)))[order]
    role = np.concatenate((role, np.zeros(n, np.uint8)))[order]
    start, end, text, track = start[order], end[order], text[order], track[order]
    on_device = np.isin(role, _DEVICE)
    written = np.where(row >= 0, np.append(spans["name"], -1)[row], -1)
    is_async = known.work[written] & ~on_device
    parent, kept = _tree(track, start, end, ~on_device & ~is_async, text)
    operator = _launching_operators(facts, row, role, parent, kept)
    memory = _memory(row, role, within, alone)
    place = np.append(np.cumsum(kept) - 1, -1)
    first = _recording_start(trace)
    overload = np.where(role == Role.OPERATOR, known.overload[written], -1)
    return FunctionEvents(
        trace=trace,
        names=strings.table(),
        row=row[kept],
        role=role[kept],
        track=track[kept],
        name=text[kept].astype(np.int32),
        overload=overload[kept].astype(np.int32),
        start=microseconds(start[kept] - first),
        end=microseconds(end[kept] - first),
        on_device=on_device[kept],
        is_async=is_async[kept],
        parent=place[parent[kept]],
        operator=place[operator[kept]],
        memory=(memory[0][kept], memory[1][kept]),
    )


def _texts(trace: Trace, strings: StringBuilder) -> _Texts:
    texts = trace.strings
    size = len(texts) + 1
    name, operator, overload = (np.full(size, -1, np.int64) for _ in range(3))
    work = np.zeros(size, np.bool_)
    known = {number: texts[number] for number in distinct(trace["spans"]["name"], texts)}
    captured = any(text.startswith("aten::") and "." in text for text in known.values())
    for number, text in known.items():
        if text in HIDDEN:
            continue
        name[number] = operator[number] = strings.intern(
            _ANY_STEP if text.startswith(_STEP) else text
        )
        work[number] = bool(_COLLECTIVE_WORK.match(text))
        if captured and (found := _OVERLOADED.fullmatch(text)):
            base, own = found.groups()
            operator[number] = -1 if base in HIDDEN else strings.intern(base)
            overload[number] = strings.intern(own)
    return _Texts(name, operator, overload, work)


def _memory(
    row: Ints, role: Array, within: HostDeviceBytes, alone: StandaloneRecords
) -> HostDeviceBytes:
    """Bytes of every event; neither spans nor records change their order among themselves when they
    are put together.
    """
    found = []
    for of_hosts, of_records in zip(within, alone.bytes, strict=True):
        column = np.zeros(len(row), np.int64)
        column[(row >= 0) & ~np.isin(role, _DEVICE)] = of_hosts
        column[row < 0] = of_records
        found.append(column)
    return found[0], found[1]


def _threads(trace: Trace, facts: Facts, row: Ints, role: Array) -> Array:
    """The thread of each event.

    Runtime calls of no operator and the profiler's overhead, which PyTorch does not record itself,
    are laid at the thread that stopped the recording (``setKinetoTID`` in
    torch/csrc/profiler/collection.cpp): here that of the last ``ProfilerStep#N``, else of the first
    event.
    """
    track = trace["spans"]["track"][row]
    foreign = (role == Role.OVERHEAD) | (
        (role == Role.RUNTIME) & (facts["span_links"]["operator"][row] < 0)
    )
    own = np.flatnonzero(np.isin(role, (Role.OPERATOR, Role.ANNOTATION, Role.PYTHON)))
    if not foreign.any() or not len(own):
        return track
    steps = [
        number
        for number in distinct(trace["spans"]["name"][row[own]], trace.strings)
        if trace.strings[number].startswith(_STEP)
    ]
    marks = own[np.isin(trace["spans"]["name"][row[own]], steps)]
    return np.where(foreign, track[marks[-1] if len(marks) else own[0]], track)


def _tree(track: Array, start: Ints, end: Ints, host: Mask, name: Array) -> tuple[Ints, Mask]:
    """(position of the event around each, −1 none; which events stay). Those that do not are one
    with the event around them.
    """
    at = np.flatnonzero(host)
    inner = nest(track[at], start[at], end[at]).parent
    has = np.flatnonzero(inner >= 0)
    siblings = np.bincount(inner[has], minlength=len(at))
    same = np.zeros(len(at), np.bool_)
    same[has] = (name[at[has]] == name[at[inner[has]]]) & (siblings[inner[has]] == 1)
    parent = np.full(len(track), -1, np.int64)
    parent[at[has]] = at[nearest(inner, ~same)[inner[has]]]
    kept = np.ones(len(track), np.bool_)
    kept[at] = ~same
    return parent, kept


def _launching_operators(facts: Facts, row: Ints, role: Array, parent: Ints, kept: Mask) -> Ints:
    """For work of a device the position of the innermost operator around its launch; −1 unknown."""
    place = np.full(facts["span_links"].n + 1, -1, np.int64)
    place[row] = np.arange(len(row))
    place[-1] = -1
    found = np.full(len(row), -1, np.int64)
    work = np.flatnonzero(np.isin(role, DEVICE_ROLES))
    work = work[facts["span_links"]["operator"][row[work]] >= 0]
    launch, operator = (
        place[facts["span_links"][column][row[work]]] for column in ("launch", "operator")
    )
    inner = np.append(nearest(parent, kept & (role == Role.OPERATOR)), -1)
    found[work] = inner[np.where((launch >= 0) & (inner[launch] >= 0), launch, operator)]
    return found


def _recording_start(trace: Trace) -> int:
    """When the recording began, ns: the begin of the profiler's own span, else of the trace."""
    rows = np.flatnonzero(trace["spans"]["role"] == Role.PROFILER)
    return int(trace["spans"]["start"][rows[0]]) if len(rows) else 0
