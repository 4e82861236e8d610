"""Frames of ``copy.deepcopy``, such as of a model's ``state_dict``.

Change: they take no time. Certain where nothing replaces them; a moving average or a snapshot still has to copy once, in
place.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.copies import deep_copies
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext


def _claim(context: RuleContext) -> Candidate | None:
    row = deep_copies(context)
    if not len(row):
        return None
    time = int(context.trace["spans"]["dur"][row].sum())
    return Candidate(
        row,
        *context.times(row),
        {"copies": context.per_step(row), "deep": time / len(context.steps)},
        edit=host_skips(row),
    )


RULE = Rule(
    place=87,
    claim=_claim,
    title="Deep copies are made in each {step}",
    action="Copy once and write into the copy",
    fact="{copies} deep copies per {step}",
    sentence="""copy.deepcopy runs {copies} times per {step}{at}; without it the {step} is {gain} ({share}) shorter.""",
    attempt="""Make the copy once and write into it: for a moving average of the weights torch._foreach_lerp_(average,
    weights, 1 - decay) or torch.optim.swa_utils.AveragedModel, for a snapshot tensor.copy_().""",
    caveat="The copies in place take some of the time that is saved.",
    views=("overview", "operator"),
    certainty="likely",
    cause="Deep copies (copy.deepcopy) take {deep} of {the_step}",
    without="Without deep copies",
    links=(("Averaged models", links.DOCS + "optim.html#weight-averaging-swa-and-ema"),),
    reach=Reach(0.5, 1.2),
    numbers={"copies": ("Calls of deepcopy", "count"), "deep": ("Time in deepcopy", "ns")},
)
