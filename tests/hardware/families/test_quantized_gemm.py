"""Products of scaled, packed and sparse operands: FLOPs and bytes computed by hand."""

from __future__ import annotations

import pytest

from tests.hardware.families.calls import unknown, work
from torch_tb_profiler.hardware.work import Work

M, N, K = 32, 16, 64
FLOPS = 2 * M * N * K


def test_scales_in_lists_are_of_the_type_that_their_recipe_says() -> None:
    blocks = work(
        "aten::_scaled_mm_v2(fp4 32x32, fp4 32x16, [fp8 32x4], [2], [1], [fp8 16x4], [2], [1], "
        "None, 15, [], False)"
    )
    # Two four-bit floats a byte: K is 64; a scale of one byte for each sixteen.
    assert blocks == Work(
        FLOPS,
        32 * 32 + 32 * 16 + 2 * 32 * 16 + 32 * 4 + 16 * 4,
        "matrix",
        "fp4",
        {"M": M, "N": N, "K": K},
    )
    rows = work(
        "aten::_scaled_mm_v2(fp8 32x64, fp8 64x16, [fp32 32x1], [1], [0], "
        "[fp32 1x16], [1], [0], bf16 16, 15, [], True)"
    )
    assert (rows.flops, rows.bytes) == (
        FLOPS + M * N,
        M * K + K * N + 2 * M * N + 4 * (M + N) + 2 * N,
    )
    strange = work(
        "aten::_scaled_mm_v2(fp8 32x64, fp8 64x16, [fp32 32x1], [77], [0], "
        "[fp32 1x16], [1], [0], None, 15, [], True)"
    )
    assert (strange.flops, strange.bytes) == (FLOPS, None)


def test_groups_with_scales_in_lists() -> None:
    cost = work(
        "aten::_scaled_grouped_mm_v2(fp8 40x8, fp8 5x8x6, [fp32 40], [1], [0], "
        "[fp32 5x6], [1], [0], i32 5, None, 15, [], True)"
    )
    assert cost == Work(
        2 * 40 * 8 * 6,
        40 * 8 + 5 * 8 * 6 + 4 * (40 + 30 + 5) + 2 * 40 * 6,
        "matrix",
        "fp8",
        {"G": 5, "M": 40, "N": 6, "K": 8},
    )


def test_of_four_weights_two_are_multiplied() -> None:
    product = work("aten::_sparse_semi_structured_mm(fp16 32x32, i32 32x4, fp16 64x16, None)")
    assert product == Work(
        FLOPS // 2,
        2 * (32 * 32 + 64 * 16 + 32 * 16) + 4 * 128,
        "matrix",
        "fp16",
        {"M": M, "N": N, "K": K, "sparse": "2:4"},
    )
    added = work(
        "aten::_sparse_semi_structured_addmm(fp16 32, fp16 32x32, i32 32x4, fp16 64x16, 1, 1, None)"
    )
    assert (added.flops - added.bias_flops, added.bias_flops) == (FLOPS // 2, M * N)
    linear = work(
        "aten::_sparse_semi_structured_linear(fp16 2x8x64, fp16 32x32, i32 32x4, None, None, None)"
    )
    assert (linear.flops, linear.bytes) == (FLOPS // 2, product.bytes)
    library = work(
        "aten::_cslt_sparse_mm(fp16 32x36, fp16 64x16, None, None, None, False, 0, 1, -1)"
    )
    assert (library.flops, library.bytes) == (FLOPS // 2, 2 * (32 * 36 + 64 * 16 + 32 * 16))


@pytest.mark.parametrize(
    ("arguments", "size", "precision"),
    [
        (
            "sgl_kernel::fp8_scaled_mm(fp8 32x64, fp8 64x16, fp32 32, fp32 16, 15, None)",
            M * K + K * N + 4 * (M + N) + 2 * M * N,
            "fp8",
        ),
        (
            "sgl_kernel::int8_scaled_mm(i8 32x64, i8 64x16, fp32 32, fp32 16, 5, None)",
            M * K + K * N + 4 * (M + N) + 2 * M * N,
            "int8",
        ),
        (
            (
                "_C::cutlass_scaled_mm_azp(bf16 32x16, i8 32x64, i8 64x16, fp32 32, "
                "fp32 16, i32 16, i32 32, None)"
            ),
            M * K + K * N + 4 * (M + N + N + M) + 2 * M * N,
            "int8",
        ),
        (
            (
                "_C::cutlass_scaled_fp4_mm(bf16 32x16, u8 32x32, u8 16x32, fp8 128x4, "
                "fp8 128x4, fp32)"
            ),
            M * K // 2 + K * N // 2 + 2 * 128 * 4 + 4 + 2 * M * N,
            "fp4",
        ),
        (
            "sgl_kernel::dsv3_router_gemm(fp32 32x16, bf16 32x64, bf16 16x64)",
            2 * (M * K + K * N) + 4 * M * N,
            "bf16",
        ),
        (
            (
                "sgl_kernel::gptq_marlin_gemm(fp16 32x64, None, i32 4x32, fp16 1x16, "
                "None, None, None, None, i32 99, 4, 32, 16, 64, True, False, True, False)"
            ),
            2 * M * K + 4 * 128 + 2 * 16 + 2 * M * N,
            "fp16",
        ),
        (
            "_C::gptq_gemm(fp16 32x64, i32 8x16, i32 1x2, fp16 1x16, i32 64, True, False, 4)",
            2 * (M * K + 16 + M * N) + 4 * (128 + 2),
            "fp16",
        ),
        (
            (
                "bitsandbytes::gemm_4bit(bf16 32x64, u8 512x1, [16, 64], fp32 16, 64, "
                "'nf4', None, None, None, None)"
            ),
            2 * M * K + 512 + 4 * 16 + 2 * M * N,
            "bf16",
        ),
        (
            "bitsandbytes::int8_linear_matmul(i8 32x64, i8 16x64)",
            M * K + K * N + 4 * M * N,
            "int8",
        ),
        (
            "bitsandbytes::int8_scaled_mm(i8 32x64, i8 16x64, fp32 32, fp32 16, None, None)",
            M * K + K * N + 4 * (M + N) + 2 * M * N,
            "int8",
        ),
        (
            "fbgemm::f8f8bf16_rowwise(fp8 32x64, fp8 16x64, fp32 32, fp32 16, None, True)",
            M * K + K * N + 4 * (M + N) + 2 * M * N,
            "fp8",
        ),
        (
            "fbgemm::bf16i4bf16_rowwise(bf16 32x64, i8 16x32, bf16 16, bf16 16)",
            2 * M * K + 512 + 4 * 16 + 2 * M * N,
            "bf16",
        ),
        (
            "pyg::segment_matmul(fp32 32x64, i64 4, fp32 3x64x16)",
            4 * (M * K + 3 * K * N + M * N) + 8 * 4,
            "fp32",
        ),
        (
            "aten::_mixed_dtypes_linear(fp16 32x64, u8 64x8, fp16 16, None, None)",
            2 * (M * K + 16 + M * N) + 512,
            "fp16",
        ),
    ],
    ids=lambda value: value.partition("(")[0] if isinstance(value, str) else "",
)
def test_products_of_libraries(arguments: str, size: int, precision: str) -> None:
    cost = work(arguments)
    assert (cost.flops, cost.bytes, cost.unit, cost.precision) == (
        FLOPS,
        size,
        "matrix",
        precision,
    )
    assert [cost.parameters[key] for key in ("M", "N", "K")] == [M, N, K]


def test_a_bias_counts_once() -> None:
    cost = work("fbgemm::f8f8bf16_rowwise(fp8 32x64, fp8 16x64, fp32 32, fp32 16, bf16 16, True)")
    assert (cost.flops, cost.bias_flops) == (FLOPS + M * N, M * N)
    four = work(
        "bitsandbytes::gemm_4bit(bf16 32x64, u8 512x1, [16, 64], fp32 16, 64, "
        "'nf4', bf16 16, None, None, None)"
    )
    assert (four.flops, four.bias_flops) == (FLOPS + M * N, M * N)


def test_transformer_engine_is_read_however_its_operands_are_turned() -> None:
    def product(a: str, b: str, bias: str = "bf16 16", rest: str = ", 0, 0") -> str:
        return (
            f"tex_ts::te_gemm_ts({a}, fp32 3, 1, 0, 1, {b}, fp32 3, 0, 0, 0, bf16 32x16, fp32 0, "
            f"2, fp32 0, {bias}, 2, bf16 0, 0, u8 99, 99{rest})"
        )

    cost = work(product("u8 64x16", "u8 32x64"))
    assert (cost.flops, cost.bias_flops, cost.bytes, cost.precision) == (
        FLOPS + M * N,
        M * N,
        K * N + M * K + 2 * M * N + 2 * N,
        "fp8",
    )
    assert cost.parameters == {"M·N": M * N, "K": K}
    turned = work(product("bf16 16x64", "bf16 64x32", bias="bf16 0"))
    assert (turned.flops, turned.bias_flops, turned.precision) == (FLOPS, 0, "bf16")
    assert unknown(product("bf16 16x63", "u8 32x64"))
    assert unknown(product("u8 64x16", "u8 32x64", rest=", 0"))


def test_products_in_batches_and_lists() -> None:
    cost = work(
        "sgl_kernel::bmm_fp8(fp8 4x32x64, fp8 4x64x16, bf16 4x32x16, fp32, fp32, u8 9, 1, 1)"
    )
    assert (cost.flops, cost.bytes) == (4 * FLOPS, 4 * (M * K + K * N + 2 * M * N) + 8)
    pairs = work("aten::_foreach_mm([fp32 4x5, fp32 6x7], [fp32 5x2, fp32 7x3])")
    assert (pairs.flops, pairs.bytes) == (2 * (4 * 5 * 2 + 6 * 7 * 3), None)


@pytest.mark.parametrize(
    "arguments",
    [
        "sgl_kernel::fp8_scaled_mm(fp8 32x64, fp8 64x16, fp32 32, fp32 16, None, None)",
        "_C::gptq_gemm(fp16 32x64, i32 8, None, None, None)",
        "bitsandbytes::gemm_4bit(bf16 32x63, u8 512x1, [16, 64], fp32 16, 64)",
        "aten::_foreach_mm([fp32 4x5], [fp32 5x2, fp32 7x3])",
        "_C::cutlass_scaled_fp4_mm(bf16 32x16, u8 32x32, u8 16x31, fp8 128x4, fp8 128x4, fp32)",
    ],
)
def test_what_does_not_fit_together_is_not_modelled(arguments: str) -> None:
    assert unknown(arguments)
