"""Steps that take longer and longer: something is kept, and all of it is read in each step. What is called more often, or with larger inputs, is told
by counts (``growing_work``).

Evidence: the function of Python whose time grows from step to step by most of what the steps grow by, the innermost that holds it,
else the time between the same two calls. Steps grow if their order could not be chance (Kendall's rank
correlation), by a tenth at least from the first to the last, and the rest of them does not.
Change: these calls take in each step what they took when the growth began, which is where the line through the times of the part that grows
meets zero, and one step's growth more; at the latest in the first recorded step. Likely.
Where no part grows alone the growth is told and nothing to save. Wrong where the input itself grows, as sequences do.
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.step_kinds import growth_of
from torch_tb_profiler.analysis.figures.source_lines import OWN, line_ranks
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.claims import WHOLE
from torch_tb_profiler.analysis.findings.edits import thread_time_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time
from torch_tb_profiler.analysis.findings.step_outliers import (
    CommonGaps,
    common_gaps,
    shown,
    step_of,
)
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.analysis.what_if.stages import Stage, StagedEdit
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_ns

_HOLDS = 0.6
"""Share of the growth of the steps that a call must hold."""
_COUNTS = 0.1
"""Share of it from which on a gap takes part in it."""
_FITS = 0.8
"""Correlation of time and step from which on something grows."""
_FLAT = 0.2
"""The rest of the steps grows less than so much of what a function does, in shares."""
_MOST_STEPS = 400
_TENSORS = re.compile(r"torch|tensor", re.IGNORECASE)


class _Trend(msgspec.Struct, frozen=True):
    """Of each function of Python on the program's thread: the line through its time per step.

    row, name: of its calls, ``name`` a position in ``names``. names: numbers of strings. time: ns, of shape
    (steps, names). slope, begin: of time, ns per step, and where the line meets zero, in steps.
    """

    row: Ints
    name: Ints
    names: Ints
    time: Array
    slope: Array
    begin: Array


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
    held = _holding(context, trend, growth) if trend else -1
    numbers = {"growth": growth, "first": float(wall[steps[0]]), "last": float(wall[steps[-1]])}
    if trend is None or held < 0:
        return _gap(context, steps, wall[steps], numbers) or _unknown(numbers)
    text = context.trace.strings[int(trend.names[held])]
    # Copying and computing take longer where others use the memory, too.
    if _TENSORS.search(text) or not _alone(steps, trend.time[steps, held], wall[steps]):
        return _unknown(numbers)
    # All that a program does is what it is there for: there is nothing to take from it.
    if trend.time[steps, held].sum() >= WHOLE * wall[steps].sum():
        return _unknown(numbers)
    row = trend.row[trend.name == held]
    more = format_ns(float(trend.slope[held]))
    what = function_name(text)
    grows = f"{what} takes {more} longer in each step than in the one before"
    begin = min(float(trend.begin[held]), float(steps[0]))
    edit = _as_begun(trend, held, row, begin)
    return Candidate(
        row, *context.times(row), numbers, {"what": what, "grows": grows, "saves": "yes"}, edit=edit
    )


def _unknown(numbers: dict[str, float]) -> Candidate:
    """That steps grow though no part alone does: nothing can be said to be saved."""
    words = {"what": "more than one part", "grows": "the machine may have become slower, too"}
    return without_time(numbers, words=words)


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
            {"what": what, "grows": grows, "saves": "yes"},
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
    row = context.on_main(context.of_role(Role.PYTHON))
    step = step_of(context, row)
    # Of calls within one of their own name the outer one holds the time.
    kept = np.isin(step, steps) & (picked(spans["name"], parent[row]) != spans["name"][row])
    row, step = row[kept], step[kept]
    if not len(row):
        return None
    names, name = np.unique(spans["name"][row], return_inverse=True)
    shape = (context.facts["steps"].n, len(names))
    cell = step * len(names) + name
    time = np.bincount(cell, weights=spans["dur"][row], minlength=shape[0] * shape[1])
    time = time.reshape(shape)
    slope, begin = _lines(steps, time[steps])
    return _Trend(row, name.astype(np.int64), names.astype(np.int64), time, slope, begin)


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


def _holding(context: RuleContext, trend: _Trend, growth: float) -> int:
    """The name that holds most of the growth, of several the innermost of the program's own; −1 none."""
    most = np.flatnonzero(trend.slope >= _HOLDS * growth)
    rank = line_ranks(context.trace.strings, trend.names[most])[trend.names[most]]
    users = most[rank == OWN]
    most = users if len(users) else most
    return int(most[trend.time[:, most].sum(axis=0).argmin()]) if len(most) else -1


def _as_begun(trend: _Trend, held: int, row: Ints, begin: float) -> Edit:
    """In each step some calls take what they took when their growth began."""
    slope = float(trend.slope[held])
    origin = max(slope * (begin - float(trend.begin[held])), 0) + slope
    time = trend.time[:, held]
    factor = np.ones(len(time) + 1)
    factor[:-1] = np.minimum(origin / np.maximum(time, 1), 1)

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
    {what}{at}: {grows}.""",
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
    remark="Each {step} takes {growth} longer than the one before: {first} at first, {last} at last.",
    details=(
        ("saves", "As it was when the growth began such a {step} is {gain} ({share}) shorter."),
    ),
    numbers={
        "growth": ("Longer per {step}", "ns"),
        "first": ("First {step}", "ns"),
        "last": ("Last {step}", "ns"),
    },
)
