"""Kinds of steps: what recurs is never cold, what sets up is, ranks agree, and no step is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.builders.listed import facts_listed
from torch_tb_profiler.analysis.facts.flags import StepFlag, StepKind
from torch_tb_profiler.analysis.facts.step_kinds import modes
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.figures.step_kinds import (
    agreed,
    common_kinds,
    kind_names,
    recurring,
    step_kind_names,
)
from torch_tb_profiler.store.model import Facts

TRAINS = ("aten::mm", "aten::relu", "MmBackward0", "Optimizer.step#SGD.step")
VALIDATES = ("aten::mm", "aten::softmax", "aten::argmax", "aten::eq")


@dataclass(frozen=True)
class Step:
    """A step of some µs: the operators that it calls, a µs each, and how long it compiles."""

    length: int
    calls: Sequence[str] = TRAINS
    compiles: int = 0


def recorded(steps: Sequence[Step], first: int = 1) -> Facts:
    lines, at = [], 0
    for number, step in enumerate(steps, first):
        lines.append(f"1 note ProfilerStep#{number}@{at}+{step.length}")
        lines += [f"1 op {name}@{at + 1 + i}+1" for i, name in enumerate(step.calls)]
        if step.compiles:
            lines.append(f"1 op _compile.compile_inner@{at + 10}+{step.compiles}")
        at += step.length
    return facts_listed("\n".join(lines))


def cold(facts: Facts) -> list[int]:
    found: list[int] = np.flatnonzero(facts["steps"]["flags"] & StepFlag.COLD).tolist()
    return found


@st.composite
def noisy(draw: st.DrawFn, length: int, n: int) -> list[int]:
    """Lengths within 3 %."""
    return [round(length * draw(st.floats(0.97, 1.03))) for _ in range(n)]


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Step], list[int], bool]:
    """Steps, which of them recur long, and whether the first is cold."""
    n, period = draw(st.integers(9, 24)), draw(st.integers(2, 4))
    offset, factor = draw(st.integers(0, period - 1)), draw(st.floats(2, 8))
    steps = [Step(length) for length in draw(noisy(1000, n))]
    long = list(range(offset, n, period)) if draw(st.booleans()) else []
    calls = draw(st.sampled_from((TRAINS, VALIDATES)))
    for at in long:
        steps[at] = Step(round(steps[at].length * factor), calls)
    is_cold = draw(st.booleans()) and 0 not in long
    if is_cold:
        length = draw(st.integers(20_000, 90_000))
        more = draw(st.sampled_from(((), ("aten::empty_strided", "aten::normal_"))))
        steps[0] = Step(length, (*TRAINS, *more), draw(st.sampled_from((0, length - 2000))))
    return steps, long, is_cold


def alternating(
    n: int, factor: float, first: int, compiles: int = 0
) -> tuple[list[Step], list[int], bool]:
    """A validation in every second step, and a cold first one."""
    long = list(range(1, n, 2))
    steps = [
        Step(round(1000 * factor) + at, VALIDATES) if at in long else Step(1000 + at)
        for at in range(n)
    ]
    return [Step(first, compiles=compiles), *steps[1:]], long, True


@given(programs())
@example(alternating(23, 2, 20_000))
@example(alternating(24, 2, 20_000))
@example(alternating(10, 8, 90_000))
@example(alternating(9, 4, 50_000, 48_000))
def test_cold_is_what_does_not_recur_and_the_rest_stays(
    program: tuple[list[Step], list[int], bool],
) -> None:
    steps, long, is_cold = program
    facts = recorded(steps)
    assert cold(facts) == ([0] if is_cold else [])
    kind = facts["steps"]["kind"]
    assert (kind >= 0).all()
    assert np.flatnonzero(recurring(facts)).tolist() == list(range(int(is_cold), len(steps)))
    others = [row for row in range(int(is_cold), len(steps)) if row not in long]
    assert len(set(kind[others].tolist())) == 1
    if long:
        assert len(set(kind[long].tolist())) == 1
        assert kind[long[0]] != kind[others[0]]
        if len(long) >= 3 and len(long) < len(others):
            every = long[1] - long[0]
            assert facts["step_kinds"]["period"][kind[long[0]]] == every


@given(programs(), st.integers(3000, 90_000), st.integers(1, 6))
def test_a_first_step_that_does_something_else_is_not_cold(
    program: tuple[list[Step], list[int], bool], length: int, own: int
) -> None:
    """Such as loading a checkpoint, or a validation that comes once; whatever kinds follow."""
    calls = (*(f"aten::once_{k}" for k in range(own)), "aten::mm")
    facts = recorded([Step(length, calls), *program[0][1:]])
    assert cold(facts) == []


@given(st.data(), st.integers(6, 20), st.integers(6, 20))
def test_two_modes_in_any_order(data: st.DataObject, low: int, high: int) -> None:
    walls = [*data.draw(noisy(20_000, low)), *data.draw(noisy(120_000, high))]
    order = data.draw(st.permutations(range(low + high)))
    facts = recorded([Step(walls[at]) for at in order])
    assert cold(facts) == []
    assert facts["step_kinds"].n == 2
    assert not facts["steps"]["flags"].any()
    kind = facts["steps"]["kind"]
    is_high = np.array(order) >= low
    assert len(set(kind[is_high].tolist())) == len(set(kind[~is_high].tolist())) == 1


@given(st.data(), st.integers(8, 40), st.floats(0.02, 0.1))
def test_growing_steps(data: st.DataObject, n: int, growth: float) -> None:
    steps = [
        Step(round(10_000 * (1 + growth * at + data.draw(st.floats(0, 0.01))))) for at in range(n)
    ]
    facts = recorded(steps)
    assert facts["step_kinds"].n == 1
    assert facts["step_kinds"]["growth"][0] == pytest.approx(10_000_000 * growth, rel=0.2)
    assert set(step_kind_names(facts)) == {"usual, growing"}
    assert cold(facts) == []


@given(st.integers(0, 2**32 - 1), st.integers(5, 100), st.floats(0.01, 0.1))
def test_noise_is_divided_only_by_a_clear_gap(seed: int, n: int, spread: float) -> None:
    wall = 1000 * np.exp(np.random.default_rng(seed).normal(0, spread, n))
    mode = modes(wall)
    low, high = wall[mode == 0], wall[mode > 0]
    if len(high):
        assert high.min() > low.max() * 1.1
        assert high.min() / low.max() > max(low.max() / low.min(), high.max() / high.min())


def test_a_first_validation_and_a_recompilation_are_not_cold() -> None:
    usual = [Step(1000)] * 5
    once = recorded([Step(9000, VALIDATES), *usual])
    assert cold(once) == []
    assert kind_names(once) == ("usual", "once")
    recurs = recorded([Step(9000, compiles=7000), *usual, Step(9000, compiles=7000), *usual])
    assert cold(recurs) == []
    two = recorded([Step(9000, compiles=7000), Step(4000, compiles=2900), *usual])
    assert cold(two) == [0, 1]


@pytest.mark.parametrize("n", [0, 1, 2, 8])
def test_ranks_agree(n: int) -> None:
    """A rank whose first step was long for another reason has the decision of the others."""
    usual = [Step(1000)] * 6
    ranks = [recorded([Step(9000, compiles=7000), *usual]) for _ in range(n)]
    if n > 2:
        ranks[1] = recorded([Step(1400), *usual])
        ranks[2] = recorded(usual, first=2)
    masks = agreed(ranks, StepFlag.COLD)
    assert [np.flatnonzero(mask).tolist() for mask in masks] == [
        [] if n > 2 and rank == 2 else [0] for rank in range(n)
    ]


def test_kinds_that_only_one_recording_has_are_kinds_of_their_own() -> None:
    usual = [Step(1000), Step(1010), Step(990)] * 2
    plain, slower = recorded(usual), recorded([Step(9000)] * 5)
    validated = recorded([*usual, Step(5000, VALIDATES), *usual, Step(5010, VALIDATES)])
    kinds = common_kinds(plain, validated)
    assert kinds.a.tolist() == [0] * 6
    assert kinds.b.tolist() == [*[0] * 6, 1, *[0] * 6, 1]
    back = common_kinds(validated, plain)
    assert (back.a.tolist(), back.b.tolist()) == (kinds.b.tolist(), kinds.a.tolist())
    assert common_kinds(plain, slower).b.tolist() == [0] * 5
    changed = common_kinds(plain, recorded([Step(1000, VALIDATES)] * 4))
    assert changed.b.tolist() == [0] * 4
    assert changed.what.tolist() == [StepKind.USUAL]


def test_a_selection_without_cold_steps_has_all_others() -> None:
    facts = recorded([Step(9000, compiles=7000), *[Step(1000), Step(8000)] * 4])
    assert select(facts, skip_cold=True).steps.tolist() == list(range(1, 9))
