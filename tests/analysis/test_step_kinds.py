"""Kinds of steps: by what they launch alone; what recurs is never cold, what sets up is; ranks agree, and no figure is of two kinds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.builders.listed import facts_listed
from tests.builders.step_programs import (
    DIFFERENTIATES,
    FORWARD,
    TRAINS,
    VALIDATES,
    Step,
    steps_listed,
)
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.median_step import median_step
from torch_tb_profiler.analysis.figures.selection import recurring, select
from torch_tb_profiler.analysis.figures.step_kinds import (
    agreed,
    common_kinds,
    doing_no_less,
    kind_names,
    step_kind_names,
    training_steps,
)
from torch_tb_profiler.analysis.figures.step_table import average
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.steps import accumulation_text, kinds_text, other_kinds, step_noun


def recorded(steps: Sequence[Step], first: int = 1, mark: str = "ProfilerStep#{}") -> Facts:
    return facts_listed(steps_listed(steps, first, mark))


def cold(facts: Facts) -> list[int]:
    found: list[int] = np.flatnonzero(facts["steps"]["flags"] & StepFlag.COLD).tolist()
    return found


def odd(facts: Facts) -> list[int]:
    found: list[int] = np.flatnonzero(facts["steps"]["flags"] & StepFlag.ODD).tolist()
    return found


def speaks_of_one_kind(facts: Facts) -> None:
    """Laws: the first kind takes most time, the median and the mean are of it, and odd steps exceed the median of their own."""
    table, lengths = facts["steps"], step_lengths(facts["steps"])
    kind = table["kind"]
    total = np.bincount(kind[kind >= 0], lengths[kind >= 0])
    warm = facts["step_kinds"]["what"] != 8
    assert total[0] == total[warm].max()
    median = median_step(facts, np.arange(table.n))
    assert median is not None
    assert kind[median] == 0
    if warm.sum() > 1:
        mean = average(facts, select(facts))
        assert mean is not None
        assert mean[0] == pytest.approx(lengths[kind == 0].mean())
    for row in odd(facts):
        assert lengths[row] > 1.1 * np.median(lengths[kind == kind[row]])


@st.composite
def noisy(draw: st.DrawFn, length: int, n: int) -> list[int]:
    """Lengths within 3 %."""
    return [round(length * draw(st.floats(0.97, 1.03))) for _ in range(n)]


@st.composite
def accumulating(draw: st.DrawFn) -> tuple[list[Step], int, int, list[list[int]]]:
    """``(steps, micro-batches, µs of one, rows of each whole training step)``: the recording may begin and end anywhere in a
    training step, and validations lie between.
    """
    size, groups = draw(st.integers(2, 9)), draw(st.integers(2, 4))
    begins, ends = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
    validates, validation = draw(st.booleans()), draw(st.integers(300, 5000))
    one = draw(st.integers(500, 9000))
    micro, last = Step(one, DIFFERENTIATES), Step(one + draw(st.integers(0, 4000)), TRAINS)
    steps, whole = [micro] * (size - 1 - begins) + [last], [list(range(size))] if not begins else []
    for _ in range(groups):
        if validates:
            steps.append(Step(validation, FORWARD))
        whole.append(list(range(len(steps), len(steps) + size)))
        steps += [micro] * (size - 1) + [last]
    return steps + [micro] * ends, size, one, whole


@given(accumulating())
def test_a_training_step_is_its_micro_batches(
    program: tuple[list[Step], int, int, list[list[int]]],
) -> None:
    steps, size, _, whole = program
    facts = recorded(steps)
    names = step_kind_names(facts)
    said = {DIFFERENTIATES: "micro-batch", TRAINS: "micro-batch with the optimizer"}
    for step, name in zip(steps, names, strict=True):
        assert name.partition(",")[0] == said.get(tuple(step.calls), "validation")
    assert [rows.tolist() for rows in training_steps(facts)] == whole
    length = sum(1000 * steps[row].length for rows in whole for row in rows) / len(whole)
    text = accumulation_text(facts)
    assert f"a training step is {size} micro-batches, {format_ns(round(length))}" in text
    speaks_of_one_kind(facts)
    assert odd(facts) == []


def test_the_time_of_the_optimizer_is_that_of_its_kernels() -> None:
    micro = Step(1000, DIFFERENTIATES, kernels=("gemm",))
    kernel = "void multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>"
    last = Step(1100, DIFFERENTIATES, kernels=("gemm", kernel, kernel))
    facts = recorded([micro, micro, last] * 3)
    assert "3 micro-batches, 3.10 ms, 600 ns of it the optimizer." in accumulation_text(facts)


@pytest.mark.parametrize(
    "pattern", ["OOOOMOOO", "OOOOOO", "MMMMMM", "OVOVOV"], ids=["a scaler skips one", "1", "0", "V"]
)
def test_what_is_no_accumulation(pattern: str) -> None:
    made = {"O": Step(1000), "M": Step(900, DIFFERENTIATES), "V": Step(400, FORWARD)}
    facts = recorded([made[letter] for letter in pattern])
    assert accumulation_text(facts) == ""
    assert not any("micro" in name for name in step_kind_names(facts))


def test_one_step_of_the_optimizer_does_not_tell_how_many_micro_batches_it_applies() -> None:
    facts = recorded([Step(900, DIFFERENTIATES)] * 3 + [Step(1000)])
    assert "no training step was recorded whole" in accumulation_text(facts)


@st.composite
def served(draw: st.DrawFn) -> tuple[list[str], int, bool]:
    """What each iteration does, how many graphs a decode launches, and whether prompts are computed without them."""
    phases = draw(st.lists(st.sampled_from("PD"), min_size=6, max_size=14))
    first = draw(st.integers(0, 3))
    return ["P"] * min(first, 1) + ["D"] * 3 + phases, draw(st.integers(1, 90)), first > 0


@given(served())
@example((list("DDDPDDDDD"), 75, False))
@example((list("DDDDDDDDP"), 3, False))
def test_a_server_that_does_not_say_its_phases_is_known_by_its_graphs(
    program: tuple[list[str], int, bool],
) -> None:
    phases, graphs, _ = program
    decode = Step(300 + graphs, ("aten::argmax",), graphs=graphs)
    prefill = Step(3000, ("aten::mm", "aten::softmax"), kernels=("gemm", "softmax"))
    facts = recorded([prefill if phase == "P" else decode for phase in phases], 0, "execute_model")
    names = step_kind_names(facts)
    if "P" in phases:
        assert {name.partition(",")[0] for name in names} == {"prefill", "decode"}
        assert [name[0].upper() for name in names] == phases
        rows = np.arange(len(phases))
        lead = "decode" if names[median_step(facts, rows) or 0].startswith("decode") else "prefill"
        assert step_noun(facts, rows) == lead
        launches = "1 graph launch" if graphs == 1 else f"{graphs} graph launches"
        apart = {
            "decode": f", without a graph launch, where a decode has {graphs}.",
            "prefill": f", with {launches}, where a prefill has none.",
        }
        assert kinds_text(facts, other_kinds(facts, rows)).endswith(apart[lead])
    else:
        assert set(names) == {""}
    speaks_of_one_kind(facts)
    assert odd(facts) == []


def apart_by_one_thing(length: int, other: int) -> tuple[Step, tuple[Step, ...]]:
    """A step, and such as differ from it in one thing each, and in their length; nothing says what they do."""
    calls = ("aten::mm", "aten::relu", "aten::add")
    return Step(length, calls, rows=4, kernels=("gemm", "relu")), (
        Step(other, calls, rows=4096, kernels=("gemm", "relu")),
        Step(other, calls, rows=4, kernels=("flash", "softmax", "norm")),
        Step(other, calls, rows=4, graphs=3, kernels=("gemm", "relu")),
        Step(other, calls, rows=4, kernels=("gemm", "relu", "ncclDevKernel_AllReduce_Sum")),
        Step(other, ("aten::sort", "aten::topk"), rows=4, kernels=("gemm", "relu")),
    )


@st.composite
def unnamed(draw: st.DrawFn) -> list[Step]:
    """Steps of two kinds, in any order."""
    length = draw(st.integers(500, 2000))
    one, others = apart_by_one_thing(length, length * draw(st.integers(2, 40)))
    two = draw(st.sampled_from(others))
    steps = [one] * draw(st.integers(3, 12)) + [two] * draw(st.integers(1, 12))
    return draw(st.permutations(steps))


def led_by(other: int) -> list[Step]:
    """One step of another kind comes first."""
    one, others = apart_by_one_thing(500, 1000)
    return [others[other], one, one, one]


@given(unnamed())
@example(led_by(2))
@example(led_by(3))
@example([*led_by(0), led_by(0)[0]])
def test_what_is_not_known_to_be_one_is_kind_a_and_kind_b(steps: list[Step]) -> None:
    facts = recorded(steps)
    kind = facts["steps"]["kind"]
    assert {name.partition(",")[0] for name in kind_names(facts)} == {"kind A", "kind B"}
    for number, step in zip(kind.tolist(), steps, strict=True):
        assert (number == kind[0]) == (step == steps[0])
    assert odd(facts) == cold(facts) == []
    speaks_of_one_kind(facts)
    assert "of kind B" in kinds_text(facts, other_kinds(facts, np.arange(len(steps))))


@given(st.lists(st.integers(1, 10**6), min_size=4, max_size=20, unique=True))
def test_batches_that_are_as_long_as_their_texts_are_of_one_kind(rows: list[int]) -> None:
    facts = recorded([Step(1000, rows=one) for one in rows])
    assert set(facts["steps"]["kind"].tolist()) == {0}


@given(st.data(), st.integers(4, 20), st.integers(1, 3), st.floats(1.5, 90))
def test_time_makes_no_kind_but_an_odd_step(
    data: st.DataObject, n: int, longer: int, factor: float
) -> None:
    walls = data.draw(noisy(10_000, n + 3))
    at = data.draw(st.sets(st.integers(1, n + 2), min_size=1, max_size=1 if n < 9 else longer))
    facts = recorded(
        [Step(round(wall * (factor if row in at else 1))) for row, wall in enumerate(walls)]
    )
    assert facts["step_kinds"].n == 1
    assert odd(facts) == sorted(at)
    assert set(step_kind_names(facts)) == {""}


def test_a_step_of_a_kind_does_no_less_only_where_it_does_the_same_and_more() -> None:
    usual, evaluates = Step(1000), Step(9000, (*TRAINS, "aten::topk", "aten::eq"))
    prefill = Step(9000, ("aten::sort", "aten::topk", "aten::eq"))
    facts = recorded([usual] * 5 + [evaluates, prefill, usual])
    assert doing_no_less(facts, np.arange(8)).tolist() == [0, 1, 2, 3, 4, 5, 7]


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Step], list[int], bool]:
    """Steps, which of them recur long and do something else, and whether the first is cold."""
    n, period = draw(st.integers(9, 24)), draw(st.integers(2, 4))
    offset, factor = draw(st.integers(0, period - 1)), draw(st.floats(2, 8))
    steps = [Step(length) for length in draw(noisy(1000, n))]
    long = list(range(offset, n, period)) if draw(st.booleans()) else []
    for at in long:
        steps[at] = Step(round(steps[at].length * factor), VALIDATES)
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
        every = {b - a for a, b in pairwise(long)}
        if len(every) == 1 and kind[long[0]] > 0:
            assert facts["step_kinds"]["period"][kind[long[0]]] == every.pop()
        speaks_of_one_kind(facts)


@given(programs(), st.integers(3000, 90_000), st.integers(1, 6))
def test_a_first_step_that_does_something_else_is_not_cold(
    program: tuple[list[Step], list[int], bool], length: int, own: int
) -> None:
    """Such as loading a checkpoint, or a validation that comes once; whatever kinds follow."""
    calls = (*(f"aten::once_{k}" for k in range(own)), "aten::mm")
    facts = recorded([Step(length, calls), *program[0][1:]])
    assert cold(facts) == []


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


@pytest.mark.parametrize("others", [FORWARD, DIFFERENTIATES], ids=["validations", "micro-batches"])
def test_a_first_step_that_alone_trains_is_not_cold(others: Sequence[str]) -> None:
    """Though it does all that the others do; it may still be where it compiles."""
    usual = [Step(500, others)] * 5
    assert cold(recorded([Step(5000, TRAINS), *usual])) == []
    assert cold(recorded([Step(5000, TRAINS, compiles=4000), *usual])) == [0]


def test_a_first_validation_and_a_recompilation_are_not_cold() -> None:
    usual = [Step(1000)] * 5
    once = recorded([Step(9000, VALIDATES), *usual])
    assert cold(once) == []
    assert kind_names(once) == ("validation", "training")
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
    assert len(changed.names) == 1


def test_a_selection_without_cold_steps_has_all_others() -> None:
    facts = recorded([Step(9000, compiles=7000), *[Step(1000), Step(8000)] * 4])
    assert select(facts, skip_cold=True).steps.tolist() == list(range(1, 9))
