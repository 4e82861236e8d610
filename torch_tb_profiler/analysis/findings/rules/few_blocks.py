"""Of each kernel of at least 20 µs that runs alone, the share of multiprocessors without a block.

Change: their time × blocks per SM, as if the same work were spread over all. Theoretical.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, shared, subtract, union
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.findings.edits import work_takes
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.rule_context import Work
from torch_tb_profiler.analysis.findings.workloads import LONG_KERNEL, described, largest
from torch_tb_profiler.store.columns import Ints


def _claim(context: RuleContext) -> Candidate | None:
    work = context.work.take(context.work.kernel & ~context.work.communication)
    blocks = device_arguments(context.trace, work.row, ("blocks_per_sm",))["blocks_per_sm"]
    chosen = (blocks > 0) & (blocks < 1) & (work.end - work.start >= LONG_KERNEL)
    if not chosen.any():
        return None
    begin, blocks = work.start[chosen], blocks[chosen]
    idle = ((1 - blocks) * (work.end[chosen] - begin)).astype(np.int64)
    piece, start, end = shared(
        begin, begin + idle, subtract(union(begin, begin + idle), _beside_another(context.work))
    )
    return Candidate(
        work.row[chosen][piece],
        start,
        end,
        {
            "kernels": int(chosen.sum()) / len(context.steps),
            "blocks_per_sm": float(np.average(blocks, weights=work.end[chosen] - begin)),
        },
        {"largest": described(context, largest(context, work.take(chosen)))},
        edit=work_takes(work.row[chosen], blocks * (work.end[chosen] - begin)),
    )


def _beside_another(work: Work) -> Intervals:
    """When more than one piece of work ran."""
    if not len(work.start):
        return union(work.start, work.end)
    reach: Ints = np.concatenate(([np.iinfo(np.int64).min], np.maximum.accumulate(work.end)[:-1]))
    return union(work.start, np.minimum(work.end, reach))


RULE = Rule(
    place=190,
    claim=_claim,
    title="Kernels have fewer blocks than the {device} has {multiprocessor}s",
    action="Give each kernel more blocks",
    fact="{blocks_per_sm} blocks per {multiprocessor} on average",
    sentence="""Kernels ({kernels} per {step}) leave {multiprocessor}s idle, with
    {blocks_per_sm} blocks per {multiprocessor} on average; spread over all, the {step} would be {gain} ({share})
    shorter.""",
    attempt="""Give each kernel more to do: a larger batch, fused operators, other tile sizes; or
    run independent kernels concurrently on several streams.""",
    caveat="A small problem may not split further.",
    views=("overview", "efficiency", "kernel"),
    certainty="theoretical",
    cause="Kernels with too few blocks cost {gain} of {the_step}",
    without="With all {multiprocessor}s at work",
    details=(("largest", "Most of it is {largest}."),),
    numbers={"kernels": ("Kernels", "count"), "blocks_per_sm": ("Blocks per {multiprocessor}", "")},
)
