"""Long kernels that reach little of what the device's peaks allow for the FLOPs and bytes of their
operators: those of at least 20 µs of the five workloads that lose most by it, if what is achievable would take a
quarter of their time away.

Change: they reach what is typically achievable, 70 % of what the peaks allow unless better known for
their family (``hardware/peaks.py``). Likely.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import work_takes
from torch_tb_profiler.analysis.findings.rule import DEVICE, Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.workloads import (
    LONG_KERNEL,
    achievable_time,
    beyond_least,
    described,
    roof,
)
from torch_tb_profiler.store.columns import Mask

WORTH = 0.25
"""Share of a workload's time that what is achievable takes away, from which on it is worth a thought."""
MOST = 5
"""Workloads, those that lose most time, that a finding is about."""


def _claim(context: RuleContext) -> Candidate | None:
    work = context.work.take(context.work.kernel & ~context.work.communication)
    work = work.take(work.end - work.start >= LONG_KERNEL)
    if not len(work.row):
        return None
    least = ideal_times(context.trace, context.insight, work.row, context.peaks)
    known = ~np.isnan(least.time) & (least.workload >= 0)
    if not known.any():
        return None
    work, time, workload = work.take(known), least.time[known], least.workload[known]
    dur, reachable = work.end - work.start, achievable_time(context, time, workload)
    first, group = group_rows((workload,))
    gain, needed, length = (
        np.bincount(group, weights=values)
        for values in (np.maximum(dur - reachable, 0), np.minimum(time, dur), dur)
    )
    far = np.flatnonzero(gain >= WORTH * length)
    far = far[np.argsort(-gain[far], kind="stable")][:MOST]
    if not len(far):
        return None
    chosen: Mask = np.isin(group, far)
    some = work.take(chosen)
    kernels = context.work.take(context.work.kernel & ~context.work.communication)
    largest = int(workload[first[far[0]]])
    return Candidate(
        *beyond_least(context, some, time[chosen]),
        {
            "workloads": len(far),
            "reached": float(needed[far].sum() / length[far].sum()),
            "kernels": context.per_step(some.row),
            "of_largest": float(length[far[0]] / (kernels.end - kernels.start).sum()),
            "reached_largest": float(needed[far[0]] / length[far[0]]),
        },
        {"largest": described(context, largest), "roof": roof(context, largest)},
        edit=work_takes(some.row, reachable[chosen]),
    )


RULE = Rule(
    place=200,
    claim=_claim,
    title="Kernels run far below the peaks of the {device}",
    action="Bring long kernels nearer their roofs",
    fact="{kernels} kernels per {step} reach {reached} of them",
    sentence="""Long kernels ({kernels} per {step}, of {workloads} operators with their shapes)
    reach {reached} of what the peaks of the {device} allow for their FLOPs and bytes; at what is
    typically achievable the {step} is {gain} ({share}) shorter.""",
    attempt="""See in the Efficiency view what limits each. Memory: fuse operators (torch.compile),
    use smaller types, a better memory format (channels_last). Compute: dimensions that are
    multiples of 8, better 64; torch.backends.cudnn.benchmark, or mode="max-autotune". Neither: a
    larger batch.""",
    caveat="""No kernel reaches a peak; good ones reach 60 to 80 %. The bytes are the least that an
    operator can move, and irregular work is slower by nature.""",
    views=("overview", "efficiency", "operator", "kernel"),
    certainty="likely",
    cause="Kernels slower than the {device} allows cost {gain} of {the_step}",
    causes=(*DEVICE,),
    without="With these kernels at what the {device} typically achieves",
    links=(links.COMPILE, links.TUNING),
    details=(
        (
            "largest",
            "The largest is {largest}: {of_largest} of the kernel time, at {reached_largest} of what the peaks allow.",
        ),
        ("roof", "What limits it is the {roof}."),
    ),
    numbers={
        "kernels": ("Kernels", "count"),
        "workloads": ("Operators with their shapes", "count"),
        "reached": ("Share of what the peaks allow", "share"),
        "of_largest": ("Share of the largest in the kernel time", "share"),
        "reached_largest": ("Share of what the peaks allow of the largest", "share"),
    },
)
