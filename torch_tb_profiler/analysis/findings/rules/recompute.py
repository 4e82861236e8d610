"""Device time of operators that record a graph of their own beneath a node of the backward pass:
activation checkpointing. On a host alone, their host time.

Evidence: operators with a sequence number and no forward thread under
``autograd::engine::evaluate_function`` or the frame of a checkpoint's hook.
Where operators run in the backward pass twice as often as in the forward pass, or more often, checkpoints lie in each other: one of
them is for nothing, and no memory is lost without it.
Change: they take no time on host and device, nor do the hooks and the Python between them: of such a node the time
until the last of them ends, such a frame whole, and the own time of all frames of ``torch/utils/checkpoint.py``; of nested checkpoints once less.
Certain where a checkpoint was recorded as such, else likely: then the operators must be those of the forward pass, and not derivatives of derivatives.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.findings.edits import (
    calls_gone,
    host_takes,
    thread_time_gone,
    together,
    work_scaled,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.roles import Role

_BACKWARD = regex(
    r"autograd::engine::evaluate_function: |torch/utils/checkpoint\.py\(\d+\): unpack_hook$"
)
_IS_CHECKPOINT = regex(r"CheckpointFunctionBackward|unpack_hook$")
_NO_FORWARD = regex(r"autograd::|CheckpointFunction|torch::autograd::|.*Backward\d*$")
NESTED = 2
"""Passes in the backward pass per one of the forward pass, from which on checkpoints lie in each other."""
MOST = 0.5
_TIMES = ("twice", "twice", "three times", "four times", "many times")
_CHECKPOINT = regex(r"(?:.*/)?torch/utils/checkpoint\.py\(\d+\): ")


def _claim(context: RuleContext) -> Candidate | None:
    arguments = context.trace["operator_args"]
    records = (arguments["sequence"] >= 0) & (arguments["forward_thread"] <= 0)
    again = arguments["span"][records].astype(np.int64)
    calls = context.of_role(Role.OPERATOR, Role.PYTHON)
    nodes = context.rows_named(calls, _BACKWARD.match)
    home = context.home(context.parent[again], nodes)
    again, home = again[home >= 0], home[home >= 0]
    if not len(again):
        return None
    named = bool(context.named(unique_values(home), _IS_CHECKPOINT.search).any())
    if not named and not _of_forward(context, again, nodes):
        return None
    device = context.work.row
    operator = context.operator_of(device)
    often, whole = _passes(context, nodes)
    calls = whole if often >= NESTED else again
    row = device[context.home(operator, calls) >= 0]
    if often >= NESTED:
        left = (often - 1) / often
        edit = together(host_takes(whole, left), work_scaled(row, left))
    else:
        edit = together(calls_gone(again, row), _hooks(context, again, home))
    row = row if context.has_device else calls
    nested = often >= NESTED
    return Candidate(
        context.pieces(row),
        {"events": context.per_step(row), "passes": max(often, 1) + 1},
        {
            "what": "Nested checkpoints cost" if nested else "Recomputing activations takes",
            "nested": "yes" if nested else "",
            "times": _TIMES[min(often, len(_TIMES) - 1)],
            "without": "one checkpoint less" if nested else "no recomputation",
            "action": "Remove one of two nested checkpoints" if nested else "",
        },
        certainty="certain" if named else "likely",
        edit=edit,
    )


def _of_forward(context: RuleContext, again: Ints, nodes: Ints) -> bool:
    """Whether most of what is computed is what the forward pass computed: else it is a derivative of a derivative."""
    forward = context.operators[context.home(context.operators, nodes) < 0]
    same = np.isin(context.spans["name"][again], context.spans["name"][forward])
    took = context.spans["dur"][again]
    return bool(took[same].sum() > MOST * took.sum())


def _passes(context: RuleContext, nodes: Ints) -> tuple[int, Ints]:
    """How often what is computed again runs in the backward pass for each time in the forward pass, and the outermost operators that
    do so, with or without gradients.
    """
    spans, operators = context.spans, context.within(context.operators)
    operators = operators[~context.named(operators, _NO_FORWARD.match)]
    checkpoints = nodes[context.named(nodes, _IS_CHECKPOINT.search)]
    home = context.home(context.parent[operators], nodes)
    inside = context.outermost(operators[np.isin(home, checkpoints)])
    names, name = np.unique(spans["name"][operators], return_inverse=True)
    kind = name[np.isin(operators, inside)]
    if not len(kind):
        return 0, inside
    first = np.bincount(name[home < 0], minlength=len(names))
    times = np.bincount(kind, minlength=len(names)) // np.maximum(first, 1)
    took = sum_by(kind, len(names), spans["dur"][operators[np.isin(operators, inside)]])
    order = np.argsort(times, kind="stable")
    middle = np.searchsorted(np.cumsum(took[order]), took.sum() / 2)
    return int(times[order][middle]), inside


def _hooks(context: RuleContext, again: Ints, home: Ints) -> Edit:
    """The time of the hooks: ``home`` is where each of ``again`` was computed again."""
    start, end = context.times(home)
    in_hook = context.spans["role"][home] == Role.PYTHON
    end = np.where(in_hook, end, context.times(again)[1])
    own = context.mask(context.rows_named(context.of_role(Role.PYTHON), _CHECKPOINT.match))
    stretches = thread_time_gone(context.spans["track"][home], start, end)

    def edit(scene: Scene, durations: Durations) -> None:
        stretches(scene, durations)
        durations.segment[np.append(own, False)[scene.graph.host.span]] = 0

    return edit


QUESTION = Question(__name__)
QUESTION.state("recompute", 140, _claim, reach=Reach(0.65, 1.5))
