"""A weight that a parametrization computes (spectral norm, weight norm, others of torch.nn.utils.parametrize), and computes
again although no parameter has changed.

Evidence: frames of a ``ParametrizationList``, or of the older hooks of spectral_norm.py and weight_norm.py in one module,
that occur again before the next gradient or optimizer step. Change: the repeated ones are gone, and their backward by sequence numbers.
Likely. Wrong where a spectral norm is meant to iterate at each call.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.findings.edits import calls_gone, together
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.roles import Role

_LIST = regex(r"nn\.Module: ParametrizationList_\d+$")
_HOOK = regex(r".*torch/nn/utils/(?:spectral|weight)_norm\.py\(\d+\): __call__$")
_UPDATE = regex(r"Optimizer\.step#|torch::autograd::AccumulateGrad$")


def _claim(context: RuleContext) -> Candidate | None:
    row, again, weights = _frames(context)
    if not again.any():
        return None
    made, operators = context.pieces(row[again]), context.on_main(context.operators)
    inside = window_at(made.start, made.end, context.spans["start"][operators]) >= 0
    backward = _backward(context, operators, made.start, made.end)
    work, _ = context.launched_in(unique_values(operators[inside], backward))
    shown, steps = made + context.pieces(backward), len(context.steps)
    return Candidate(
        shown,
        {"made": len(row) / steps, "weights": weights, "again": shown.total / steps},
        edit=together(context.time_gone(made), calls_gone(backward, work.row)),
    )


def _frames(context: RuleContext) -> tuple[Ints, Mask, int]:
    """Frames that make a weight, which do so again, and how many weights there are."""
    modules = context.training.modules
    lists = context.rows_named(modules, _LIST.match)
    hooks = context.rows_named(context.on_main(context.of_role(Role.PYTHON)), _HOOK.match)
    owner = context.home(hooks, modules)
    row = np.concatenate((lists, hooks[owner >= 0]))
    name = context.spans["name"][np.concatenate((lists, owner[owner >= 0]))]
    kept = np.isin(row, context.within(context.on_main(row)))
    order = np.argsort(row[kept], kind="stable")
    row, name = row[kept][order], name[kept][order]
    calls = context.rows_named(context.calls, _UPDATE.match)
    since = context.begun(calls, context.spans["start"][row])
    again = np.ones(len(row), np.bool_)
    keys = np.stack((name.astype(np.int64), since, context.facts["span_links"]["step"][row]))
    _, first = np.unique(keys, axis=1, return_index=True)
    again[first] = False
    return row, again, len(unique_values(name))


def _backward(context: RuleContext, operators: Ints, start: Ints, end: Ints) -> Ints:
    """The backward functions of some stretches of the program's thread."""
    number = context.backward_calls.found_by(operators)
    begin = context.spans["start"][operators[number >= 0]]
    number = np.append(number[number >= 0], -1)
    bounds = (number[np.searchsorted(begin, time)].tolist() for time in (start, end))
    parts = [context.backward_calls.within(low, high) for low, high in zip(*bounds, strict=True)]
    return unique_values(np.concatenate(parts)).astype(np.int64)


QUESTION = Question(__name__)
QUESTION.state("weight_made_anew", 80, _claim, certainty="likely", reach=Reach(0.6, 1.8))
