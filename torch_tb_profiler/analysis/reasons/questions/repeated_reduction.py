"""Gradients that are reduced over the ranks after each of several backward passes, although the optimizer waits for the last.

::

    portion   [forward][backward][all_reduce g]  [forward][backward][all_reduce g]  …  [optimizer]
                                  └ again, before anybody reads its result ┘

Evidence: collectives that reduce and begin in a hook of ``AccumulateGrad``, or after the last function of their backward pass, of which the next backward
pass makes the same (kind, group, bytes) with no ``Optimizer.step`` between. Change: those of all passes but the last are gone. Likely. Wrong
where gradients are read in between.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Pieces, Question, Reach, RuleContext
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.insight_schema import PathCause


def _claim(context: RuleContext) -> Candidate | None:
    table, spans = context.insight["collectives"], context.spans
    forward = np.sort(spans["start"][context.training.differentiated])
    says = name_mask(context.insight.strings, table["kind"], lambda text: "reduce" in text)
    reduces = says[table["kind"]]
    row = np.flatnonzero(reduces & np.isin(table["step"], context.steps) & (table["host"] >= 0))
    if not len(row) or not len(forward):
        return None
    begin = spans["start"][table["host"][row]]
    row, begin = row[np.argsort(begin, kind="stable")], np.sort(begin)
    kept = _of_gradients(context, table["host"][row].astype(np.int64), begin, forward)
    row, begin = row[kept], begin[kept]
    chosen, passes = _again(context, row, begin, np.searchsorted(forward, begin))
    if not len(chosen):
        return None
    event, host = (table[key][chosen].astype(np.int64) for key in ("event", "host"))
    shown = Pieces(event, table["start"][chosen], table["end"][chosen])
    counts = {"passes": passes, "again": len(chosen), "taken": shown.total}
    numbers = {key: count / len(context.steps) for key, count in counts.items()}
    return Candidate(shown, numbers, edit=calls_gone(unique_values(host, event), event))


def _of_gradients(context: RuleContext, host: Ints, begin: Ints, forward: Ints) -> Ints:
    """Which collectives reduce gradients: begun by a hook of one that was accumulated, or when their backward pass is over."""
    engine = context.backward_functions
    hooks = context.rows_named(engine, lambda text: text.endswith("::AccumulateGrad"))
    hooked = context.home(host, hooks) >= 0
    # The functions between a collective and the next operator of a forward pass, and those since the last one.
    at = np.searchsorted(forward, begin)
    following = np.append(forward, np.iinfo(np.int64).max)[at]
    before = np.append(np.int64(-1), forward)[at]
    done, last, first = (context.begun(engine, time) for time in (begin, following, before))
    inside = context.home(host, engine) >= 0
    return np.flatnonzero((done > first) & (hooked | (~inside & (done == last))))


def _again(context: RuleContext, row: Ints, begin: Ints, of_pass: Ints) -> tuple[Ints, int]:
    """Collectives of the backward passes after which the next one makes the same before an update, and how many passes reduce."""
    table = context.insight["collectives"]
    _, kind = group_rows([table[key][row] for key in ("kind", "group", "bytes")])
    updated = context.begun(context.updates, begin)
    edges = np.flatnonzero(np.diff(of_pass, prepend=-1, append=-1))
    parts = [slice(a, b) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    chosen = [
        row[one]
        for one, other in pairwise(parts)
        if updated[one][0] == updated[other][0]
        and table["step"][row[one][0]] == table["step"][row[other][0]]
        and np.array_equal(np.sort(kind[one]), np.sort(kind[other]))
    ]
    return np.concatenate((row[:0], *chosen)), len(parts)


QUESTION = Question(__name__)
QUESTION.state(
    "repeated_reduction",
    57,
    _claim,
    certainty="likely",
    causes=(PathCause.COMMUNICATION,),
    reach=Reach(0.5, 1.4),
)
