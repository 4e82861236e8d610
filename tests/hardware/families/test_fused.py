"""Optimizers, recurrent networks, pooling, quantization, experts, and inductor's kernels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hardware.families.calls import amounts, unknown, work
from torch_tb_profiler.hardware.work import Work

LISTS = "[fp32 4x5, fp32 7]"


@pytest.mark.parametrize(
    ("arguments", "each"),
    [
        ("aten::_foreach_add_(2*[fp32 4x5, fp32 7], -0.001)", 2),
        ("aten::_foreach_add_([fp32 4x5, fp32 7], 1.0)", 1),
        ("aten::_foreach_zero_([fp32 4x5, fp32 7])", 0),
        ("aten::_foreach_addcdiv_(3*[fp32 4x5, fp32 7])", 3),
    ],
)
def test_functions_of_lists(arguments: str, each: int) -> None:
    assert work(arguments) == Work(
        27 * each, None, "vector" if each else "", "", {"tensors": 2, "elements": 27}
    )


def test_fused_steps() -> None:
    adam = f"4*{LISTS}, None, [fp32, fp32], 0.001, 0.9, 0.999"
    sgd = f"aten::_fused_sgd_(3*{LISTS}, "
    for call, each in (
        (f"aten::_fused_adam_({adam}, 0.0, 1e-8, False, False, None, None)", 13),
        (f"aten::_fused_adam_({adam}, 0.01, 1e-8, True, False, None, None)", 13 + 2 + 1),
        (f"aten::_fused_adamw_({adam}, 0.01, 1e-8, False, False, None, None)", 14),
        (f"{sgd}0.0, 0.9, 0.1, 0.0, False, False, False)", 2 + 2),
        (f"{sgd}0.1, 0.9, 0.1, 0.5, True, False, False)", 2 + 2 + 3 + 2),
    ):
        assert work(call).flops == each * 27, call
    assert unknown(f"aten::_fused_adam_(4*{LISTS}, 8*None)")


def test_every_weight_meets_every_step() -> None:
    weights = "[fp32 16x7, fp32 16x4, fp32 16, fp32 16]"
    cost = work(
        f"aten::lstm(fp32 3x5x7, [fp32 1x5x4, fp32 1x5x4], {weights}, True, 1, 0.0, "
        "False, False, False)"
    )
    assert cost.flops - cost.bias_flops == 2 * 15 * 16 * (7 + 4)
    assert cost.parameters == {"T·B": 15, "inputs": 7, "hidden": 4, "cells": 1}
    library = work(
        f"aten::_cudnn_rnn(fp32 3x5x7, {weights}, 4, None, fp32 1x5x4, "
        "fp32 1x5x4, 2, 4, 0, 1, False, 0.0, True, False, [0], None)"
    )
    assert (library.flops, library.bytes) == (cost.flops, cost.bytes)
    packed = work(
        f"aten::lstm(fp32 15x7, i64 3, [fp32 1x5x4, fp32 1x5x4], {weights}, True, 1, 0.0, False, False)"
    )
    assert packed.flops == cost.flops


def test_cells() -> None:
    cost = work("aten::_thnn_fused_lstm_cell(fp32 5x16, fp32 5x16, fp32 5x4, fp32 16, fp32 16)")
    assert (cost.flops, cost.bytes) == (21 * 20, 4 * (80 + 80 + 20 + 32 + 40 + 80))


@pytest.mark.parametrize(
    ("arguments", "flops", "size"),
    [
        (
            "aten::max_pool2d_with_indices(fp32 2x3x8x8, [3, 3], [2, 2], [1, 1], [1, 1], False)",
            96 * 9,
            4 * (384 + 96) + 8 * 96,
        ),
        (
            "aten::avg_pool2d(fp32 2x3x8x8, [2, 2], [], [0, 0], False, True, None)",
            96 * 4,
            4 * (384 + 96),
        ),
        ("aten::_adaptive_avg_pool2d(fp32 2x3x7x7, [1, 1])", 294, 4 * (294 + 6)),
        (
            (
                "aten::max_pool2d_with_indices_backward(fp32 2x3x4x4, fp32 2x3x8x8, "
                "[3, 3], [2, 2], [1, 1], [1, 1], False, i64 2x3x4x4)"
            ),
            96,
            4 * (96 + 384) + 8 * 96,
        ),
        (
            "aten::_adaptive_avg_pool2d_backward(fp32 2x3x1x1, fp32 2x3x7x7)",
            294,
            4 * (294 + 6),
        ),
        (
            "aten::upsample_bilinear2d(fp32 2x3x4x4, [8, 8], False, None, None)",
            8 * 384,
            4 * (96 + 384),
        ),
        ("aten::upsample_nearest2d(fp32 2x3x4x4, None, [2.0, 2.0])", 0, 4 * (96 + 384)),
        (
            "aten::upsample_nearest2d_backward(fp32 2x3x8x8, [8, 8], [2, 3, 4, 4], None, None)",
            384,
            4 * (96 + 384),
        ),
        ("aten::quantize_per_tensor(fp32 4x5, 0.1, 0, 13)", 80, 5 * 20),
        ("_C::static_scaled_fp8_quant(fp8 4x5, bf16 4x5, fp32)", 40, 20 + 40 + 4),
        ("_C::dynamic_scaled_fp8_quant(fp8 4x5, bf16 4x5, fp32)", 80, 20 + 40 + 4),
    ],
)
def test_pooling_resampling_and_quantisation(arguments: str, flops: int, size: int) -> None:
    assert amounts(arguments) == (flops, size)


@given(st.integers(1, 20), st.integers(1, 20))
def test_adaptive_windows_cover_what_they_cover(length: int, count: int) -> None:
    covered = sum(
        len(range(i * length // count, -(-(i + 1) * length // count))) for i in range(count)
    )
    assert work("aten::adaptive_max_pool2d", f"fp32 1x1x{length}x1", [count, 1]).flops == covered


def test_transforms() -> None:
    real = work("aten::_fft_r2c(fp32 4x8, [1], 0, True)")
    assert (real.flops, real.bytes, real.precision) == (
        4 * 8 * 3 * 5 // 2,
        4 * 32 + 8 * 4 * 5,
        "fp32",
    )
    assert work("aten::_fft_c2c(c64 4x8, [0, 1], 0, True)").flops == 5 * 32 * 5
    assert work("aten::_fft_c2r(c64 4x5, [1], 2, 8)").bytes == 8 * 20 + 4 * 32
    assert unknown("aten::_fft_c2c(c64 4x8, [2], 0, True)")


def test_rows_of_bytes_between_ranks() -> None:
    assert work("fbgemm::FloatToFP8RowwiseQuantized(fp32 10x256, True)").bytes == 10 * (
        4 * 256 + 264
    )
    assert work("fbgemm::FP8RowwiseQuantizedToFloat(u8 10x264, True)") == Work(
        5120, 10 * (264 + 4 * 256), "vector", "fp32", {"shape": (10, 264)}
    )


def test_the_backward_of_a_layer_is_twice_its_forward() -> None:
    forward = work(
        "aten::mkldnn_rnn_layer(fp32 3x5x7, fp32 16x7, fp32 16x4, fp32 16, "
        "fp32 16, fp32 5x4, fp32 5x4, False, [], 2, 4)"
    )
    backward = work(
        "aten::mkldnn_rnn_layer_backward(fp32 3x5x7, fp32 16x7, fp32 16x4, 2*fp32 16, "
        "2*fp32 5x4, fp32 3x5x4, 2*fp32 5x4, fp32 3x5x4, 2*fp32 5x4, False, 2, 4)"
    )
    assert backward.flops == 2 * forward.flops


def test_experts() -> None:
    m, k, n, experts, topk = 6, 32, 48, 8, 2
    cost = work(
        f"vllm::inplace_fused_experts(bf16 {m}x{k}, fp8 {experts}x{2 * n}x{k}, "
        f"fp8 {experts}x{k}x{n}, fp32 {m}x{topk}, i32 {m}x{topk})"
    )
    assert cost.flops - cost.bias_flops == 2 * m * topk * k * 2 * n + 2 * m * topk * n * k
    assert cost.precision == "fp8"
    hit = experts * (1 - (1 - topk / experts) ** m)
    assert cost.bytes == 2 * 2 * m * k + 8 * m * topk + round(hit * 3 * n * k)


def test_fused_kernels() -> None:
    assert work(
        "triton_poi_fused_add_cos_sin_0", "fp32 10x10", "fp32 10x10", "fp32 10x10", 100
    ) == Work(300, 1200, "vector", "fp32", {"elements": 100, "tensors": 3, "fuses": "add cos sin"})
    rows = work("triton_red_fused_mean_mul_1", "bf16 8x16", "bf16 8", "bf16 8x16", 8, 16)
    assert (rows.flops, rows.bytes) == (2 * 128, 2 * (128 + 8 + 128))
    # Tiled: ynumel, xnumel; and a size of dynamic shapes before.
    assert (
        work("triton_poi_fused_clone_2", "bf16 8x16", "bf16 8x16", 16, 8).parameters["elements"]
        == 128
    )
    assert (
        work("triton_poi_fused_add_2", "bf16 8x16", "bf16 8x16", 16, 128).parameters["elements"]
        == 128
    )
    assert unknown("triton_poi_fused_add_0", "fp32 10x10")
    assert unknown("triton_tem_fused_mm_3", "fp32 10x10", "fp32 10x10", "fp32 10x10", 100)


def test_a_custom_operator_is_never_fused_its_inputs_are_prepared() -> None:
    padded = work("triton_poi_fused_constant_pad_nd_moe_forward_0", "bf16 8x16", "bf16 8x24", 192)
    assert padded.flops == 0
