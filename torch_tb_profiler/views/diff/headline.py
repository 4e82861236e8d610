"""The answer of a comparison in words: what a step takes now, by how much that is less or more, what changed most, and
whether steps vary as much anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.critical_path.cause_groups import GROUPS
from torch_tb_profiler.analysis.diff.compare import Comparison
from torch_tb_profiler.analysis.diff.side import Side
from torch_tb_profiler.analysis.diff.step_path import (
    GroupChange,
    StepPath,
    group_changes,
    median_step,
    step_path,
)
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_ns, format_number, format_share
from torch_tb_profiler.views.diff.verdict import is_whole
from torch_tb_profiler.views.diff.wire import Verdict
from torch_tb_profiler.views.words.texts import GROUP_LABELS, group_label
from torch_tb_profiler.views.words.vocabulary import vocabulary

assert list(GROUP_LABELS) == list(GROUPS)
LEAST_TOLD = 0.2
"""Share of the difference from which on a group is told in a sentence."""


def median_paths(comparison: Comparison) -> tuple[StepPath, StepPath] | None:
    """The median compared step of each side with its path; None where one has no step."""
    sides = (comparison.a, comparison.b)
    steps = [median_step(side) for side in sides]
    if min(steps) < 0:
        return None
    on_device = any(side.facts.summary.has_device for side in sides)
    a, b = (
        step_path(side.facts, side.insight, step, on_device)
        for side, step in zip(sides, steps, strict=True)
    )
    return a, b


def device_word(comparison: Comparison) -> str:
    """What computes: ``GPU``, without an accelerator ``CPU``."""
    return device_of(comparison.a.facts, comparison.b.facts)


def device_of(*sides: Facts) -> str:
    """What computes in any of some recordings."""
    facts = next((facts for facts in sides if facts.summary.has_device), None)
    device = "CPU" if facts is None else vocabulary(facts).device
    return f"{device[:1].upper()}{device[1:]}"


def headline(comparison: Comparison, judged: Verdict, workers: tuple[str, str]) -> list[str]:
    """Two sentences: the answer, and what changed most.

    Args:
        judged: whether the step changed.
        workers: of both sides where they were recorded together, else empty.
    """
    paths = median_paths(comparison)
    if paths is None or judged.unit:
        return [judged.sentence]
    first = _answer(comparison, paths, workers)
    more = [_changed_most(comparison, group_changes(*paths), judged), _noise(comparison, judged)]
    return [first, " ".join(filter(None, more))]


def _answer(
    comparison: Comparison, paths: tuple[StepPath, StepPath], workers: tuple[str, str]
) -> str:
    a, b = paths
    delta = b.length - a.length
    size = f"{format_ns(abs(delta))} {'less' if delta < 0 else 'more'} than"
    if a.facts is b.facts and a.step != b.step:
        other = step_text(a.name)
        return (
            f"{capital(step_text(b.name))} takes {format_ns(b.length)},"
            f" {size if delta else 'as long as'} {other}."
        )
    subject = (
        "The recording" if all(is_whole(side.facts) for side in _sides(comparison)) else "A step"
    )
    if any(workers):
        return (
            f"{subject} of {workers[1]} takes {format_ns(b.length)},"
            f" {f'{size} of' if delta else 'as long as of'} {workers[0]}."
        )
    return f"{subject} takes {format_ns(b.length)}, {size if delta else 'as long as'} before."


def _sides(comparison: Comparison) -> tuple[Side, Side]:
    return comparison.a, comparison.b


def step_text(name: str) -> str:
    """``step 7`` of ``ProfilerStep#7``; other names as they are."""
    number = name.rpartition("#")[2]
    return f"step {number}" if name.startswith("ProfilerStep#") else name or "the recording"


def capital(text: str) -> str:
    """A text with a capital at its begin if it begins with our own word."""
    return f"S{text[1:]}" if text.startswith("step ") else text


def _changed_most(comparison: Comparison, changes: Sequence[GroupChange], judged: Verdict) -> str:
    delta = sum(one.change for one in changes)
    if judged.changed is False or not delta:
        return ""
    most = max(changes, key=lambda one: one.change / delta)
    if most.change / delta < LEAST_TOLD:
        return ""
    label = group_label(most.group, device_word(comparison))
    return f"{label} went from {format_ns(most.before)} to {format_ns(most.after)}."


def _noise(comparison: Comparison, judged: Verdict) -> str:
    """Whether steps vary as much anyway."""
    work = judged.work
    if work is not None:
        return f"A step does {format_number(work.factor)} times the work, by its input shapes."
    spread = max(
        (float(s.walls.std(ddof=1)) for s in _sides(comparison) if len(s.walls) > 1), default=0.0
    )
    vary = f"Steps vary by ±{format_ns(spread)}" if spread else ""
    if judged.changed is None:
        if not spread:
            return "One step each cannot tell whether steps vary as much anyway."
        return f"{vary}: too few were recorded to tell whether that is the reason."
    if judged.changed:
        return f"{vary}, which does not explain it." if spread else ""
    most = max(abs(judged.low or 0.0), abs(judged.high or 0.0))
    return f"{vary or 'Steps are alike'}: no change beyond ±{format_share(most)}."
