"""Time in which only matrix-core kernels run that were built to load one or two elements at a time
(``…_align1``, ``…_align2``), because a dimension is not a multiple of 8 (16-bit types) or 4 (TF32).

Change: they reach what is typically achievable (70 % of the peaks unless better known). Likely; where
shapes or device are unknown they take no time, and it is theoretical.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import DEVICE, Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.workloads import beyond_peaks, largest, padding
from torch_tb_profiler.hardware.matrix_cores import loads_unaligned


def _claim(context: RuleContext) -> Candidate | None:
    work = context.work.take(context.work.kernel)
    unaligned = work.take(context.named(work.row, loads_unaligned))
    candidate = beyond_peaks(context, unaligned, False)
    if candidate is not None:
        longest = unaligned.row[np.argmax(unaligned.end - unaligned.start)]
        name = context.name_of(longest)
        candidate.words["padding"] = padding(context, largest(context, unaligned), name)
    return candidate


RULE = Rule(
    place=160,
    claim=_claim,
    title="Misaligned matrix dimensions slow {matrix_cores} down",
    action="Pad matrix dimensions to a multiple of 8",
    fact="{kernels} misaligned kernels per {step}",
    sentence="""Kernels ({kernels} per {step}) feed {matrix_cores} one or two elements at a time,
    because a dimension is not a multiple of 8 (4 for TF32); aligned, the {step} could be {gain}
    ({share}) shorter.""",
    attempt="""Pad that dimension, such as the vocabulary, the sequence or the number of classes, to
    a multiple of 8, better 64.""",
    caveat="Padding adds work of its own, and a sequence may have to stay as long as it is.",
    views=("overview", "efficiency", "operator", "kernel"),
    certainty="likely",
    cause="Misaligned matrix dimensions cost {gain} of {the_step}",
    causes=(*DEVICE,),
    without="With aligned dimensions",
    links=(links.TUNING,),
    details=(("largest", "Most of it is {largest}."), ("padding", "There, pad {padding}.")),
    numbers={"kernels": ("Kernels", "count")},
)
