"""Drawn traces with profiled ranges: what stands on stream 0 of a ``gpu`` line. Calls are drawn
short: ``<launch>``, ``<driver>``.
"""

from __future__ import annotations

from typing import Any

from tests.builders.drawn import Event, events, trace_of
from torch_tb_profiler.analysis.counters.profiled import ProfiledKernels, profiled_kernels
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.profiled_ranges import RangeMatch
from torch_tb_profiler.store.model import Facts, Trace

Counters = dict[str, dict[str, Any]]
NAMES = {
    "launch": "cudaLaunchKernel",
    "extended": "cudaLaunchKernelExC",
    "driver": "cuLaunchKernel",
    "copy": "cudaMemcpyAsync",
    "graph": "cudaGraphLaunch",
}


def with_ranges(
    drawing: str, counters: Counters | None = None, header: dict[str, Any] | None = None
) -> tuple[Trace, Facts, ProfiledKernels]:
    """The trace, its facts and its profiled kernels; ``counters`` by the name of the range, one
    counter ``n`` where there are none.
    """
    listed = [
        _as_range(event, counters or {})
        if event["cat"] == "kernel" and event["tid"] == 0
        else event
        for event in events(drawing, NAMES)
    ]
    trace = trace_of(listed, **(header or {}))
    facts = derive(trace)
    return trace, facts, profiled_kernels(trace, facts)


def _as_range(event: Event, counters: Counters) -> Event:
    return {**event, "cat": "cuda_profiler_range", "args": counters.get(event["name"], {"n": 1})}


def tied(trace: Trace, found: ProfiledKernels) -> list[tuple[str, str, str]]:
    """(range, how, operators of its launch outermost first, joined by spaces) of every range."""

    def name(row: int) -> str:
        return trace.strings[int(trace["spans"]["name"][row])]

    first = found.first.tolist()
    return [
        (
            name(row),
            RangeMatch(how).name,
            " ".join(name(r) for r in found.operators[first[i] : first[i + 1]].tolist()),
        )
        for i, (row, how) in enumerate(
            zip(found.launches.row.tolist(), found.launches.how.tolist(), strict=True)
        )
    ]
