"""Rules about what a model computes needlessly: a trace that fires each, and twins that must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.efficiency.cases import inputs
from tests.analysis.findings.cases import Findings, item, launched, made, rules, span, steps


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
