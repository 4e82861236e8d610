"""Operators that inference servers call around attention: FLOPs and bytes computed by hand."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import amounts, unknown

# RMS norm of 4 rows of 8: 4·(2·8 + 2) + 2·32 FLOPs.
NORM = 4 * 18 + 2 * 32
ROWS = "bf16 4x8"
CASES: list[tuple[str, int, int]] = [
    # name and arguments, FLOPs, bytes
    (f"aiter::rmsnorm({ROWS}, {ROWS}, bf16 8, 1e-6)", NORM, 2 * (64 + 8)),
    (f"aiter::rms_norm({ROWS}, bf16 8, 1e-6, 0)", NORM, 2 * (64 + 8)),
    (f"vllm::rocm_aiter_rms_norm({ROWS}, bf16 8, 1e-6)", NORM, 2 * (64 + 8)),
    (f"flashinfer::gemma_rmsnorm({ROWS}, {ROWS}, bf16 8, 1e-6, False)", NORM + 8, 2 * (64 + 8)),
    (
        f"aiter::add_rmsnorm({ROWS}, {ROWS}, {ROWS}, {ROWS}, bf16 8, 1e-6)",
        NORM + 32,
        2 * (128 + 8),
    ),
    (
        f"vllm::rocm_aiter_rmsnorm2d_fwd_with_add({ROWS}, {ROWS}, bf16 8, 1e-6)",
        NORM + 32,
        2 * (128 + 8),
    ),
    (
        f"aiter::rmsnorm2d_fwd_with_dynamicquant(fp8 4x8, {ROWS}, fp32 4x1, bf16 8, 1e-6, 0)",
        NORM + 4 * 32,
        32 + 2 * (32 + 8) + 16,
    ),
    (
        (
            f"aiter::rmsnorm2d_fwd_with_add_smoothquant(i8 4x8, {ROWS}, {ROWS}, {ROWS}, "
            "fp32 8, fp32 4x1, bf16 8, 1e-6)"
        ),
        NORM + 6 * 32,
        32 + 2 * (96 + 8) + 4 * (8 + 4),
    ),
    (
        (
            f"_C::rms_norm_per_block_quant(fp8 4x8, {ROWS}, bf16 8, fp32 4x2, 1e-6, None, "
            f"{ROWS}, 4, False)"
        ),
        NORM + 5 * 32,
        32 + 2 * (32 + 64 + 8) + 32,
    ),
    # Two heads of the query and one of the key, of 16 elements, which all are rotated.
    (
        "sgl_kernel::rotary_embedding(i64 8, bf16 8x32, bf16 8x16, 16, bf16 99x16, True)",
        3 * 384,
        64 + 2 * (2 * 384 + 8 * 16),
    ),
    (
        (
            "flashinfer::apply_rope_pos_ids_cos_sin_cache(bf16 8x2x16, bf16 8x1x16, "
            "bf16 8x2x16, bf16 8x1x16, fp32 99x8, i32 8, False)"
        ),
        3 * 192,
        2 * (2 * 384) + 4 * (8 * 8 + 8),
    ),
    (
        (
            "sgl_kernel::apply_rope_pos_ids_cos_sin_cache(bf16 8x2x16, bf16 8x1x16, "
            "bf16 8x2x16, bf16 8x1x16, fp32 99x16, i64 8, False, False, 0, bf16 8x1x16, "
            "bf16 99x1x16, bf16 99x1x16, i64 8)"
        ),
        3 * 384,
        # Query and key read and written, the value read, both written into the cache.
        2 * (2 * 384 + 3 * 128) + 4 * 8 * 16 + 8 * (8 + 8),
    ),
    (
        (
            "aiter::rope_cached_positions_2c_fwd_impl(bf16 1x8x2x16, bf16 1x8x1x16, "
            "bf16 1x8x2x16, bf16 1x8x1x16, bf16 99x1x1x8, bf16 99x1x1x8, i64 1x8, 0, "
            "True, False)"
        ),
        3 * 384,
        2 * (2 * 384 + 8 * 16) + 64,
    ),
    (
        (
            "aiter::rotary_embedding_fwd(i64 8, bf16 8x32, bf16 8x16, 16, bf16 99x8, "
            "bf16 99x8, True, False)"
        ),
        3 * 384,
        64 + 2 * (2 * 384 + 8 * 16),
    ),
    (
        (
            "_C_cache_ops::concat_and_cache_mla_rope_fused(i64 8, bf16 8x2x4, bf16 8x4, "
            "bf16 8x16, bf16 99x4, True, i64 8, bf16 99x16x20)"
        ),
        3 * 96,
        # q_pe, k_pe and the latent read; q_pe, k_pe and one row of 20 per token written.
        2 * (64 + 32 + 128 + 8 * 4) + 2 * (64 + 32 + 8 * 20) + 2 * 64,
    ),
    (
        (
            "_C::fused_qk_norm_rope(bf16 8x64, 2, 1, 1, 16, 1e-6, bf16 16, bf16 16, "
            "bf16 99x16, True, i64 8)"
        ),
        # 24 heads of 16: a norm, then a rotation.
        24 * (4 * 16 + 2) + 3 * 384,
        2 * (2 * 384 + 32 + 8 * 16) + 64,
    ),
    ("_C::swigluoai_and_mul(bf16 8x64, bf16 8x128, 1.7, 7.0)", 6 * 512, 2 * 1536),
    ("aiter::silu_and_mul(bf16 8x64, bf16 8x128)", 2 * 512, 2 * 1536),
    ("_C::silu_and_mul_quant(fp8 8x64, bf16 8x128, fp32 1)", 4 * 512, 512 + 2048 + 4),
    (
        "_C::silu_and_mul_per_block_quant(fp8 8x64, bf16 8x128, fp32 8x1, 64)",
        6 * 512,
        512 + 2048 + 32,
    ),
    # Six of eight rows have a slot.
    (
        (
            "_C_cache_ops::reshape_and_cache_flash(bf16 8x2x16, bf16 8x2x16, "
            "fp8 9x16x2x16, fp8 9x16x2x16, i64 6)"
        ),
        0,
        2 * (2 * 192) + 2 * 192 + 48,
    ),
    (
        "sglang::store_cache(bf16 8x32, bf16 8x32, bf16 99x32, bf16 99x32, i64 8, 64)",
        0,
        4 * 2 * 256 + 64,
    ),
    (
        (
            "aiter::reshape_and_cache_with_pertoken_quant(bf16 8x2x16, bf16 8x2x16, "
            "fp8 9x2x1x16x16, fp8 9x2x16x16, fp32 2x999, fp32 2x999, i64 8, False)"
        ),
        4 * 512,
        2 * 512 + 512 + 4 * 32 + 64,
    ),
    ("_C_cache_ops::concat_mla_q(bf16 8x2x16, bf16 8x2x4, bf16 8x2x20)", 0, 4 * 320),
    (
        "_C_cache_ops::indexer_k_quant_and_cache(bf16 8x128, u8 9x16x132, i64 8, 128)",
        4 * 1024,
        2048 + 64 + 1024 + 32,
    ),
    (
        "aiter::gemm_a16w16(bf16 32x64, bf16 48x64, None, 15, None, None, None)",
        2 * 32 * 48 * 64,
        2 * (32 * 64 + 48 * 64 + 32 * 48),
    ),
    (
        "vllm::rocm_aiter_gemm_a8w8(fp8 32x64, fp8 48x64, fp32 32x1, fp32 48x1, bf16 48, 15)",
        2 * 32 * 48 * 64 + 32 * 48,
        32 * 64 + 48 * 64 + 4 * 80 + 2 * (48 + 32 * 48),
    ),
    (
        "aiter::gemm_a8w8_blockscale(fp8 32x64, fp8 48x64, fp32 32x1, fp32 1x1, None)",
        2 * 32 * 48 * 64,
        32 * 64 + 48 * 64 + 4 * 33 + 2 * 32 * 48,
    ),
    # The weight comes first.
    (
        "_rocm_C::wvSplitK(bf16 48x64, bf16 2x64, None, 304)",
        2 * 2 * 48 * 64,
        2 * (48 * 64 + 2 * 64 + 2 * 48),
    ),
    (
        "sgl_kernel::top_p_sampling_from_probs(fp32 8x99, i32 8, None, None, 0.9, True, None)",
        8 * 99,
        4 * (8 * 99 + 8),
    ),
    (
        "flashinfer::top_k_top_p_sampling_from_probs(fp32 8x99, None, None, 5)",
        8 * 99,
        4 * (8 * 99 + 8),
    ),
    ("sgl_kernel::top_k_renorm_probs(fp32 8x99, fp32 8x99, None, 5)", 2 * 792, 8 * 792),
    ("flashinfer::softmax(u8 99, bf16 8x99, None, 1.0, False)", 6 * 792, 6 * 792),
    (
        "_C::apply_repetition_penalties_(fp32 8x99, bool 8x99, bool 8x99, fp32 8)",
        792,
        4 * (2 * 792 + 8) + 2 * 792,
    ),
    (
        "_C::scaled_fp4_quant(bf16 8x256, fp32 1, True)",
        4 * 2048,
        2 * 2048 + 4 + 1024 + 128,
    ),
    (
        "aiter::dynamic_per_token_scaled_quant(fp8 8x64, bf16 8x64, fp32 8x1, None)",
        4 * 512,
        3 * 512 + 32,
    ),
    (
        "aiter::smoothquant_fwd(i8 8x64, bf16 8x64, fp32 64, fp32 8x1)",
        5 * 512,
        3 * 512 + 4 * 72,
    ),
    (
        "sgl_kernel::sgl_per_token_group_quant_8bit(bf16 8x256, fp8 8x256, fp32 8x2, 128)",
        4 * 2048,
        3 * 2048 + 64,
    ),
    (
        "_C::scaled_fp4_experts_quant(u8 8x128, i32 128x4, bf16 8x256, fp32 4, i32 5, i32 5)",
        4 * 2048,
        1024 + 4096 + 16 + 128,
    ),
    (
        f"vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant({ROWS}, {ROWS}, bf16 8, 1e-6, 4)",
        NORM + 5 * 32,
        2 * (3 * 32 + 8) + 32 + 4 * 8,
    ),
    (
        f"vllm::rocm_aiter_rmsnorm_fp8_group_quant({ROWS}, bf16 8, 1e-6, 4)",
        NORM + 4 * 32,
        2 * (32 + 8) + 32 + 4 * 8,
    ),
    # Rows of 8 become rows of 12.
    (
        f"vllm::rocm_aiter_triton_add_rmsnorm_pad({ROWS}, bf16 8, 1e-6, {ROWS}, 6)",
        NORM + 32,
        2 * (3 * 32 + 8 + 4 * 12),
    ),
    (
        "aiter::gemm_a8w8_ck(fp8 32x64, fp8 48x64, fp32 32x1, fp32 48x1, fp16 32x48)",
        2 * 32 * 48 * 64,
        32 * 64 + 48 * 64 + 4 * 80 + 2 * 32 * 48,
    ),
    (
        "aiter::gemm_a16w16_atomic_(bf16 32x64, bf16 48x64, 6, fp32 32x48)",
        2 * 32 * 48 * 64,
        2 * (32 * 64 + 48 * 64) + 4 * 32 * 48,
    ),
    (
        "aiter::gemm_a4w4(u8 32x32, u8 48x32, u8 32x2, u8 48x2)",
        2 * 32 * 48 * 64,
        32 * 32 + 48 * 32 + 160 + 2 * 32 * 48,
    ),
    (
        "vllm::triton_per_token_group_quant_fp8(bf16 8x256, 128)",
        4 * 2048,
        3 * 2048 + 64,
    ),
    (
        "_C::silu_and_mul_nvfp4_quant(u8 8x32, i32 8x1, bf16 8x128, fp32 1)",
        6 * 512,
        256 + 32 + 2048 + 4,
    ),
]


@pytest.mark.parametrize(
    ("arguments", "flops", "size"), CASES, ids=[case[0].partition("(")[0] for case in CASES]
)
def test_by_hand(arguments: str, flops: int, size: int) -> None:
    assert amounts(arguments) == (flops, size)


@pytest.mark.parametrize(
    "arguments",
    [
        "aiter::gemm_a16w16(bf16 32x64, bf16 48x60, None, 15)",
        f"aiter::add_rmsnorm({ROWS})",
        "_C_cache_ops::indexer_k_quant_and_cache(bf16 8x128, u8 9x16x132, i64 8, 0)",
        "sgl_kernel::scaled_fp4_quant(bf16 1x2x8x64, u8 1x2x8x32, u8 1x2x8x4, 1)",
    ],
    ids=lambda arguments: arguments.partition("(")[0],
)
def test_what_is_not_known(arguments: str) -> None:
    assert unknown(arguments)
