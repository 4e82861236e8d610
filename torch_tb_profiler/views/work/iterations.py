"""The view of a server's iterations, and what a trace without any can be told."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.iterations import (
    ITERATIONS,
    PARTS,
    PHASE_TABLE,
    iteration_table,
    phase_table,
)
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import Writer
from torch_tb_profiler.units import format_count, format_ns, format_number, format_share
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Wire


class HowToRecord(Wire, frozen=True, kw_only=True):
    """A server, and how it records a trace with annotations."""

    server: str
    how: str


class IterationsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/iterations``. ``headline``: the answer in one sentence; ``detail``: what it rests on, which iterations are
    odd, how much is padding, a sentence each. ``iterations``: those of the selected steps in time order, none where the
    trace is of no server; then ``recorded_by`` says how servers record. ``phases``: of the steady state where a phase has
    iterations in it.
    """

    headline: str
    detail: list[str]
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


PADDED = 0.2
"""Share of a phase's batches from which on their padding is told."""
_MANY = {"decode": "decodes", "prefill": "prefills", "mixed": "iterations with prompts"}


def iterations_payload(facts: Facts, selection: Selection) -> IterationsPayload:
    """Route ``/iterations``."""
    table = iteration_table(facts, selection)
    phases = phase_table(speaking(table))
    return IterationsPayload(
        headline=headline(facts, selection),
        detail=_detail(table, phases),
        iterations=wire_columns(table),
        phases=wire_columns(phases),
        recorded_by=[
            HowToRecord(server=server, how=how)
            for server, how in HOW_TO_RECORD
            if facts.summary.writer not in (Writer.OTHER, Writer.TORCH_NPU)
        ],
    )


def speaking(table: DisplayTable) -> DisplayTable:
    """The iterations of the steady state; of a phase that has none in it all."""
    phase = np.array(table["phase"])
    steady = np.array([part == PARTS[1] for part in table["part"]], np.bool_)
    return table.take(steady | ~np.isin(phase, phase[steady]))


def headline(facts: Facts, selection: Selection) -> str:
    """``A decode takes 4.57 ms: 5 670 tokens per second.``, as Overview has it: of the iteration that speaks for those
    selected.
    """
    table = iteration_table(facts, selection)
    if not table.n:
        return "The trace has no iterations of an inference server."
    rows = table["step"][~table["cut"]]
    row = median_step(facts, rows)
    if row is None:
        return "The end of the recording cut every iteration off."
    iteration = iteration_of(facts, row)
    phase, rate = (iteration["phase"], iteration["rate"]) if iteration else ("", None)
    return answer_of_server(phase, int(step_lengths(facts["steps"])[row]), rate)


def answer_of_server(phase: str, length_ns: float, rate: float | None, others: str = "") -> str:
    """How long an iteration takes, and tokens per second where they are known; else how long ``others`` take."""
    one = f"A {phase}" if phase else "An iteration"
    takes = f"{one} takes {format_ns(length_ns)}"
    return (
        f"{takes}: {_three_digits(rate)} tokens per second."
        if rate is not None
        else f"{takes}{others and f'; {others}'}."
    )


def _three_digits(rate: float) -> str:
    """A measured rate: 4950.6 → ``4 950``."""
    return format_count(float(f"{rate:.3g}")) if rate >= 100 else format_number(rate)


def iteration_of(facts: Facts, row: int) -> dict[str, Any] | None:
    """Phase, tokens and tokens per second (None unknown) of a server's iteration; None where a step is none."""
    table = iteration_table(facts, Selection(np.array([row], np.int64), False))
    if not table.n or table["phase"][0] == "other":
        return None
    tokens = sum(max(int(table[key][0]), 0) for key in ("context_tokens", "generation_tokens"))
    rate = float(table["tokens_per_second"][0])
    phase = table["phase"][0]
    return {
        "phase": "mixed iteration" if phase == "mixed" else phase,
        "tokens": tokens,
        "rate": rate if rate == rate else None,
    }


def _detail(table: DisplayTable, phases: DisplayTable) -> list[str]:
    """How many iterations there are, which of them are odd, what is padding."""
    if not table.n:
        return []
    phase = np.array(table["phase"])
    counts = {name: int((phase == name).sum()) for name in dict.fromkeys(table["phase"])}
    noun = "iteration was" if table.n == 1 else "iterations were"
    kinds = ", ".join(f"{format_count(count)} {name}" for name, count in counts.items())
    one = f"{format_count(table.n)} {noun} recorded"
    said = [f"{one}." if table.n == 1 else f"{one}: {kinds}."]
    said += [_odd(table, phase == name, name) for name in counts]
    for row, name in enumerate(phases["phase"]):
        share = float(phases["padding"][row])
        if share >= PADDED:
            said.append(f"{format_share(share)} of the batches of {_many(name)} is padding.")
    return [sentence for sentence in said if sentence]


def _odd(table: DisplayTable, own: Mask, name: str) -> str:
    """``2 of 107 decodes take 8.9 times as long.``"""
    odd = own & table["odd"]
    if not odd.any():
        return ""
    usual = float(np.median(table["wall_ns"][own]))
    times = f"{float(np.median(table['wall_ns'][odd])) / usual:.2g}"
    takes = "takes" if odd.sum() == 1 else "take"
    return f"{format_count(int(odd.sum()))} of {format_count(int(own.sum()))} {_many(name)} {takes} {times} times as long."


def _many(phase: str) -> str:
    return _MANY.get(phase, "other iterations")
