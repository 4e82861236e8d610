"""Recordings whose steps are of several kinds: training steps are compared with training steps, validations with validations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.diff.compared import NOTHING
from tests.builders.listed import facts_listed
from torch_tb_profiler.analysis.diff.compare import Comparison, compare
from torch_tb_profiler.analysis.diff.kinds import compared_sides
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.views.diff.verdict import verdict


def compared(a: list[int], b: list[int]) -> Comparison:
    """Of steps of these lengths in µs, those above 300 µs evaluations: these call something else."""
    sides = []
    for lengths in (a, b):
        lines, at = [], 0
        for number, length in enumerate(lengths):
            name = "aten::mm" if length < 300 else "aten::argmax"
            lines.append(
                f"1 note ProfilerStep#{number}@{at}+{length}\n1 op {name}@{at + 1}+{length - 2}"
            )
            at += length
        facts = facts_listed("\n".join(lines))
        sides.append((facts, NOTHING, select(facts)))
    one, other, kinds = compared_sides(*sides)
    return compare(one, other, kinds)


def lengths(
    steps: int, random: np.random.Generator, every: int = 0, factor: float = 1.0
) -> list[int]:
    """About 100 µs; ``every`` so many, from a drawn one on, one of about 400."""
    found = 100 + 2 * random.normal(size=steps)
    if every:
        found[random.integers(every) :: every] *= 4
    return [round(value) for value in found * factor]


@pytest.mark.parametrize("every", [3, 4, 7, 50])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.slow
def test_validations_in_a_recording_raise_no_alarm(every: int, both: bool) -> None:
    random = np.random.default_rng(every)
    for _ in range(6):
        steps = random.integers(8, 50, 2)
        a = lengths(int(steps[0]), random, every * both)
        b = lengths(int(steps[1]), random, min(every, int(steps[1]) - 1))
        for found in (compared(a, b), compared(b, a)):
            said = verdict(found)
            assert said.changed is not True
            assert not any(kind.changed for kind in said.kinds)
            assert max(found.a.walls.max(), found.b.walls.max()) < 150_000


def test_each_kind_has_its_verdict() -> None:
    random = np.random.default_rng(1)
    slow = [length if length < 300 else 2 * length for length in lengths(40, random, 4)]
    found = compared(lengths(40, random, 4), slow)
    said = verdict(found)
    assert said.changed is False
    assert [(kind.name, kind.changed) for kind in said.kinds] == [("kind A", True)]
    assert said.kinds[0].share == pytest.approx(1.0, abs=0.1)
    slow = [2 * length if length < 150 else length for length in lengths(40, random, 4)]
    said = verdict(compared(lengths(40, random, 4), slow))
    assert said.changed is True


def test_steps_of_which_every_other_became_longer_are_not_unchanged() -> None:
    random = np.random.default_rng(2)
    one, other = lengths(40, random), np.array(lengths(40, random))
    other[random.random(40) < 0.5] *= 2
    assert verdict(compared(one, other.tolist())).changed is not False
