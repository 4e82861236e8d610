"""Elementwise functions: broadcasting, types, where results go, what counts as a FLOP."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import Argument, unknown, work
from torch_tb_profiler.hardware.work import Work


def test_a_sum() -> None:
    assert work("aten::add(bf16 4x197x768, bf16 1x197x768, 1)") == Work(
        4 * 197 * 768,
        2 * (2 * 4 * 197 * 768 + 197 * 768),
        "vector",
        "bf16",
        {"shape": (4, 197, 768), "broadcast": (1, 197, 768)},
    )


@pytest.mark.parametrize(
    ("arguments", "size", "precision"),
    [
        ("aten::add(bf16 6, fp32 6, 1)", 2 + 4 + 4, "fp32"),
        ("aten::add(bf16 6, fp16 6, 1)", 2 + 2 + 4, "fp32"),
        ("aten::mul(fp16 6, i64 6)", 2 + 8 + 2, "fp16"),
        ("aten::add_(bf16 6, fp32 6, 1)", 2 + 4 + 2, "fp32"),
        ("aten::eq(fp32 6, fp32 6)", 4 + 4 + 1, "fp32"),
        ("aten::mul(fp64 6, fp32 6)", 8 + 4 + 8, "fp64"),
        ("aten::add(fp16 6, fp16 6, 1, fp32 6)", 2 + 2 + 4, "fp16"),
        ("aten::addcdiv_(fp32 6, fp32 6, fp32 6, 0.5)", 4 * 4, "fp32"),
        ("aten::sigmoid(i64 6)", 8 + 4, "fp32"),
    ],
)
def test_types_of_results(arguments: str, size: int, precision: str) -> None:
    cost = work(arguments)
    assert (cost.bytes, cost.precision) == (6 * size, precision)


def test_a_tensor_of_no_dimensions_decides_only_among_kinds() -> None:
    assert work("aten::mul(bf16 6, fp64)").bytes == 6 * 4 + 8
    assert work("aten::mul(i64 6, fp64)").bytes == 6 * (8 + 4) + 8
    assert work("aten::mul(i64 6, bf16)").bytes == 6 * (8 + 2) + 2


def test_integers_are_no_floating_point() -> None:
    assert work("aten::add(i64 6, i64 6, 1)") == Work(0, 6 * 24, "", "", {"shape": (6,)})
    assert work("aten::eq(i64 6, 3)").flops == 0
    assert unknown("aten::mul(c64 6, c64 6)")


@pytest.mark.parametrize(
    ("arguments", "each"),
    [
        ("aten::add(fp32 6, fp32 6, 1)", 1),
        ("aten::gelu(fp32 6, None)", 1),
        ("aten::addcmul(fp32 6, fp32 6, fp32 6, 1)", 3),
        ("aten::where(bool 6, fp32 6, fp32 6)", 0),
        ("aten::glu(fp32 12, -1)", 2),
        ("aten::native_dropout(fp32 6, 0.1, True)", 2),
    ],
)
def test_flops_per_element_of_the_result(arguments: str, each: int) -> None:
    assert work(arguments).flops == 6 * each


def test_old_traces_write_scalars_by_other_names() -> None:
    # PyTorch 1.9: clamp_min(x, 0, out=x) with types "float", "Int", "float".
    assert work("aten::clamp_min(fp32 4x5, 0, fp32 4x5)").bytes == 2 * 4 * 20


def test_a_recorded_stack_ends_with_the_arguments() -> None:
    # TorchScript of 2022, as in ddp128_sampled: what lay on the stack before pow(x, 2), and two
    # masks before x <= 0.5.
    stack: tuple[Argument, ...] = ("fp32 512x2842", "fp32 512", "fp32 2048x1421")
    assert work("aten::pow", *stack, "fp32 20x14", 2) == work("aten::pow(fp32 20x14, 2)")
    assert work("aten::le(fp32 20x1, bool 20x1, fp32 20x7, 0.5)") == work(
        "aten::le(fp32 20x7, 0.5)"
    )
    # A mode of rounding and a given result are the operator's own.
    assert work("aten::div(fp32 4x5, fp32 4x5, 'floor', fp32 4x5)").bytes == 4 * 60
    assert unknown("aten::div", *stack, *stack, "fp32 4x5")


def test_an_evaluation_drops_nothing() -> None:
    assert unknown("aten::native_dropout(fp32 6, 0.1, False)")


def test_shapes_that_do_not_fit() -> None:
    assert unknown("aten::add(fp32 4x5, fp32 4, 1)")
    assert unknown("aten::add(3, 4, 1)")


def test_an_engine_of_language_models() -> None:
    assert work("_C::silu_and_mul(bf16 8x64, bf16 8x128)") == Work(
        2 * 512, 2 * (1024 + 512), "vector", "bf16", {"shape": (8, 64)}
    )
    rotary = work("_C::rotary_embedding(i64 8, bf16 8x512, bf16 8x64, 64, bf16 4096x64, True)")
    assert rotary.flops == 3 * 8 * (512 + 64)
    assert rotary.bytes == 8 * 8 + 2 * (2 * 8 * (512 + 64) + 8 * 64)
