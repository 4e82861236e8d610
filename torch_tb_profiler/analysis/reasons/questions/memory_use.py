"""Memory and its allocator: what a step keeps, how full the device is, an allocation that failed, and calls of the driver."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, picked, sum_by
from torch_tb_profiler.analysis.arrays.intervals import measure, subtract, window_at
from torch_tb_profiler.analysis.facts.launches import ALLOCATES
from torch_tb_profiler.analysis.findings.edits import host_skips
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Question,
    RuleContext,
    without_time,
)
from torch_tb_profiler.analysis.memory.failures import failed_allocations
from torch_tb_profiler.analysis.memory.shortage import (
    asked_and_free,
    shortage_of,
    shortage_sentences,
)
from torch_tb_profiler.analysis.memory.window import of_device
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_bytes

QUESTION = Question(__name__)
NEAR = 0.9
"""Share of the device's memory from which on it is nearly full."""
_LEAST_STEPS = 4
_MOST_OF_STEPS = 0.8
_OF_PEAK = 0.02
_SHOWN = 3


@QUESTION.rule(70, of_device=True)
def allocator_churn(context: RuleContext) -> Claims:
    """Calls that take memory from the driver or give it back and hold the host up until the device has
    nothing to do: ``cudaMalloc``, ``cudaFree``, ``hipMalloc``, ``cuMemMap`` …

    Change: the calls take no time and wait for nothing. Certain.
    """
    row = context.rows_named(context.of_role(Role.RUNTIME), ALLOCATES.match)
    start, _ = context.times(row)
    row = row[measure(context.windows, start, start + 1) > 0]
    # Before the first work of a recording without steps, the device waits for them as well.
    early = context.pieces(row).during(subtract(context.windows, context.judged))
    calls = {"calls": len(row) / len(context.steps)}
    held = context.gaps_after(row) + early
    return Candidate(held, calls, edit=host_skips(row), unplanned=True)


@QUESTION.rule(219, of_memory=True)
def out_of_memory(context: RuleContext) -> Claims:
    """An allocation that failed for lack of memory: what was asked for, what was free, and what held the rest.

    Evidence: the first ``[OutOfMemory]`` instant of a trace, or the first entry ``oom`` of a memory snapshot. Fragmentation is
    why where what the device and the allocator had free would do, in no piece that was large enough. It claims no time.
    """
    failures, count = failed_allocations(context.trace, context.facts, context.insight, 1)
    if not failures:
        return None
    failure = failures[0]
    short = shortage_of(context.trace, context.insight, failure)
    numbers = {"asked": failure.bytes, "free": failure.free}
    numbers |= {"unused": short.unused, "failed": count}
    if short.held is not None:
        numbers |= {"allocated": short.held.allocated, "reserved": short.held.reserved}
    found = without_time({key: float(value) for key, value in numbers.items() if value >= 0})
    found.words["failed"] = asked_and_free(failure)
    found.words["why"] = " ".join(shortage_sentences(short, count)[1:]).removesuffix(".")
    if short.why in ("fragmented", "pieces"):
        found.words["action"] = "Let the segments grow: expandable_segments:True"
    return found


@QUESTION.rule(220, risk=0.03, of_device=True, untried=True)
def memory_near_capacity(context: RuleContext) -> Claims:
    """A peak, allocated or reserved, above 90 % of the device's own memory. It claims no time."""
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


class _Kept(msgspec.Struct, frozen=True):
    """Blocks of one device that steps keep, rows of ``allocations``, and the step of each; bytes per step."""

    device: int
    row: Ints
    step: Ints
    bytes: Array


@QUESTION.rule(221)
def memory_growth(context: RuleContext) -> Claims:
    """Memory that each step takes and keeps: what is allocated after every step is more than after the one before.

    Evidence: blocks that a step allocates and that are still there when the recording ends, in every step but the last, whose
    blocks anybody may still hold; together at least 2 % of the device's peak, and what is allocated at the ends of the steps
    grows (Kendall's rank correlation; of few steps, each by more). Named by the line and the operator that allocate most of them.
    It claims no time. Wrong where a cache fills up to a limit.
    """
    steps = context.steps
    if context.is_whole or len(steps) < _LEAST_STEPS or not context.insight["allocations"].n:
        return None
    found = [_kept(context, device, steps) for device in range(context.insight["memory_devices"].n)]
    kept = max(filter(None, found), key=lambda one: float(one.bytes.sum()), default=None)
    if kept is None:
        return None
    table, nodes = context.insight["allocations"], context.insight["memory_nodes"]
    events = picked(nodes["event"], table["node"][kept.row]).astype(np.int64)
    events = events[np.argsort(-table["bytes"][kept.row], kind="stable")]
    numbers = {
        "per_step": float(np.median(kept.bytes)),
        "kept": float(kept.bytes.sum()),
        "steps": float(len(steps)),
        "peak": float(context.insight["memory_devices"]["peak"][kept.device]),
    }
    shown = list(dict.fromkeys(events[events >= 0].tolist()))[:50]
    return without_time(numbers, np.array(shown, np.int64), {"holders": _holders(context, kept)})


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
    table, texts = context.insight["allocations"], context.insight.strings
    operator = picked(context.insight["memory_nodes"]["name"], table["node"][kept.row])
    first, group = group_rows((table["line"][kept.row], operator))
    total = sum_by(group, len(first), table["bytes"][kept.row])
    parts = []
    for one in np.argsort(-total, kind="stable")[:_SHOWN].tolist():
        line, name = int(table["line"][kept.row[first[one]]]), int(operator[first[one]])
        told = " at ".join(texts[number] for number in (name, line) if number >= 0)
        if told:
            parts.append(f"{told} ({format_bytes(int(total[one]))})")
    return ", ".join(parts)
