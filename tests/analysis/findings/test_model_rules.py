"""Rules about what a model computes needlessly: a trace that fires each, and twins that must not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.efficiency.cases import inputs
from tests.analysis.findings.cases import Findings, item, launched, made, rules, span, steps
from tests.builders.drawn import Event


def _product(dtype: str, share: float, name: str = "aten::mm", inner: str = "") -> Findings:
    """A step of 1,000 µs of which a product of this type takes a share."""
    typed = inputs((64, 64), (64, 64), dtype=dtype)
    entries = [*steps((0, 1000)), span("cpu_op", name, 1, 998 * share, **typed)]
    if inner:
        entries.append(span("cpu_op", inner, 2, 998 * share - 2, **typed))
    return made(entries)


@given(
    share=st.floats(0.2, 0.9), name=st.sampled_from(["aten::mm", "aten::linear", "aten::conv2d"])
)
def test_a_product_in_float16_takes_at_most_half_as_long_in_float32(
    share: float, name: str
) -> None:
    finding = item(_product("c10::Half", share, name), "half_on_host")
    assert finding["recoverable_ns"] == pytest.approx(998_000 * share / 2, rel=0.01)
    assert finding["words"]["largest"] == name


@given(share=st.floats(0.2, 0.9), dtype=st.sampled_from(["float", "c10::BFloat16", "double"]))
def test_products_of_other_types_are_not_in_float16(share: float, dtype: str) -> None:
    assert "half_on_host" not in rules(_product(dtype, share))


@pytest.mark.parametrize(
    ("name", "inner"), [("aten::add", ""), ("aten::conv2d", "aten::mkldnn_convolution")]
)
def test_float16_that_is_not_slow_on_a_host(name: str, inner: str) -> None:
    """A pointwise operator moves half of the bytes; what the library computes has instructions."""
    assert "half_on_host" not in rules(_product("c10::Half", 0.5, name, inner))


def test_float16_on_a_device_is_no_fault_of_the_host() -> None:
    typed = inputs((64, 64), (64, 64), dtype="c10::Half")
    operator = span("cpu_op", "aten::mm", 1, 600, **typed)
    found = made([*steps((0, 1000)), operator, *launched("k", 1, 10, 20, 5)])
    assert "half_on_host" not in rules(found)


def test_the_same_product_in_float32_tells_what_float16_costs() -> None:
    half, single = (inputs((64, 64), (64, 64), dtype=dtype) for dtype in ("c10::Half", "float"))
    entries = [
        *steps((0, 1000)),
        span("cpu_op", "aten::mm", 1, 600, **half),
        span("cpu_op", "aten::mm", 700, 60, **single),
    ]
    assert item(made(entries), "half_on_host")["recoverable_ns"] == pytest.approx(540_000, rel=0.01)


def _made_weights(times: int, frames: str, updates: bool = False) -> Findings:
    """A weight is made so many times in a step of 1,000 µs, each in 50 µs, and one gradient is accumulated."""
    entries = [*steps((0, 1000))]
    for number in range(times):
        begin = 60 * number + 1
        ids = {"Python id": 10 * number + 1}
        entries.append(span("python_function", "nn.Module: Linear_0", begin, 55, **ids))
        ids = {"Python id": 10 * number + 2, "Python parent id": 10 * number + 1}
        entries.append(span("python_function", frames, begin + 1, 50, **ids))
        entries.append(span("cpu_op", "aten::mv", begin + 1, 49))
        if updates:
            entries.append(span("user_annotation", "Optimizer.step#SGD.step", begin + 57, 1))
    entries.append(span("cpu_op", "torch::autograd::AccumulateGrad", 990, 5))
    return made(entries)


HOOK = "torch/nn/utils/spectral_norm.py(125): __call__"


@pytest.mark.parametrize("frames", ["nn.Module: ParametrizationList_0", HOOK])
@pytest.mark.parametrize("times", [2, 5, 16])
def test_a_weight_is_made_once_in_a_step(times: int, frames: str) -> None:
    finding = item(_made_weights(times, frames), "weight_made_anew")
    assert finding["numbers"] == {
        "made": times,
        "weights": 1,
        "again": pytest.approx(50_000 * (times - 1), rel=0.1),
    }
    assert finding["recoverable_ns"] == pytest.approx(50_000 * (times - 1), rel=0.1)


@pytest.mark.parametrize(("times", "updates"), [(1, False), (8, True)])
def test_a_weight_that_has_changed_is_made_anew(times: int, updates: bool) -> None:
    assert "weight_made_anew" not in rules(_made_weights(times, HOOK, updates))


def _frozen(
    count: int,
    *more: Event,
    optimizer: str = "aten::add_",
    shape: tuple[int, ...] = (4,),
    alike: bool = False,
) -> Findings:
    """A step of 1,000 µs with the gradient of a head of this shape, then those of other layers, all ``alike`` or not, each after
    50 µs, and an optimizer of the head.
    """
    engine = "autograd::engine::evaluate_function: "

    def gradient(begin: float, *dims: int) -> list[Event]:
        name = "torch::autograd::AccumulateGrad"
        inner = span("cpu_op", name, begin + 1, 3, **inputs(dims))
        return [span("cpu_op", engine + name, begin, 5), inner]

    entries = [*steps((0, 1000)), *gradient(10, 4)]
    for number in range(count):
        begin = 50 * number + 20
        entries.append(span("cpu_op", engine + "AddmmBackward0", begin + 0.5, 44.5))
        entries += gradient(begin + 45, *((4,) if alike else (8, 8 + number)))
    entries.append(span("user_annotation", "Optimizer.step#SGD.step", 950, 40))
    entries.append(span("cpu_op", optimizer, 951, 30, **inputs(shape, shape)))
    return made([*entries, *more])


@given(count=st.integers(4, 15))
def test_gradients_of_frozen_layers(count: int) -> None:
    finding = item(_frozen(count), "machinery_without_use")
    assert finding["numbers"]["frozen"] == count
    assert finding["recoverable_ns"] == pytest.approx(50_000 * count, rel=0.02)


@given(count=st.integers(4, 15))
def test_gradients_of_a_model_like_the_trained_one(count: int) -> None:
    finding = item(_frozen(count, alike=True), "machinery_without_use")
    assert finding["numbers"] == {"frozen": count, "updated": 1}
    assert finding["recoverable_ns"] == pytest.approx(50_000 * count, rel=0.02)


@given(count=st.integers(4, 15), between=st.booleans())
def test_gradients_of_several_backward_passes_or_of_parameters_that_are_updated(
    count: int, between: bool
) -> None:
    begins = [50 * number + 20 if between else 982 + number / 2 for number in range(count)]
    name = "aten::ones_like" if between else "aten::add_"
    more = [span("cpu_op", name, begin, 0.4, **inputs((4,), (4,))) for begin in begins]
    assert "machinery_without_use" not in rules(_frozen(count, *more, alike=True))


def _anew(parameters: int, every: bool, frames: bool, builds: bool) -> Findings:
    """Four steps of 1,000 µs of which each, or the first alone, fills the state of an optimizer with zeros, 20 µs per parameter;
    with Python frames of which one makes it.
    """
    entries = [*steps(*((1000 * number, 1000 * number + 1000) for number in range(4)))]
    for number in range(4):
        begin = 1000 * number
        frame = "torch/optim/sgd.py(30): __init__" if builds else "torch/optim/sgd.py(90): step"
        if frames:
            entries.append(span("python_function", frame, begin + 1, 50, **{"Python id": number}))
        for at in range(parameters):
            name = "torch::autograd::AccumulateGrad"
            entries.append(span("cpu_op", name, begin + 100 + 10 * at, 5, **inputs((4,))))
        entries.append(span("user_annotation", "Optimizer.step#SGD.step", begin + 400, 590))
        for at in range(parameters if every or not number else 0):
            entries.append(span("cpu_op", "aten::zeros_like", begin + 401 + 21 * at, 20))
    return made(entries)


@given(parameters=st.integers(4, 25), frames=st.booleans())
def test_an_optimizer_that_is_made_in_each_step(parameters: int, frames: bool) -> None:
    finding = item(_anew(parameters, True, frames, True), "machinery_without_use")
    assert finding["words"]["what"] == "making the optimizer anew"
    saved = 20_000 * parameters + 50_000 * frames
    assert finding["recoverable_ns"] == pytest.approx(saved, rel=0.02)


@given(parameters=st.integers(1, 25), every=st.booleans())
def test_state_of_a_first_step_or_of_an_optimizer_that_was_made_before(
    parameters: int, every: bool
) -> None:
    found = _anew(parameters if every else max(parameters, 4), every, every, not every)
    assert "machinery_without_use" not in rules(found)


def test_few_gradients_without_an_update_are_inputs() -> None:
    assert "machinery_without_use" not in rules(_frozen(3))


def _lists(*shapes: tuple[int, ...]) -> dict[str, Any]:
    return {
        "Input Dims": [[list(shape) for shape in shapes]],
        "Input type": [["float"] * len(shapes)],
    }


@pytest.mark.parametrize(
    ("more", "optimizer", "shape"),
    [
        # All are updated, one by one or in a list; a list that is too long to be recorded; flat or unknown shapes.
        (
            [span("cpu_op", "aten::add_", 982 + n, 1, **inputs((8, 8 + n))) for n in range(5)],
            "aten::add_",
            (4,),
        ),
        (
            [
                span(
                    "cpu_op",
                    "aten::_foreach_add_",
                    982,
                    2,
                    **_lists(*((8, 8 + n) for n in range(5))),
                )
            ],
            "aten::add_",
            (4,),
        ),
        ([span("cpu_op", "aten::_foreach_add_", 982, 2, **_lists())], "aten::add_", (4,)),
        ([], "aten::_fused_sgd_", (4,)),
        ([], "aten::add_", (424,)),
        (
            [span("cpu_op", "aten::add_", 991 + n, 1, **inputs((8, 8 + n))) for n in range(5)],
            "aten::add_",
            (4,),
        ),
        ([span("cpu_op", "gloo:all_reduce", 992, 5)], "aten::add_", (4,)),
    ],
)
def test_gradients_that_are_used(more: list[Event], optimizer: str, shape: tuple[int, ...]) -> None:
    assert "machinery_without_use" not in rules(_frozen(5, *more, optimizer=optimizer, shape=shape))


def _called(
    *calls: tuple[str, int, int],
    read: bool = True,
    between: str = "",
    last: tuple[int, ...] = (8, 8),
    backward: int = 130,
) -> Findings:
    """A step of 1,000 µs with calls of a module, each of 100 µs with two operators from a sequence number on to another; the
    first one has a backward.
    """
    entries = [*steps((0, 1000))]
    for number, (name, low, high) in enumerate(calls):
        begin = 200 * number + 10
        entries.append(
            span("python_function", f"nn.Module: {name}", begin, 100, **{"Python id": number + 1})
        )
        shape = last if number == len(calls) - 1 else (8, 8)
        for place, sequence in enumerate((low, high)):
            numbered = {"Sequence number": sequence, "Fwd thread id": 0}
            entries.append(
                span(
                    "cpu_op",
                    "aten::linear",
                    begin + 45 * place + 2,
                    40,
                    **numbered,
                    **inputs(shape),
                )
            )
        if between and number:
            entries.append(span("user_annotation", between, begin - 8, 4))
        if read:
            entries.append(span("cpu_op", "aten::_local_scalar_dense", begin + 105, 5))
        if not number:
            numbered = {"Sequence number": low, "Fwd thread id": 1}
            name = "autograd::engine::evaluate_function: AddmmBackward0"
            entries.append(span("cpu_op", name, backward, 50, **numbered))
    return made(entries)


@pytest.mark.parametrize("more", [1, 2, 3])
def test_a_repeated_forward(more: int) -> None:
    calls = [("Net_0", 10 * number, 10 * number + 1) for number in range(more + 1)]
    finding = item(_called(*calls), "repeated_forward")
    assert finding["words"]["module"] == "Net"
    assert finding["numbers"] == {"calls": more + 1, "repeats": more, "again": 100_000 * more}
    assert finding["recoverable_ns"] == pytest.approx(100_000 * more, rel=0.01)


NET = ("Net_0", 0, 1)


@pytest.mark.parametrize(
    ("call", "others"),
    [
        # Another module; without gradients; unread; another shape; before the backward, whose loss may have
        # its result; after an update; on a new batch.
        (("Net_1", 10, 11), {}),
        (("Net_0", 10, 10), {}),
        (("Net_0", 10, 11), {"read": False}),
        (("Net_0", 10, 11), {"last": (16, 8)}),
        (("Net_0", 10, 11), {"backward": 330}),
        (("Net_0", 10, 11), {"between": "Optimizer.step#SGD.step"}),
        (
            ("Net_0", 10, 11),
            {"between": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"},
        ),
    ],
)
def test_a_forward_that_is_no_repetition(
    call: tuple[str, int, int], others: dict[str, Any]
) -> None:
    assert "repeated_forward" not in rules(_called(NET, call, **others))
