"""``aten::cat`` in a loop whose first input is what an earlier one made: all that was gathered is copied again each time.

Evidence: where shapes were recorded, calls whose first tensor has as many elements as the result of an earlier one of their step; where
not, at least 16 calls in every step that take longer and longer (rank correlation of 0.9 and more, of medians over steps). At least eight results of
different sizes. Change: together they take what the last one takes: one ``cat`` at the end. Likely.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.operators import (
    calls_take,
    keeps_growing,
    launched_in,
    outermost,
    read_arguments,
    times_of_calls,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values

SIZES, CALLS = 8, 16
"""Results of different sizes, and calls of unknown sizes, from which on they are a loop."""
STEADY, GROWS = 0.9, 3
"""Rank correlation of time and order, and the last of them ÷ the first ones, from which on calls take longer and longer."""
_CAT = regex(r"aten::(?:cat|concat|concatenate|hstack|vstack)$")


def _claim(context: RuleContext) -> Candidate | None:
    cats = context.rows_named(context.operators, _CAT.match)
    cats = outermost(context, context.within(cats))
    if len(cats) < SIZES:
        return None
    step = context.facts["span_links"]["step"][cats]
    known = any(call.tensors(0) for call in read_arguments(context, cats).values())
    if not known:
        cats, step = _longer(context, cats, step)
    rows, factors = [], []
    for one in unique_values(step).tolist():
        own = _growing(context, cats[step == one]) if known else cats[step == one]
        if len(own):
            time = times_of_calls(context, own)
            rows.append(own)
            # Any of the last ones may be an outlier.
            last = float(np.median(time[-SIZES // 2 :]))
            factors.append(np.full(len(own), min(last / max(float(time.sum()), 1.0), 1.0)))
    if not rows:
        return None
    row, factor = np.concatenate(rows), np.concatenate(factors)
    shown = launched_in(context, row)[0].row if context.has_device else row
    return Candidate(
        shown,
        *context.times(shown),
        {
            "calls": len(row) / len(context.steps),
            "growing": float(times_of_calls(context, row).sum()) / len(context.steps),
        },
        edit=calls_take(context, row, factor),
    )


def _growing(context: RuleContext, cats: Ints) -> Ints:
    """Those of one step that copy what earlier ones made, in time order."""
    calls = read_arguments(context, cats)
    made: set[int] = set()
    found, sizes = [], set()
    for one in cats.tolist():
        call = calls.get(one)
        parts = [tensor.elements for tensor in (call.tensors(0) or ())] if call else []
        if not parts:
            continue
        if parts[0] in made:
            found.append(one)
            sizes.add(sum(parts))
        made.add(sum(parts))
    return np.array(found if len(sizes) >= SIZES else [], np.int64)


def _longer(context: RuleContext, cats: Ints, step: Ints) -> tuple[Ints, Ints]:
    """All of them and their steps, if in each step there are as many and they take longer and longer; else none."""
    each = np.unique(step, return_counts=True)[1]
    none = cats[:0]
    if each.min() != each.max() or each.max() < CALLS:
        return none, none
    time = np.median(times_of_calls(context, cats).reshape(len(each), -1), axis=0)
    return (cats, step) if keeps_growing(time, STEADY, GROWS) else (none, none)


QUESTION = Question(__name__)
QUESTION.state("growing_cat", 84, _claim, certainty="likely", reach=Reach(0.5, 1.3))
