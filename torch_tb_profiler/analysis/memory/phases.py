"""What the program did at each allocator record: forward, backward, optimizer, loading.

A phase is what the innermost span, or frame, that tells it says; other operators are of the forward
pass. A run is a stretch of one phase within a step. Releases often lie outside all spans and belong
to the run that is under way::

    spans     [DataLoader][aten::linear][evaluate_function: …][Optimizer.step   ][DataLoader]
    phase      data        forward       backward              optimizer          data
    run        0           1             2                     3                  4
    records         +a          +b  +c -c              -b                -a

Of a snapshot, which has no spans, the call stacks of the records say it.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, scatter
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.facts.links import host_mask
from torch_tb_profiler.analysis.facts.steps import WHOLE_SPAN
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringTable


class Phase(IntEnum):
    """What a training loop does; −1 unknown."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMIZER = 2
    ZERO_GRAD = 3
    DATA = 4
    MODULE = 5
    """A module is built or moved to a device."""


_SEP = r"[\\/]"
_MARKS = (
    (
        Phase.BACKWARD,
        r"autograd::engine::evaluate_function: |(?:\w+::)*\w+Backward\d*$"
        rf"|.*torch{_SEP}(?:autograd{_SEP}__init__|_tensor)\.py\(\d+\): (?:backward|grad)$"
        r"|torch::autograd::Engine::|torch::autograd::python::PythonEngine::",
    ),
    (
        Phase.ZERO_GRAD,
        r"Optimizer\.zero_grad#"
        rf"|.*torch{_SEP}(?:optim{_SEP}\w+|nn{_SEP}modules{_SEP}module)\.py\(\d+\): zero_grad$",
    ),
    (
        Phase.OPTIMIZER,
        rf"Optimizer\.step#|.*torch{_SEP}optim{_SEP}(?!lr_scheduler)\w+\.py\(\d+\): ",
    ),
    (Phase.DATA, rf"enumerate\(Data(?:Loader|Pipe)\)#|.*torch{_SEP}utils{_SEP}data{_SEP}"),
    (
        Phase.MODULE,
        rf".*torch{_SEP}nn{_SEP}modules{_SEP}module\.py\(\d+\): "
        r"(?:_apply|to|to_empty|cuda|cpu|xpu|half|float|double|bfloat16)$"
        rf"|.*torch{_SEP}nn{_SEP}modules{_SEP}\w+\.py\(\d+\): (?:__init__|reset_parameters)$"
        rf"|.*torch{_SEP}nn{_SEP}(?:init|parameter)\.py\(\d+\): ",
    ),
)
_PHASES = tuple((phase, regex(text)) for phase, text in _MARKS)
_CALL = regex(rf".*torch{_SEP}nn{_SEP}modules{_SEP}module\.py\(\d+\): _(?:wrapped_)?call_impl$")


class Phases(msgspec.Struct, frozen=True):
    """Arrays of shape (records,), but for ``of_run``.

    phase: of the record itself, −1 unknown; int8.
    run: the run under way; that before its device's first where there is none yet.
    last: the last run of its device.
    in_module: recorded within a module.
    ahead: before the first call of a module in its run, which has one.
    step: whose host window it is in; −1 outside all, and where there are none.
    of_run: phase per run; int8 of shape (runs,).
    """

    phase: Array
    run: Ints
    last: Ints
    in_module: Mask
    ahead: Mask
    step: Array
    of_run: Array


def phases_of_spans(
    trace: Trace, facts: Facts, tables: dict[str, Table], inner: Ints, path: Ints, time: Ints
) -> Phases:
    """The phases of records by the spans of a trace.

    inner, path, time: per record the innermost span or frame and the path around it, −1 none, and
    when, ns.
    """
    of_span = _phase_of_spans(trace, facts)
    spans, steps = trace["spans"], facts["steps"]
    row = np.flatnonzero((of_span >= 0) & _on_main_threads(trace, of_span))
    start, phase = spans["start"][row], of_span[row]
    windows = steps["host_start"], steps["host_end"]
    step = window_at(*windows, start)
    stepped = facts.summary.step_source != WHOLE_SPAN
    begins = np.flatnonzero(_changes(phase) | _changes(step))
    begin, of_run = start[begins], phase[begins]
    run = np.searchsorted(begin, time, side="right") - 1
    paths = tables["paths"]
    calls = np.flatnonzero(
        np.append(paths["kind"] == PathKind.MODULE, False)[tables["span_paths"]["path"]]
    )
    first = np.full(len(begin) + 1, np.iinfo(np.int64).min)
    called = np.searchsorted(begin, spans["start"][calls], side="right") - 1
    # Calls are in order of their begin: of each run the first is written last.
    first[called[::-1]] = spans["start"][calls[::-1]]
    own = np.append(of_span, np.int8(-1))[inner]
    return Phases(
        phase=np.where(own >= 0, own, np.append(of_run, np.int8(-1))[run]),
        run=run,
        last=np.full(len(time), len(begin) - 1),
        in_module=modules_of_paths(paths)[path] >= 0,
        ahead=(run >= 0) & (time < first[run]),
        step=window_at(*windows, time) if stepped else np.full(len(time), -1, np.int32),
        of_run=of_run,
    )


def _changes(values: Array) -> Mask:
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def _phase_of_spans(trace: Trace, facts: Facts) -> Array:
    """Per row of spans the phase of the nearest span that tells one, or forward in an operator; −1."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    host = host_mask(trace)
    mark = np.full(len(trace.strings) + 1, -1, np.int8)
    for number in distinct(spans["name"][host], trace.strings):
        mark[number] = _phase_of(trace.strings[number])
    marked = np.where(host, mark[spans["name"]], -1)
    near = nearest(parent, marked >= 0)
    operator = nearest(parent, spans["role"] == Role.OPERATOR)
    found = np.where(
        near >= 0, np.append(marked, -1)[near], np.where(operator >= 0, Phase.FORWARD, -1)
    )
    return np.where(host, found, -1).astype(np.int8)


def _on_main_threads(trace: Trace, of_span: Array) -> Mask:
    """Spans of the threads that carry the program: those with a backward pass or an optimizer, and
    the one with the most of what is forward. Others, such as a DataLoader's, would cut their runs.
    """
    track, tracks = trace["spans"]["track"], trace["tracks"].n
    main = mask_of(
        tracks + 1, track[np.isin(of_span, (Phase.BACKWARD, Phase.OPTIMIZER, Phase.ZERO_GRAD))]
    )
    forward = np.bincount(track[of_span == Phase.FORWARD], minlength=tracks + 1)
    main[int(np.argmax(forward))] = True
    return np.asarray(main[track])


def _phase_of(name: str) -> int:
    return next((phase for phase, pattern in _PHASES if pattern.match(name)), -1)


def phases_of_stacks(
    strings: StringTable, frames: Array, tells: Mask, before: Mask, device: Ints
) -> Phases:
    """The phases of a snapshot's records, in order, by their call stacks.

    frames: numbers of strings, −1 none. tells: whether the stack is of what happened then.
    before: from before the recording. device: ascending.
    """
    phase_of, calls = (np.full(len(strings) + 1, -1, np.int8), np.zeros(len(strings) + 1, np.bool_))
    for number in distinct(frames, strings):
        phase_of[number], calls[number] = _read_stack(strings[number])
    own = phase_of[frames]
    moment = np.flatnonzero((own >= 0) & tells & ~before)
    begins = moment[_changes(own[moment]) | _changes(device[moment])]
    starts = scatter(len(frames), begins, 1, 0)
    run = np.cumsum(starts) - 1
    # A device without a run of its own yet has that before its first, and its last one is its last.
    first = np.searchsorted(device, device, side="left")
    base = run[first] - starts[first] if len(run) else run
    last = run[np.searchsorted(device, device, side="right") - 1] if len(run) else run
    run = np.where(before, base, np.maximum(run, base))
    in_module = calls[frames]
    called = np.full(int(run.max(initial=-1)) + 2, -1, np.int64)
    use = np.flatnonzero(in_module & tells & ~before)[::-1]
    called[run[use]] = use
    ahead = (run > base) & (np.arange(len(run)) < called[run])
    return Phases(own, run, last, in_module, ahead, np.full(len(run), -1), own[begins])


def _read_stack(text: str) -> tuple[int, bool]:
    """The phase of a call stack, by its innermost frame that tells, and whether a module was called."""
    frames = text.split("\n")
    phase = next((found for frame in frames if (found := _phase_of(frame)) >= 0), Phase.FORWARD)
    return phase, phase == Phase.FORWARD and any(_CALL.match(frame) for frame in frames)
