"""Rules of what a program calls again and again: a trace that fires each, and its twin that must not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import item, launched, made, rules, span
from tests.builders.drawn import Event
from tests.examples import examples

STEPS = 2
ENGINE = "autograd::engine::evaluate_function: "
ACCUMULATE = ENGINE + "torch::autograd::AccumulateGrad"


class _Program:
    """Entries one after the other on one thread, µs."""

    def __init__(self) -> None:
        self.now, self.sequence, self.listed = 0.0, 0, list[Event]()

    def call(self, name: str, length: float, category: str = "cpu_op", **args: Any) -> None:
        """An operator that gets the next sequence number, and 1 µs after it."""
        args.setdefault("Sequence number", self.sequence)
        self.listed.append(span(category, name, self.now, length, **args))
        self.now += length + 1

    def differentiable(self, name: str, length: float) -> int:
        """An operator that makes a backward function: its number."""
        self.call(name, length)
        self.sequence += 1
        return self.sequence - 1

    def backward(self, function: str, number: int, length: float) -> None:
        """The engine's call of a backward function."""
        more: dict[str, Any] = (
            {"Sequence number": number, "Fwd thread id": 1} if number >= 0 else {}
        )
        self.listed.append(span("cpu_op", ENGINE + function, self.now, length, **more))
        self.now += length + 1

    def step(self, number: int, begin: float) -> None:
        """Marks what came since ``begin`` as a step."""
        self.listed.append(
            span("user_annotation", f"ProfilerStep#{number}", begin, self.now - begin)
        )
        self.now += 1


def _layers(rounds: int, weights: int, taking: bool) -> list[Event]:
    """Products and tanh, of ``weights`` weights, with their backward."""
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        made_by = []
        for _ in range(rounds):
            if taking:
                made_by.append(("SelectBackward0", program.differentiable("aten::select", 1)))
            made_by.append(("AddmmBackward0", program.differentiable("aten::linear", 8)))
            made_by.append(("TanhBackward0", program.differentiable("aten::tanh", 3)))
        program.call("aten::mse_loss", 5)
        for function, made_number in reversed(made_by):
            program.backward(function, made_number, 6)
        for _ in range(weights):
            program.backward("torch::autograd::AccumulateGrad", -1, 2)
        program.step(number, begin)
    return program.listed


@examples(8)
@given(st.integers(40, 120), st.booleans())
def test_products_that_share_their_weights_are_a_loop(rounds: int, taking: bool) -> None:
    one = item(made(_layers(rounds, 2, taking)), "many_small_calls")
    assert one["numbers"]["rounds"] == rounds
    assert one["numbers"]["operators"] == rounds * (3 if taking else 2)
    assert one["words"]["operator"] == "aten::linear"
    # Neither more than the loop and its backward, nor far less.
    assert 0.45 < one["share"] < 1


@examples(8)
@given(st.integers(40, 120))
def test_a_deep_network_is_none(layers: int) -> None:
    assert "many_small_calls" not in rules(made(_layers(layers, 2 * layers, False)))


def _shapes(*dims: list[int]) -> dict[str, Any]:
    """How an operator that gets tensors of these sizes is recorded."""
    count = len(dims)
    more = {"Input type": ["float"] * count, "Concrete Inputs": [""] * count}
    return {"Input Dims": list(dims), **more}


def _modules(count: int, given: int, made: int, activation: bool) -> list[Event]:
    """Modules of an own weight each, one after the other in one that holds them."""
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        program.now += 1
        for module in range(count):
            start = program.now
            program.call("aten::linear", 8, **_shapes([32, given], [made, given], [made]))
            name = f"nn.Module: Linear_{module}"
            program.listed.append(span("python_function", name, start - 0.5, 8.7))
            if activation:
                program.call("aten::relu", 3, **_shapes([32, made]))
        around = span(
            "python_function", "nn.Module: Heads_0", begin + 0.2, program.now - begin - 0.4
        )
        program.listed.append(around)
        program.step(number, begin)
    return program.listed


@examples(8)
@given(st.integers(40, 120), st.sampled_from((3, 16, 500)), st.booleans())
def test_modules_side_by_side_are_a_loop(count: int, made_of: int, activation: bool) -> None:
    one = item(made(_modules(count, 64, made_of, activation)), "many_small_calls")
    assert one["numbers"]["rounds"] == count
    assert one["numbers"]["operators"] == count * (1 + activation)
    assert "many_small_calls" not in rules(made(_modules(count, 64, 64, activation)))


def _looped(length: float) -> list[Event]:
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        for _ in range(100):
            program.call("aten::select", 1)
            program.call("aten::mul", length)
        program.step(number, begin)
    return program.listed


def test_work_of_the_calls_remains() -> None:
    assert item(made(_looped(3)), "many_small_calls")["share"] > 0.95
    # Of 11 µs 8 are a call's, 3 work.
    found = item(made(_looped(8)), "many_small_calls")
    assert found["share"] == pytest.approx(8 / 11, abs=0.03)


def test_calls_that_mostly_work_are_not_small() -> None:
    assert "many_small_calls" not in rules(made(_looped(40)))


def test_a_loop_in_an_optimizer_is_the_optimizers() -> None:
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        for _ in range(100):
            program.call("aten::mul_", 2)
        inside = span("user_annotation", "Optimizer.step#SGD.step", begin, program.now - begin)
        program.listed.append(inside)
        program.step(number, begin - 0.5)
    assert "many_small_calls" not in rules(made(program.listed))


def _attention(fused: bool) -> list[Event]:
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        for _ in range(3):
            program.call("aten::linear", 100)
            start = program.now
            first = program.differentiable("aten::bmm", 50)
            scaled = program.differentiable("aten::div", 60)
            program.differentiable("aten::_softmax", 80)
            program.differentiable("aten::bmm", 50)
            if fused:
                around = span(
                    "cpu_op", "aten::scaled_dot_product_attention", start, program.now - start
                )
                program.listed.append(around)
            program.backward("BmmBackward0", first + 3, 50)
            program.backward("SoftmaxBackward0", first + 2, 70)
            program.backward("DivBackward0", scaled, 60)
            program.backward("BmmBackward0", first, 50)
        program.step(number, begin)
    return program.listed


def test_attention_that_is_written_out() -> None:
    one = item(made(_attention(fused=False)), "eager_attention")
    assert one["numbers"]["attentions"] == 3
    # The products, the softmax and what is before them stay: of 579 µs 63 between them go, and 130 backward.
    assert one["share"] == pytest.approx((63 + 130) / 579, abs=0.02)


def test_attention_that_is_fused_already() -> None:
    assert "eager_attention" not in rules(made(_attention(fused=True)))


def _norm(names: list[str]) -> list[Event]:
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        program.call("aten::linear", 100)
        for name in names:
            program.call(f"aten::{name}", 50)
        program.call("aten::linear", 100)
        program.step(number, begin)
    return program.listed


@pytest.mark.parametrize(
    ("names", "formula"),
    [
        ("mean sub pow mean add sqrt sub div mul add", "a layer norm"),
        ("pow mean add rsqrt mul mul", "an RMS norm"),
        ("mul pow mul add mul tanh add mul", "GELU"),
        ("max sub exp sum div", "a softmax"),
        ("log_softmax gather neg mean", "cross entropy"),
    ],
)
def test_formulas_that_are_written_out(names: str, formula: str) -> None:
    listed = names.split()
    one = item(made(_norm(listed)), "handwritten_formula")
    assert one["words"]["formula"] == formula
    # One pass of all remains.
    whole = 51 * len(listed) - 1
    assert one["share"] == pytest.approx((whole - 50) / (whole + 203), abs=0.03)


def test_operators_of_no_formula() -> None:
    found = rules(made(_norm(["layer_norm", "add", "relu", "softmax", "mul", "linear", "gelu"])))
    assert "handwritten_formula" not in found


def _generation(lengths: list[int], shapes: bool) -> list[Event]:
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        for length in lengths:
            dims: dict[str, Any] = {"Input Dims": [[1000, 64], [2, length]]} if shapes else {}
            program.call("aten::embedding", 5, **dims)
            program.call("aten::t", 1)
            program.call("aten::addmm", 10 + 5.0 * length)
            program.call("aten::addmm", 10 + 5.0 * length)
        program.step(number, begin)
    return program.listed


def test_all_tokens_are_computed_again() -> None:
    one = item(made(_generation(list(range(20, 40)), shapes=True)), "no_key_value_cache")
    assert one["numbers"]["passes"] == 19
    assert one["share"] > 0.7


@pytest.mark.parametrize("shapes", [True, False])
def test_generation_with_a_cache_and_times_alone(shapes: bool) -> None:
    lengths = [20] + [1] * 19 if shapes else list(range(20, 40))
    assert "no_key_value_cache" not in rules(made(_generation(lengths, shapes)))


def _frames(calls: int) -> list[Event]:
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        start = program.now
        program.now += 1
        for _ in range(calls):
            program.call("text.py(7): code", 1, category="python_function")
        program.listed.append(
            span("python_function", "text.py(3): encode", start, program.now - start)
        )
        program.call("aten::linear", 400)
        program.step(number, begin)
    return program.listed


def test_a_function_that_is_called_very_often() -> None:
    one = item(made(_frames(1000)), "own_code")
    assert (one["words"]["often"], one["numbers"]["rounds"]) == ("code", 1000)
    assert one["words"]["what"] == "calling encode"
    assert one["share"] == pytest.approx(2000 / 2403, abs=0.02)
    assert not item(made(_frames(200)), "own_code")["words"]["often"]


def test_host_time_is_claimed_once() -> None:
    """A loop over the parts of a formula: what the first rule takes away stands behind it, and says so."""
    program = _Program()
    for number in range(STEPS):
        begin = program.now
        for _ in range(60):
            program.call("aten::select", 1)
            for name in ("mean", "sub", "pow", "mean", "add", "sqrt", "div", "mul", "add"):
                program.call(f"aten::{name}", 3)
        program.step(number, begin)
    found = made(program.listed)
    assert next(iter(rules(found))) == "many_small_calls"
    assert item(found, "handwritten_formula")["holds"] >= 0


def _on_device(kernel: float) -> list[Event]:
    """A loop of operators that launch kernels of some length, µs."""
    program, free, number = _Program(), 0.0, 0
    for step in range(STEPS):
        begin = program.now
        for _ in range(100):
            program.call("aten::select", 1)
            called = program.now + 1
            free = max(free, called + 4)
            number += 1
            program.listed += launched("elementwise_kernel", number, called, free, kernel)
            free += kernel
            program.call("aten::mul", 6)
        program.call("aten::item", max(free - program.now, 1))
        program.step(step, begin)
    return program.listed


def test_a_device_that_waits_for_a_loop_is_said_once() -> None:
    found = made(_on_device(2))
    assert item(found, "many_small_calls")["share"] > 0.8
    assert next(iter(rules(found))) == "many_small_calls"
    assert item(found, "launch_bound")["holds"] >= 0


def test_a_loop_behind_a_busy_device_costs_nothing() -> None:
    assert "many_small_calls" not in rules(made(_on_device(30)))
