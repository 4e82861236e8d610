"""Steps: where they start and end, the work they own, and their flags."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import (
    costliest,
    extreme_by,
    group_rows,
    positions_of,
)
from torch_tb_profiler.analysis.arrays.intervals import union, window_at
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.facts.host_names import HostNames, distinct, name_mask
from torch_tb_profiler.analysis.facts.iterations import (
    LEAST_COVERAGE,
    LEAST_REPEATS,
    ServerIterations,
    outermost,
    server_iterations,
)
from torch_tb_profiler.analysis.facts.workload_kind import is_training
from torch_tb_profiler.hardware.server_steps import NO_REQUESTS, UNKNOWN, Requests, ServerStep
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import STEP_MARK, Role
from torch_tb_profiler.store.strings import StringTable

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.facts.calltree import CallTree
    from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses

__all__ = ["StepFlag", "StepWindows", "cut_steps", "find_steps", "odd_reasons"]

LONGEST_COUNTED = 200
_COUNTED = regex(
    r"(?P<stem>.*(?:step|iteration|iter|batch))[ _#:=-]{0,2}\d{1,18}$",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
_STEPS = regex(r"(?:step|iteration|iter|batch)\Z", re.IGNORECASE)
DEEPEST_STEPS = 8
"""Levels of annotations in which steps are looked for."""
CUT_FACTOR = 0.8

WHOLE_SPAN = "whole span"
ITERATION = "iteration of a server"
PASS = "pass of the model"

_MODULE = "nn.Module: "

_EMBEDDING = "aten::embedding"

_NONE = np.zeros(0, np.int64)

_LEAST_PASSES = 8
"""Loops over tokens or denoising steps have more; a program that happens to call a model a few times has no steps."""

_NO_PASSES = ServerIterations(_NONE, _NONE, (), _NONE, _NONE, _NONE)

_TOUCH_NS = 2_000
"""Where steps meet, times rounded to whole microseconds may overlap by as much."""

_DOUBLED_SHARE = 0.5
"""Marks of different profilers overlap by more than this share of the shorter one; less is an odd clock."""

_SERIES_SOUGHT = 64
"""Of series without an open step, those that ended last are looked at."""


class StepWindows(msgspec.Struct, frozen=True):
    """Steps in time order, arrays of shape (steps,), times int64 ns.

    source: ``ProfilerStep``, ``iteration of a server``, the name of the annotation, ``pass of the model``, or
        ``whole span``.
    name: string numbers; −1 for the whole span.
    number: N of ``ProfilerStep#N``; −1.
    host_start, host_end: the annotation.
    start, end: the window, device work included; windows do not overlap.
    launched: number of device events launched in it.
    device_step: the step of every device event, −1 outside; shape (device events,).
    left_out: how many marks of other profilers are no steps.
    earlier, silent: of each window, the time of work from before the recording, which it does not count, and of a silent
        start, which it does; 0 until they are known.
    unrecorded: of each window, the time in which what the devices did is unknown; 0 likewise.
    """

    source: str
    name: Ints
    number: Ints
    host_start: Ints
    host_end: Ints
    start: Ints
    end: Ints
    launched: Ints
    device_step: Ints
    left_out: int = 0
    earlier: Ints | int = 0
    unrecorded: Ints | int = 0
    silent: Ints | int = 0

    @property
    def length(self) -> Ints:
        """Of each window without work from before the recording."""
        return np.asarray(self.end - self.start - self.earlier)


def find_steps(
    trace: Trace, tree: CallTree, names: HostNames, caused: DeviceCauses
) -> tuple[StepWindows, ServerIterations]:
    """The steps of a trace, and the iterations that they are or hold; a trace without any host or device work has none."""
    iterations = server_iterations(trace)
    spans = trace["spans"]
    node, left_out = _profiler_steps(trace, tree, names)
    if not len(node) and len(iterations.row):
        return _extended(trace, caused, _iterations(trace, tree, iterations)), iterations
    if not len(node):
        node = _repeated_annotations(trace, tree, names, _extent(trace))
        if not len(node):
            if len((passes := _model_passes(trace)).row):
                return _extended(trace, caused, _iterations(trace, tree, passes, PASS)), passes
            return _whole(trace, caused), iterations
    row = tree.row[node]
    row = row[np.argsort(spans["start"][row], kind="stable")]
    source = _stem(trace.strings[int(spans["name"][row[0]])])
    start = spans["start"][row]
    end = start + spans["dur"][row]
    name = spans["name"][row].astype(np.int64)
    none = np.zeros(0, np.int64)
    number = names.step[name]
    host = StepWindows(source, name, number, start, end, start, end, none, none, left_out)
    return _extended(trace, caused, host), iterations


def _iterations(
    trace: Trace, tree: CallTree, found: ServerIterations, source: str = ITERATION
) -> StepWindows:
    """Iterations as steps. Each also owns what its thread calls before the next one begins (sampling, copies of
    results); the last one as far as the others usually reach.
    """
    spans = trace["spans"]
    name = spans["name"][found.row].astype(np.int64)
    start, end = found.start, found.end
    if len(start) > 1:
        following = np.append(start[1:], start[-1] + int(np.median(np.diff(start))))
        call = tree.row[spans["track"][tree.row] == spans["track"][found.row[0]]]
        owner = np.searchsorted(start, spans["start"][call], side="right") - 1
        own = (owner >= 0) & (spans["start"][call] < following[owner])
        begun, reached = owner[own], (spans["start"][call] + spans["dur"][call])[own]
        end = np.minimum(
            np.maximum(end, extreme_by(np.maximum, begun, len(end), reached)), following
        )
        end = np.maximum(end, found.end)
    unknown, none = np.full(len(name), -1, np.int64), np.zeros(0, np.int64)
    return StepWindows(source, name, unknown, start, end, start, end, none, none)


def cut_steps(work: Ints, operators: Array, phase: Array, calls: Array) -> Mask:
    """Which steps the end of the recording cut off, bool of shape (steps,), by the rules in docs/definitions.md.

    ``work``: how many device events each step launched. ``operators``: how many started in each. ``phase``: a number per
        step; steps are compared with those of the same number. ``calls``: of shape (steps, names of operators and kernels).
    """
    cut = np.zeros(len(work), np.bool_)
    for number in unique_values(phase).tolist():
        rows = np.flatnonzero(phase == number)
        launched = work[rows]
        first = min(_first_cut(launched, calls[rows] > 0), _first_empty(launched + operators[rows]))
        cut[rows[first:]] = True
    return cut


def hidden_steps(steps: Mapping[str, Array]) -> Mask:
    """Which rows of ``STEPS``, or of its columns, have no time because device work of an earlier step outlasts them."""
    return np.asarray(
        (steps["end"] == steps["start"]) & (steps["host_end"] > steps["host_start"]), np.bool_
    )


def odd_reasons(facts: Facts) -> dict[int, tuple[str, float]]:
    """Row of each ODD step → the category that exceeds most its median among steps of the same kind, and by how many ns."""
    table = facts["steps"]
    counted = (table["flags"] & (StepFlag.PART | StepFlag.COLD)) == 0
    found = {}
    for row in np.flatnonzero(table["flags"] & StepFlag.ODD).tolist():
        others = counted & (table["kind"] == table["kind"][row])
        excess = [float(table[key][row] - np.median(table[key][others])) for key in CATEGORIES]
        worst = int(np.argmax(excess))
        found[row] = (CATEGORIES[worst], excess[worst])
    return found


def _profiler_steps(trace: Trace, tree: CallTree, names: HostNames) -> tuple[Ints, int]:
    """Nodes that are counted as steps on the thread that has most of them, and how many of it are another profiler's."""
    spans = trace["spans"]
    name = spans["name"][tree.row]
    node = np.flatnonzero(names.step[name] >= 0)
    if not len(node):
        return node, 0
    node = node[costliest(spans["track"][tree.row[node]], np.ones(len(node), np.bool_))[0]]
    start, dur = spans["start"][tree.row[node]], spans["dur"][tree.row[node]]
    order = np.lexsort((-dur, start))
    node, start, dur = node[order], start[order], dur[order]
    kept = kept_marks(start, start + dur, names.step[name[node]])
    return node[kept], int((~kept).sum())


def _repeated_annotations(
    trace: Trace, tree: CallTree, names: HostNames, extent: tuple[int, int]
) -> Ints:
    """Nodes of the outermost annotation that repeats and covers most of the span; empty if none
    does.

    Any name counts at the top level. Within other annotations (``epoch``) only names like those of
    steps count, because layers repeat as well.
    """
    spans = trace["spans"]
    name = spans["name"][tree.row]
    annotation = spans["role"][tree.row] == Role.ANNOTATION
    like_steps = _ends_like_steps(name[annotation], trace.strings)[name] & ~names.collective[name]
    level = annotation & (tree.parent < 0)
    candidate = level & ~names.collective[name] & (~names.region[name] | like_steps)
    for _ in range(DEEPEST_STEPS):
        node = _repeated(trace, tree, np.flatnonzero(candidate), extent)
        if len(node):
            return node
        level = annotation & (tree.parent >= 0) & level[tree.parent]
        if not level.any():
            break
        candidate = level & like_steps
    return np.zeros(0, np.int64)


def _ends_like_steps(name: Array, strings: StringTable) -> Mask:
    """Which names end like those of steps, a count aside; optimizer names do not."""
    mask = np.zeros(len(strings) + 1, np.bool_)
    for number in distinct(name, strings):
        text = strings[number]
        mask[number] = not text.startswith("Optimizer.") and _STEPS.search(_stem(text)) is not None
    return mask


def _repeated(trace: Trace, tree: CallTree, node: Ints, extent: tuple[int, int]) -> Ints:
    """The nodes whose name, a count aside (``iteration 3``), repeats and covers most of the span.

    A name that is active on several threads at once marks no steps: those are requests served
    concurrently.
    """
    if not len(node):
        return node
    spans = trace["spans"]
    name = spans["name"][tree.row]
    track = spans["track"][tree.row[node]].astype(np.int64)
    number = _without_counts(name[node], trace.strings)
    kinds, kind = np.unique(track * (len(trace.strings) + 1) + number, return_inverse=True)
    count = np.bincount(kind, minlength=len(kinds))
    covered = np.bincount(kind, weights=spans["dur"][tree.row[node]], minlength=len(kinds))
    covered[count < LEAST_REPEATS] = 0
    while covered[best := int(np.argmax(covered))] > 0 and covered[best] >= LEAST_COVERAGE * (
        extent[1] - extent[0]
    ):
        same_name = node[number == number[kind == best][0]]
        start = spans["start"][tree.row[same_name]]
        end = start + spans["dur"][tree.row[same_name]]
        if union(start, end).length == int((end - start).sum()):
            return np.asarray(node[kind == best])
        covered[best] = 0
    return node[:0]


def _stem(text: str) -> str:
    """A name without the trailing count of a step."""
    match = _COUNTED.match(text) if len(text) < LONGEST_COUNTED else None
    return (match["stem"] if match else text).removesuffix(STEP_MARK[:-1])


def _without_counts(name: Array, strings: StringTable) -> Ints:
    """The number of the first string that equals each name apart from its count."""
    same = np.full(len(strings) + 1, -1, np.int64)
    known: dict[str, int] = {}
    for number in distinct(name, strings):
        same[number] = known.setdefault(_stem(strings[number]), number)
    return np.asarray(same[name])


def _extent(trace: Trace) -> tuple[int, int]:
    """``(start, end)`` of host and device work, without the profiler's own; (0, 0) if empty."""
    spans = trace["spans"]
    counted = (spans["role"] >= Role.OPERATOR) & (spans["role"] <= Role.ANNOTATION) | (
        spans["role"] == Role.PYTHON
    )
    if not counted.any():
        return 0, 0
    # Spans are sorted by start.
    return int(spans["start"][int(np.argmax(counted))]), latest_end(spans, counted)


def latest_end(spans: Table, counted: Mask | None = None) -> int:
    """The latest end of all, or of the ``counted``, spans, ns; 0 without any."""
    end = spans["start"] + spans["dur"]
    return int((end if counted is None else end[counted]).max(initial=0))


def _whole(trace: Trace, caused: DeviceCauses) -> StepWindows:
    begin, end = _extent(trace)
    n = 1 if end > begin else 0
    unknown, start, finish, launched = (
        np.full(n, value, np.int64) for value in (-1, begin, end, len(caused.row))
    )
    inside = np.full(len(caused.row), n - 1, np.int64)
    return StepWindows(WHOLE_SPAN, unknown, unknown, start, finish, start, finish, launched, inside)


def _extended(trace: Trace, caused: DeviceCauses, host: StepWindows) -> StepWindows:
    """Extend the windows to the device work launched in each step, without overlap.

    Rules 1 to 3 of the original plugin, see docs/definitions.md.
    """
    spans = trace["spans"]
    n = len(host.host_start)
    begin = spans["start"][caused.row]
    finish = begin + spans["dur"][caused.row]
    step = window_at(host.host_start, host.host_end, caused.time)
    step[caused.time < 0] = -1
    owned = np.flatnonzero(step >= 0)
    launched = np.bincount(step[owned], minlength=n).astype(np.int64)
    last = extreme_by(np.maximum, step[owned], n, finish[owned])
    previous = int(host.host_start[0])
    if launched[0]:
        earlier = finish[(step < 0) & (finish < begin[step == 0].min())]
        previous = int(earlier.max()) if len(earlier) else previous
    start, end = host.host_start.copy(), host.host_end.copy()
    for row in range(n):
        start[row] = max(previous, start[row])
        end[row] = previous = max(end[row], last[row], start[row])
    unknown = np.flatnonzero(caused.time < 0)
    step[unknown] = window_at(start, end, begin[unknown])
    return replace(host, start=start, end=end, launched=launched, device_step=step)


def _first_empty(ran: Array) -> int:
    """The first trailing step without work, else n: an ended loop marks one step too many."""
    filled = np.flatnonzero(ran)
    return int(filled[-1]) + 1 if len(filled) else len(ran)


def _first_cut(launched: Ints, calls: Mask) -> int:
    """The first trailing step whose device work was cut off by the end of the recording, else n. One that calls what none
    before it does is another kind of step.
    """
    n = len(launched)
    if n < 2 or not launched.any():
        return n
    count = n
    while launched[count - 1] == 0:
        count -= 1
    whole = launched[: count - 1][launched[: count - 1] > 0]
    new = calls[count - 1] & ~calls[: count - 1].any(axis=0)
    if len(whole) and launched[count - 1] < CUT_FACTOR * whole.min() and not new.any():
        count -= 1
    return count


def _model_passes(trace: Trace) -> ServerIterations:
    """The passes of a model; where tokens are embedded one by one after the first time, that is a prompt and what follows
    it decodes.

    Passes of a model whose program marks no steps: ``generate()`` loops, denoising steps of diffusion pipelines.

    ::

        text encoder   transformer  transformer  transformer   decoder      outermost calls of modules
                      └── pass 0 ──┴── pass 1 ──┴── pass 2 ──┘

    The outermost calls of one module on one thread are iterations if there are at least ``_LEAST_PASSES`` and they cover at least
    ``LEAST_COVERAGE`` of the time from the first to the last of them, in a trace without training. Sequences of operators alone
    mark none: layers repeat as well.
    """
    spans = trace["spans"]
    row = np.flatnonzero(spans["role"] == Role.PYTHON)
    if not len(row):
        return _NO_PASSES
    is_module = name_mask(trace.strings, spans["name"][row], lambda text: text.startswith(_MODULE))
    row = _longest(spans, row[is_module[spans["name"][row]]])
    if not len(row) or is_training(trace):
        return _NO_PASSES
    return _with_tokens(trace, row)


def _longest(spans: Table, row: Ints) -> Ints:
    """The outermost calls of the module that takes most of the time on its thread; none if they do not repeat or cover enough."""
    outer = [
        row[spans["track"][row] == track] for track in unique_values(spans["track"][row]).tolist()
    ]
    calls = np.concatenate([_NONE, *(outermost(spans, rows) for rows in outer)])
    if not len(calls):
        return calls
    _, module = group_rows((spans["track"][calls], spans["name"][calls]))
    chosen = calls[costliest(module, spans["dur"][calls])[0]]
    start, dur = spans["start"][chosen], spans["dur"][chosen]
    whole = int((start + dur).max()) - int(start.min())
    enough = len(chosen) >= _LEAST_PASSES and int(dur.sum()) >= LEAST_COVERAGE * whole
    return np.asarray(chosen if enough else _NONE)


def _with_tokens(trace: Trace, row: Ints) -> ServerIterations:
    shapes = _embedded(trace, row)
    generates = any(shape and shape[1] == 1 for shape in shapes)
    meanings: dict[tuple[int, int] | None, int] = {}
    said = [meanings.setdefault(shape if generates else None, len(meanings)) for shape in shapes]
    number = np.array(said, np.int64)
    return ServerIterations.of(trace["spans"], row, number, tuple(map(_meaning, meanings)))


def _meaning(shape: tuple[int, int] | None) -> ServerStep:
    if shape is None:
        return ServerStep("", UNKNOWN, UNKNOWN)
    requests = Requests(shape[0], shape[0] * shape[1])
    sides = (NO_REQUESTS, requests) if shape[1] == 1 else (requests, NO_REQUESTS)
    return ServerStep("", *sides)


def _embedded(trace: Trace, row: Ints) -> list[tuple[int, int] | None]:
    """Batch and tokens of the first embedding within each pass; None where no shape tells."""
    spans = trace["spans"]
    operator = np.flatnonzero(
        (spans["role"] == Role.OPERATOR) & (spans["track"] == spans["track"][row[0]])
    )
    name = spans["name"][operator]
    is_embedding = name_mask(trace.strings, name, lambda text: text == _EMBEDDING)
    operator = operator[is_embedding[name]]
    place = np.searchsorted(spans["start"][operator], spans["start"][row])
    found: list[tuple[int, int] | None] = []
    arguments = trace["operator_args"]
    argument = positions_of(arguments["span"], operator)
    for at, end in zip(
        place.tolist(), (spans["start"][row] + spans["dur"][row]).tolist(), strict=True
    ):
        inside = at < len(operator) and int(spans["start"][operator[at]]) < end
        dims = int(arguments["dims"][argument[at]]) if inside and argument[at] >= 0 else -1
        found.append(_tokens(trace.strings, dims))
    return found


def _tokens(strings: StringTable, dims: int) -> tuple[int, int] | None:
    try:
        shape = (json_list(strings[dims]) or [])[1] if dims >= 0 else []
        batch, tokens = (int(size) for size in shape)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (batch, tokens) if 0 < batch < 2**31 and 0 < tokens < 2**31 else None


def kept_marks(start: Ints, end: Ints, number: Ints) -> Mask:
    """Which marks of one thread are the steps of the trace.

    Steps of several profilers in one loop: which marks make up the steps of the trace.

    Each profiler marks steps of its own, numbered upward, that do not overlap::

        one       [#1        ][#2        ][#3        ]        covers most: kept
        another     [#1  ][#2  ]  [#3  ][#4  ]                left out

    A mark continues the series whose last step has the nearest smaller number and ended before it. Where series overlap in
    time, the one that covers most of it is kept. Profilers that ran one after the other do not overlap, and all are kept.

    Args:
        start, end: of each mark, int64 ns of shape (n,), in ascending order of start, the longer first of equal ones.
        number: N of ``ProfilerStep#N``.
    """
    kept = np.ones(len(start), np.bool_)
    if not _doubled(start, end):
        return kept
    series = _series(start, end, number)
    count = int(series.max()) + 1
    covered = np.bincount(series, weights=end - start, minlength=count)
    first, last = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(first, series, start)
    np.maximum.at(last, series, end)
    order = np.argsort(first, kind="stable")
    reach = np.maximum.accumulate(last[order])
    apart = np.concatenate(([False], first[order][1:] >= reach[:-1] - _TOUCH_NS))
    together = np.empty(count, np.int64)
    together[order] = np.cumsum(apart)
    best = np.lexsort((-np.arange(count), covered, together))
    best = best[np.append(np.diff(together[best]) > 0, True)]
    return np.isin(series, best)


def _doubled(start: Ints, end: Ints) -> bool:
    """Whether any mark overlaps an earlier one by much of its own or of that one's length."""
    if len(start) < 2:
        return False
    dur = end - start
    latest = np.maximum.accumulate(end)
    # The earlier mark that reaches farthest.
    where = np.maximum.accumulate(np.where(end == latest, np.arange(len(end)), 0))[:-1]
    overlap = np.minimum(latest[:-1], end[1:]) - start[1:]
    return bool((overlap > _DOUBLED_SHARE * np.minimum(dur[1:], dur[where])).any())


def _series(start: Ints, end: Ints, number: Ints) -> Ints:
    """The series of each mark, int64."""
    series: list[int] = []
    open_: list[tuple[int, int, int]] = []
    ended: list[tuple[int, int, int]] = []
    """(end, number, series) of each series' last step."""
    count = 0
    for begin, until, own in zip(start.tolist(), end.tolist(), number.tolist(), strict=True):
        while open_ and open_[0][0] <= begin + _TOUCH_NS:
            ended.append(heapq.heappop(open_))
        del ended[:-_SERIES_SOUGHT]
        before = [last for last in ended if last[1] < own]
        if before:
            continued = max(before, key=lambda last: (last[1], last[0]))
            ended.remove(continued)
            chosen = continued[2]
        else:
            chosen, count = count, count + 1
        series.append(chosen)
        heapq.heappush(open_, (until, own, chosen))
    return np.array(series, np.int64)
