"""The first look at a step: its length by what was running, until it is known what its end waited for."""

from __future__ import annotations

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.selection import Selection, has_steps
from torch_tb_profiler.analysis.figures.step_table import category_times
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.summary import WorkloadKind
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.steps import step_noun
from torch_tb_profiler.views.wire import FirstLook, FirstParts

_ORDER = (
    "dataloader",
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "cpu_exec",
    "runtime",
    "other",
    "silent",
)
"""Of the categories in a step."""


def first_look(facts: Facts, selection: Selection) -> FirstLook | None:
    """Of the step that speaks for the selected ones; None without a step."""
    row = median_step(facts, selection.steps)
    if row is None:
        return None
    wall = int(step_lengths(facts["steps"])[row])
    lengths = {key: max(int(each[row]), 0) for key, each in category_times(facts).items()}
    # A silent start is what nothing else fills.
    lengths["silent"] = min(int(facts["steps"]["silent"][row]), lengths["other"])
    lengths["other"] -= lengths["silent"]
    times = {key: lengths[key] for key in _ORDER if lengths[key]}
    if not times or not wall:
        return None
    # What the critical path calls the same; Python code between operators is in no category.
    kinds = {"cpu_exec": "operator", "silent": "not_recorded"}
    kinds["other"] = "python" if facts["operators"].n > 0 else "not_recorded"
    noun = step_noun(facts, selection.steps)
    word = noun if noun != "step" else _word(facts)
    article = "The" if len(selection.steps) == 1 else "An" if word[0] in "aeiou" else "A"
    return FirstLook(
        headline=f"{article} {word} takes about {format_ns(wall)}.",
        parts=FirstParts(kind=[kinds.get(key, key) for key in times], path_ns=list(times.values())),
    )


def _word(facts: Facts) -> str:
    if not has_steps(facts):
        return "recording"
    return "iteration" if facts.summary.workload.kind == WorkloadKind.SERVING else "step"
