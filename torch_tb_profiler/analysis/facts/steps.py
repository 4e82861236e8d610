"""Steps: where they begin and end, what they own, and which of them are particular."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import union
from torch_tb_profiler.analysis.arrays.nesting import BLOCK
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.names import HostNames, distinct
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.step_categories import CATEGORIES
from torch_tb_profiler.store.strings import StringTable

__all__ = ["StepFlag", "StepWindows", "find_steps", "flag_steps", "host_step", "odd_reason"]

LEAST_REPEATS = 3
LEAST_COVERAGE = 0.5
"""A repeated annotation makes steps when it occurs at least so often and covers at least this share
of the span.
"""
LONGEST_COUNTED = 200
_COUNTED = re.compile(
    r"(?P<stem>.*(?:step|iteration|iter|batch))[ _#:=-]{0,2}\d{1,18}$",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)
_STEPS = re.compile(r"(?:step|iteration|iter|batch)\Z", re.IGNORECASE)
DEEPEST_STEPS = 8
"""Annotations around those of steps."""
COLD_FACTOR = 1.5
CUT_FACTOR = 0.8
ODD_DEVIATIONS = 5.0
ODD_EXCESS = 0.1
NORMAL_MAD = 1.4826
"""Median absolute deviation × this estimates the standard deviation of a normal distribution."""

WHOLE_SPAN = "whole span"


@dataclass(frozen=True)
class StepWindows:
    """Steps in time order, arrays of shape (steps,), times int64 ns.

    source: ``ProfilerStep``, the name of the annotation, or ``whole span``.
    name: numbers of strings; −1 for the whole span.
    number: N of ``ProfilerStep#N``; −1.
    host_start, host_end: the annotation. start, end: the window, device work included; windows do
    not overlap.
    launched: device events launched in it.
    device_step: the step of every device event, −1 outside; shape (device events,).
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


def find_steps(trace: Trace, tree: CallTree, names: HostNames, caused: Causes) -> StepWindows:
    """The steps of a trace; a trace without any span that counts has none."""
    spans = trace["spans"]
    node, source = _profiler_steps(trace, tree, names), "ProfilerStep"
    if not len(node):
        node = _repeated_annotations(trace, tree, names, _extent(trace))
        source = (
            _stem(trace.strings[int(spans["name"][tree.row[node[0]]])]) if len(node) else WHOLE_SPAN
        )
    if not len(node):
        return _whole(trace, caused)
    row = tree.row[node]
    row = row[np.argsort(spans["start"][row], kind="stable")]
    start = spans["start"][row]
    end = start + spans["dur"][row]
    name = spans["name"][row].astype(np.int64)
    return _extended(
        trace,
        caused,
        StepWindows(
            source,
            name,
            names.step[name],
            start,
            end,
            start,
            end,
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
        ),
    )


def host_step(host_start: Ints, host_end: Ints, time: Ints) -> Array:
    """The step whose host window holds each time; −1 outside all. int32 of the times' shape."""
    found = np.full(len(time), -1, np.int32)
    for begin in range(0, len(time) if len(host_end) else 0, BLOCK):
        some = time[begin : begin + BLOCK]
        step = np.searchsorted(host_start, some, side="right") - 1
        found[begin : begin + BLOCK] = np.where(
            (step >= 0) & (some < host_end[np.maximum(step, 0)]), step, -1
        )
    return found


def flag_steps(windows: StepWindows, operators: Array) -> Array:
    """``StepFlag`` of every step, uint8 of shape (steps,); the rules are in docs/definitions.md.
    ``operators``: how many began in each step.
    """
    n = len(windows.start)
    flags = np.zeros(n, np.uint8)
    if windows.source == WHOLE_SPAN:
        flags[:] = StepFlag.WHOLE
        return flags
    flags[min(_first_cut(windows.launched), _first_empty(windows.launched + operators)) :] |= (
        np.uint8(StepFlag.CUT)
    )
    wall = (windows.end - windows.start).astype(np.float64)
    counted = flags == 0
    others = counted.copy()
    others[0] = False
    if counted[0] and others.sum() >= 2 and wall[0] > COLD_FACTOR * np.median(wall[others]):
        flags[0] |= np.uint8(StepFlag.COLD)
        counted = others
    if counted.sum() >= 4:
        middle = float(np.median(wall[counted]))
        spread = NORMAL_MAD * float(np.median(np.abs(wall[counted] - middle)))
        odd = (
            counted
            & (wall - middle > ODD_DEVIATIONS * spread)
            & (wall - middle > ODD_EXCESS * middle)
        )
        flags[odd] |= np.uint8(StepFlag.ODD)
    return flags


def odd_reason(facts: Facts, row: int) -> tuple[str, float] | None:
    """For a step marked ODD: the category that exceeds its median over the complete steps most, and
    by how many ns; else None.
    """
    table = facts["steps"]
    if not table["flags"][row] & StepFlag.ODD:
        return None
    others = (table["flags"] & (StepFlag.CUT | StepFlag.COLD)) == 0
    excess = {key: float(table[key][row] - np.median(table[key][others])) for key in CATEGORIES}
    worst = max(excess, key=lambda key: excess[key])
    return worst, excess[worst]


def _profiler_steps(trace: Trace, tree: CallTree, names: HostNames) -> Ints:
    """Nodes named ``ProfilerStep#N``, of the one thread that has most of them."""
    name = trace["spans"]["name"][tree.row]
    node = np.flatnonzero(names.step[name] >= 0)
    if not len(node):
        return node
    tracks, of = np.unique(trace["spans"]["track"][tree.row[node]], return_inverse=True)
    return np.asarray(node[of == int(np.argmax(np.bincount(of, minlength=len(tracks))))])


def _repeated_annotations(
    trace: Trace, tree: CallTree, names: HostNames, extent: tuple[int, int]
) -> Ints:
    """Nodes of the outermost annotation that repeats and covers most of the span; none if no name
    does.

    At the top any name will do; within other annotations (``epoch``) only one that ends like those
    of steps do: layers repeat as well.
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
    """For numbers of strings whether it is a name of steps by its end, a count aside; those of
    optimizers are none.
    """
    found = np.zeros(len(strings) + 1, np.bool_)
    for number in distinct(name, strings):
        text = strings[number]
        found[number] = not text.startswith("Optimizer.") and _STEPS.search(_stem(text)) is not None
    return found


def _repeated(trace: Trace, tree: CallTree, node: Ints, extent: tuple[int, int]) -> Ints:
    """Those of some nodes whose name repeats and covers most of the span. Names that count steps
    (``iteration 3``) are one.

    A name that several threads are in at the same time makes no steps: requests that are served
    side by side follow nothing.
    """
    if not len(node):
        return node
    spans = trace["spans"]
    name = spans["name"][tree.row]
    track = spans["track"][tree.row[node]].astype(np.int64)
    number = _without_counts(name[node], trace.strings)
    kinds, of = np.unique(track * (len(trace.strings) + 1) + number, return_inverse=True)
    times = np.bincount(of, minlength=len(kinds))
    covered = np.bincount(of, weights=spans["dur"][tree.row[node]], minlength=len(kinds))
    covered[times < LEAST_REPEATS] = 0
    while covered[best := int(np.argmax(covered))] > 0 and covered[best] >= LEAST_COVERAGE * (
        extent[1] - extent[0]
    ):
        same_name = node[number == number[of == best][0]]
        start = spans["start"][tree.row[same_name]]
        end = start + spans["dur"][tree.row[same_name]]
        if union(start, end).length == int((end - start).sum()):
            return np.asarray(node[of == best])
        covered[best] = 0
    return node[:0]


def _stem(text: str) -> str:
    """A name without the count at its end, where it says that it counts steps."""
    match = _COUNTED.match(text) if len(text) < LONGEST_COUNTED else None
    return match["stem"] if match else text


def _without_counts(name: Array, strings: StringTable) -> Ints:
    """For numbers of strings those of the first text that is the same but for its count."""
    same = np.full(len(strings) + 1, -1, np.int64)
    known: dict[str, int] = {}
    for number in distinct(name, strings):
        same[number] = known.setdefault(_stem(strings[number]), number)
    return np.asarray(same[name])


def _extent(trace: Trace) -> tuple[int, int]:
    """Begin and end of what host and device did; (0, 0) for an empty trace. The profiler's own
    spans do not count.
    """
    spans = trace["spans"]
    counted = (spans["role"] >= Role.OPERATOR) & (spans["role"] <= Role.ANNOTATION) | (
        spans["role"] == Role.PYTHON
    )
    # Spans are in the order of their begins.
    return (
        (int(spans["start"][int(np.argmax(counted))]), latest_end(spans, counted))
        if counted.any()
        else (0, 0)
    )


def latest_end(spans: Table, counted: Mask | None = None) -> int:
    """When the last of all spans, or of the ``counted`` ones, ends, ns; 0 without any."""
    latest = 0
    for begin in range(0, spans.n, BLOCK):
        some = slice(begin, begin + BLOCK)
        end = spans["start"][some] + spans["dur"][some]
        latest = max(latest, int((end if counted is None else end[counted[some]]).max(initial=0)))
    return latest


def _whole(trace: Trace, caused: Causes) -> StepWindows:
    begin, end = _extent(trace)
    n = 1 if end > begin else 0

    def column(value: int) -> Ints:
        return np.full(n, value, np.int64)

    launched = column(len(caused.row))
    inside = np.full(len(caused.row), 0 if n else -1, np.int64)
    return StepWindows(
        WHOLE_SPAN,
        column(-1),
        column(-1),
        column(begin),
        column(end),
        column(begin),
        column(end),
        launched,
        inside,
    )


def _extended(trace: Trace, caused: Causes, host: StepWindows) -> StepWindows:
    """Windows that hold the device work launched in each step and do not overlap (upstream's rules
    1 to 3, see docs/definitions.md).
    """
    spans = trace["spans"]
    n = len(host.host_start)
    begin = spans["start"][caused.row]
    finish = begin + spans["dur"][caused.row]
    step = host_step(host.host_start, host.host_end, caused.time)
    step[caused.time < 0] = -1
    owned = np.flatnonzero(step >= 0)
    launched = np.bincount(step[owned], minlength=n).astype(np.int64)
    last = np.full(n, np.iinfo(np.int64).min)
    np.maximum.at(last, step[owned], finish[owned])
    previous = int(host.host_start[0])
    if launched[0]:
        earlier = finish[(step < 0) & (finish < begin[step == 0].min())]
        previous = int(earlier.max()) if len(earlier) else previous
    start, end = host.host_start.copy(), host.host_end.copy()
    for row in range(n):
        start[row] = max(previous, start[row])
        end[row] = previous = max(end[row], last[row], start[row])
    unknown = np.flatnonzero(caused.time < 0)
    step[unknown] = host_step(start, end, begin[unknown])
    return StepWindows(
        host.source,
        host.name,
        host.number,
        host.host_start,
        host.host_end,
        start,
        end,
        launched,
        step,
    )


def _first_empty(ran: Array) -> int:
    """The first of the last steps in which nothing ran: a loop that ends early leaves the mark of
    the step that did not come. n when there is none.
    """
    some = np.flatnonzero(ran)
    return int(some[-1]) + 1 if len(some) else len(ran)


def _first_cut(launched: Ints) -> int:
    """The first of the last steps whose device work the end of the recording cut off; the number of
    steps when none was.
    """
    n = len(launched)
    if n < 2 or not launched.any():
        return n
    kept = n
    while launched[kept - 1] == 0:
        kept -= 1
    whole = launched[: kept - 1][launched[: kept - 1] > 0]
    if len(whole) and launched[kept - 1] < CUT_FACTOR * whole.min():
        kept -= 1
    return kept
