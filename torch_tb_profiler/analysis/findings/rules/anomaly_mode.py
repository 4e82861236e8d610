"""Autograd's anomaly detection is on: backward functions check their gradients for NaN
(``aten::_is_any_true`` called by ``autograd::engine::evaluate_function``, which nothing else does), and operators
of the forward pass keep the Python stack (``format_stack`` called by an operator; without stacks the time that even
the cheapest of these operators takes beyond what others do).

Change: neither takes time. Certain. Wrong where somebody is hunting a NaN right now.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import host_skips, thread_time_gone, together
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import Role

_CHECKS = re.compile(r"aten::(?:isnan|_is_any_true|item)$")
_SURE = "aten::_is_any_true"
_NODE = re.compile(r"autograd::engine::evaluate_function")
_STACK = re.compile(r"(?:^|.*/)traceback\.py\(\d+\): format_stack$")
_CHEAP = 10
"""Percentile of the own time of operators that stands for those that compute next to nothing."""


def _claim(context: RuleContext) -> Candidate | None:
    checks, stacks = _checks(context), _stacks(context)
    recorded = np.union1d(checks, stacks)
    if not len(recorded):
        return None
    edits: list[Edit] = [host_skips(recorded)]
    row, (start, end) = recorded, context.times(recorded)
    if not len(stacks):
        kept, begin, until = _kept_stacks(context)
        edits.append(thread_time_gone(context.trace["spans"]["track"][kept], begin, until))
        row = np.concatenate((row, kept))
        start, end = np.concatenate((start, begin)), np.concatenate((end, until))
    once = context.rows_named(checks, _SURE.__eq__)
    return Candidate(
        row,
        start,
        end,
        {"checks": context.per_step(once), "stacks": context.per_step(stacks)},
        edit=together(*edits),
    )


def _checks(context: RuleContext) -> Ints:
    """The operators that check a gradient."""
    parent = context.parent
    row = context.rows_named(context.of_role(Role.OPERATOR), _CHECKS.match)
    row = row[parent[row] >= 0]
    row = row[context.named(parent[row], _NODE.match)]
    sure = context.rows_named(row, _SURE.__eq__)
    return row[np.isin(parent[row], parent[sure])]


def _stacks(context: RuleContext) -> Ints:
    """Frames that write the stack down, called by operators."""
    spans, parent = context.trace["spans"], context.parent
    row = context.rows_named(context.of_role(Role.PYTHON), _STACK.match)
    row = row[parent[row] >= 0]
    return np.asarray(row[spans["role"][parent[row]] == Role.OPERATOR])


def _kept_stacks(context: RuleContext) -> tuple[Ints, Ints, Ints]:
    """Where stacks were written down unrecorded: operators of the forward pass, and the time in each that even the
    cheapest of them takes beyond what other operators do: ``(row, start, end)``.
    """
    spans = context.trace["spans"]
    made = context.training.differentiated
    host = context.scene.graph.host
    time = np.zeros(spans.n + 1, np.int64)
    np.add.at(time, host.span, host.end - host.start)
    others = np.setdiff1d(context.operators, made)
    if not len(made) or not len(others):
        none = np.zeros(0, np.int64)
        return none, none, none
    extra = int(np.percentile(time[made], _CHEAP) - np.median(time[others]))
    start = spans["start"][made]
    length = np.minimum(spans["dur"][made], max(extra, 0))
    return made, start, start + length


RULE = Rule(
    place=41,
    claim=_claim,
    title="Anomaly detection is on",
    action="Turn anomaly detection off",
    fact="{checks} gradients are checked per {step}",
    sentence="""Autograd's anomaly detection checks {checks} gradients per {step} for NaN and writes down the
    Python stack of each operator of the forward pass; without it the {step} is {gain} ({share}) shorter.""",
    attempt="""Remove torch.autograd.set_detect_anomaly(True) or detect_anomaly(): it is for finding a NaN, not for
    training.""",
    caveat="A hunt for a NaN needs it.",
    views=("overview", "operator"),
    cause="Anomaly detection takes {gain} of {the_step}",
    without="Without anomaly detection",
    links=(
        (
            "Anomaly detection",
            links.DOCS + "autograd.html#torch.autograd.set_detect_anomaly",
        ),
        links.TUNING,
    ),
    numbers={"checks": ("Gradients checked", "count"), "stacks": ("Stacks written down", "count")},
)
