"""Copies on a host and a device, and loops over parameters: a trace that fires each, and twins that must not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.efficiency.cases import inputs
from tests.analysis.findings.cases import item, launched, made, rules, span, steps
from tests.builders.drawn import Event
from tests.examples import examples


def _ordered(outer: str, count: int, length: int, copies: bool = True) -> list[Event]:
    """A step that calls ``outer`` some times; each copies, or only asks whether it has to."""
    entries = [*steps((0, count * (length + 200)))]
    for i in range(count):
        begin = i * (length + 200) + 1
        entries.append(span("cpu_op", outer, begin, length))
        if copies:
            entries.append(span("cpu_op", "aten::clone", begin + 1, length - 2))
            entries.append(span("cpu_op", "aten::copy_", begin + 2, length - 4))
        entries.append(span("cpu_op", "aten::mul", begin + length + 5, 190))
    return entries


@given(
    outer=st.sampled_from(["aten::contiguous", "aten::reshape", "aten::flatten"]),
    count=st.integers(4, 12),
    length=st.integers(20, 500),
)
def test_copies_to_another_layout(outer: str, count: int, length: int) -> None:
    finding = item(made(_ordered(outer, count, length)), "layout")
    assert finding["recoverable_ns"] == pytest.approx(1000 * count * length, rel=0.01)
    assert finding["words"]["names"] == outer
    assert finding["numbers"]["copies"] == count


@given(count=st.integers(1, 12))
def test_what_need_not_copy_is_no_copy(count: int) -> None:
    assert "layout" not in rules(made(_ordered("aten::contiguous", count, 100, copies=False)))


def test_a_few_copies_are_no_flipping() -> None:
    assert "layout" not in rules(made(_ordered("aten::contiguous", 3, 100)))


def test_layouts_that_a_library_turns_on_a_device() -> None:
    name = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>"
    entries = [*steps((0, 20))]
    for i in range(4):
        entries += launched(name, 2 * i + 1, 1 + 4 * i, 30 + 100 * i, 50)
        entries += launched("conv", 2 * i + 2, 3 + 4 * i, 80 + 100 * i, 50)
    finding = item(made(entries), "layout")
    assert finding["recoverable_ns"] == pytest.approx(200_000, rel=0.2)
    assert finding["recoverable_ns"] <= 200_000


def test_copies_that_the_program_calls() -> None:
    entries = [
        *steps((0, 1000)),
        span("cpu_op", "aten::clone", 1, 300),
        span("cpu_op", "aten::copy_", 2, 298),
        # These belong to what calls them.
        span("cpu_op", "aten::mine", 400, 500),
        span("cpu_op", "aten::clone", 401, 490),
    ]
    finding = item(made(entries), "tensor_copies")
    assert finding["recoverable_ns"] == pytest.approx(300_000, rel=0.01)
    assert finding["words"]["names"] == "aten::clone"


def test_a_conversion_is_no_copy() -> None:
    converts = inputs((64, 64), (64, 64), dtype="float") | {"Input type": ["float", "double"]}
    entries = [*steps((0, 1000)), span("cpu_op", "aten::copy_", 1, 300, **converts)]
    assert "tensor_copies" not in rules(made(entries))


def test_copies_within_a_device() -> None:
    """Those from the host have a rule of their own."""
    entries = [
        *steps((0, 20)),
        span("cpu_op", "aten::copy_", 1, 4),
        *launched("Memcpy DtoD (Device -> Device)", 1, 2, 10, 90, category="gpu_memcpy", bytes=8),
        span("cpu_op", "aten::copy_", 6, 4),
        *launched("Memcpy HtoD (Pinned -> Device)", 2, 7, 100, 400, category="gpu_memcpy", bytes=8),
        *launched("k", 3, 12, 500, 500),
    ]
    finding = item(made(entries), "tensor_copies")
    assert finding["recoverable_ns"] == pytest.approx(90_000, rel=0.05)


def test_deep_copies_are_a_known_call_and_no_copies_of_tensors() -> None:
    entries = [
        *steps((0, 1000)),
        span("cpu_op", "aten::mm", 905, 90, **{"Sequence number": 1, "Fwd thread id": 0}),
        span(
            "cpu_op",
            "autograd::engine::evaluate_function: MmBackward0",
            996,
            2,
            **{"Sequence number": 1, "Fwd thread id": 1},
        ),
        span("python_function", "train.py(9): update", 1, 450, **{"Python id": 1}),
        span("python_function", "/usr/lib/python3/copy.py(128): deepcopy", 2, 400),
        span("python_function", "/usr/lib/python3/copy.py(128): deepcopy", 3, 390),
        span("cpu_op", "aten::copy_", 4, 380),
    ]
    found = made(entries)
    finding = item(found, "own_code")
    assert finding["words"]["what"] == "deep copying (copy.deepcopy)"
    assert finding["generic"] is False
    assert finding["line"] == "train.py(9): update"
    assert "tensor_copies" not in rules(found)


def test_copies_into_buckets() -> None:
    name = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
    entries = [*steps((0, 1000))]
    for i in range(20):
        entries.append(span("cpu_op", name, 1 + 20 * i, 15))
        entries.append(span("cpu_op", "aten::copy_", 2 + 20 * i, 12))
    found = made(entries)
    assert item(found, "bucket_copies")["recoverable_ns"] == pytest.approx(300_000, rel=0.01)
    assert "tensor_copies" not in rules(found)


def test_a_copy_that_blocks_the_host() -> None:
    """The device has work until 50 µs; the call lasts until 900 µs and its own copy takes 100 µs of that."""
    entries = [
        *steps((0, 1000)),
        *launched("k", 1, 1, 3, 47),
        span("cuda_runtime", "cudaMemcpyAsync", 10, 890, correlation=2),
        span("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 790, 100, 7, correlation=2, bytes=8),
        *launched("k", 3, 910, 915, 80),
    ]
    finding = item(made(entries), "blocking_copy")
    assert finding["recoverable_ns"] <= 890_000
    assert finding["recoverable_ns"] > 600_000
    # While the device works, waiting costs nothing.
    entries[2]["dur"] = 10
    busy = [*steps((0, 1000)), *launched("k", 1, 1, 3, 880), *entries[4:]]
    busy.append(span("cuda_runtime", "cudaMemcpyAsync", 10, 870, correlation=2))
    assert "blocking_copy" not in rules(made(busy))


def test_a_wait_after_each_kernel_is_said() -> None:
    entries = [*steps((0, 2000))]
    for i in range(20):
        begin = 1 + 90 * i
        entries += launched("k", i + 1, begin, begin + 5, 40)
        entries.append(span("cuda_runtime", "cudaDeviceSynchronize", begin + 3, 44))
    found = item(made(entries), "host_synchronisation")
    assert found["words"]["called"] == "cudaDeviceSynchronize"
    assert found["numbers"]["kernels"] == 20


def _cats(count: int, grows: bool, shapes: bool = True) -> list[Event]:
    entries, begin = [], 1
    for i in range(count):
        rows = i + 1 if grows else 1
        known: dict[str, Any] = (
            {"Input Dims": [[[rows, 64], [1, 64]], []], "Input type": ["TensorList", "Scalar"]}
            if shapes
            else {}
        )
        entries.append(span("cpu_op", "aten::cat", begin, 10 * rows, **known))
        begin += 10 * rows + 3
    return [*steps((0, begin)), *entries]


@given(count=st.integers(17, 40))
def test_a_tensor_that_grows_by_cat(count: int) -> None:
    finding = item(made(_cats(count, True)), "growing_cat")
    total, last = 5 * count * (count + 1), 10 * count
    assert finding["recoverable_ns"] == pytest.approx(1000 * (total - last), rel=0.05)


@examples(15)
@given(
    first=st.integers(1, 300),
    rounds=st.integers(5, 10),
    chains=st.integers(1, 6),
    per_step=st.booleans(),
)
def test_tensors_that_grow_beside_each_other(
    first: int, rounds: int, chains: int, per_step: bool
) -> None:
    """Of several layers, from any size on, all in one step or a round in each: the share of what is new remains."""
    entries, bounds, begin, again = [], [], 1.0, 0.0
    for size in range(first, first + rounds):
        start = begin
        for _ in range(chains):
            known: dict[str, Any] = {
                "Input Dims": [[[size, 64], [1, 64]], []],
                "Input type": ["TensorList", ""],
            }
            entries.append(span("cpu_op", "aten::cat", begin, 100, **known))
            begin += 103
            again += 100 * size / (size + 1) * (size > first)
        bounds.append((start, begin))
    bounds = bounds if per_step else [(0, begin)]
    found = made([*steps(*bounds), *entries])
    finding = item(found, "growing_cat")
    if not per_step:
        assert finding["numbers"]["calls"] == chains * (rounds - 1)
        assert finding["recoverable_ns"] == pytest.approx(1000 * again, rel=0.05)


@given(count=st.integers(1, 40), grows=st.booleans())
def test_cats_of_one_size_or_of_unknown_ones_are_no_growing_tensor(count: int, grows: bool) -> None:
    assert "growing_cat" not in rules(made(_cats(count, grows, shapes=not grows)))


@pytest.mark.parametrize("none", [True, False])
def test_gradients_that_are_filled_with_zeros(none: bool) -> None:
    entries = [
        *steps((0, 1000)),
        span("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", 1, 200),
        span("cpu_op", "torch::autograd::AccumulateGrad", 300, 200),
    ]
    if not none:
        entries.append(span("cpu_op", "aten::_foreach_zero_", 2, 150))
        entries.append(span("cpu_op", "aten::zero_", 3, 140))
        entries.append(span("cpu_op", "aten::add_", 310, 100))
    found = made(entries)
    if none:
        assert "machinery_without_use" not in rules(found)
    else:
        finding = item(found, "machinery_without_use")
        assert finding["recoverable_ns"] == pytest.approx(250_000, rel=0.01)


def test_copies_that_an_operator_makes_by_itself() -> None:
    entries = [*steps((0, 2000))]
    for i in range(6):
        begin = 300 * i + 1
        entries.append(span("cpu_op", "aten::convolution_backward", begin, 250))
        entries += [
            span("cpu_op", name, begin + 1 + depth, 200 - 2 * depth)
            for depth, name in enumerate(("aten::contiguous", "aten::clone", "aten::copy_"))
        ]
    assert "layout" not in rules(made(entries))
