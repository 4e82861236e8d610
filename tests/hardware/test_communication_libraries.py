"""Kernels of communication libraries, by names from traces and the libraries' sources."""

from __future__ import annotations

import pytest

from torch_tb_profiler.hardware.kernel_names import communication_library


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "nccl"),
        (
            "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
            "nccl",
        ),
        ("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "nccl"),
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "nccl"),
        ("ncclBroadcastRingLLKernel_copy_i8(ncclColl)", "nccl"),
        (
            (
                "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16,"
                " 16>(c10::BFloat16*, unsigned long, unsigned int**)"
            ),
            "symmetric memory",
        ),
        ("void one_shot_all_reduce_kernel<c10::BFloat16>(x)", "symmetric memory"),
        (
            (
                "void dpsk::ep::internode::combine<false, 8, __nv_bfloat16, 8, 2, 16, 24>(int4*,"
                " float*, bool const*)"
            ),
            "deepep",
        ),
    ],
)
def test_library(name: str, library: str) -> None:
    assert communication_library(name) == library


@pytest.mark.parametrize(
    "name",
    [
        "",
        "volta_sgemm_128x64_nn",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(x)",
        "triton_poi_fused_add_0",
        "void cub::DeviceReduceKernel<x>(y)",
        "Cijk_Ailk_Bljk_SB_MT64x64x8_SN",
        "void split_embedding_codegen_forward_unweighted_kernel<c10::Half>(x)",
        "void fbgemm_gpu::permute_2D_data_kernel<false, int>(int)",
    ],
)
def test_computation_is_no_communication(name: str) -> None:
    assert communication_library(name) is None
