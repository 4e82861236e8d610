"""Idle time of the device after calls that take memory from the driver or give it back, and of it
no more than the host was held up.

Formula: as for synchronisation, for ``cudaMalloc``, ``cudaFree``, ``hipMalloc``, ``cuMemMap`` …
within the steps.
Upper bound: without them the host is earlier by their length and no more.
A call that waited for the device only makes room for another wait.
"""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.held_up import held_up
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Intervals, Rule

_ALLOCATES = re.compile(
    r"(?:cuda|hip|cu)(?:Malloc|Free|Mem(?:Create|Map|Unmap|Release|Alloc|Free))(?!Host|Pitch)"
)


def _claim(case: Case, taken: Intervals) -> Candidate | None:
    row = case.runtime_calls(_ALLOCATES)
    return held_up(case, row, taken, {"calls": len(row) / len(case.steps)}, {})


RULE = Rule(
    place=70,
    claim=_claim,
    title="Memory is allocated from the driver inside the {step}",
    sentence="""Calls that allocate or free driver memory ({calls} per {step}) block the host: the
    {device} is idle after them for up to {gain} of the {step} ({share}).""",
    attempt="""Let the caching allocator keep its memory: no empty_cache() in the loop, fewer sizes
    (pad or bucket the inputs), or PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.""",
    caveat="The first steps of a program take memory that they keep; later ones should not.",
    views=("overview", "memory", "trace"),
    links=(
        ("Memory management of CUDA devices", links.DOCS + "notes/cuda.html#memory-management"),
    ),
    numbers={"calls": ("Calls", "count")},
)
