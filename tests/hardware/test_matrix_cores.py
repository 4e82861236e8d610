"""Which kernels use matrix cores, by names from traces, and which operators could."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import operator_could, uses_matrix_cores

NO, YES, UNKNOWN = Knowledge.NO, Knowledge.YES, Knowledge.UNKNOWN

NVIDIA_USED = [
    # Volta, Turing, Ampere
    "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
    "volta_h884gemm_64x128_ldg8_nn",
    "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn",
    "void cutlass::Kernel<cutlass_70_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_tn_align8>(x)",
    (
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4::Params)"
    ),
    (
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64::Params)"
    ),
    (
        "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_256x64_16x4_nhwc_unity_stride_align4>(x)"
    ),
]
# Products on vector units are in test_vector_products.py.
NVIDIA_NOT = [
    "ampere_gcgemm_64x64_nt",
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
    (
        "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, int, int,"
        " float const*, int, float*, float const*)"
    ),
    (
        "void at::native::vectorized_elementwise_kernel<4,"
        " at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, x)"
    ),
    (
        "void fbgemm_gpu::(anonymous namespace)::_FP8rowwise_to_float_cuda_kernel<float>(unsigned"
        " char const*, int, int, float*, bool)"
    ),
    (
        "void linearize_index_kernel<long>(at::GenericPackedTensorAccessor<long, 1ul,"
        " at::RestrictPtrTraits, int>, x)"
    ),
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
]
AMD_USED = [
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0",
    "Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1_AMAS0_ASE",
    "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_tb1x8x2x1_1x4x1x64_gkgs",
    "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1_bk0nk1_mn_xdlops_bwd_weightILi64E",
    "attn_fwd",
    "attn_fwd.kd",
    "bwd_kernel_dk_dv",
    "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu",
]
AMD_NOT = [
    "batched_transpose_16x64_pack_1x4_ediv_1x2_half",
    "SubTensorOpWithCastTensor1d",
    "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwdPipelineProblemIDF16bDF16bfDF16b",
    "_finalize_matmul_scatter_bf16",
    "void at::native::batch_norm_backward_kernel<c10::BFloat16, c10::BFloat16, float, int>(x)",
    "triton_red_fused_add_mean_mul_pow_rsqrt_0",
    "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
]


@pytest.mark.parametrize("name", NVIDIA_USED, ids=lambda name: name[:40])
def test_nvidia_used(name: str) -> None:
    assert uses_matrix_cores(name, "nvidia", 9) == YES


@pytest.mark.parametrize("name", NVIDIA_NOT, ids=lambda name: name[:40])
def test_nvidia_not_used(name: str) -> None:
    assert uses_matrix_cores(name, "nvidia", 9) == NO


@pytest.mark.parametrize("name", AMD_USED, ids=lambda name: name[:40])
def test_amd_used(name: str) -> None:
    assert uses_matrix_cores(name, "amd", 9) == YES


@pytest.mark.parametrize("name", AMD_NOT, ids=lambda name: name[:40])
def test_amd_not_used(name: str) -> None:
    assert uses_matrix_cores(name, "amd", 9) == NO


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        ("my_gemm", "nvidia"),
        ("triton_tem_fused_mm_0", "nvidia"),
        ("_attn_fwd_inner", "nvidia"),
        ("kernel_unified_attention_3d", "amd"),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8_SN_K1", "amd"),
        ("gemm_kernel", "intel"),
        ("pe_exe", "mtia"),
        ("anything", "other"),
    ],
)
def test_what_no_name_tells_is_unknown(name: str, vendor: str) -> None:
    assert uses_matrix_cores(name, vendor, None) == UNKNOWN


def test_devices_from_before_have_none() -> None:
    assert uses_matrix_cores("maxwell_h884gemm", "nvidia", 6) == NO
    assert uses_matrix_cores("my_gemm", "nvidia", 6) == NO
    # AMD's numbers count otherwise.
    assert uses_matrix_cores("attn_fwd", "amd", 6) == YES


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("aten::mm", YES),
        ("aten::cudnn_convolution", YES),
        ("aten::_scaled_dot_product_flash_attention", YES),
        ("aten::_scaled_mm", YES),
        ("AddmmBackward0", YES),
        ("ConvolutionBackward0", YES),
        ("aten::linear", YES),
        ("aten::relu", NO),
        ("aten::copy_", NO),
        ("ReluBackward0", NO),
        ("c10d::allreduce_", NO),
        ("Optimizer.step#SGD.step", NO),
        ("FlashAttnFunc", UNKNOWN),
        ("vllm::unified_attention", UNKNOWN),
        ("Torch-Compiled Region: 0/0", UNKNOWN),
    ],
)
def test_operators(operator: str, expected: Knowledge) -> None:
    assert operator_could(operator) == expected


@given(
    st.text(max_size=80),
    st.sampled_from(["nvidia", "amd", "intel", "other"]),
    st.none() | st.integers(-1, 12),
)
def test_any_name_has_an_answer(name: str, vendor: str, major: int | None) -> None:
    assert uses_matrix_cores(name, vendor, major) in Knowledge
