"""Kernels that multiply without matrix cores or load them poorly, by names from real traces."""

from __future__ import annotations

import pytest

from torch_tb_profiler.hardware.matrix_cores import (
    Knowledge,
    loads_unaligned,
    multiplies_on_vector_units,
    uses_matrix_cores,
)

ON_VECTOR_UNITS = (
    "volta_sgemm_128x64_nn",
    "ampere_sgemm_32x32_sliced1x4_tn",
    "cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1",
    (
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float"
        " const*, int)"
    ),
    (
        "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>(int,"
        " int, int, float const*)"
    ),
    (
        "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_128x32_8x5_nn_align1::Params)"
    ),
)
NOT = (
    "volta_fp16_s884gemm_fp16_128x64_nn",
    "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x64x32",
    "ampere_sgemm_tf32_128x64",
    "volta_dgemm_64x64_nn",
    "void gemv2T_kernel_val<int, int, float, float, float, 128>",
    "void splitKreduce_kernel<32, 16, int, float>",
    "void at::native::vectorized_elementwise_kernel<4>",
    "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT",
)


@pytest.mark.parametrize("name", ON_VECTOR_UNITS)
def test_products_on_vector_units(name: str) -> None:
    assert multiplies_on_vector_units(name, "nvidia")
    assert uses_matrix_cores(name, "nvidia", 8) == Knowledge.NO
    assert not multiplies_on_vector_units(name, "other")


@pytest.mark.parametrize("name", NOT)
def test_everything_else(name: str) -> None:
    assert not multiplies_on_vector_units(name, "nvidia")


def test_amd() -> None:
    assert multiplies_on_vector_units("Cijk_Ailk_Bljk_SB_MT64x64x16_SN_1LDSB0_GRVW4", "amd")
    assert not multiplies_on_vector_units(
        "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN", "amd"
    )
    assert not multiplies_on_vector_units("Cijk_Ailk_Bljk_DB_MT64x64x16_gemv", "amd")


@pytest.mark.parametrize(
    ("name", "badly"),
    [
        (
            (
                "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(Params)"
            ),
            True,
        ),
        (
            (
                "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(Params)"
            ),
            True,
        ),
        (
            (
                "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align8>(Params)"
            ),
            False,
        ),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_tn_align16>(Params)", False),
        ("void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(Params)", False),
    ],
)
def test_alignment(name: str, badly: bool) -> None:
    assert loads_unaligned(name) is badly
