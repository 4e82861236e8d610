"""Chains of memory-bound operators, one kernel each, that write and read tensors which nothing else
needs.

Evidence: operators that follow each other in one module, thread, stream and step, of which one reads
what another one wrote, by shape, element type and order; kernels of torch.compile are none. Change: one kernel of each
chain remains and is launched once; kernels of at least 5 µs add the share of their time that their remaining bytes are
of all, shorter ones nothing; what a backward pass may read is still written. Likely.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import DEVICE, Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.workloads import beyond_least
from torch_tb_profiler.analysis.what_if.fusion import fusions
from torch_tb_profiler.hardware.fusion import title_of


def _claim(context: RuleContext) -> Candidate | None:
    found = fusions(context.scene)
    judged = np.isin(found.row, context.within(found.row)) & np.isin(found.row, context.work.row)
    # Of each chain one kernel's launch stays.
    chosen = np.flatnonzero(np.bincount(found.chain[judged], minlength=1) > 1)
    if not len(chosen):
        return None
    mine = np.isin(found.chain, chosen) & judged
    row, order = np.unique(found.row[mine], return_index=True)
    kept = found.kept[mine][order]
    dur = context.trace["spans"]["dur"][row]
    some = context.work.take(np.isin(context.work.row, row))
    titles: dict[tuple[str, ...], float] = {}
    gained = np.bincount(found.chain[mine][order], (1 - kept) * dur, len(found.names))
    for number in chosen.tolist():
        names = found.names[number]
        titles[names] = titles.get(names, 0) + float(gained[number])
    largest = max(titles, key=lambda names: titles[names])
    steps = len(context.steps)
    return Candidate(
        *beyond_least(context, some, kept * dur),
        {
            "chains": len(chosen) / steps,
            "kernels": len(row) / steps,
            "saved": float(found.saved[chosen].sum()) / steps,
            "operators": len(largest),
        },
        {"largest": title_of(largest)},
        change="fuse-chains",
    )


RULE = Rule(
    place=205,
    claim=_claim,
    title="Memory-bound operators could be fused",
    action="Fuse memory-bound operators",
    fact="{kernels} kernels could be {chains} and move {saved} less",
    sentence="""{chains} chains of memory-bound operators per {step} run as {kernels} kernels; as one
    kernel each they move {saved} less, and the {step} is {gain} ({share}) shorter.""",
    details=(("largest", "The most expensive one is {largest} in {operators} operators."),),
    attempt="""Compile the module (torch.compile), or use a fused implementation of what the chain
    computes.""",
    caveat="""Which tensor an operator reads is told from shapes and order; a tensor that is read
    again later still has to be written.""",
    views=("kernel", "module", "efficiency"),
    certainty="likely",
    cause="Unfused memory-bound operators cost {gain} of {the_step}",
    causes=DEVICE,
    without="With these chains fused",
    links=(links.COMPILE,),
    numbers={
        "chains": ("Chains", "count"),
        "kernels": ("Kernels", "count"),
        "saved": ("Bytes not moved", "bytes"),
        "operators": ("Operators of the most expensive one", "count"),
    },
)
