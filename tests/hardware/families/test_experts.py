"""Mixture of experts in inference servers: choice, order, products: FLOPs and bytes by hand."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import amounts, unknown, work

CASES: list[tuple[str, int, int]] = [
    # name and arguments, FLOPs, bytes
    (
        "aiter::topk_softmax(fp32 8x2, i32 8x2, i32 8x2, bf16 8x64, True)",
        5 * 512,
        2 * 512 + 4 * 48,
    ),
    # A bias of the experts is read too.
    (
        "sgl_kernel::topk_sigmoid(fp32 8x2, i32 8x2, bf16 8x64, True, 0.0, fp32 64)",
        512,
        2 * 512 + 4 * 32 + 4 * 64,
    ),
    (
        "_moe_C::grouped_topk(fp32 8x64, 8, 4, 2, True, 2.5, fp32 64, 1)",
        2 * 512,
        4 * (512 + 64 + 16 + 16),
    ),
    (
        "_moe_C::grouped_topk(fp32 8x64, fp32 8x64, 8, 4, 2, True, 2.5)",
        2 * 512,
        4 * (512 + 512 + 16 + 16),
    ),
    (
        "aiter::biased_grouped_topk(bf16 8x64, bf16 64, fp32 8x2, i32 8x2, 8, 4, True)",
        2 * 512,
        2 * (512 + 64) + 4 * 32,
    ),
    (
        "aiter::grouped_topk(bf16 8x64, fp32 8x2, i32 8x2, 8, 4, True, True, 1.0)",
        5 * 512,
        2 * 512 + 4 * 32,
    ),
    (
        "sgl_kernel::moe_fused_gate(bf16 8x64, bf16 64, 8, 4, 2, 0, 2.5)",
        2 * 512,
        2 * (512 + 64) + 8 * 16,
    ),
    (
        "_moe_C::moe_align_block_size(i32 8x2, 64, 16, i32 976, i32 61, i32 1)",
        0,
        4 * (16 + 976 + 61 + 1),
    ),
    (
        "sgl_kernel::apply_shuffle_mul_sum(bf16 16x64, bf16 8x64, i32 16, bf16 16)",
        2 * 1024 - 512,
        2 * (1024 + 512 + 16) + 64,
    ),
    (
        "aiter::moe_sorting_fwd(i32 8x2, fp32 8x2, i32 976, fp32 976, i32 61, i32 1, bf16 8x64)",
        0,
        4 * (16 + 16 + 976 + 976 + 61 + 1) + 2 * 512,
    ),
]

# All four experts are hit, to a part in 2**30: 64 tokens choose two of four.
HIT = 4


# 64 tokens, two experts each, W[4, 32, 16] in bfloat16.
GROUPED = [
    (
        "sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel_427(bf16 64x16, "
        "bf16 4x32x16, None, bf16 128x32, 3*None, fp32 64x2, i32 64x2, i32 191, i32 12, i32 1)"
    ),
    (
        "aiter::ck_moe_stage1(bf16 64x16, bf16 4x32x16, bf16 4x16x16, i32 191, i32 12, i32 1, "
        "bf16 64x2x32, 2)"
    ),
    "aiter::moe_cktile2stages_gemm1_ck(bf16 64x16, bf16 4x32x16, bf16 64x2x32, i32 191)",
    "_C::cutlass_moe_mm(bf16 128x32, bf16 128x16, bf16 4x32x16, None, None)",
]


@pytest.mark.parametrize(
    ("arguments", "flops", "size"), CASES, ids=[case[0].partition("(")[0] for case in CASES]
)
def test_by_hand(arguments: str, flops: int, size: int) -> None:
    assert amounts(arguments) == (flops, size)


@pytest.mark.parametrize("arguments", GROUPED, ids=lambda arguments: arguments.partition("(")[0])
def test_products_of_chosen_experts(arguments: str) -> None:
    outputs = 128 * 32
    inputs = 128 * 16 if "cutlass" in arguments else 64 * 16
    weights = 2 * HIT * 32 * 16
    assert amounts(arguments) == (2 * 128 * 32 * 16, weights + 2 * (inputs + outputs))


def test_few_tokens_hit_few_experts() -> None:
    """One token reads the weights of its two experts of eight."""
    cost = work(
        "vllm::rocm_aiter_fused_moe(bf16 1x16, bf16 8x64x16, bf16 8x16x32, fp32 1x2, i32 1x2)"
    )
    gate_and_sum = 2 * 2 * 32 + 16 * 3
    assert cost.flops == 2 * 2 * 16 * 64 + 2 * 2 * 32 * 16 + gate_and_sum
    assert cost.bytes == 2 * 2 * (64 * 16 + 16 * 32) + 2 * 32 + 8 * 2


def test_weights_of_four_bits_are_two_in_a_byte() -> None:
    """[E, N, K / 2] bytes hold as many weights as [E, N, K]."""
    packed = work(
        "vllm::outplace_fused_experts(bf16 64x16, u8 4x64x8, u8 4x16x16, fp32 64x2, i32 64x2)"
    )
    plain = work(
        "vllm::outplace_fused_experts(bf16 64x16, fp8 4x64x16, fp8 4x16x32, fp32 64x2, i32 64x2)"
    )
    assert packed.flops == plain.flops
    assert (packed.precision, plain.precision) == ("bf16", "fp8")
    assert plain.bytes is not None
    assert packed.bytes == plain.bytes - 4 * (64 * 8 + 16 * 16)


def test_one_kernel_for_all_stages() -> None:
    cost = work(
        "aiter::fmoe_g1u1(bf16 64x16, fp8 64x16, fp8 4x64x16, fp8 4x16x32, "
        "i32 191, fp32 191, i32 12, i32 1, 2)"
    )
    gate_and_sum = 2 * 64 * 2 * 32 + 64 * 16 * 3
    assert cost.flops == 2 * 128 * 16 * 64 + 2 * 128 * 32 * 16 + gate_and_sum
    assert cost.bytes == 2 * 64 * 16 + 64 * 16 + 4 * (64 * 16 + 16 * 32)


def test_marlin_is_read_from_its_sizes() -> None:
    """In vLLM, SGLang and their versions other tensors and flags stand before them."""
    tensors = "bf16 64x16, None, i32 4x1x64, bf16 4x1x32, 4*i32 4"
    flags = "True, False, True, False"
    name = "_moe_C::moe_wna16_marlin_gemm"
    vllm = work(f"{name}({tensors}, 16, 2, False, 99, 64, 32, 16, {flags})")
    sglang = work(
        f"sgl_kernel::moe_wna16_marlin_gemm({tensors}, 16, 2, True, False, 99, 64, 32, 16, {flags})"
    )
    assert vllm.flops == sglang.flops == 2 * 128 * 32 * 16
    assert unknown(f"{name}({tensors}, 16, 2, 99, 64, 32, 16, {flags})")


def test_weights_of_few_bits() -> None:
    cost = work(
        "_moe_C::moe_wna16_gemm(bf16 64x16, bf16 64x2x32, u8 4x32x8, bf16 4x32x1, "
        "None, None, i32 191, i32 12, i32 1, 2, 16, 32, 64, 4)"
    )
    assert cost.flops == 2 * 128 * 32 * 16
    assert cost.bytes == 2 * (64 * 16 + 128 * 32 + 4 * 32) + 4 * 32 * 8


@pytest.mark.parametrize(
    "arguments",
    [
        "vllm::outplace_fused_experts(bf16 64x16, u8 4x64x0, u8 4x16x16, None, i32 64x2)",
        "_C::cutlass_moe_mm(bf16 128x32, bf16 128x16, bf16 4x99x16)",
        "aiter::ck_moe_stage1(bf16 64x16, bf16 4x32x16, None, None, None, None, bf16 64x2x32, 9)",
    ],
    ids=lambda arguments: arguments.partition("(")[0],
)
def test_what_is_not_known(arguments: str) -> None:
    assert unknown(arguments)
