"""The view of a server's iterations, and what a trace without any can be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
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
    row = median_step(facts, rows if len(rows) else table["step"])
    iteration = row is not None and iteration_of(facts, row)
    if row is None or not iteration:
        return f"An iteration takes {format_ns(step_lengths(facts['steps'])[row or 0])}."
    return answer_of_server(facts, row, iteration)


def answer_of_server(facts: Facts, row: int, iteration: Mapping[str, Any], others: str = "") -> str:
    """How long an iteration takes, of an incomplete one what was recorded, and tokens per second where they are known; else how
    long ``others`` take.
    """
    length, phase = format_ns(spoken_length(facts, row)), iteration["phase"]
    takes = f"A {phase} takes {length}"
    if facts["steps"]["flags"][row] & StepFlag.INCOMPLETE:
        takes = f"The recorded {length} of a {phase}"
    if iteration["rate"]:
        return f"{takes}: {iteration['rate']} per second."
    return f"{takes}{others and f'; {others}'}."


def spoken_length(facts: Facts, row: int) -> int:
    """Of a step, ns; of an incomplete one that of what was recorded."""
    steps = facts["steps"]
    silent = int(steps["silent"][row]) if steps["flags"][row] & StepFlag.INCOMPLETE else 0
    return int(step_lengths(steps)[row]) - silent


def silence(facts: Facts, row: int, device: str) -> Iterator[str]:
    """How long nothing was recorded on the devices at the begin of a step, or of those before it; a sentence."""
    steps = facts["steps"]
    own, first = steps["earlier"] + steps["silent"], steps["silent"].sum()
    when = "before" if steps["flags"][row] & StepFlag.INCOMPLETE else "at its begin"
    if not own[row]:
        when = "before the first one: only bounds of the rate are known"
    if time := own[row] or first:
        yield f"Nothing was recorded on the {device} for {format_ns(time)} {when}."


def rate_text(least: float, most: float, what: str) -> str:
    """``5 670 tokens``, ``397 to 1 990 tokens`` where only bounds are known; empty where they are not."""
    if np.isnan(most):
        return ""
    low, high = "" if np.isnan(least) else _three_digits(least), _three_digits(most)
    bound = "" if low == high else f"{low} to " if low else "at most "
    return f"{bound}{high} {what}"


def _three_digits(rate: float) -> str:
    """A measured rate: 4950.6 → ``4 950``."""
    return format_count(float(f"{rate:.3g}")) if rate >= 100 else format_number(rate)


def iteration_of(facts: Facts, row: int) -> dict[str, Any] | None:
    """Of a server's iteration the phase, tokens, its rate in words (of one with prompts that of their tokens; empty where it is
    unknown) and what else is to be told of its tokens, a sentence each; None where a step is none.
    """
    table = iteration_table(facts, Selection(np.array([row], np.int64), False))
    if not table.n or table["phase"][0] == "other":
        return None
    tokens = sum(max(int(table[key][0]), 0) for key in ("context_tokens", "generation_tokens"))
    phase = table["phase"][0]
    prompts, generated = (
        rate_text(
            float(table[f"least_{key}_per_second"][0]), float(table[f"{key}_per_second"][0]), what
        )
        for key, what in (("prompt_tokens", "prompt tokens"), ("tokens", "tokens"))
    )
    return {
        "phase": "mixed iteration" if phase == "mixed" else phase,
        "tokens": tokens,
        "verifies": bool(0 < table["generation_requests"][0] < table["generation_tokens"][0]),
        "rate": prompts or generated,
        "told": list(_told(table, generated if prompts and phase == "mixed" else "")),
    }


def _told(table: DisplayTable, generated: str) -> Iterator[str]:
    """What bounds the rate of an iteration, and what it drafts."""
    requests, scheduled, draft = (
        int(table[key][0]) for key in ("generation_requests", "generation_tokens", "draft_ns")
    )
    if generated:
        yield f"It generates {generated} per second."
    if 0 < requests < scheduled:
        verifies = (
            f"It verifies {format_count(scheduled)} tokens of {format_count(requests)} requests"
        )
        yield f"{verifies}: how many are accepted is not in the trace."
    if draft > 0:
        share = format_share(draft / max(int(table["wall_ns"][0]), 1))
        yield f"Drafts take {format_ns(draft)} of it, {share}."


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
