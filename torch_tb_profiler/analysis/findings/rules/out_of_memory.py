"""An allocation that failed for lack of memory: what was asked for, what was free, and what held the rest.

Evidence: the first ``[OutOfMemory]`` instant of a trace, or the first entry ``oom`` of a memory snapshot. Fragmentation is
why where what the device and the allocator had free would do, in no piece that was large enough. It claims no time.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time
from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.shortage import (
    asked_and_free,
    shortage_of,
    shortage_sentences,
)


def _claim(context: RuleContext) -> Candidate | None:
    failures, count = failed_allocations(context.trace, context.facts, context.insight, 1)
    if not failures:
        return None
    failure = failures[0]
    short = shortage_of(context.trace, context.insight, failure)
    numbers = {
        "asked": failure.bytes,
        "free": failure.free,
        "unused": short.unused,
        "failed": count,
    }
    if short.held is not None:
        numbers |= {"allocated": short.held.allocated, "reserved": short.held.reserved}
    found = without_time({key: float(value) for key, value in numbers.items() if value >= 0})
    found.words["failed"] = asked_and_free(failure)
    found.words["why"] = " ".join(shortage_sentences(short, count)[1:]).removesuffix(".")
    if short.why in ("fragmented", "pieces"):
        found.words["action"] = "Let the segments grow: expandable_segments:True"
    return found


RULE = Rule(
    place=219,
    claim=_claim,
    title="An allocation failed for lack of memory",
    action="Make the largest holders of memory smaller",
    fact="{failed}",
    sentence="{failed}.",
    attempt="""Make the largest holders smaller: smaller batches or shorter sequences, activation checkpointing,
    16-bit types, sharded optimizer state and parameters, and no tensors kept from step to step. Against fragmentation
    {allocator_setting}=expandable_segments:True.""",
    caveat="""What is freed by other streams or by Python's garbage collector a little later is still counted as allocated.""",
    views=("overview", "memory"),
    links=(
        ("Memory management of CUDA devices", links.DOCS + "notes/cuda.html#memory-management"),
        links.CHECKPOINT,
    ),
    details=(("why", "{why}."),),
    numbers={
        "asked": ("Asked for", "bytes"),
        "free": ("Free", "bytes"),
        "allocated": ("Allocated", "bytes"),
        "reserved": ("Reserved", "bytes"),
        "unused": ("Reserved and in no block", "bytes"),
        "failed": ("Failed allocations", "count"),
    },
    words=("failed",),
    of_memory=True,
)
