"""Time in which only kernels run that multiply matrices, or convolve, in single or half precision
on the vector units of a device that has matrix cores.

Change: they reach what is typically achievable (70 % of the peaks unless better known) in a 16-bit type
on matrix cores. Likely; where shapes or device are unknown they take no time, and it is theoretical.
Known from names (``hardware/matrix_cores.py``): kernels of unknown names are not counted,
products of a matrix and a vector neither.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked, positions_of
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import DEVICE, Candidate, Rule, RuleContext
from torch_tb_profiler.analysis.findings.rule_context import Work
from torch_tb_profiler.analysis.findings.workloads import beyond_peaks
from torch_tb_profiler.hardware.matrix_cores import FIRST_CAPABILITY, multiplies_on_vector_units
from torch_tb_profiler.store.columns import Mask

_DOUBLE = re.compile(r'"(?:double|c10::complex<\w+>|long int|int)"')
_AMD_MATRIX = re.compile(r"\bMI(?:1|2|3)\d\d", re.I)


def _claim(context: RuleContext) -> Candidate | None:
    if not _has_matrix_cores(context):
        return None
    vendor = context.facts.summary.vendor
    work = context.work.take(context.work.kernel)
    chosen = context.named(work.row, lambda name: multiplies_on_vector_units(name, vendor))
    candidate = beyond_peaks(
        context, work.take(chosen & ~_of_double_precision(context, work)), True
    )
    eligible = context.facts.summary.matrix_eligible_share
    if candidate is not None and eligible is not None:
        candidate.numbers["eligible"] = eligible
    return candidate


def _has_matrix_cores(context: RuleContext) -> bool:
    if context.device < 0:
        return False
    device = {
        key: context.facts.strings[int(context.facts["devices"][key][context.device])]
        for key in ("name", "capability")
    }
    vendor = context.facts.summary.vendor
    major = device["capability"].split(".")[0]
    if vendor == "nvidia":
        return major.isdigit() and int(major) >= FIRST_CAPABILITY
    return vendor == "amd" and _AMD_MATRIX.search(device["name"]) is not None


def _of_double_precision(context: RuleContext, work: Work) -> Mask:
    """Whose operator has inputs of a type that is not single or half precision; False where the
    types were not recorded.
    """
    arguments = context.trace["operator_args"]
    double = name_mask(
        context.trace.strings,
        arguments["types"],
        lambda types: _DOUBLE.search(types.split(",", 1)[0]),
    )
    place = positions_of(arguments["span"], context.facts["span_links"]["operator"][work.row])
    return np.asarray(double[picked(arguments["types"], place)])


RULE = Rule(
    place=150,
    claim=_claim,
    title="{matrix_cores} are not used",
    action="Use {matrix_cores}: bfloat16, float16 or TF32",
    fact="{kernels} kernels per {step} without them",
    sentence="""Matrix products and convolutions run without {matrix_cores}; on them the {step} could be
    {gain} ({share}) shorter.""",
    attempt="""Run them in bfloat16 or float16 (automatic mixed precision), or allow TF32 for
    float32 products where the {device} has it: torch.set_float32_matmul_precision("high").""",
    caveat="""Lower precision changes results: check the loss. Where shapes or the {device} are
    unknown, less is recoverable: {matrix_cores} do not speed up what memory limits.""",
    views=("overview", "efficiency", "operator", "kernel"),
    certainty="likely",
    cause="Matrix products without {matrix_cores} cost {gain} of {the_step}",
    causes=(*DEVICE,),
    without="In a 16-bit type on {matrix_cores}",
    links=(links.AMP, ("TF32", links.DOCS + "notes/cuda.html#tf32-on-ampere")),
    details=(("largest", "Most of it is {largest}."),),
    numbers={
        "kernels": ("Kernels", "count"),
        "eligible": ("Kernel time of operators that could use them", "share"),
    },
)
