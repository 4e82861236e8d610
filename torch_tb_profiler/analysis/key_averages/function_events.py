"""The list ``prof.events()`` as columns, from spans and allocator records.

Rules: PyTorch 2.13, ``_parse_kineto_results`` and ``EventList._build_tree`` in ``torch/autograd``.
Every span but the profiler's own is an event, Python frames included. Host events nest by thread,
except asynchronous ones; device events do not nest. An only child with its parent's name is merged
into it. Allocations outside all host events are events of their own.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, places_in, scatter
from torch_tb_profiler.analysis.arrays.nesting import depths, nearest, nest, with_ancestors
from torch_tb_profiler.analysis.facts.host_names import HIDDEN, distinct
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.analysis.key_averages.allocations import (
    MEMORY_NAME,
    OUT_OF_MEMORY_NAME,
    HostDeviceBytes,
    StandaloneRecords,
    allocated_within,
    standalone_records,
)
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.store.strings import StringBuilder, StringTable

_HOST = (Role.OPERATOR, Role.RUNTIME, Role.ANNOTATION, Role.PYTHON, Role.OVERHEAD)
_DEVICE = (*DEVICE_ROLES, Role.DEVICE_ANNOTATION, Role.SYNC, Role.COUNTER_RANGE)
_OVERLOADED = regex(r"(\w+::\w+)\.(\w+)", re.ASCII)
"""``aten::add.Tensor``, as recorded with ``capture_overload_names``."""
_COLLECTIVE_WORK = regex(r"(?:nccl|gloo|ucc|mpi|xccl|hccl|cncl):(?!:)")
"""Asynchronous titles that ``c10d::Work`` records (torch/csrc/distributed/c10d/Work.cpp)."""
_STEP, _ANY_STEP = "ProfilerStep#", "ProfilerStep*"

LOSSLESS = sys.version_info >= (3, 12)
"""Whether Python's ``sum`` compensates rounding errors."""


@dataclass(frozen=True)
class _DeviceTimes:
    """µs, float64 of shape (events,): device time of a host event, total and self.

    Times of function events in microseconds, bit by bit as PyTorch computes them.

    PyTorch divides integer nanoseconds by 1000, then adds and subtracts floats and prints three
    decimals, so the order of operations decides how ties are rounded. Its ``sum`` is lossless since
    Python 3.12; the recording does not say which version wrote it, so the reader's is assumed.
    """

    total: Array
    own: Array


@dataclass(frozen=True)
class FunctionEvents:
    """Arrays of shape (events,) in PyTorch's order by (start, −end); positions count events.

    trace: their source.
    row: row of spans; −1 for an allocator record.
    role: uint8 ``Role``; OTHER for an allocator record.
    track: row of tracks; for a host event the thread that PyTorch reports.
    name: number in ``names``; all ``ProfilerStep#N`` are one, overloads are stripped.
    overload: number in ``names``; −1 none.
    start, end: µs after the start of the recording, float64.
    on_device: it ran on an accelerator.
    is_async: it may end on another thread than it started on.
    parent: position of the enclosing host event; −1 none, on a device, or asynchronous.
    operator: for device work the position of the launching operator; −1 unknown.
    memory: bytes allocated − released while it was open.
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
        """Duration in µs."""
        return np.asarray(self.end - self.start)

    @cached_property
    def host_self(self) -> Array:
        """Duration without direct children, µs; 0 on a device and for asynchronous events."""
        return np.where(self.on_device | self.is_async, 0.0, self_time(self.elapsed, self.parent))

    @cached_property
    def device(self) -> _DeviceTimes:
        """Device time that a host event launched; of a device event its duration, µs."""
        return device_times(self.elapsed, self.on_device, self.parent, self.operator)

    def arguments(self, column: str) -> Array:
        """A column of ``operator_args`` for every event; −1 none."""
        return operator_arguments(self.trace, column)[self.row]


@dataclass(frozen=True)
class _Texts:
    """Arrays by string number, the last for −1; values are numbers of ``FunctionEvents.names``, −1
    none.

    name: the key of an event of that name; −1 where PyTorch drops it.
    operator: the key of an operator of that name, without its overload.
    overload: the overload in the name of an operator.
    work: whether it is the title of a collective's work.
    """

    name: Ints
    operator: Ints
    overload: Ints
    work: Mask


def function_events(trace: Trace, facts: Facts, python_frames: bool = True) -> FunctionEvents:
    """The events of a recording, before PyTorch 2.12 without Python frames."""
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
    standalone = standalone_records(trace, outside)
    labels = np.array([strings.intern(MEMORY_NAME), strings.intern(OUT_OF_MEMORY_NAME)])
    text = np.concatenate((name[row], labels[standalone.out_of_memory.astype(np.int64)]))
    track = np.concatenate((_threads(trace, facts, row, role), standalone.track))
    n = len(standalone.time)
    start, end = np.concatenate((start, standalone.time)), np.concatenate((end, standalone.time))
    order = np.lexsort((-end, start))
    row = np.concatenate((row, np.full(n, -1, np.int64)))[order]
    role = np.concatenate((role, np.zeros(n, np.uint8)))[order]
    start, end, text, track = start[order], end[order], text[order], track[order]
    on_device = np.isin(role, _DEVICE)
    written = np.where(row >= 0, np.append(spans["name"], -1)[row], -1)
    is_async = known.work[written] & ~on_device
    parent, is_kept = _tree(track, start, end, ~on_device & ~is_async, text)
    operator = _launching_operators(facts, row, role, parent, is_kept)
    memory = _memory(row, role, within, standalone)
    position = np.append(np.cumsum(is_kept) - 1, -1)
    first = _recording_start(trace)
    overload = np.where(role == Role.OPERATOR, known.overload[written], -1)
    return FunctionEvents(
        trace=trace,
        names=strings.table(),
        row=row[is_kept],
        role=role[is_kept],
        track=track[is_kept],
        name=text[is_kept].astype(np.int32),
        overload=overload[is_kept].astype(np.int32),
        start=(start[is_kept] - first) / 1000.0,
        end=(end[is_kept] - first) / 1000.0,
        on_device=on_device[is_kept],
        is_async=is_async[is_kept],
        parent=position[parent[is_kept]],
        operator=position[operator[is_kept]],
        memory=(memory[0][is_kept], memory[1][is_kept]),
    )


def is_asynchronous(name: str) -> bool:
    """Whether an event of that name may end on another thread than it began on."""
    return _COLLECTIVE_WORK.match(name) is not None


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
        work[number] = is_asynchronous(text)
        if captured and (overloaded := _OVERLOADED.fullmatch(text)):
            base, own = overloaded.groups()
            operator[number] = -1 if base in HIDDEN else strings.intern(base)
            overload[number] = strings.intern(own)
    return _Texts(name, operator, overload, work)


def _memory(
    row: Ints, role: Array, within: HostDeviceBytes, standalone: StandaloneRecords
) -> HostDeviceBytes:
    """Bytes of every event; spans and records each keep their order when merged."""
    columns = []
    for of_hosts, of_records in zip(within, standalone.bytes, strict=True):
        column = scatter(len(row), (row >= 0) & ~np.isin(role, _DEVICE), of_hosts, 0)
        column[row < 0] = of_records
        columns.append(column)
    return columns[0], columns[1]


def _threads(trace: Trace, facts: Facts, row: Ints, role: Array) -> Array:
    """The thread of each event.

    Runtime calls without an operator and the profiler's overhead count for the thread that stopped
    the recording (``setKinetoTID`` in torch/csrc/profiler/collection.cpp): here that of the last
    ``ProfilerStep#N``, else of the first event.
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
    """``(parent, kept)``: enclosing event, −1 none, and which events are not merged into it."""
    hosts = np.flatnonzero(host)
    inner = nest(track[hosts], start[hosts], end[hosts]).parent
    nested = np.flatnonzero(inner >= 0)
    siblings = np.bincount(inner[nested], minlength=len(hosts))
    same = np.zeros(len(hosts), np.bool_)
    same[nested] = (name[hosts[nested]] == name[hosts[inner[nested]]]) & (
        siblings[inner[nested]] == 1
    )
    parent = scatter(len(track), hosts[nested], hosts[nearest(inner, ~same)[inner[nested]]])
    is_kept = np.ones(len(track), np.bool_)
    is_kept[hosts] = ~same
    return parent, is_kept


def _launching_operators(facts: Facts, row: Ints, role: Array, parent: Ints, kept: Mask) -> Ints:
    """For device work the position of the innermost operator around its launch; −1 unknown."""
    position = places_in(facts["span_links"].n + 1, row)
    position[-1] = -1
    operators = np.full(len(row), -1, np.int64)
    work = np.flatnonzero(np.isin(role, DEVICE_ROLES))
    work = work[facts["span_links"]["operator"][row[work]] >= 0]
    launch, operator = (
        position[facts["span_links"][column][row[work]]] for column in ("launch", "operator")
    )
    inner = np.append(nearest(parent, kept & (role == Role.OPERATOR)), -1)
    operators[work] = inner[np.where((launch >= 0) & (inner[launch] >= 0), launch, operator)]
    return operators


def _recording_start(trace: Trace) -> int:
    """Start of the recording, ns: of the profiler's own span, else of the trace."""
    rows = np.flatnonzero(trace["spans"]["role"] == Role.PROFILER)
    return int(trace["spans"]["start"][rows[0]]) if len(rows) else 0


def self_time(elapsed: Array, parent: Ints) -> Array:
    """The duration of each event without its direct children, subtracted in time order."""
    inside = np.flatnonzero(parent >= 0)
    return np.asarray(
        elapsed - _add(_zeros(len(elapsed)), parent[inside], elapsed[inside]).astype(np.float64)
    )


def device_times(elapsed: Array, on_device: Mask, parent: Ints, operator: Ints) -> _DeviceTimes:
    """``operator``: for device work the position of the host event that launched it; −1 unknown."""
    n = len(elapsed)
    work = np.flatnonzero(operator >= 0)
    own = _add(_zeros(n), operator[work], elapsed[work]).astype(np.float64)
    total, beneath = own.copy(), _zeros(n)
    depth = depths(parent)
    busy = _with_callers(unique_values(operator[work]), parent)
    busy = busy[np.argsort(depth[busy], kind="stable")]
    bounds = np.searchsorted(depth[busy], np.arange(1, int(depth.max(initial=0)) + 1))
    for level in reversed(np.split(busy, bounds)):
        total[level] = own[level] + beneath[level].astype(np.float64)
        inner = level[parent[level] >= 0]
        _add(beneath, parent[inner], total[inner])
    return _DeviceTimes(
        np.where(on_device, elapsed, total),
        np.where(on_device, elapsed, total - beneath.astype(np.float64)),
    )


def _zeros(n: int) -> Array:
    """Accumulators; extended precision holds what a lossless ``sum`` keeps."""
    return np.zeros(n, np.longdouble if LOSSLESS else np.float64)


def _add(sums: Array, position: Ints, values: Array) -> Array:
    """Add the values one after the other."""
    np.add.at(sums, position, values)
    return sums


def _with_callers(positions: Ints, parent: Ints) -> Ints:
    """The positions and all their ancestors, ascending."""
    wanted = mask_of(len(parent), positions)
    return np.flatnonzero(with_ancestors(parent, wanted))
