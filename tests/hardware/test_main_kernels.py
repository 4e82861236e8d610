"""Which kernels of a product multiply, by names from traces."""

from __future__ import annotations

import pytest

from torch_tb_profiler.hardware.main_kernels import (
    computes_less,
    multiplies,
    only_helps,
    transforms,
)


@pytest.mark.parametrize(
    "name",
    [
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
        (
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128::Params)"
        ),
        "ampere_sgemm_128x64_nn",
        "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT",
        (
            "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float,"
            " 128, 16, 4, 4, false>(cublasGemvParamsEx)"
        ),
        (
            "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensorStridedBatched<float"
            " const>>>(cublasDotParams)"
        ),
        "void cudnn::cnn::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)",
        (
            "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float,"
            " float, float, false, true, true, false>(int)"
        ),
    ],
)
def test_these_multiply(name: str) -> None:
    assert multiplies(name)


@pytest.mark.parametrize(
    "name",
    [
        (
            "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, false,"
            " true, true, false>(cublasLt::cublasSplitKParams<float>)"
        ),
        (
            "void reduce_1Block_kernel<float, 128, 7, cublasGemvTensorStridedBatched<float>>(float"
            " const*)"
        ),
        (
            "void cudnn::ops::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, false, true,"
            " (cudnnKernelDataType_t)2>(cudnn::ops::nchw2nhwc_params_t<float>)"
        ),
        (
            "void cudnn::winograd_nonfused::winogradForwardData4x4<float,"
            " float>(cudnn::winograd_nonfused::WinogradDataParams<float, float>)"
        ),
        (
            "void cudnn::winograd::generateWinogradTilesKernel<0, float,"
            " float>(cudnn::winograd::GenerateWinogradTilesParams<float, float>)"
        ),
        "cudnn::cnn::kern_precompute_indices::computeOffsetsKernel(cudnn::ComputeOffsetsParams)",
        "void scalePackedTensor_kernel<float, float>(cudnnTensor4dStruct, float*, float)",
        "batched_transpose_32x32_half",
        (
            "void at::native::elementwise_kernel<128, 4,"
            " at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, float, float>>>(int)"
        ),
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
        "",
    ],
)
def test_these_prepare_or_finish(name: str) -> None:
    assert not multiplies(name)


@pytest.mark.parametrize(
    ("name", "less", "transform"),
    [
        (
            (
                "void cudnn::winograd_nonfused::winogradForwardData4x4<float,"
                " float>(cudnn::winograd_nonfused::WinogradDataParams<float, float>)"
            ),
            True,
            True,
        ),
        (
            (
                "void cudnn::winograd_nonfused::winogradWgradDelta4x4<float,"
                " float>(cudnn::winograd_nonfused::WinogradDeltaParams<float, float>)"
            ),
            True,
            True,
        ),
        (
            (
                "void cudnn::winograd::generateWinogradTilesKernel<0, float,"
                " float>(cudnn::winograd::GenerateWinogradTilesParams<float, float>)"
            ),
            True,
            True,
        ),
        ("void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*, int)", True, True),
        ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", True, False),
        ("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1", True, False),
        ("volta_sgemm_64x64_nt", False, False),
        (
            "void cudnn::cnn::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)",
            False,
            False,
        ),
    ],
)
def test_fast_convolutions_and_their_transforms(name: str, less: bool, transform: bool) -> None:
    assert (computes_less(name), transforms(name)) == (less, transform)
    assert not only_helps(name)


@pytest.mark.parametrize(
    ("name", "helps"),
    [
        ("Memset (Device)", True),
        (
            "void splitKreduce_kernel<float, float, float, float, true>(cublasSplitKParams<float>)",
            True,
        ),
        ("void cudnn::ops::nchwToNhwcKernel<float, float>(int)", True),
        ("volta_sgemm_64x64_nt", False),
        ("a_kernel_that_nobody_knows", False),
        ("void at::native::reduce_kernel<512, 1>(at::native::ReduceOp)", False),
    ],
)
def test_what_never_does_the_arithmetic(name: str, helps: bool) -> None:
    assert only_helps(name) == helps


def test_only_the_beginning_of_a_name_is_looked_at() -> None:
    assert not multiplies("a" * 5000 + "gemm")
