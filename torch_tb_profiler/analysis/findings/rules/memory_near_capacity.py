"""A peak, allocated or reserved, above 90 % of the device's own memory. It claims no time."""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time

NEAR = 0.9
"""Share of the device's memory from which on it is nearly full."""


def _claim(context: RuleContext) -> Candidate | None:
    devices, memory = context.facts["devices"], context.insight["memory_devices"]
    full: list[dict[str, float]] = []
    for row in range(devices.n):
        number, size, peak = (int(devices[key][row]) for key in ("id", "memory", "peak_allocated"))
        own = (memory["id"] == number) & (memory["type"] > 0)
        for key in ("peak", "peak_reserved"):
            peak = max(peak, int(memory[key][own].max(initial=peak)))
        if size > 0 and peak > NEAR * size:
            full.append({"number": number, "peak": peak, "memory": size, "full": peak / size})
    return without_time(max(full, key=lambda device: device["full"])) if full else None


RULE = Rule(
    place=220,
    claim=_claim,
    title="Memory is nearly full",
    action="Lower the peak of memory",
    fact="{peak} of {memory} allocated",
    sentence="""The allocator's peak is {peak}, {full} of the {memory} of {device} {number}: a
    slightly larger input ends in an out-of-memory error.""",
    attempt="""Recompute activations instead of keeping them, use smaller data types, or shard
    optimizer state and parameters.""",
    caveat="The caching allocator keeps what it once took: reserved memory need not be in use.",
    views=("overview", "memory"),
    risk=0.03,
    links=(links.CHECKPOINT, links.AMP),
    numbers={
        "peak": ("Peak", "bytes"),
        "memory": ("Memory of the {device}", "bytes"),
        "full": ("Share of the memory", "share"),
        "number": ("", ""),
    },
)
