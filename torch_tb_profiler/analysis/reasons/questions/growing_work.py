"""Work that becomes more from step to step: calls, or elements that they are given; else the time of one part alone.

::

    step               3     4     5     6     7
    aten::sub        120   136   152   168   184   calls: 16 more each      → something is kept, and all of it is read again
    aten::mm         1.0   1.1   1.2   1.3   1.4   million elements         → its input grows

Evidence: operators, functions of Python and of the backward pass whose number of calls, or elements of their largest inputs, never falls
over the steps of a kind, rises in four of five of them, and lies on a line (correlation 0.98), by a tenth in all; six steps at least.
Machines become slower, too: where no count grows, the time of a function of Python, of operators whose sizes were not recorded (by a quarter, in
four of five steps) grows only if the steps do in an order that could not be chance (Kendall's rank
correlation), it holds most of that, and the rest of the steps does not grow. Change:
in each step these calls take the share that their number, size or time was when the growth began (where the line meets zero, at the latest
in the first step), and one step's growth. Likely; theoretical without a backward pass. Wrong where the input itself grows, as sequences
sorted by length do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, picked, positions_of
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.step_kinds import growth_of
from torch_tb_profiler.analysis.figures.source_lines import OWN, line_ranks
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings.claims import WHOLE
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Pieces,
    Question,
    Reach,
    RuleContext,
    without_time,
)
from torch_tb_profiler.hardware.call import Input, Tensor
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.python_frames import function_name
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_count, format_ns

LEAST_STEPS, MOST_STEPS = 6, 400
RISES = 0.8
"""Share of the steps in which there must be more than in the one before."""
FITS = 0.98
"""Correlation with the step."""
TENTH = 1.1
"""Most ÷ least, from which on something grows."""
HOLDS = 0.6
"""Share of the growth of the steps that a part must hold whose time alone tells."""
A_QUARTER = 1.25
"""Last ÷ first time of operators of unknown size from which on they are given more."""
FLAT = 0.2
"""The rest of the steps grows less than so much of what that part does, in shares."""
_SAVES = {"saves": "yes"}
_GROWS = {
    "calls": "it is called {} times more",
    "elements": "it is given {} elements more",
    "time": "it takes {} longer",
}
_TENSORS = regex(r"torch|tensor", re.IGNORECASE)


class _Growth(msgspec.Struct, frozen=True):
    """What grows: calls, ascending rows of spans, and the position of each in ``steps``; numbers of names; what is counted, float64 of shape
    (steps, names), and what that is: ``calls``, ``elements``, or ``time`` where sizes were not recorded, ns.
    """

    row: Ints
    step: Ints
    name: Ints
    names: Ints
    count: Array
    kind: Array


def _claim(context: RuleContext) -> Claims:
    steps = of_one_kind(context.facts, context.steps)
    if context.is_whole or not LEAST_STEPS <= len(steps) <= MOST_STEPS:
        return None
    if context.facts["iterations"].n:
        # What a server has generated grows by itself.
        return None
    growth = _growth(context, steps)
    if growth is None:
        return _by_time(context, steps)
    row = context.outermost(growth.row)
    at = positions_of(growth.row, row)
    left = _left(steps, growth)[growth.step[at], growth.name[at]]
    length = context.spans["dur"][row]
    gone = np.bincount(growth.name[at], (1 - left) * length, len(growth.names))
    most = int(gone.argmax())
    first, last = growth.count[[0, -1], most].tolist()
    what = function_name(context.trace.strings[int(growth.names[most])])
    kind = str(growth.kind[most])
    shown = format_ns if kind == "time" else lambda number: format_count(round(number))
    steady = (last - first) / int(steps[-1] - steps[0])
    each, at_first, at_last = map(shown, (steady, first, last))
    told = f"{_GROWS[kind].format(each)} in each step than in the one before, {at_first} at first"
    numbers = {"taken": int(length.sum()) / len(steps), "grown": last / first - 1}
    words = {"what": what, "grows": f"{told} and {at_last} at last", **_SAVES}
    # Where nothing is learned, sequences that are generated grow by themselves, too.
    likely = context.training.backward.any()
    return Candidate(
        context.pieces(row),
        numbers,
        words,
        certainty=None if likely else "theoretical",
        edit=context.calls_take(row, left),
    )


def _growth(context: RuleContext, steps: Ints) -> _Growth | None:
    """The names of which there is more and more."""
    row = context.main_calls
    place = positions_of(steps, context.step_of(row))
    row, place = row[place >= 0], place[place >= 0]
    names = context.spans["name"][row]
    first, name = group_rows((names,))
    names = names[first]
    shape = len(steps), len(names)
    cell = place * len(names) + name
    calls = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    elements = np.bincount(cell, _elements(context, row), shape[0] * shape[1]).reshape(shape)
    more, larger = _rising(steps, calls), _rising(steps, elements)
    larger &= ~more & (calls == calls[:1]).all(axis=0)
    if not (more | larger).any():
        return None
    slower = np.zeros_like(more)
    if more.any() and not elements.any():
        # What is called ever more makes what others are given.
        time = np.bincount(cell, context.spans["dur"][row], len(calls.ravel()))
        time = time.reshape(shape)
        same = (calls == calls[:1]).all(axis=0)
        slower = same & np.array([_keeps_rising(column) for column in time.T])
        elements = np.where(slower, time, elements)
    chosen = np.flatnonzero(more | larger | slower)
    kept = np.isin(name, chosen)
    count = np.where(more, calls, elements)[:, chosen]
    own = np.searchsorted(chosen, name[kept])
    kind = np.where(slower, "time", np.where(larger, "elements", "calls"))[chosen]
    return _Growth(row[kept], place[kept], own, names[chosen], count, kind)


def _rising(steps: Ints, count: Array) -> Array:
    """Which columns rise with the steps."""
    change = np.diff(count, axis=0)
    rises = (change >= 0).all(axis=0) & ((change > 0).mean(axis=0) >= RISES)
    rises &= (count[0] > 0) & (count[-1] >= TENTH * count[0])
    centred, x = count - count.mean(axis=0), steps - steps.mean()
    spread = np.sqrt((centred**2).sum(axis=0) * float(x @ x))
    return np.asarray(rises & (x @ centred >= FITS * np.maximum(spread, 1e-9)))


def _elements(context: RuleContext, row: Ints) -> Array:
    """Elements of the largest input of each call, a list of tensors one input; 0 where shapes were not recorded."""
    place = positions_of(context.trace["operator_args"]["span"], row)
    calls, which = context.read_calls(np.full(len(row), -1), place, ("dims",))
    size = [0 if call is None else max(map(_size, call.inputs), default=0) for call in calls]
    return np.array([min(one, 1 << 62) for one in size], np.float64)[which]


def _size(given: Input) -> int:
    several = (given,) if isinstance(given, Tensor) else given or ()
    return sum(tensor.elements for tensor in several if tensor.shape)


def _left(steps: Ints, growth: _Growth) -> Array:
    """The share of each count that was there when the growth began, with one step's growth; of shape (steps, names).

    It began where the line of the name that began last meets zero; what others had then is no growth.
    """
    count, x = growth.count, steps - steps.mean()
    slope = x @ (count - count.mean(axis=0)) / float(x @ x)
    zero = steps.mean() - count.mean(axis=0) / slope
    begun = min(float(zero.max()), float(steps[0]))
    return np.asarray(np.clip(slope * (begun - zero + 1) / count, 0.0, 1.0))


def _by_time(context: RuleContext, steps: Ints) -> Candidate | None:
    """The part whose time grows by most of what the steps grow by, while the rest of them does not."""
    wall = step_lengths(context.facts["steps"]).astype(np.float64)
    growth = growth_of(wall, steps)
    if growth <= 0:
        return None
    for what, part, step in _functions(context, steps, growth):
        time = np.bincount(step, part.lengths, len(steps))
        own, rest = (_slope(steps, one) for one in (time, wall[steps] - time))
        alone = rest / max((wall[steps] - time).mean(), 1) < FLAT * own / max(time.mean(), 1)
        # All that a program does is what it is there for.
        if own < HOLDS * growth or not alone or time.sum() >= WHOLE * wall[steps].sum():
            continue
        left = np.minimum(own / np.maximum(time, 1), 1)[step]
        start = part.start + np.rint(left * part.lengths).astype(np.int64)
        more = f"it takes {format_ns(own)} longer in each step than in the one before"
        first, last = (format_ns(float(time[at])) for at in (0, -1))
        return Candidate(
            Pieces(part.row, start, part.end),
            {"taken": time.mean(), "grown": time[-1] / max(time[0], 1) - 1},
            {"what": what, "grows": f"{more}, {first} at first and {last} at last", **_SAVES},
            edit=context.time_gone(Pieces(part.row, start, part.end)),
        )
    # Nothing can be said to be saved.
    ends = {"growth": growth, "first": float(wall[steps[0]]), "last": float(wall[steps[-1]])}
    words = {"what": "more than one part", "grows": "the machine may have become slower, too"}
    return without_time(ends, words=words)


def _slope(steps: Ints, time: Array) -> float:
    x = steps - steps.mean()
    return float(x @ (time - time.mean()) / (x @ x))


def _functions(
    context: RuleContext, steps: Ints, growth: float
) -> Iterator[tuple[str, Pieces, Ints]]:
    """Functions of Python, and where no sizes were recorded operators, that hold most of the growth, the program's own before others, the
    innermost first: name, calls, and the position of the step of each.
    """
    spans, strings = context.spans, context.trace.strings
    unknown = () if (context.trace["operator_args"]["dims"] >= 0).any() else (Role.OPERATOR,)
    row = context.on_main(context.of_role(Role.PYTHON, *unknown))
    step = positions_of(steps, context.step_of(row))
    # Of calls within one of their own name the outer one holds the time.
    kept = (step >= 0) & (picked(spans["name"], context.parent[row]) != spans["name"][row])
    kept &= context.names.step[spans["name"][row]] < 0
    row, step = row[kept], step[kept]
    names, name = np.unique(spans["name"][row], return_inverse=True)
    if not len(names):
        return
    rank, found = line_ranks(strings, names)[names], []
    for number in range(len(names)):
        mine = name == number
        text, time = strings[int(names[number])], spans["dur"][row[mine]]
        of_step = np.bincount(step[mine], time, len(steps))
        if _slope(steps, of_step) < HOLDS * growth:
            continue
        # Copying and computing take longer where others use the memory, too, but not ever longer.
        works = _TENSORS.search(text) or spans["role"][row[mine][0]] == Role.OPERATOR
        if not works or (unknown and _keeps_rising(of_step)):
            found.append((rank[number] != OWN, float(time.sum()), number))
    for _, _, number in sorted(found):
        mine = name == number
        what = function_name(strings[int(names[number])])
        yield what, context.pieces(row[mine]), step[mine]


def _keeps_rising(time: Array) -> bool:
    """Whether a time rises from step to step nearly always, by a quarter in all."""
    quarter = max(len(time) // 4, 1)
    rises = bool((np.diff(time) > 0).mean() >= RISES)
    return rises and float(time[-quarter:].mean()) >= A_QUARTER * float(time[:quarter].mean())


QUESTION = Question(__name__)
QUESTION.state("growing_work", 34, _claim, certainty="likely", reach=Reach(0.6, 1.3))
