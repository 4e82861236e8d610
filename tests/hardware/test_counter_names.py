"""Labels and units of hardware counters."""

from __future__ import annotations

import pytest

from torch_tb_profiler.api.models import CUDA_SASS_INSTRUCTION_COUNTER_FLOPS
from torch_tb_profiler.hardware.counter_names import (
    counter_label,
    counter_unit,
    counts_matrix_operations,
    flop_weight,
)


@pytest.mark.parametrize(
    ("name", "label", "unit"),
    [
        (
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
            "FP64 fused multiply-add instructions",
            "instructions",
        ),
        (
            "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
            "FP16 add instructions",
            "instructions",
        ),
        ("dram__bytes_read.sum", "Device memory read", "bytes"),
        ("dram__bytes_read.sum.per_second", "dram__bytes_read.sum.per_second", "bytes/s"),
        (
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "%",
        ),
        (
            "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
            "sm__ops_path_tensor_src_fp16_dst_fp32.sum",
            "operations",
        ),
        ("Queue Length", "Queue Length", ""),
        ("GPU metrics: SMs Active [Throughput %]", "GPU metrics: SMs Active [Throughput %]", "%"),
        ("GPC Clock Frequency [MHz]", "GPC Clock Frequency [MHz]", "MHz"),
        ("Memory of the device: bytes", "Memory of the device: bytes", "bytes"),
    ],
)
def test_label_and_unit(name: str, label: str, unit: str) -> None:
    assert (counter_label(name), counter_unit(name)) == (label, unit)


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", ("f", 1)),
        ("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", ("h", 1)),
        ("sm__sass_thread_inst_executed_op_dfma_pred_on.sum", ("d", 2)),
    ],
)
def test_weight_of_an_instruction(name: str, weight: tuple[str, int] | None) -> None:
    assert flop_weight(name) == weight


def test_operations_of_matrix_cores_without_those_that_are_part_of_others() -> None:
    assert counts_matrix_operations("sm__ops_path_tensor_src_bf16_dst_fp32.sum")
    assert counts_matrix_operations("sm__ops_path_tensor_src_int8.sum")
    assert not counts_matrix_operations("sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_on.sum")
    assert not counts_matrix_operations("sm__inst_executed_pipe_tensor.sum")


def test_flops_of_instruction_counters() -> None:
    weights = CUDA_SASS_INSTRUCTION_COUNTER_FLOPS
    assert len(weights) == 9
    assert {name: flops for name, flops in weights.items() if "fma" in name} == {
        f"smsp__sass_thread_inst_executed_op_{kind}fma_pred_on.sum": 2 for kind in "dfh"
    }
    assert sum(weights.values()) == 12
