"""Gradients that are filled with zeros before each backward pass and then added to.

Evidence: ``aten::zero_`` or ``aten::_foreach_zero_`` beneath ``Optimizer.zero_grad``, and the addition beneath
``AccumulateGrad``; on a device what they launch. Change: they take no time: a gradient that is None is set. Certain.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.operators import beneath, calls_for_nothing, outermost
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext

_REGION = re.compile(r"Optimizer\.zero_grad#")
_ZERO = re.compile(r"aten::(?:zero_|_foreach_zero_)$")
_SUM = re.compile(r"aten::add_?$")
_ACCUMULATE = re.compile(r"torch::autograd::AccumulateGrad$")


def _claim(context: RuleContext) -> Candidate | None:
    region = context.within(context.rows_named(context.calls, _REGION.match))
    if not len(region):
        return None
    zeros = context.rows_named(context.operators, _ZERO.match)
    zeros = outermost(context, zeros[beneath(context, region)[zeros]]) if len(zeros) else zeros
    if not len(zeros):
        return None
    nodes = context.rows_named(context.operators, _ACCUMULATE.match)
    sums = context.within(context.rows_named(context.operators, _SUM.match))
    sums = outermost(context, sums[context.home(sums, nodes) >= 0])
    host = np.sort(np.concatenate((zeros, sums)))
    return calls_for_nothing(
        context, host, {"fills": context.per_step(zeros), "sums": context.per_step(sums)}
    )


RULE = Rule(
    place=89,
    claim=_claim,
    title="Gradients are filled with zeros and added to",
    action="Set gradients to None, not zero",
    fact="{fills} fills with zeros per {step}",
    sentence="""Gradients are filled with zeros ({fills} calls per {step}), and the backward pass adds to them ({sums}
    calls){at}; without both the {step} is {gain} ({share}) shorter.""",
    attempt="Call zero_grad(set_to_none=True), the default: the backward pass then sets the gradients.",
    caveat="Code that reads a gradient before the backward pass finds None; gradients that views share have to stay.",
    views=("overview", "operator"),
    cause="Filling gradients with zeros costs {gain} of {the_step}",
    without="With set_to_none=True",
    links=(("zero_grad", links.DOCS + "generated/torch.optim.Optimizer.zero_grad.html"),),
    numbers={"fills": ("Fills", "count"), "sums": ("Additions", "count")},
)
