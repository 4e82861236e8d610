"""Tables of a server's iterations, and of its phases.

The steady state is the longest stretch of iterations that generate for nearly as many requests as any one does; iterations
that only compute prompts say nothing of how many others wait, and neither interrupt it nor begin it::

    requests   1  2  4  4  p  4  4  4  3  1        p: only prompts; 4 is the most
               ramp-up ┃    steady     ┃ ramp-down
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from operator import index
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.facts.header import json_list
from torch_tb_profiler.analysis.facts.unrecorded_work import much_unknown
from torch_tb_profiler.analysis.figures.selection import Selection
from torch_tb_profiler.analysis.figures.step_kinds import plain_names
from torch_tb_profiler.hardware.server_steps import PHASES
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.display import (
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    display_columns,
)
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.strings import NO_STRINGS

PARTS = ("ramp-up", "steady", "ramp-down")
STEADY_SHARE = 0.9
"""Of the most requests that an iteration generates for."""
LEAST_STEADY = 5
"""Iterations that generate in a stretch that is called steady."""
_FACTOR_AT = {"mm": 0, "_int_mm": 0, "_scaled_mm": 0, "linear": 0, "addmm": 1}
"""Products of matrices, by name without its library → which input has a row per token."""
_C = DisplayColumn
_PROMPTS = "Tokens of prompts that are computed, by the interval."
_GENERATED = "Generated tokens by the interval, of the first iteration by its time."
_RATES = tuple(
    _C(
        f"{key}_per_second",
        "number",
        f"{label} tokens/s, at {bound}",
        doc,
        term,
        True,
        unit="tokens/s",
    )
    for key, label, bound, doc, term in (
        ("least_prompt_tokens", "Prompt", "least", _PROMPTS, "prompt_tokens_per_second"),
        ("prompt_tokens", "Prompt", "most", _PROMPTS, "prompt_tokens_per_second"),
        ("least_tokens", "Generated", "least", _GENERATED, "tokens_per_second"),
        ("tokens", "Generated", "most", _GENERATED, "tokens_per_second"),
    )
)
"""Lower and upper bounds, equal where a rate is known."""
ITERATIONS = DisplaySpec(
    "iterations",
    "One row per iteration of an inference server.",
    (
        *display_columns("""
    name                 text   Iteration         term=iteration width=330                        Its annotation.
    step                 id     -                 -                                               Number of the step that it is, from 0.
    phase                text   Phase             term=iteration_phase width=72                   `prefill`, `decode`, `mixed`, `other` or `draft`.
    kind                 text   Kind              term=step_kind hidden                           Its phase, and its kind where several are of one.
    part                 text   Part              term=steady_state optional width=88             `ramp-up`, `steady` or `ramp-down`.
    context_requests     count  Prompts           term=iteration_requests optional unit=requests  Requests whose prompt is computed.
    context_tokens       count  Prompt tokens     term=iteration_tokens optional unit=tokens      Tokens that are computed of them.
    generation_requests  count  Generating        term=iteration_requests optional unit=requests  Requests that generate.
    generation_tokens    count  Scheduled tokens  term=iteration_tokens optional unit=tokens      Tokens that are computed of them: one per request, more where
        drafts are verified.
    batch                count  Batch             term=padded_batch optional                      What the batch was padded to: rows of the matrix products
        where shapes were recorded, else what the annotation states.
    padding              share  Padding           term=padding optional                           Rows of the batch that hold no token.
    begin_ns             time   Begin             term=iteration_begin hidden                     Begin, after the first event of the trace.
    earlier_ns           time   Not recorded      term=iteration_time hidden                      Work from before the recording at its begin, which no other
        figure holds.
    silent_ns            time   Silent            term=silent_start hidden                        At its begin launched work waits and nothing was recorded on
        the devices.
    wall_ns              time   Time              term=iteration_time                             From its begin to its end, as of a step.
    device_ns            time   Device            term=iteration_device optional                  Time with device work, of it; missing where work is.
    gap_ns               time   Gap before        term=gap_before optional                        Idleness of the device before its first work, since the last
        work of the iterations before.
    draft_ns             time   Draft             term=drafts optional                            Drafting, of its time.
    host_ns              time   Host              term=iteration_host                             Duration of the annotation.
    scheduler_ns         time   Scheduler         term=scheduler_time optional                    Host time between the annotation before and this one.
    interval_ns          time   Interval          term=token_interval optional                    From the end of the iteration before to its end: the time
        between tokens of requests that generate.
"""),
        *_RATES,
        _C(
            "odd",
            "flag",
            "Odd",
            "Slower than others of its phase by far more than they differ.",
            "odd_step",
        ),
        _C("cut", "flag", "", "Only a part of it was recorded."),
    ),
)
PHASE_TABLE = DisplaySpec(
    "phases",
    "One row per phase of a server's iterations.",
    (
        *display_columns("""
    phase        text       Phase            term=iteration_phase                        The phase.
    iterations   count      Iterations       term=iteration unit=iterations              How many.
    wall_ns      mean time  Median time      term=iteration_time                         Median of their times.
    interval_ns  time       Median interval  term=token_interval optional                Median of their intervals.
    tokens       count      Tokens           term=iteration_tokens optional unit=tokens  All tokens.
"""),
        *_RATES,
        _C("padding", "share", "Padding", "Rows of all batches without a token.", "padding", True),
        _C("device_share", "share", "Device", "Device time of their time.", "iteration_device"),
        _C("odd", "count", "Odd", "Odd ones.", "odd_step", unit="iterations"),
    ),
)


_OF_DEVICE = ("kernel", "memcpy", "memset", "communication")


def iteration_table(facts: Facts, selection: Selection) -> DisplayTable:
    """Iterations of the selected steps in time order."""
    table, steps = facts["iterations"], facts["steps"]
    step = table["step"].astype(np.int64)
    start, end = steps["start"][step], steps["end"][step]
    wall = step_lengths(steps)[step]
    interval = np.append(-1, end[1:] - end[:-1] - steps["earlier"][step][1:])[: len(end)]
    tokens = total_tokens(table)
    rows = padded_rows(facts, tokens)
    batch = np.where(rows >= 0, rows, table["batch"])
    known = (tokens >= 0) & (batch >= tokens) & ((rows >= 0) | (batch > tokens)) & (batch > 0)
    lacking = much_unknown(steps["unrecorded"][step], wall)
    phases = [PHASES[number] for number in _phases(facts).tolist()]
    names = [*plain_names(facts), ""]
    kinds = [names[kind] for kind in steps["kind"][step].tolist()]
    made = ITERATIONS.build(
        facts.strings,
        name=table["name"],
        step=step,
        phase=phases,
        kind=[
            own if own.startswith(phase) else phase
            for phase, own in zip(phases, kinds, strict=True)
        ],
        part=parts(table),
        **{f"{key}_requests": table[f"{key}_requests"] for key in ("context", "generation")},
        **{f"{key}_tokens": table[f"{key}_query"] for key in ("context", "generation")},
        batch=batch,
        padding=_ratio(batch - tokens, batch, known),
        begin_ns=start,
        earlier_ns=steps["earlier"][step],
        silent_ns=steps["silent"][step],
        wall_ns=wall,
        device_ns=np.where(lacking, -1, sum(steps[key][step] for key in _OF_DEVICE)),
        gap_ns=np.where(lacking, -1, table["gap"]),
        draft_ns=np.where(table["draft"] > 0, table["draft"], -1),
        host_ns=table["host"],
        scheduler_ns=table["scheduler"],
        interval_ns=interval,
        **_rates(table, steps, np.where(interval >= 0, interval, wall)),
        odd=(steps["flags"][step] & StepFlag.ODD) != 0,
        cut=(steps["flags"][step] & StepFlag.PART) != 0,
    )
    return made if selection.whole else made.take(np.isin(step, selection.steps))


def _phases(facts: Facts) -> Ints:
    """Of each iteration the index of its phase; where its annotation does not say, what its kind does."""
    table = facts["iterations"]
    what = np.append(facts["step_kinds"]["what"], StepKind.UNNAMED)[
        facts["steps"]["kind"][table["step"]]
    ]
    told = what.astype(np.int64) - StepKind.PREFILL
    known = (told >= 0) & (told < PHASES.index("other"))
    return np.where(known, told, table["phase"])


def _rates(table: Table, steps: Table, time: Ints) -> dict[str, Array]:
    """The columns of ``_RATES``. ``time``: that of each iteration, without work from before the recording.

    How many drafts were accepted is in no annotation, nor which prompts are complete: each request that generates gets
    one token at least, and all that were scheduled at most. What was not recorded may have been work, or not. Behind a
    silent start the device catches up, so an iteration takes no less than from its begin to that of the next, and no more
    than its share of all the time.
    """
    step = table["step"].astype(np.int64)
    earlier, silent = steps["earlier"][step], steps["silent"][step]
    whole, over, behind = time + earlier, time - silent, bool(silent.any())
    if behind and len(step) > 1:
        pace = np.diff(steps["host_start"][step])
        over = np.maximum(over, np.append(pace, pace[-1]))
    prompts, requests = table["context_query"], table["generation_requests"]
    scheduled, computed = table["generation_query"], table["phase"] != PHASES.index("draft")
    known = computed & (scheduled >= requests) & (table["context_requests"] >= 0)
    bounds = {
        "prompt_tokens": (prompts, prompts, computed & (prompts > 0)),
        "tokens": (requests, scheduled + table["context_requests"], known & (scheduled > 0)),
    }
    found: dict[str, Array] = {}
    for key, (least, most, there) in bounds.items():
        low = _ratio(least * 1e9, whole, there & (least >= 0) & (whole > 0))
        if behind and there.all():
            lasts = int(steps["end"][step[-1]] - steps["start"][step[0]])
            low = np.minimum(low, least.sum() * 1e9 / lasts)
        found |= {f"least_{key}_per_second": low}
        found |= {f"{key}_per_second": _ratio(most * 1e9, over, there & (over > 0))}
    return found


def phase_table(iterations: DisplayTable) -> DisplayTable:
    """The phases of some iterations, each kind for itself; those that were recorded in part left out; of those that draft also
    the parts.
    """
    kinds = list(zip(iterations["phase"], iterations["kind"], strict=True))
    phases = [
        kind
        for phase in PHASES
        for kind in dict.fromkeys(own for said, own in kinds if said == phase)
    ]
    found: list[dict[str, Any]] = []
    kind = np.array(iterations["kind"])
    for name in phases:
        rows = iterations.take((kind == name) & ~iterations["cut"])
        if rows.n:
            found += [{"phase": name, **_phase(rows)}, *_parts_of_drafting(rows)]
    columns = {c.name: [row.get(c.name, -1) for row in found] for c in PHASE_TABLE.columns}
    phase = columns.pop("phase")
    return PHASE_TABLE.build(
        NO_STRINGS, phase=phase, **{key: np.array(values) for key, values in columns.items()}
    )


def _parts_of_drafting(rows: DisplayTable) -> Iterator[dict[str, Any]]:
    """How long iterations draft, and verify."""
    rows = rows.take(rows["draft_ns"] > 0)
    if rows.n:
        unknown = dict.fromkeys((*(c.name for c in _RATES), "padding", "device_share"), np.nan)
        for name, time in (
            ("draft", rows["draft_ns"]),
            ("verify", rows["wall_ns"] - rows["draft_ns"]),
        ):
            one = {"phase": name, "iterations": rows.n, "wall_ns": float(np.median(time)), "odd": 0}
            yield one | unknown


def _phase(rows: DisplayTable) -> dict[str, float]:
    tokens = np.where(
        (rows["context_tokens"] >= 0) & (rows["generation_tokens"] >= 0),
        rows["context_tokens"] + rows["generation_tokens"],
        -1,
    )
    interval = np.where(rows["interval_ns"] >= 0, rows["interval_ns"], rows["wall_ns"])
    between = rows["interval_ns"][rows["interval_ns"] >= 0]
    padded = ~np.isnan(rows["padding"])
    batch = rows["batch"][padded].astype(np.float64)
    device = rows["device_ns"]
    wall = float(rows["wall_ns"][device >= 0].sum())
    return {
        "iterations": rows.n,
        "wall_ns": float(np.median(rows["wall_ns"])),
        "interval_ns": round(float(np.median(between))) if len(between) else -1,
        "tokens": int(tokens.sum()) if (tokens >= 0).all() else -1,
        **{c.name: _mean_rate(rows[c.name], interval) for c in _RATES},
        "padding": float((rows["padding"][padded] * batch).sum() / batch.sum())
        if len(batch)
        else np.nan,
        "device_share": float(device[device >= 0].sum()) / wall if wall else np.nan,
        "odd": int(rows["odd"].sum()),
    }


def _mean_rate(rate: Array, over: Ints) -> float:
    """Of iterations that take so long, ns; NaN where none is known."""
    known = ~np.isnan(rate)
    total = float(over[known].sum())
    return float((rate * over)[known].sum()) / total if total > 0 else np.nan


def _ratio(part: Array, whole: Array, known: Mask) -> Array:
    """part / whole where that is known, else NaN."""
    return np.where(known, part / np.where(known, whole, 1), np.nan)


def total_tokens(table: Table) -> Ints:
    """Tokens of every iteration; −1 where those of a kind are unknown."""
    context, generation = table["context_query"], table["generation_query"]
    return np.where((context >= 0) & (generation >= 0), context + generation, -1)


def parts(table: Table) -> list[str | None]:
    """Ramp-up, steady state or ramp-down of every iteration; None where no steady state is found."""
    first, last = steady_state(table)
    if last < first:
        return [None] * table.n
    return [
        PARTS[0] if row < first else PARTS[1] if row <= last else PARTS[2] for row in range(table.n)
    ]


def steady_state(table: Table) -> tuple[int, int]:
    """``(first, last)`` row of the steady state; ``(0, -1)`` where there is none."""
    prompts, generating = table["context_requests"], table["generation_requests"]
    row = np.flatnonzero(generating > 0)
    if not len(row):
        return 0, -1
    requests = generating[row] + np.maximum(prompts[row], 0)
    most = int(requests.max())
    enough = requests >= min(STEADY_SHARE * most, most - 1 if most > LEAST_STEADY else most)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], enough.astype(np.int8), [0]))))
    begin, end = edges[::2], edges[1::2]
    longest = int(np.argmax(end - begin))
    if end[longest] - begin[longest] < LEAST_STEADY:
        return 0, -1
    return int(row[begin[longest]]), int(row[end[longest] - 1])


def padded_rows(facts: Facts, tokens: Ints) -> Ints:
    """Rows of the matrix products of every iteration, the most frequent number that holds its tokens; −1 where no
    shapes were recorded, as of a replayed graph, or the tokens are unknown.
    """
    table, steps, operators = facts["iterations"], facts["operator_steps"], facts["operators"]
    rows_of = _rows_of_operators(facts)
    sized = rows_of[steps["operator"]]
    taken = np.flatnonzero((sized > 0) & (steps["step"] >= 0)) if operators.n else np.zeros(0, int)
    place = positions_of(table["step"], steps["step"][taken])
    result = np.full(table.n, -1, np.int64)
    inside = place >= 0
    place, size, calls = place[inside], sized[taken][inside], steps["calls"][taken][inside]
    holds = (tokens[place] > 0) & (size >= tokens[place])
    place, size, calls = place[holds], size[holds], calls[holds]
    pairs, group = np.unique(np.stack((place, size)), axis=1, return_inverse=True)
    total = np.bincount(group.ravel(), weights=calls, minlength=pairs.shape[1])
    order = np.argsort(total, kind="stable")
    result[pairs[0][order]] = pairs[1][order]
    return result


def _rows_of_operators(facts: Facts) -> Ints:
    """Rows of the factor that has one per token, by row of ``operators``; −1 of what is no product of matrices."""
    operators, strings = facts["operators"], facts.strings

    @cache
    def factor(number: int) -> int:
        return _FACTOR_AT.get(strings[number].rpartition("::")[2], -1)

    @cache
    def rows(number: int, at: int) -> int:
        try:
            *sizes, _ = (json_list(strings[number]) or [])[at]
            product = math.prod(map(index, sizes))
        except (ValueError, TypeError, IndexError):
            return -1
        return product if 1 <= len(sizes) <= 2 and abs(product) < 1 << 62 else -1

    found = [
        rows(dims, at) if dims >= 0 and (at := factor(name)) >= 0 else -1
        for name, dims in zip(operators["name"].tolist(), operators["dims"].tolist(), strict=True)
    ]
    return np.array(found, np.int64)
