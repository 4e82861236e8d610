"""An allocation that failed for lack of memory: what was asked for, what was free, and what held the rest.

Evidence: the first ``[OutOfMemory]`` instant of a trace, or the first entry ``oom`` of a memory snapshot. Fragmented where
more is reserved than allocated, by at least what was asked for. It claims no time.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule, without_time
from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.live_memory import live_memory_at, places_of
from torch_tb_profiler.units import format_bytes

_SHOWN = 3


def _claim(case: Case) -> Candidate | None:
    failures, count = failed_allocations(case.trace, case.facts, case.insight, 1)
    if not failures:
        return None
    failure, words = failures[0], dict[str, str]()
    numbers = {"asked": float(failure.bytes), "free": float(failure.free), "failed": float(count)}
    held = (
        live_memory_at(case.insight, failure.device, failure.time) if failure.device >= 0 else None
    )
    if held is not None:
        numbers["allocated"] = float(held.allocated)
        places = places_of(case.insight, held, _SHOWN)
        words["holders"] = ", ".join(f"{place} ({format_bytes(size)})" for place, size in places)
        if held.reserved >= 0:
            numbers["reserved"] = float(held.reserved)
            numbers["unused"] = float(held.reserved - held.allocated)
    words["line"] = failure.line
    words["failed"] = _failed(failure.bytes, numbers)
    if 0 < failure.bytes <= numbers.get("unused", -1):
        words["fragmented"] = format_bytes(int(numbers["unused"]))
    found = without_time({key: value for key, value in numbers.items() if value >= 0})
    found.words.update({key: text for key, text in words.items() if text})
    return found


def _failed(asked: int, numbers: dict[str, float]) -> str:
    """``999 MiB were asked for, with 123 B free, 14.0 MiB allocated and 20.0 MiB reserved``."""
    text = f"{format_bytes(asked)} were asked for" if asked >= 0 else "memory was asked for"
    state = [
        f"{format_bytes(int(numbers[key]))} {key}"
        for key in ("free", "allocated", "reserved")
        if numbers.get(key, -1) >= 0
    ]
    return f"{text}, with {', '.join(state)}" if state else text


RULE = Rule(
    place=219,
    claim=_claim,
    title="An allocation failed for lack of memory",
    action="Make what holds most memory smaller",
    fact="{failed}",
    sentence="{failed}.",
    attempt="""Make what holds most of it smaller: smaller batches or shorter sequences, activation checkpointing,
    16-bit types, sharded optimizer state and parameters, and no tensors kept from step to step. Against fragmentation
    PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.""",
    caveat="""What is freed by other streams or by Python's garbage collector a little later is still counted as allocated.""",
    views=("overview", "memory"),
    links=(
        ("Memory management of CUDA devices", links.DOCS + "notes/cuda.html#memory-management"),
        links.CHECKPOINT,
    ),
    details=(
        ("line", "It was at {line}."),
        ("holders", "Most is held by {holders}."),
        (
            "fragmented",
            "{fragmented} of what the allocator has reserved is not allocated, in pieces too small: memory is fragmented.",
        ),
    ),
    numbers={
        "asked": ("Asked for", "bytes"),
        "free": ("Free", "bytes"),
        "allocated": ("Allocated", "bytes"),
        "reserved": ("Reserved", "bytes"),
        "unused": ("Reserved and not allocated", "bytes"),
        "failed": ("Failed allocations", "count"),
    },
    words=("failed",),
    of_memory=True,
)
