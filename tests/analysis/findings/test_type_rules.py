"""Rules about element types: a trace that fires each, and twins that must not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.efficiency.cases import H100, inputs
from tests.analysis.findings.cases import Findings, item, launched, made, rules, span, steps
from tests.builders.drawn import Event

DGEMM = "void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_tn_align1>(Params)"
SLOW_DOUBLE: dict[str, Any] = {
    "deviceProperties": [
        {
            "id": 0,
            "name": "NVIDIA H800",
            "totalGlobalMem": 85_018_279_936,
            "computeMajor": 9,
            "computeMinor": 0,
            "numSms": 132,
        }
    ]
}


def _host(dtype: str, share: float, shape: tuple[int, ...] = (64, 64), brief: int = 0) -> Findings:
    """A step of 1,000 µs on a host, of which an operator of this type takes a share."""
    entries = [
        *steps((0, 1000)),
        span("cpu_op", "aten::mm", 1, 998 * share, **inputs(shape, shape, dtype=dtype)),
        span("cpu_op", "aten::relu", 2 + 998 * share, 5, **inputs((8, 8), dtype="float")),
    ]
    entries += [
        span("cpu_op", "aten::add", 600 + 9 * i, 8, **inputs(shape, dtype=dtype))
        for i in range(brief)
    ]
    return made(entries)


@given(share=st.floats(0.2, 0.9), dtype=st.sampled_from(["double", "c10::complex<double>"]))
def test_float64_takes_twice_as_long(share: float, dtype: str) -> None:
    finding = item(_host(dtype, share), "double_precision")
    assert finding["recoverable_ns"] == pytest.approx(998_000 * share / 2, rel=0.01)
    assert finding["words"]["largest"] == "aten::mm"


@given(share=st.floats(0.2, 0.9), dtype=st.sampled_from(["float", "c10::BFloat16", "long int"]))
def test_other_types_are_no_float64(share: float, dtype: str) -> None:
    assert "double_precision" not in rules(_host(dtype, share))


def test_a_single_number_of_float64_is_a_scalar() -> None:
    assert "double_precision" not in rules(_host("double", 0.5, ()))


def test_short_operators_are_mostly_their_call() -> None:
    assert "double_precision" not in rules(_host("double", 0.001, brief=40))


def _device(kernel: str, header: dict[str, Any], dtype: str | None = None) -> Findings:
    typed = inputs((2048, 2048), (2048, 2048), dtype=dtype) if dtype else {}
    operator = span("cpu_op", "aten::mm", 0.5, 6, **typed)
    return made([*steps((0, 12)), operator, *launched(kernel, 1, 1, 1, 999)], **header)


@pytest.mark.parametrize(
    ("kernel", "dtype", "fires"),
    [
        (DGEMM, None, True),
        ("volta_dgemm_128x64_nn", None, True),
        ("void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<double>>", None, True),
        ("k", "double", True),
        # A scalar of the kernel is double, what it computes with is not.
        ("void multi_tensor_apply_kernel<FusedAdamMathFunctor<float>, double>", None, False),
        ("void at::native::reduce_kernel<double>", "float", False),
        ("ampere_sgemm_128x64_tn", None, False),
    ],
)
def test_float64_on_a_device(kernel: str, dtype: str | None, fires: bool) -> None:
    assert ("double_precision" in rules(_device(kernel, SLOW_DOUBLE, dtype))) == fires


def test_products_of_float64_follow_the_rates_of_the_device() -> None:
    """1/67 of float32's on an H800; on an H100 both are as fast, but for TF32."""
    slow = item(_device(DGEMM, SLOW_DOUBLE), "double_precision")
    assert slow["recoverable_ns"] == pytest.approx(999_000 * 66 / 67, rel=0.01)
    assert rules(_device(DGEMM, H100)) == {}


def test_launching_does_not_take_half_as_long() -> None:
    """Of an operator that launches, only the kernel computes."""
    operator = span("cpu_op", "aten::mm", 0.5, 600, **inputs((8, 8), (8, 8), dtype="double"))
    found = made([*steps((0, 1000)), operator, *launched("k", 1, 590, 595, 5)], **H100)
    assert "double_precision" not in rules(found)


def test_where_tensors_become_float64() -> None:
    frames = {"Python id": 1}
    entries = [
        *steps((0, 1000)),
        span("python_function", "train.py(12): load", 1, 100, **frames),
        span("cpu_op", "aten::to", 2, 50, **inputs((64, 64), dtype="float")),
        span("cpu_op", "aten::copy_", 3, 40, **(inputs((64, 64), (64, 64), dtype="double"))),
        span("python_function", "train.py(30): step", 200, 700, **frames),
        span("cpu_op", "aten::mm", 201, 600, **inputs((64, 64), (64, 64), dtype="double")),
    ]
    assert item(made(entries), "double_precision")["words"]["entry"] == "train.py(12): load"


def _conversion(source: str, result: str, begin: float, shape: tuple[int, ...]) -> list[Event]:
    copy = inputs(shape, shape) | {"Input type": [result, source]}
    return [
        span("cpu_op", "aten::to", begin, 20, **inputs(shape, dtype=source)),
        span("cpu_op", "aten::_to_copy", begin + 1, 18, **inputs(shape, dtype=source)),
        span("cpu_op", "aten::copy_", begin + 2, 15, **copy),
    ]


@given(pairs=st.integers(4, 12))
def test_conversions_there_and_back(pairs: int) -> None:
    entries = [*steps((0, 50 * pairs + 1))]
    for i in range(pairs):
        entries += _conversion("float", "c10::BFloat16", 50 * i + 1, (64, 64))
        entries += _conversion("c10::BFloat16", "float", 50 * i + 23, (64, 64))
    finding = item(made(entries), "conversions")
    assert finding["certainty"] == "likely"
    assert finding["recoverable_ns"] == pytest.approx(40_000 * pairs, rel=0.01)
    assert finding["numbers"]["back"] == 2 * pairs


def test_conversions_of_weights_are_the_price_of_mixed_precision() -> None:
    entries = [*steps((0, 1000))]
    for i in range(10):
        entries += _conversion("float", "c10::BFloat16", 50 * i + 1, (64, i + 1))
    assert item(made(entries), "conversions")["certainty"] == "theoretical"


def test_integers_and_numbers_are_no_conversions() -> None:
    entries = [*steps((0, 1000))]
    for i in range(10):
        entries += _conversion("long int", "float", 90 * i + 1, (64, 64))
        entries += _conversion("double", "float", 90 * i + 41, ())
    assert "conversions" not in rules(made(entries))
