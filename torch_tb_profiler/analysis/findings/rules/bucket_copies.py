"""Copies of gradients into the buckets of DistributedDataParallel and back.

Evidence: what its reducer's regions of these names do, on a device what they launch. Change: they take no time:
gradients that are views of the buckets are not copied. Certain.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.copies import bucket_copies
from torch_tb_profiler.analysis.findings.operators import calls_for_nothing
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext


def _claim(context: RuleContext) -> Candidate | None:
    host = bucket_copies(context)
    if not len(host):
        return None
    return calls_for_nothing(context, host, {"copies": context.per_step(host)})


RULE = Rule(
    place=88,
    claim=_claim,
    title="Gradients are copied into buckets and back",
    action="Set gradient_as_bucket_view=True",
    fact="{copies} copies of gradients per {step}",
    sentence="""DistributedDataParallel copies gradients into its buckets and back, {copies} copies per {step}; without them
    the {step} is {gain} ({share}) shorter.""",
    attempt="Create DistributedDataParallel with gradient_as_bucket_view=True.",
    caveat="Gradients are then views: they cannot be detached, and zero_grad() should set them to None.",
    views=("overview", "operator", "distributed"),
    cause="Copying gradients into buckets takes {gain} of {the_step}",
    without="Without these copies",
    links=(
        (
            "DistributedDataParallel",
            links.DOCS + "generated/torch.nn.parallel.DistributedDataParallel.html",
        ),
    ),
    numbers={"copies": ("Copies", "count")},
)
