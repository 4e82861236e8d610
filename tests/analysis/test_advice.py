"""Every recommendation with a trace that earns it and one that does not, the original's mistakes among the latter."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.drawn import trace_of
from tests.builders.listed import listed, trace_listed
from torch_tb_profiler.analysis.advice import Advice, advise
from torch_tb_profiler.analysis.derive import derive
from torch_tb_profiler.analysis.selection import select

H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 1000, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
MI300 = {"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 1000, "computeMajor": 9, "computeMinor": 4, "numSms": 304}
V100 = {**H100, "name": "Tesla V100-DGXS-32GB", "computeMajor": 7}
P100 = {**H100, "name": "Tesla P100-PCIE-16GB", "computeMajor": 6}
B200 = {**H100, "name": "NVIDIA B200", "computeMajor": 10}


def advice(text: str, *extra: dict[str, Any], **header: Any) -> dict[str, dict[str, float]]:
    facts = derive(trace_of([*listed(text), *extra], **header))
    found: tuple[Advice, ...] = advise(facts, select(facts))
    assert len({one.rule for one in found}) == len(found)
    return {one.rule: one.numbers for one in found}


@pytest.mark.parametrize(("wait", "told"), [(60, True), (50, False), (0, False)])
def test_dataloader(wait: int, told: bool) -> None:
    found = advice(f"""
        1 note ProfilerStep#1@0+1000
        1 op enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__@100+{wait}
    """)
    assert found == ({"dataloader": {"share": 0.06}} if told else {})


@pytest.mark.parametrize(("length", "told"), [(110, True), (100, False)])
def test_communication(length: int, told: bool) -> None:
    found = advice(f"""
        1 note ProfilerStep#1@0+1000
        gpu 0:7 kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL@100+{length} c1
        gpu 0:8 kernel k@300+600 c2
    """)
    assert found == ({"communication": {"share": 0.11}} if told else {})


@pytest.mark.parametrize(("busy", "told"), [(499, True), (500, False)])
def test_low_utilization(busy: int, told: bool) -> None:
    found = advice(f"""
        1 note ProfilerStep#1@0+1000
        gpu 0:7 kernel k@100+{busy} c1
        gpu 1:7 kernel k@100+800 c2
    """)
    assert found == ({"low_utilization": {"device 0": 0.499}} if told else {})


DATA_PARALLEL = """
    1 note ProfilerStep#1@0+1000
    1 op DataParallel.forward@0+100
    gpu 0:7 kernel k@100+800 c1
"""


def test_data_parallel_on_several_devices() -> None:
    assert advice(DATA_PARALLEL) == {}
    assert advice(DATA_PARALLEL + "gpu 1:7 kernel k@100+800 c2") == {"data_parallel": {"devices": 2}}


def distributed(backend: str, device: str = "NVIDIA H100 80GB HBM3") -> dict[str, dict[str, float]]:
    return advice(
        f"""
        1 note ProfilerStep#1@0+1000
        1 note DistributedDataParallel.forward@0+100
        1 note {backend}:all_reduce@100+10
        gpu 0:7 kernel k@100+800 c1
        """, deviceProperties=[{**H100, "name": device}],
    )


def test_gradients_that_do_not_go_through_nccl() -> None:
    assert distributed("gloo") == {"not_nccl": {"devices": 1}}
    assert distributed("nccl") == {}
    # The original advises NCCL on devices that NCCL does not know.
    assert distributed("xccl", "Intel(R) Data Center GPU Max 1550") == {}


def test_distributed_on_hosts_alone_is_well_off_with_gloo() -> None:
    assert advice("""
        1 note ProfilerStep#1@0+1000
        1 note DistributedDataParallel.forward@0+100
        1 note gloo:all_reduce@100+10
    """) == {}


def matrix_cores(kernel: str, device: dict[str, Any], operator: str = "aten::mm") -> dict[str, dict[str, float]]:
    return advice(
        f"""
        1 note ProfilerStep#1@0+1000
        1 op {operator}@0+100
        1 call cudaLaunchKernel@10+5 c1
        1 op aten::relu@100+100
        1 call cudaLaunchKernel@110+5 c2
        gpu 0:7 kernel {kernel}@100+600 c1
        gpu 0:7 kernel void at::native::vectorized_elementwise_kernel<4, x>@700+200 c2
        """, deviceProperties=[device],
    )


def test_matrix_cores_that_nothing_uses() -> None:
    assert matrix_cores("volta_sgemm_128x64_nn", V100) == {"matrix_cores_unused": {"share": 0.75}}


@pytest.mark.parametrize(
    ("kernel", "device", "operator"),
    [
        ("volta_fp16_s884gemm_fp16_128x64_nn", V100, "aten::mm"),
        ("volta_sgemm_128x64_nn", V100, "aten::relu"),
        ("maxwell_sgemm_128x64_nn", P100, "aten::mm"),
        # The original's list of names ends in 2020, so that it says 0 % of what follows.
        ("nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", B200, "aten::mm"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", H100, "aten::mm"),
        ("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN", MI300, "aten::mm"),
        ("Cijk_Ailk_Bljk_SB_MT64x64x8_SN", MI300, "aten::mm"),
        # Nobody knows.
        ("my_gemm", H100, "aten::mm"),
    ],
    ids=["used", "nothing eligible", "device without any", "Blackwell", "Hopper", "AMD", "AMD without", "unknown kernel"],
)
def test_no_advice_on_matrix_cores(kernel: str, device: dict[str, Any], operator: str) -> None:
    assert matrix_cores(kernel, device, operator) == {}


def allocated(device_type: int, device: int, total: int) -> dict[str, Any]:
    return {
        "ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": 10,
        "args": {"Device Type": device_type, "Device Id": device, "Addr": 1, "Bytes": 1, "Total Allocated": total, "Total Reserved": total},
    }


BUSY = """
    1 note ProfilerStep#1@0+1000
    gpu 0:7 kernel k@100+800 c1
    gpu 1:7 kernel k@100+800 c2
"""


def test_memory_near_capacity() -> None:
    both = [H100, {**H100, "id": 1, "totalGlobalMem": 2000}]
    assert advice(BUSY, allocated(1, 0, 901), deviceProperties=both) == {
        "memory_near_capacity": {"device": 0, "peak": 901, "memory": 1000, "share": 0.901}
    }
    assert advice(BUSY, allocated(1, 0, 900), deviceProperties=both) == {}
    # The original compares host memory, and every device, with the capacity of the last device.
    assert advice(BUSY, allocated(0, -1, 5000), deviceProperties=both) == {}
    assert advice(BUSY, allocated(1, 1, 1500), deviceProperties=both) == {}
    # Of two devices the one that is nearer to its own capacity is named.
    assert advice(BUSY, allocated(1, 0, 950), allocated(1, 1, 1999), deviceProperties=both)["memory_near_capacity"]["device"] == 1


def test_memory_of_a_device_of_unknown_size() -> None:
    assert advice(BUSY, allocated(1, 0, 10**12)) == {}


def test_advice_rests_on_the_selected_steps() -> None:
    facts = derive(trace_listed("""
        1 note ProfilerStep#1@0+1000
        1 op enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__@0+900
        1 note ProfilerStep#2@1000+1000
    """))
    assert [found.rule for found in advise(facts, select(facts, 0, 0))] == ["dataloader"]
    assert advise(facts, select(facts, 1, 1)) == ()
