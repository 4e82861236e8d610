"""Memory that each step takes and keeps: what is allocated after every step is more than after the one before.

Evidence: blocks that a step allocates and that are still there when the recording ends, in every step but the last, whose
blocks anybody may still hold; together at least 2 % of the device's peak, and what is allocated at the ends of the steps
grows (Kendall's rank correlation; of few steps, each by more). Named by the line and the operator that allocate most of them.
It claims no time. Wrong where a cache fills up to a limit.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time
from torch_tb_profiler.analysis.memory.window import of_device
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.units import format_bytes

_LEAST_STEPS = 4
_MOST_OF_STEPS = 0.8
_OF_PEAK = 0.02
_SHOWN = 3


class _Kept(msgspec.Struct, frozen=True):
    """Blocks of one device that steps keep, rows of ``allocations``, and the step of each; bytes per step."""

    device: int
    row: Ints
    step: Ints
    bytes: Array


def _claim(context: RuleContext) -> Candidate | None:
    steps = context.steps
    if context.is_whole or len(steps) < _LEAST_STEPS or not context.insight["allocations"].n:
        return None
    found = [_kept(context, device, steps) for device in range(context.insight["memory_devices"].n)]
    kept = max(filter(None, found), key=lambda one: float(one.bytes.sum()), default=None)
    if kept is None:
        return None
    table, devices = context.insight["allocations"], context.insight["memory_devices"]
    nodes = context.insight["memory_nodes"]
    node = table["node"][kept.row]
    events = picked(nodes["event"], node).astype(np.int64)
    size = table["bytes"][kept.row]
    largest = np.argsort(-size, kind="stable")
    shown = events[largest][events[largest] >= 0]
    found_in = without_time(
        {
            "per_step": float(np.median(kept.bytes)),
            "kept": float(kept.bytes.sum()),
            "steps": float(len(steps)),
            "peak": float(devices["peak"][kept.device]),
        },
        np.asarray(list(dict.fromkeys(shown.tolist()))[:50], np.int64),
    )
    found_in.words["holders"] = _holders(context, kept)
    return found_in


def _kept(context: RuleContext, device: int, steps: Ints) -> _Kept | None:
    table, facts = context.insight["allocations"], context.facts["steps"]
    rows = of_device(table, device)
    begin = table["begin"][rows]
    step = window_at(facts["host_start"], facts["host_end"], begin).astype(np.int64)
    own = (table["release"][rows] < 0) & (begin >= 0) & np.isin(step, steps[:-1])
    row, step = rows.start + np.flatnonzero(own), step[own]
    each = sum_by(np.searchsorted(steps, step), len(steps), table["bytes"][row])[:-1]
    peak = int(context.insight["memory_devices"]["peak"][device])
    often = float((each > 0).mean()) >= _MOST_OF_STEPS
    if not often or each.sum() < _OF_PEAK * peak or not _rises(context, device, steps):
        return None
    return _Kept(device, row, step, each)


def _rises(context: RuleContext, device: int, steps: Ints) -> bool:
    """Whether what is allocated at the ends of the steps rises nearly always."""
    curve, facts = context.insight["memory_curve"], context.facts["steps"]
    rows = of_device(curve, device)
    at = np.searchsorted(curve["time"][rows], facts["host_end"][steps], side="right") - 1
    level = curve["allocated"][rows][at[at >= 0]]
    rises = np.diff(level) > 0
    return bool(len(rises) >= _LEAST_STEPS - 1 and rises.mean() >= _MOST_OF_STEPS)


def _holders(context: RuleContext, kept: _Kept) -> str:
    """``aten::linear at train.py(24): main (2.0 MiB), …``: where the blocks were allocated, the largest first."""
    table, nodes, texts = (
        context.insight["allocations"],
        context.insight["memory_nodes"],
        context.insight.strings,
    )
    operator = picked(nodes["name"], table["node"][kept.row])
    first, group = group_rows((table["line"][kept.row], operator))
    total = sum_by(group, len(first), table["bytes"][kept.row])
    parts = []
    for one in np.argsort(-total, kind="stable")[:_SHOWN].tolist():
        line, name = int(table["line"][kept.row[first[one]]]), int(operator[first[one]])
        told = " at ".join(texts[number] for number in (name, line) if number >= 0)
        if told:
            parts.append(f"{told} ({format_bytes(int(total[one]))})")
    return ", ".join(parts)


RULE = Rule(
    place=221,
    claim=_claim,
    title="Memory grows with each {step}",
    action="Release what each {step} keeps",
    fact="{per_step} more with each {step}",
    sentence="""Each {step} allocates {per_step} that it keeps: {kept} in {steps} {several} are not released, and the memory that
    is allocated grows from {step} to {step}.""",
    attempt="""Look for what holds them: a list or dictionary that outputs or losses are appended to (append loss.item(), or
    output.detach().cpu()), hooks that store tensors, a graph kept by retain_graph=True, a cache without a limit.""",
    caveat="A cache grows until it is full, and optimizers make their state in the first {step}.",
    views=("overview", "memory"),
    links=(
        (
            "Memory that is not freed",
            links.DOCS + "notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",
        ),
    ),
    details=(("holders", "Most of it is allocated in {holders}."),),
    numbers={
        "per_step": ("Kept per {step}", "bytes"),
        "kept": ("Kept", "bytes"),
        "peak": ("Peak", "bytes"),
        "steps": ("{several}", "count"),
    },
)
