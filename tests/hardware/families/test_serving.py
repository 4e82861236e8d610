"""Operators of inference engines, FSDP and state space models: FLOPs and bytes computed by hand."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import amounts, unknown

CASES: list[tuple[str, int, int]] = [
    # name and arguments, FLOPs, bytes
    ("_C::gelu_new(bf16 8x64, bf16 8x64)", 512, 2 * 1024),
    ("_C::mul_and_silu(bf16 8x64, bf16 8x128)", 1024, 2 * 1536),
    ("sgl_kernel::gelu_tanh_and_mul(bf16 8x64, bf16 8x128)", 1024, 2 * 1536),
    ("npu::npu_swiglu(bf16 8x128, -1)", 1024, 2 * 1536),
    # A quarter of each head of 64 is rotated: 8 tokens × 2 heads × 16 of q, 8 × 1 × 16 of k, read
    # and written, and 8 rows of 16.
    (
        "_C::rotary_embedding(i64 8, bf16 8x128, bf16 8x64, 64, bf16 4096x16, True)",
        3 * 384,
        8 * 8 + 2 * (2 * 384 + 8 * 16),
    ),
    ("_C::rms_norm(bf16 4x8, bf16 4x8, None, 1e-6)", 4 * 18 + 32, 2 * 64),
    (
        "_C::rms_norm_static_fp8_quant(fp8 4x8, bf16 4x8, bf16 8, fp32, 1e-6)",
        4 * 18 + 2 * 32 + 2 * 32,
        32 + 2 * (32 + 8) + 4,
    ),
    (
        (
            "_C::fused_add_rms_norm_static_fp8_quant(fp8 4x8, bf16 4x8, bf16 4x8, "
            "bf16 8, fp32, 1e-6)"
        ),
        4 * 18 + 2 * 32 + 3 * 32,
        32 + 2 * (96 + 8) + 4,
    ),
    (
        (
            "_C::rms_norm_dynamic_per_token_quant(fp8 4x8, bf16 4x8, bf16 8, fp32 4, "
            "1e-6, None, None)"
        ),
        4 * 18 + 2 * 32 + 4 * 32,
        32 + 2 * (32 + 8) + 16,
    ),
    ("npu::npu_rms_norm(bf16 4x8, bf16 8, 1e-6)", 4 * 18 + 2 * 32, 2 * (64 + 8)),
    (
        "_moe_C::topk_softmax(fp32 8x2, i32 8x2, i32 8x2, bf16 8x64, True)",
        5 * 512,
        2 * 512 + 4 * 48,
    ),
    (
        "sgl_kernel::topk_softmax(fp32 8x2, i32 8x2, bf16 8x64, True)",
        5 * 512,
        2 * 512 + 4 * 32,
    ),
    ("_moe_C::moe_sum(bf16 8x2x64, bf16 8x64)", 512, 2 * 1536),
    ("sgl_kernel::moe_sum_reduce(bf16 8x2x64, bf16 8x64, 2.5)", 1024, 2 * 1536),
    (
        (
            "_C::per_token_group_fp8_quant(bf16 8x256, fp8 8x256, fp32 8x2, 128, 1e-10, "
            "-448.0, 448.0, False)"
        ),
        4 * 2048,
        3 * 2048 + 64,
    ),
    (
        "sgl_kernel::sgl_per_tensor_quant_fp8(bf16 8x256, fp8 8x256, fp32, True)",
        2 * 2048,
        3 * 2048 + 4,
    ),
    (
        "sgl_kernel::scaled_fp4_quant(u8 8x128, bf16 8x256, i32 8x4, fp32)",
        4 * 2048,
        1024 + 2 * 2048 + 4 * 32 + 4,
    ),
    (
        "fbgemm::quantize_fp8_per_row(bf16 8x256, None, None, None, False)",
        4 * 2048,
        3 * 2048 + 32,
    ),
    (
        "bitsandbytes::quantize_4bit(bf16 8x256, 64, 'nf4', 0)",
        4 * 2048,
        2 * 2048 + 1024 + 4 * 32,
    ),
    (
        "bitsandbytes::dequantize_4bit(u8 1024x1, fp32 32, 64, 'nf4', [8, 256], 15)",
        2048,
        1024 + 4 * 32 + 2 * 2048,
    ),
    (
        "bitsandbytes::int8_mm_dequant(i32 8x256, fp32 8, fp32 256, None, None)",
        2 * 2048,
        4 * 2048 + 4 * 264 + 2 * 2048,
    ),
    (
        (
            "DaoAILab::_causal_conv1d_fwd_cpp(bf16 2x64x100, bf16 64x4, bf16 64, None, "
            "None, bf16 2x64x100, None, True)"
        ),
        12800 * 10,
        2 * (25600 + 256 + 64),
    ),
    (
        (
            "_C::selective_scan_fwd(bf16 64x100, bf16 64x100, fp32 64x16, bf16 1x16x100, "
            "bf16 1x16x100, fp32 64, None, None, True)"
        ),
        7 * 6400 * 16,
        2 * (3 * 6400 + 3200) + 4 * (1024 + 64),
    ),
    (
        (
            "_C_cache_ops::concat_and_cache_mla(bf16 8x512, bf16 8x64, bf16 9x16x576, "
            "i64 8, 'auto', fp32)"
        ),
        0,
        2 * 2 * 8 * 576 + 64,
    ),
    (
        "sgl_kernel::store_kv_cache(bf16 999x512, bf16 999x512, i64 8, bf16 8x512, bf16 8x512)",
        0,
        4 * 2 * 4096 + 64,
    ),
    ("sgl_kernel::shuffle_rows(bf16 8x64, i32 16, bf16 16x64)", 0, 2 * (512 + 1024) + 64),
    ("fsdp::chunk_cat([bf16 5x7, bf16 3], 0, 2, fp32 2x20)", 0, -1),
    ("aten::split_with_sizes_copy(bf16 2x20, [5, 15], 1)", 0, 2 * 80),
    ("aten::searchsorted(fp32 9, fp32 5, False, False, None, None)", 0, 4 * 14 + 8 * 5),
    ("aten::bucketize(fp32 5, fp32 9, True, False)", 0, 4 * 14 + 4 * 5),
]


@pytest.mark.parametrize(
    ("arguments", "flops", "size"), CASES, ids=[case[0].partition("(")[0] for case in CASES]
)
def test_by_hand(arguments: str, flops: int, size: int) -> None:
    assert amounts(arguments) == (flops, size)


@pytest.mark.parametrize(
    ("arguments", "flops", "size"),
    [
        ("aten::_cummax_helper(fp32 4x5, fp32 4x5, i64 4x5, 1)", 20, 4 * 40 + 8 * 20),
        ("aten::cumsum_(i32 4x5, 1, None)", 0, 4 * 40),
        ("aten::trace(fp32 4x5)", 4, 4 * 5),
        ("aten::equal(fp32 4x5, fp32 4x5)", 20, 4 * 40),
        (
            "aten::_masked_softmax_backward(fp32 4x5, fp32 4x5, bool 4x5, 1)",
            80,
            4 * 60 + 20,
        ),
        (
            "aten::_thnn_fused_gru_cell_backward(fp32 5x4, fp32 5x20, True)",
            320,
            4 * (20 + 100 + 60 + 60 + 20),
        ),
        ("aten::_weight_norm_interface(fp32 6x4, fp32 6x1, 0)", 72, 4 * (24 + 6 + 24 + 6)),
        (
            (
                "aten::batch_norm_gather_stats_with_counts(fp16 2x3x4, fp32 8x3, "
                "fp32 8x3, None, None, 0.1, 1e-5, fp32 8)"
            ),
            8 * 24,
            4 * (48 + 8 + 6),
        ),
        (
            "aten::batch_norm_update_stats(fp32 2x3x4, fp32 3, fp32 3, 0.1)",
            96,
            4 * (24 + 6 + 6 + 6),
        ),
        ("aten::_foreach_max([fp32 4x5, fp32 7])", 27, -1),
        # Antialiased: halving each of two dimensions doubles the two neighbours in each.
        (
            "aten::_upsample_bilinear2d_aa(fp32 1x1x8x8, [4, 4], False, None, None)",
            2 * 16 * 16,
            4 * (64 + 16),
        ),
        (
            "aten::adaptive_avg_pool3d_backward(fp32 1x2x1x1x1, fp32 1x2x4x4x4)",
            128,
            4 * (2 + 128),
        ),
        ("aten::addr(fp32 4x5, fp32 4, fp32 5, 1, 1)", 40, 4 * (20 + 9 + 20)),
        (
            "aten::_cdist_backward(fp32 4x5, fp32 4x3, fp32 5x3, 2.0, fp32 4x5)",
            5 * 20 * 3,
            4 * (20 + 12 + 15 + 20 + 12),
        ),
        ("aten::histc(fp32 4x5, 10, 0, 0)", 40, 4 * 30),
        ("aten::max_unpool2d(fp32 1x2x4x4, i64 1x2x4x4, [8, 8])", 0, 4 * (32 + 128) + 8 * 32),
        (
            "aten::index_reduce_(fp32 9x4, 0, i64 3, fp32 3x4, 'prod', True)",
            12,
            8 * 3 + 4 * 36,
        ),
        ("aten::cudnn_grid_sampler(fp32 1x2x4x4, fp32 1x3x3x2)", 8 * 18, 4 * (32 + 18 + 18)),
        (
            "aten::_prelu_kernel_backward(fp32 4x5, fp32 4x5, fp32 1x5)",
            40,
            4 * (20 + 20 + 5 + 40),
        ),
    ],
)
def test_what_torch_calls_now_and_then(arguments: str, flops: int, size: int) -> None:
    assert amounts(arguments) == (flops, size)


@pytest.mark.parametrize(
    "arguments",
    [
        "aten::where(bool 4x5)",
        "aten::equal(fp32 4x5, fp32 4x6)",
        "aten::trace(fp32 4)",
        "sgl_kernel::causal_conv1d_fwd(bf16 64x9, bf16 64x4)",
        "bitsandbytes::quantize_4bit(bf16 8x256, 0, 'nf4', 0)",
        "bitsandbytes::dequantize_blockwise(u8 9, fp32 1, fp32 256, 64, None)",
    ],
)
def test_what_is_not_known(arguments: str) -> None:
    assert unknown(arguments)
