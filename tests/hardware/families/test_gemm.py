"""Matrix products of every shape that PyTorch accepts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hardware.families.calls import unknown, work
from torch_tb_profiler.hardware.work import Work


def test_a_product_of_matrices() -> None:
    assert work("aten::mm(bf16 788x768, bf16 768x3072)") == Work(
        2 * 788 * 768 * 3072,
        2 * (788 * 768 + 768 * 3072 + 788 * 3072),
        "matrix",
        "bf16",
        {"M": 788, "N": 3072, "K": 768},
    )


@pytest.mark.parametrize(
    ("arguments", "flops", "unit", "parameters"),
    [
        (
            "aten::bmm(fp32 3x4x5, fp32 3x5x6)",
            2 * 3 * 4 * 5 * 6,
            "matrix",
            {"B": 3, "M": 4, "N": 6, "K": 5},
        ),
        (
            "aten::matmul(fp32 2x3x4x5, fp32 5x6)",
            2 * 24 * 5 * 6,
            "matrix",
            {"M": 24, "N": 6, "K": 5},
        ),
        ("aten::mv(fp32 4x5, fp32 5)", 2 * 4 * 5, "vector", {"M": 4, "N": 1, "K": 5}),
        (
            "aten::linear(fp16 2x3x5, fp16 7x5, None)",
            2 * 6 * 5 * 7,
            "matrix",
            {"M": 6, "N": 7, "K": 5},
        ),
        (
            "aten::linear(fp16 5, fp16 7x5, None)",
            2 * 5 * 7,
            "vector",
            {"M": 1, "N": 7, "K": 5},
        ),
        (
            "aten::addbmm(fp32 4x6, fp32 3x4x5, fp32 3x5x6, 0, 1)",
            2 * 4 * 6 * 15,
            "matrix",
            {"M": 4, "N": 6, "K": 15},
        ),
        ("aten::outer(fp32 4, fp32 6)", 24, "vector", {"M": 4, "N": 6}),
    ],
)
def test_shapes(arguments: str, flops: int, unit: str, parameters: dict[str, int]) -> None:
    cost = work(arguments)
    assert (cost.flops, cost.unit, cost.parameters) == (flops, unit, parameters)


def test_a_bias_is_added_and_told() -> None:
    plain, biased = (
        work("aten::linear(bf16 10x5, bf16 7x5, None)"),
        work("aten::linear(bf16 10x5, bf16 7x5, bf16 7)"),
    )
    assert biased.flops - plain.flops == biased.bias_flops == 70
    assert biased.bytes == (plain.bytes or 0) + 2 * 7


def test_what_beta_hides_is_not_read() -> None:
    arguments = ("fp32 4x6", "fp32 4x5", "fp32 5x6")
    with_addend, without = (
        work("aten::addmm", *arguments, 1, 1),
        work("aten::addmm", *arguments, 0, 1),
    )
    assert with_addend.bytes == (without.bytes or 0) + 4 * 24
    assert (with_addend.bias_flops, without.bias_flops) == (24, 0)


def test_a_result_of_another_type() -> None:
    # float32 is number 6 of c10::ScalarType.
    assert work("aten::mm(bf16 4x5, bf16 5x6, 6)").bytes == 2 * (20 + 30) + 4 * 24
    assert (
        work("aten::addmm(fp32 6, bf16 4x5, bf16 5x6, 6, 1, 1)").bytes
        == 4 * 6 + 2 * (20 + 30) + 4 * 24
    )
    assert work("aten::mm(bf16 4x5, bf16 5x6, fp32 4x6)").bytes == 2 * (20 + 30) + 4 * 24
    assert work("aten::_int_mm(i8 4x5, i8 5x6)") == Work(
        240, 20 + 30 + 4 * 24, "matrix", "int8", {"M": 4, "N": 6, "K": 5}
    )


def test_scaled_products() -> None:
    cost = work("aten::_scaled_mm(fp8 32x64, fp8 64x16, fp32, fp32, None, None, 15, True)")
    assert cost == Work(
        2 * 32 * 64 * 16,
        32 * 64 + 64 * 16 + 2 * 32 * 16 + 8,
        "matrix",
        "fp8",
        {"M": 32, "N": 16, "K": 64},
    )
    with_bias = work("aten::_scaled_mm(fp8 32x64, fp8 64x16, fp32, fp32, bf16 16, None, 15, True)")
    assert with_bias.flops == cost.flops + 32 * 16
    # The four-bit float is stored in pairs: K is twice the dimension.
    assert work(
        "aten::_scaled_mm(fp4 32x64, fp4 64x16, fp8 32x8, fp8 16x8, None, None, 15, True)"
    ).parameters == {"M": 32, "N": 16, "K": 128}


def test_grouped_products() -> None:
    rows = work("aten::_grouped_mm(bf16 40x8, bf16 5x8x6, i32 5, None, None)")
    assert (rows.flops, rows.parameters) == (2 * 40 * 8 * 6, {"G": 5, "M": 40, "N": 6, "K": 8})
    assert (
        work("aten::_grouped_mm(bf16 40x8, bf16 8x6, i32 5, None, None)").bytes
        == 2 * (40 * 8 + 8 * 6 + 5 * 40 * 6) + 4 * 5
    )
    assert (
        work("aten::_grouped_mm(bf16 5x4x8, bf16 5x8x6, None, None, None)").flops
        == 5 * 2 * 4 * 8 * 6
    )
    assert (
        work(
            "aten::_scaled_grouped_mm(fp8 40x8, fp8 5x8x6, fp32 40, fp32 5x6, i32 5, "
            "None, None, 15, True)"
        ).precision
        == "fp8"
    )
    assert unknown("aten::_grouped_mm(bf16 5x4x8, bf16 3x8x6, None, None, None)")


def test_the_backward_of_a_linear_layer_does_what_is_asked() -> None:
    arguments = ("fp32 10x5", "fp32 10x7", "fp32 7x5")
    assert (
        work("aten::linear_backward", *arguments, [True, True, True]).flops
        == 2 * (2 * 10 * 5 * 7) + 70
    )
    assert work("aten::linear_backward", *arguments, [False, True, False]).bytes == 4 * (
        50 + 70 + 35
    )
    assert unknown("aten::linear_backward", *arguments, None)


def test_weights_packed_in_four_bits() -> None:
    cost = work("aten::_weight_int4pack_mm(bf16 16x1024, i32 8x8x32x4, 32, bf16 32x64x2)")
    assert cost.parameters == {"M": 16, "N": 64, "K": 1024}
    assert cost.precision == "bf16"


@pytest.mark.parametrize("name", ["aten::mm", "aten::linear"])
def test_what_does_not_fit_is_unknown(name: str) -> None:
    assert unknown(name, "fp32 4x5", "fp32 6x7")
    assert unknown(name, "fp32 4x5", None)


def test_complex_products_are_not_modelled() -> None:
    assert unknown("aten::mm(c64 4x5, c64 5x6)")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=2), st.tuples(*[st.integers(1, 6)] * 3))
def test_matmul_equals_as_many_products(batch: list[int], sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    lead = "x".join(str(b) for b in batch)
    cost = work(f"aten::matmul(fp32 {lead}x{m}x{k}, fp32 {lead}x{k}x{n})")
    assert cost.flops == math.prod(batch) * work(f"aten::mm(fp32 {m}x{k}, fp32 {k}x{n})").flops
