"""``aten::cat`` in a loop whose first input is what an earlier one made: all that was gathered is copied again each time.

::

    cat ▓▓▓▓░ → ▓▓▓▓▓    cat ▓▓▓▓▓░ → ▓▓▓▓▓▓    cat ▓▓▓▓▓▓░ → …        ▓ copied again  ░ new

Evidence: calls whose first tensor has as many elements as the result of an earlier one, of the same step or of one before; results of
four different sizes at least. Change: of each call the share of what is new remains. Likely.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints

SIZES = 4
"""Results of different sizes from which on calls are a loop."""
_CAT = regex(r"aten::(?:cat|concat|concatenate|hstack|vstack)$")


def _claim(context: RuleContext) -> Candidate | None:
    cats = context.rows_named(context.operators, _CAT.match)
    cats = context.outermost(context.within(cats))
    if len(cats) < SIZES:
        return None
    row, factor = _growing(context, cats)
    if not len(row):
        return None
    shown = context.launched_in(row)[0].row if context.has_device else row
    return Candidate(
        context.pieces(shown),
        {
            "calls": len(row) / len(context.steps),
            "growing": float(context.times_of_calls(row).sum()) / len(context.steps),
        },
        edit=context.calls_take(row, factor),
    )


def _growing(context: RuleContext, cats: Ints) -> tuple[Ints, Array]:
    """Those that copy what earlier ones made, and the share of each that is new."""
    calls = context.read_arguments(cats)
    made: set[int] = set()
    found, new, sizes = [], [], set()
    for one in cats.tolist():
        call = calls.get(one)
        parts = [tensor.elements for tensor in (call.tensors(0) or ())] if call else []
        if not parts:
            continue
        size = sum(parts)
        if parts[0] in made and parts[0] < size:
            found.append(one)
            new.append(1 - parts[0] / size)
            sizes.add(size)
        made.add(size)
    loop = len(sizes) >= SIZES
    return np.array(found if loop else [], np.int64), np.array(new if loop else [])


QUESTION = Question(__name__)
QUESTION.state("growing_cat", 84, _claim, certainty="likely", reach=Reach(0.5, 1.3))
