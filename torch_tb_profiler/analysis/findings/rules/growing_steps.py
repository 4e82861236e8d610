"""Steps that take longer and longer: something is kept, and all of it is read in each step.

Evidence: the calls of the program's thread whose time grows from step to step by most of what the steps grow by: the innermost
function or operator that holds it, else the few operators that do, else the time between the same two calls.
Steps grow if their order could not be chance (Kendall's rank
correlation), by a tenth at least from the first to the last, and something is called more often or with larger inputs, or one
function alone becomes longer.
Change: these calls take in each step what they took when the growth began, which is where the line through the times, or the
counts, of the part that grows from nothing meets zero, and one step's growth more; at the latest in the first recorded
step. Likely. Wrong where the input itself grows, as sequences do.
"""

from __future__ import annotations

import math
import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.facts.step_kinds import growth_of
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import thread_time_gone
from torch_tb_profiler.analysis.findings.operators import outermost
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.step_outliers import (
    CommonGaps,
    common_gaps,
    main_calls,
    shown,
    step_of,
)
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.analysis.what_if.stages import Stage, StagedEdit
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.python_frames import PythonFrame
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_count, format_ns

_HOLDS = 0.6
"""Share of the growth of the steps that a call must hold."""
_COUNTS, _PART = 0.1, 0.02
"""Shares of it from which on a call tells when the growth began, and takes part in it."""
_FITS = 0.8
"""Correlation of time, or calls, and step from which on something grows."""
_CALLS = 0.5
"""Calls more per step from which on their number grows."""
_FLAT = 0.2
"""The rest of the steps grows less than so much of what a function does, in shares."""
_MOST_STEPS = 400
_TENSORS = re.compile(r"torch|tensor", re.IGNORECASE)


class _Trend(msgspec.Struct, frozen=True):
    """Of each name on the program's thread: the line through its time, and its calls, per step.

    row, step, name: of its calls, ``name`` a position in ``names``. names: numbers of strings. time: ns, of shape
    (steps, names). slope, begin: of time, ns per step, and where the line meets zero, in steps. calls, called: the same of their number.
    """

    row: Ints
    step: Ints
    name: Ints
    names: Ints
    time: Array
    slope: Array
    begin: Array
    calls: Array
    called: Array


def _claim(context: RuleContext) -> Candidate | None:
    table = context.facts["steps"]
    wall = step_lengths(table).astype(np.float64)
    steps = of_one_kind(context.facts, context.steps)
    steps = steps[(table["flags"][steps] & StepFlag.ODD) == 0]
    if context.is_whole or context.facts["iterations"].n or len(steps) > _MOST_STEPS:
        return None
    growth = growth_of(wall, steps)
    if growth <= 0:
        return None
    trend = _trend(context, steps)
    chosen = _holding(context, trend, growth) if trend else np.zeros(0, np.int64)
    numbers = {"growth": growth, "first": float(wall[steps[0]]), "last": float(wall[steps[-1]])}
    if trend is None or not len(chosen):
        return _gap(context, steps, wall[steps], numbers)
    own = np.isin(trend.name, chosen)
    row = trend.row[own]
    inside = np.unique(trend.name[context.home(trend.row, row) >= 0])
    grown = inside[trend.slope[inside] >= _COUNTS * growth]
    begin = _begin(trend, grown, steps)
    start, end = context.times(row)
    top = grown[_of_operators(context, trend.names[grown])]
    top = top if len(top) else chosen
    sizes = _sizes(context, trend, top)
    if not _grows_itself(context, trend, chosen, steps, sizes):
        return None
    return Candidate(
        row,
        start,
        end,
        numbers,
        {
            "what": _what(context, trend, chosen),
            "grows": _grows(context, trend, top),
            "sizes": sizes,
        },
        edit=_as_begun(trend, chosen, row, begin),
    )


def _gap(
    context: RuleContext, steps: Ints, wall: Array, numbers: dict[str, float]
) -> Candidate | None:
    """The time between the same calls that grows while the rest of the steps does not: nothing was recorded there."""
    for gaps in common_gaps(context, steps):
        gap = (gaps.ends - gaps.begins).astype(np.float64)
        # Each alone may be too noisy: together they must fit.
        slope, begin = _lines(steps, gap, fits=0.0)
        grown = np.flatnonzero(slope >= _COUNTS * numbers["growth"])
        held = float(slope[grown].sum())
        together = gap[:, grown].sum(axis=1)
        fits = _lines(steps, together[:, None])[0][0] > 0
        if held < _HOLDS * numbers["growth"] or not fits or not _alone(steps, together, wall):
            continue
        pieces = [_pieces(context, steps, gaps, at, slope[at], begin[at]) for at in grown.tolist()]
        row, start, end = (np.concatenate(part) for part in zip(*pieces, strict=True))
        first = gaps.before(0, int(slope.argmax()))
        text = context.name_of(first) if first >= 0 else ""
        what = f"unrecorded time after {text}" if text else "unrecorded time at its begin"
        grows = f"it takes {format_ns(held)} longer in each step than in the one before"
        track, seen = np.full(len(row), context.main_track), row >= 0
        return Candidate(
            row[seen],
            start[seen],
            end[seen],
            numbers,
            {"what": what, "grows": grows},
            edit=thread_time_gone(track, start, end),
        )
    return None


def _pieces(
    context: RuleContext, steps: Ints, gaps: CommonGaps, at: int, slope: float, begin: float
) -> tuple[Ints, Ints, Ints]:
    """Of one gap in each step, the call before it, and what lies beyond its time when the growth began."""
    before = np.array([gaps.before(one, at) for one in range(len(steps))], np.int64)
    least = slope * (1 + max(min(begin, float(steps[0])) - begin, 0.0))
    start = np.minimum(gaps.begins[:, at] + round(float(least)), gaps.ends[:, at])
    return shown(context, before, steps), start, gaps.ends[:, at]


def _alone(steps: Ints, held: Array, wall: Array) -> bool:
    """Whether a part of steps grows and the rest of them does not."""
    pairs = np.stack((held, wall - held), axis=1)
    slope, _ = _lines(steps, pairs)
    own, rest = slope / np.maximum(pairs.mean(axis=0), 1)
    return bool(rest < _FLAT * own)


def _trend(context: RuleContext, steps: Ints) -> _Trend | None:
    spans, parent = context.trace["spans"], context.parent
    row = main_calls(context)
    step = step_of(context, row)
    # Of calls within one of their own name the outer one holds the time.
    kept = np.isin(step, steps) & (picked(spans["name"], parent[row]) != spans["name"][row])
    row, step = row[kept], step[kept]
    if not len(row):
        return None
    names, name = np.unique(spans["name"][row], return_inverse=True)
    shape = (context.facts["steps"].n, len(names))
    cell = step * len(names) + name
    size = shape[0] * shape[1]
    time = np.bincount(cell, weights=spans["dur"][row], minlength=size).reshape(shape)
    calls = np.bincount(cell, minlength=size).reshape(shape).astype(np.float64)
    slope, begin = _lines(steps, time[steps])
    more, called = _lines(steps, calls[steps])
    name, names = name.astype(np.int64), names.astype(np.int64)
    return _Trend(row, step, name, names, time, slope, begin, more, called)


def _lines(steps: Ints, values: Array, fits: float = _FITS) -> tuple[Array, Array]:
    """``(slope, begin)`` of the least-squares line of each column over the steps; a slope of 0 where it does not fit."""
    x = steps - steps.mean()
    centred = values - values.mean(axis=0)
    slope = x @ centred / float(x @ x)
    spread = np.sqrt((centred**2).sum(axis=0) * float(x @ x))
    correlation = np.divide(x @ centred, spread, out=np.zeros(len(slope)), where=spread > 0)
    slope = np.where(correlation >= fits, slope, 0.0)
    begin = steps.mean() - np.divide(
        values.mean(axis=0), slope, out=np.full(len(slope), np.inf), where=slope > 0
    )
    return slope, begin


def _holding(context: RuleContext, trend: _Trend, growth: float) -> Ints:
    """The name that holds most of the growth, of several the innermost of the program's own; else the operators that do
    together.
    """
    most = np.flatnonzero(trend.slope >= _HOLDS * growth)
    texts = context.trace.strings.many(trend.names[most])
    users = [
        (frame := PythonFrame.of(text)) is not None
        and frame.file != ""
        and is_user_code(frame.file)
        for text in texts
    ]
    most = most[users] if any(users) else most
    if len(most):
        innermost = most[[int(trend.time[:, most].sum(axis=0).argmin())]]
        if not _of_operators(context, trend.names[innermost]).all():
            return innermost
    names = np.flatnonzero(trend.slope >= _PART * growth)
    names = names[_of_operators(context, trend.names[names])]
    # Operators within each other would count twice.
    own = outermost(context, trend.row[np.isin(trend.name, names)])
    outer = np.unique(trend.name[np.isin(trend.row, own)])
    return outer if float(trend.slope[outer].sum()) >= _HOLDS * growth else outer[:0]


def _begin(trend: _Trend, grown: Ints, steps: Ints) -> float:
    """When the growth began, in steps: by the number of calls where that grows, else by their time. What has a constant part
    of its own seems to have begun earlier than it did.
    """
    counted = np.flatnonzero((trend.calls >= _CALLS) & (trend.slope > 0))
    begin = trend.called[counted] if len(counted) else trend.begin[grown]
    return min(float(begin.max(initial=-np.inf)), float(steps[0]))


def _of_operators(context: RuleContext, names: Ints) -> Mask:
    """Which names are those of operators."""
    spans = context.trace["spans"]
    return np.isin(names, np.unique(spans["name"][spans["role"] == Role.OPERATOR]))


def _what(context: RuleContext, trend: _Trend, chosen: Ints) -> str:
    return _called(context, trend, int(chosen[trend.slope[chosen].argmax()]))


def _called(context: RuleContext, trend: _Trend, name: int) -> str:
    """A name without the line of a function."""
    text = context.trace.strings[int(trend.names[name])]
    frame = PythonFrame.of(text)
    return frame.function if frame and frame.file else text


def _grows(context: RuleContext, trend: _Trend, names: Ints) -> str:
    """``aten::std takes 1.9 ms longer each step`` or ``aten::sub is called 16 times more``; the largest of each."""
    most = int(names[trend.slope[names].argmax()])
    parts = [
        f"{_called(context, trend, most)} takes {format_ns(float(trend.slope[most]))} longer in each"
        " step than in the one before"
    ]
    counted = names[trend.calls[names] >= _CALLS]
    if len(counted):
        often = int(counted[trend.calls[counted].argmax()])
        more = format_count(round(float(trend.calls[often])))
        parts.append(f"{_called(context, trend, often)} is called {more} times more")
    return " and ".join(parts)


def _sizes(context: RuleContext, trend: _Trend, names: Ints) -> str:
    """The first and the last size of the input that grows of the operator that grows most; empty for none."""
    most = int(names[trend.slope[names].argmax()])
    own = trend.name == most
    rows, step = trend.row[own], trend.step[own]
    arguments = context.trace["operator_args"]
    at = np.flatnonzero(np.isin(arguments["span"], rows) & (arguments["dims"] >= 0))
    steps = step[np.searchsorted(rows, arguments["span"][at])]
    # Of each step the call with the largest input.
    texts, which = np.unique(arguments["dims"][at], return_inverse=True)
    largest = [_largest(context.trace.strings[int(text)]) for text in texts]
    each = np.unique(steps)
    size = [max(largest[one] for one in set(which[steps == step])) for step in each.tolist()]
    counts = np.array([count for count, _, _ in size], np.float64)
    if len(each) < 2 or _lines(each, counts[:, None])[0][0] <= 0:
        return ""
    name = context.trace.strings[int(trend.names[most])]
    return f"input {size[-1][1] + 1} of {name} from {size[0][2]} to {size[-1][2]}"


def _largest(dims: str) -> tuple[int, int, str]:
    """``(elements, position, shape)`` of the largest input of a call."""
    found = [(0, 0, "")]
    for place, shape in enumerate(json_list(dims) or ()):
        if isinstance(shape, list) and all(isinstance(one, int) for one in shape):
            found.append((math.prod(shape) if shape else 0, place, str(shape)))
    return max(found)


def _grows_itself(
    context: RuleContext, trend: _Trend, chosen: Ints, steps: Ints, sizes: str
) -> bool:
    """Whether it is the program that grows, and not a machine that becomes slower: its calls become more or larger, or one
    function alone becomes longer.
    """
    if sizes or (trend.calls[trend.slope > 0] >= _CALLS).any():
        return True
    texts = context.trace.strings.many(trend.names[chosen])
    # Copying and computing take longer where others use the memory, too.
    if _of_operators(context, trend.names[chosen]).any() or any(map(_TENSORS.search, texts)):
        return False
    wall = step_lengths(context.facts["steps"])[steps].astype(np.float64)
    return _alone(steps, trend.time[np.ix_(steps, chosen)].sum(axis=1), wall)


def _as_begun(trend: _Trend, chosen: Ints, row: Ints, begin: float) -> Edit:
    """In each step some calls take what they took when their growth began."""
    slope = trend.slope[chosen]
    origin = np.maximum(slope * (begin - trend.begin[chosen]), 0) + slope
    time = trend.time[:, chosen].sum(axis=1)
    factor = np.ones(len(time) + 1)
    factor[:-1] = np.minimum(origin.sum() / np.maximum(time, 1), 1)

    def edit(scene: Scene, durations: Durations) -> None:
        table, inside = scene.facts["steps"], scene.inside(mask_of(scene.trace["spans"].n, row))
        host, work = scene.graph.host, scene.graph.work
        called = np.append(scene.trace["spans"]["start"], np.int64(-1))[work.launch]
        for values, mask, when in (
            (durations.segment, inside.segment, host.start),
            (durations.work, inside.work, called),
        ):
            of_step = window_at(table["host_start"], table["host_end"], when[mask])
            values[mask] *= factor[of_step]

    return StagedEdit(Stage.SCALE, edit)


RULE = Rule(
    place=35,
    claim=_claim,
    title="Each {step} takes longer than the one before",
    action="Stop what grows from {step} to {step}",
    fact="{what} grows: {first} at first, {last} at last",
    sentence="""Each {step} takes {growth} longer than the one before: {first} at first, {last} at last. What grows is
    {what}{at}: {grows}. As it was when the growth began such a {step} is {gain} ({share}) shorter.""",
    attempt="""Look at what is kept from step to step and read again in each: a list that is appended to, a cache without a
    limit, hooks or callbacks registered in the loop, tensors kept with their graphs. Keep a fixed number of entries
    (collections.deque(maxlen=n)) or a running mean, and detach() or item() what is kept.""",
    caveat="Where the inputs grow by themselves, as sequences sorted by length do, nothing is kept.",
    views=("overview", "trace"),
    certainty="likely",
    words=("what", "grows"),
    cause="Each {step} takes {growth} longer than the one before: {what} grows",
    without="As when the growth began",
    links=(("Tensors kept by a list", links.DOCS + "notes/faq.html"),),
    details=(("sizes", "Its input grows: {sizes}."),),
    numbers={
        "growth": ("Longer per {step}", "ns"),
        "first": ("First {step}", "ns"),
        "last": ("Last {step}", "ns"),
    },
)
