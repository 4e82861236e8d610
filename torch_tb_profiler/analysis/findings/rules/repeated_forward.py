"""A model called again in a step, after the backward pass of another call, for numbers to read.

Evidence: calls of one outermost module in a step with the same operators on the same shapes, of which one has a
backward; others after it, so that no loss has their results, record a graph that no backward uses, a number is read from
each before the next call, and in between come neither an optimizer's step nor a batch of a DataLoader. Change: the later ones are gone. Likely: whether the
input is the same is not recorded. Wrong where it is another one: that is evaluation.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, positions_of
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Pieces, Question, Reach, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask

_READ = regex(r"aten::_local_scalar_dense$")
_STEP = regex(r"Optimizer\.step#")


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
    start, end = context.times(row)
    name = context.most_named(row)
    return Candidate(
        Pieces(row, start, end),
        {
            "calls": context.per_step(context.rows_named(call, lambda text: text == name)),
            "repeats": context.per_step(context.rows_named(row, lambda text: text == name)),
            "again": int((end - start).sum()) / len(context.steps),
        },
        {"module": re.sub(r"^nn\.Module: |_\d+$", "", name)},
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
    spans = context.spans
    changes = context.rows_named(context.calls, _STEP.match)
    loads = context.calls[context.names.dataloader[spans["name"][context.calls]]]
    between = np.sort(spans["start"][np.concatenate((changes, loads))])
    known &= np.searchsorted(between, end[before]) == np.searchsorted(between, start)
    engine = context.backward_functions
    functions = np.sort(spans["start"][engine])
    known &= np.searchsorted(functions, end[before]) < np.searchsorted(functions, start)
    reads = np.sort(spans["start"][context.rows_named(context.operators, _READ.match)])
    following = np.append(start[1:], np.iinfo(np.int64).max)
    known &= np.searchsorted(reads, end) < np.searchsorted(reads, following)
    return np.asarray(known)


def _kinds(context: RuleContext, call: Ints) -> Ints:
    """A number for each call; calls in one step of one module with the same operators on the same shapes have the same."""
    spans, arguments, inner = (
        context.spans,
        context.trace["operator_args"],
        context.program_calls,
    )
    home = context.home(inner, call)
    inner, home = inner[home >= 0], positions_of(call, home[home >= 0])
    place = positions_of(arguments["span"], inner)
    dims = np.where(place >= 0, arguments["dims"][place], -1)
    _, group = group_rows([spans["name"][inner], dims])
    columns = [spans["name"][call], context.facts["span_links"]["step"][call]]
    for value in (np.ones(len(group), np.int64), group + 1, (group + 1) ** 2):
        total = np.zeros(len(call), np.int64)
        np.add.at(total, home, value)
        columns.append(total)
    return np.asarray(group_rows(columns)[1])


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
