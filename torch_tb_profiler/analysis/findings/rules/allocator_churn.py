"""Calls that take memory from the driver or give it back and hold the host up until the device has
nothing to do: ``cudaMalloc``, ``cudaFree``, ``hipMalloc``, ``cuMemMap`` …

Change: the calls take no time and wait for nothing. Certain.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure, shared, subtract
from torch_tb_profiler.analysis.facts.launches import ALLOCATES
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.host_time import gaps_after
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.store.roles import Role


def _claim(context: RuleContext) -> Candidate | None:
    if not context.has_device:
        return None
    row = context.rows_named(context.of_role(Role.RUNTIME), ALLOCATES.match)
    start, end = context.times(row)
    row = row[measure(context.windows, start, start + 1) > 0]
    # Before the first work of a recording without steps, the device waits for them as well.
    start, end = context.times(row)
    early, start, end = shared(start, end, subtract(context.windows, context.judged))
    held = zip(gaps_after(context, row), (row[early], start, end), strict=True)
    call, begin, until = (np.concatenate(parts) for parts in held)
    return Candidate(
        call,
        begin,
        until,
        {"calls": len(row) / len(context.steps)},
        edit=host_skips(row),
        unplanned=True,
    )


RULE = Rule(
    place=70,
    claim=_claim,
    title="Memory is allocated from the driver inside the {step}",
    action="Let the allocator keep its memory",
    fact="{calls} driver calls for memory per {step}",
    sentence="""Calls that allocate or free driver memory ({calls} per {step}) block the host;
    without them the {step} is {gain} ({share}) shorter.""",
    attempt="""Let the caching allocator keep its memory: no empty_cache() in the loop, fewer sizes
    (pad or bucket the inputs), or {allocator_setting}=expandable_segments:True.""",
    caveat="The first steps of a program take memory that they keep; later ones should not.",
    views=("overview", "memory", "trace"),
    cause="Allocating and freeing memory takes {gain} of {the_step}",
    without="Without these calls",
    links=(
        ("Memory management of CUDA devices", links.DOCS + "notes/cuda.html#memory-management"),
    ),
    numbers={"calls": ("Calls", "count")},
)
