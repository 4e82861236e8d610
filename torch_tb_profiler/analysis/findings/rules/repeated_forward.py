"""A model called again in a step, after the backward pass of another call, for numbers to read.

Evidence: calls of one outermost module in a step with the same operators on the same shapes, of which one has a
backward; others after it, so that no loss has their results, record a graph that no backward uses, a number is read from
each before the next call, and in between come neither an optimizer's step nor a batch of a DataLoader. Change: the later ones are gone. Likely: whether the
input is the same is not recorded. Wrong where it is another one: that is evaluation.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, picked, positions_of
from torch_tb_profiler.analysis.figures.callers import class_of
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask

_READ = regex(r"aten::_local_scalar_dense$")


def _claim(context: RuleContext) -> Candidate | None:
    modules = context.on_main(context.within(context.training.modules))
    forward = context.training.differentiated
    if len(modules) < 2 or not len(forward):
        return None
    call = np.sort(context.outermost(modules))
    row = call[_repeats(context, call, forward)]
    if not len(row):
        return None
    work, _ = context.launched_in(row)
    shown, name = context.pieces(row), context.most_named(row)
    return Candidate(
        shown,
        {
            "calls": context.per_step(context.rows_named(call, lambda text: text == name)),
            "repeats": context.per_step(context.rows_named(row, lambda text: text == name)),
            "again": shown.total / len(context.steps),
        },
        {"module": class_of(name.removeprefix("nn.Module: "))},
        edit=calls_gone(row, work.row),
    )


def _repeats(context: RuleContext, call: Ints, forward: Ints) -> Mask:
    """Which calls repeat an earlier one whose result was differentiated, for numbers."""
    kind = _kinds(context, call)
    operators, sequence, home = _numbered(context, call)
    used = mask_of(len(call), home[np.isin(operators, forward)])
    low, high = np.full(len(call), np.iinfo(np.int64).max), np.full(len(call), -1)
    np.minimum.at(low, home, sequence)
    np.maximum.at(high, home, sequence)
    start, end = context.times(call)
    # The last differentiated call of its kind before each.
    before = np.full(len(call), -1)
    latest: dict[int, int] = {}
    for place, (one, differs) in enumerate(zip(kind.tolist(), used.tolist(), strict=True)):
        before[place] = latest.get(one, -1)
        if differs:
            latest[one] = place
    known = ~used & (high > low) & (before >= 0)
    loads = context.calls[context.names.dataloader[context.spans["name"][context.calls]]]
    between = np.concatenate((context.updates, loads))
    known &= context.begun(between, end[before]) == context.begun(between, start)
    engine = context.backward_functions
    known &= context.begun(engine, end[before]) < context.begun(engine, start)
    reads = context.rows_named(context.operators, _READ.match)
    following = np.append(start[1:], np.iinfo(np.int64).max)
    return np.asarray(known & (context.begun(reads, end) < context.begun(reads, following)))


def _kinds(context: RuleContext, call: Ints) -> Ints:
    """A number for each call; calls in one step of one module with the same operators on the same shapes have the same."""
    inner = context.program_calls
    place = positions_of(context.trace["operator_args"]["span"], inner)
    dims = picked(context.trace["operator_args"]["dims"], place)
    kind = np.stack(group_rows([context.spans["name"][inner], dims])[1:], axis=1)
    start, end = context.times(call)
    low, high = (np.searchsorted(context.spans["start"][inner], time) for time in (start, end))
    does = [kind[a:b].tobytes() for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    columns = context.spans["name"][call], context.facts["span_links"]["step"][call]
    numbers: dict[tuple[object, ...], int] = {}
    each = zip(*(column.tolist() for column in columns), does, strict=True)
    return np.array([numbers.setdefault(one, len(numbers)) for one in each], np.int64)


def _numbered(context: RuleContext, call: Ints) -> tuple[Ints, Ints, Ints]:
    """Operators in some calls that have a sequence number, that number, and the position of their call."""
    arguments = context.trace["operator_args"]
    known = (arguments["sequence"] >= 0) & (arguments["forward_thread"] <= 0)
    row = arguments["span"][known].astype(np.int64)
    home = context.home(row, call)
    inside = home >= 0
    return row[inside], arguments["sequence"][known][inside], positions_of(call, home[inside])


QUESTION = Question(__name__)
QUESTION.state("repeated_forward", 79, _claim, certainty="likely", reach=Reach(0.6, 1.3))
