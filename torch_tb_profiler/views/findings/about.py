"""What an answer is about: ``Step 6, the median of 7 · training · NVIDIA H100 80GB``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.critical_path.verdict_texts import number_of
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import WorkloadKind, Writer
from torch_tb_profiler.units import format_count
from torch_tb_profiler.views.steps import step_noun
from torch_tb_profiler.views.words.texts import capitalised
from torch_tb_profiler.views.work.iterations import iteration_of

_SERVERS = {Writer.VLLM: "vLLM", Writer.SGLANG: "SGLang"}
MOST_DEVICES = 2
"""Kinds of devices that are named."""


def about_text(facts: Facts, analysis: Mapping[str, Any], row: int | None) -> str:
    """Which step, kind of run, and device; whose they are, the reply's subject says. ``row``: of the step that the answer speaks of."""
    parts = (_which(facts, analysis, row), _kind(facts), _device(facts))
    return capitalised(" · ".join(filter(None, parts)))


def _kind(facts: Facts) -> str:
    summary = facts.summary
    if summary.workload.kind == WorkloadKind.UNKNOWN:
        return ""
    server = _SERVERS.get(summary.writer, "")
    return ", ".join(filter(None, (summary.workload.kind.value, server)))


def _device(facts: Facts) -> str:
    names = Counter(facts.strings[int(name)] or "" for name in facts["devices"]["name"])
    named = [
        name if n == 1 else f"{format_count(n)} × {name}"
        for name, n in names.most_common(MOST_DEVICES)
        if name
    ]
    if named:
        return ", ".join(named)
    return "CPU only" if "device" in absent(facts) else ""


def step_name(facts: Facts, row: int) -> str:
    """The number that people know a step by: ``ProfilerStep#6`` → ``6``, else its place."""
    return number_of(facts.strings[int(facts["steps"]["name"][row])], row)


def _which(facts: Facts, analysis: Mapping[str, Any], row: int | None) -> str:
    if row is None:
        return ""
    count = analysis["steps"]
    if "no_steps" in analysis["unsure"] or "sums" in analysis["unsure"]:
        return "the whole recording"
    noun = step_noun(facts, np.array(analysis["all_rows"], np.int64))
    named = f"{noun} {step_name(facts, row)}"
    iteration = iteration_of(facts, row)
    if iteration is not None:
        named = f"one {iteration['phase']}"
        tokens = iteration["tokens"]
        verified = "verified " if iteration["verifies"] else ""
        many = f"{format_count(tokens)} {verified}token{'' if tokens == 1 else 's'}"
        named += f" of {many}" if tokens else ""
    if count > 1:
        # The median step of a job need not be that of this rank, and what recurs is told of a step that has it.
        own = row == median_step(facts, np.array(analysis["all_rows"], np.int64))
        return f"{named}, {'the median' if own else 'one'} of {format_count(count)}"
    return named if facts["steps"].n > 1 else f"{named}, the only one recorded"
