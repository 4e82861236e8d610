"""Short kernel names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.hardware.kernel_names import LONGEST, communication_library, short_name
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.hardware.matrix_cores import uses_matrix_cores


@pytest.mark.parametrize(
    ("full", "short"),
    [
        (
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>,"
                " std::array<char*, 1ul>>(int, at::native::FillFunctor<float>)"
            ),
            "vectorized_elementwise_kernel<FillFunctor>",
        ),
        (
            (
                "void at::native::elementwise_kernel<128, 2,"
                " at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float>"
                " >(at::TensorIteratorBase&)::{lambda(int)#1}>(int, x)"
            ),
            "elementwise_kernel<CUDAFunctor_add>",
        ),
        (
            (
                "void at::native::(anonymous"
                " namespace)::multi_tensor_apply_kernel<at::native::(anonymous"
                " namespace)::TensorListMetadata<1>, at::native::(anonymous"
                " namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, float>(x)"
            ),
            "multi_tensor_apply_kernel<BinaryOpScalarFunctor>",
        ),
        (
            (
                "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float,"
                " at::native::MeanOps<float, float>, 4>>(x)"
            ),
            "reduce_kernel<MeanOps>",
        ),
        (
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<bool,"
                " bool, bool, at::native::binary_internal::MulFunctor<bool> >,"
                " at::detail::Array<char*, 3> >(int)"
            ),
            "vectorized_elementwise_kernel<MulFunctor>",
        ),
        (
            (
                "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous"
                " namespace)::elu_kernel(at::TensorIteratorBase&)::{lambda()#1}, x>(int)"
            ),
            "vectorized_elementwise_kernel<elu_kernel>",
        ),
        (
            (
                "void at::native::vectorized_elementwise_kernel<4,"
                " at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&,"
                " GeluType)::{lambda()#2}>(int)"
            ),
            "vectorized_elementwise_kernel<GeluCUDAKernelImpl>",
        ),
        (
            (
                "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>(cutlass_80_simt_sgemm_128x64_8x5_tn_align1::Params)"
            ),
            "cutlass_80_simt_sgemm_128x64_8x5_tn_align1",
        ),
        (
            (
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float,"
                " float>(x)"
            ),
            "gemvx::kernel",
        ),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, 9>(float*)",
            "softmax_warp_forward",
        ),
        (
            "void cudnn::detail::dgrad_engine<float, 128, 6, 7, 3, 3, 5, true>(int, int)",
            "dgrad_engine",
        ),
        (
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long)",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
        ),
        (
            "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64",
            "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64",
        ),
        ("Cijk_Ailk_Bljk_SB_MT64x64", "Cijk_Ailk_Bljk_SB_MT64x64"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
    ],
)
def test_short_name(full: str, short: str) -> None:
    assert short_name(full) == short


@given(st.text(alphabet="ab:<>(),* {}#1", max_size=60))
def test_any_text_gives_a_short_text(full: str) -> None:
    short = short_name(full)
    assert len(short) <= 120
    assert bool(short) == bool(full.strip())


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    "part",
    [
        "Cijk_",
        "_Ailk",
        "gemm",
        "igemm_",
        "compute",
        "cutlassf_f32",
        "mscclKernel",
        "at::<",
        "a<",
        "void()",
        "(",
        "_Z9",
        "9",
        "1a",
    ],
)
@pytest.mark.parametrize("start", ["", "Cijk", "_ZN", "x<at::"])
def test_names_of_any_length_cost_little(start: str, part: str) -> None:
    # Without a limit several of these take hours: the test would not end.
    name = start + part * (MEGABYTE // len(part))
    assert len(short_name(name)) <= LONGEST
    assert communication_library(name) in (None, "nccl", "msccl")
    assert uses_matrix_cores(name, "nvidia") in Knowledge
    assert uses_matrix_cores(name, "amd") in Knowledge


def test_names_of_several_words_stay() -> None:
    for name in ("add_11 Cmpt Exec", "SenRdmaSend_8 [sync=AllReduce_1] DmaO", "fused add"):
        assert short_name(name) == name
    assert short_name("void gemm") == "gemm"
