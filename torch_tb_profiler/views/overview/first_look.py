"""The first look at a step: its length, until it is known what its end waited for."""

from __future__ import annotations

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.selection import Selection, has_steps
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import WorkloadKind
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.steps import step_noun


def first_look(facts: Facts, selection: Selection) -> str:
    """How long the step takes that speaks for the selected ones; empty without a step."""
    row = median_step(facts, selection.steps)
    wall = 0 if row is None else int(step_lengths(facts["steps"])[row])
    if not wall:
        return ""
    noun = step_noun(facts, selection.steps)
    word = noun if noun != "step" else _word(facts)
    article = "The" if len(selection.steps) == 1 else "An" if word[0] in "aeiou" else "A"
    return f"{article} {word} takes about {format_ns(wall)}."


def _word(facts: Facts) -> str:
    if not has_steps(facts):
        return "recording"
    return "iteration" if facts.summary.workload.kind == WorkloadKind.SERVING else "step"
