"""The view of a server's iterations, and what a trace without any can be told."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from torch_tb_profiler.analysis.figures.iterations import (
    ITERATIONS,
    PARTS,
    PHASE_TABLE,
    iteration_table,
    phase_table,
)
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.units import format_count, format_ns, format_number
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Wire


class HowToRecord(Wire, frozen=True, kw_only=True):
    """A server, and how it records a trace with annotations."""

    server: str
    how: str


class IterationsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/iterations``. ``headline``: the answer in a sentence or two. ``iterations``: those of the selected steps
    in time order, none where the trace is of no server; then ``recorded_by`` says how servers record.
    """

    headline: str
    iterations: Annotated[dict[str, Any], table_of(ITERATIONS)]
    phases: Annotated[dict[str, Any], table_of(PHASE_TABLE)]
    recorded_by: list[HowToRecord]


HOW_TO_RECORD = (
    (
        "vLLM",
        "vllm serve with --profiler-config.profiler=torch --profiler-config.torch_profiler_dir=DIR (before 0.13:"
        " VLLM_TORCH_PROFILER_DIR=DIR), then POST /start_profile and /stop_profile, or vllm bench serve --profile",
    ),
    (
        "SGLang",
        "SGLANG_TORCH_PROFILER_DIR=DIR, then POST /start_profile and /stop_profile, or sglang.bench_serving --profile",
    ),
    ("TensorRT-LLM", "TLLM_PROFILE_START_STOP=100-150 TLLM_TORCH_PROFILE_TRACE=trace.json"),
    (
        "A loop of your own",
        'torch.profiler.record_function("prefill") and record_function("decode") around the calls of the model',
    ),
    (
        "Replayed graphs",
        "record the capture too: its folder capture_traces beside the trace gives their operators and shapes",
    ),
)
"""Server, and how it records a trace with annotations, in its own words."""


def iterations_payload(facts: Facts, selection: Selection) -> IterationsPayload:
    """Route ``/iterations``."""
    table = iteration_table(facts, selection)
    return IterationsPayload(
        headline=headline(table),
        iterations=wire_columns(table),
        phases=wire_columns(phase_table(table)),
        recorded_by=[
            HowToRecord(server=server, how=how)
            for server, how in HOW_TO_RECORD
            if facts.summary.writer not in (Writer.OTHER, Writer.TORCH_NPU)
        ],
    )


def headline(table: DisplayTable) -> str:
    """The answer in a sentence or two."""
    if not table.n:
        return "The trace has no iterations of an inference server."
    counts = {name: list(table["phase"]).count(name) for name in dict.fromkeys(table["phase"])}
    kinds = ", ".join(f"{format_count(count)} {name}" for name, count in counts.items())
    noun = "iteration" if table.n == 1 else "iterations"
    steady = table.take(np.array([part == PARTS[1] for part in table["part"]], np.bool_))
    said = f"{format_count(table.n)} {noun}: {kinds}."
    decode = phase_table(steady if steady.n else table)
    rows = {name: row for row, name in enumerate(decode["phase"])}
    if "decode" in rows:
        row = rows["decode"]
        where = " in the steady state" if steady.n else ""
        said += f" A decode{where} takes {format_ns(float(decode['wall_ns'][row]))}"
        rate = float(decode["tokens_per_second"][row])
        said += f", {format_number(rate)} tokens/s." if rate == rate else "."
    return said
