"""Generation that computes all earlier tokens again with each new one.

::

    embedding [2, 96]   embedding [2, 97]   embedding [2, 98]        with a cache: [2, 96]  [2, 1]  [2, 1]
    └───── pass ───────┴───── pass ───────┴─── …

Evidence: no backward pass, and at least ``PASSES`` passes after each other whose sequence is one token longer each. Change: of the work of
each pass but the first one the share of one token remains; what its calls cost remains. Likely.
Wrong where all earlier tokens change with the new one, as in models that look ahead.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.findings.edits import stretches_take, together, work_takes
from torch_tb_profiler.analysis.findings.rule import Candidate, Pieces, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.dispatch import CallWork
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, unique_values

PASSES = 8
"""Passes from which on it is generation."""
BRIEF = 5_000
"""ns; kernels take as long whatever they do."""
_EMBEDDING = regex(r"aten::embedding$")


def _claim(context: RuleContext) -> Candidate | None:
    row = context.rows_named(context.operators, _EMBEDDING.match)
    row = context.within(context.on_main(row))
    if len(row) < PASSES:
        return None
    work = CallWork.of(context)
    if len(context.backward_calls.row):
        return None
    found = _by_shapes(context, row)
    if found is None:
        return None
    row, end, length = found
    start = context.times(row)[0]
    track = context.spans["track"][row]
    does = work.inside(track, start, end)
    factor = 1 - does / np.maximum(end - start, 1) * (1 - 1 / length)
    edit = stretches_take(track, start, end, factor)
    if context.has_device:
        edit = together(edit, work_takes(*_kernels(context, start, end, length)))
    return Candidate(
        Pieces(row, start, end),
        {
            "passes": len(row) / len(context.steps),
            "first_length": float(np.min(length)),
            "last_length": float(np.max(length)),
        },
        edit=edit,
    )


def _by_shapes(context: RuleContext, row: Ints) -> tuple[Ints, Ints, Array] | None:
    """Passes whose sequence is one token longer than that of the one before: the embedding with which each begins,
    the end of each, and how many tokens it computes.
    """
    calls = context.read_arguments(row)
    told = [(call.tensor(0), call.tensor(1)) for call in calls.values()]
    if len(told) < len(row):
        return None
    table, length = (
        np.array([one.shape[at] if one and one.shape else 0 for one in each], np.int64)
        for at, each in zip((0, -1), zip(*told, strict=True), strict=True)
    )
    # Of several embeddings of a pass the one with the most calls that grow tells.
    grows: dict[int, Ints] = {}
    for one in unique_values(table).tolist():
        own = np.flatnonzero(table == one)
        grows[one] = own[1:][np.diff(length[own]) == 1]
    best = max(grows, key=lambda one: len(grows[one]))
    at = grows[best]
    if len(at) < PASSES:
        return None
    return row[at], _ends(context, row[table == best], row[at]), length[at] * 1.0


def _ends(context: RuleContext, all_of: Ints, row: Ints) -> Ints:
    """The end of passes that begin at ``row``: the begin of the next one of ``all_of``, at most the end of the step."""
    start, table = context.spans["start"], context.facts["steps"]
    step = context.facts["span_links"]["step"][row]
    last = np.where(step >= 0, table["end"][step], context.windows.end[-1])
    following = np.append(all_of, all_of[-1])[np.searchsorted(all_of, row) + 1]
    later = np.where(following > row, start[following], last)
    return np.maximum(np.minimum(later, last), start[row])


def _kernels(context: RuleContext, start: Ints, end: Ints, length: Array) -> tuple[Ints, Array]:
    """Device work launched in the passes, and what it takes for one token, ns."""
    work = context.work.take(context.work.launch >= 0)
    place = window_at(start, end, context.spans["start"][work.launch])
    some = work.take(place >= 0)
    least = np.minimum(some.lengths, BRIEF)
    return some.row, np.maximum(some.lengths / length[place[place >= 0]], least)


QUESTION = Question(__name__)
QUESTION.state("no_key_value_cache", 91, _claim, certainty="likely", reach=Reach(0.6, 1.5))
