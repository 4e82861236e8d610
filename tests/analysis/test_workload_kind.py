"""What kind of work a trace recorded: one drawing per rule, and near misses."""

from __future__ import annotations

import pytest

from tests.builders.drawn import facts_drawn
from torch_tb_profiler.analysis.facts.workload_kind import FEW_KERNELS, FEW_OPERATORS
from torch_tb_profiler.store.summary import Workload, WorkloadKind

NAMES = {
    "begin": "cudaStreamBeginCapture_v10000",
    "end": "cudaStreamEndCapture_v10000",
    "launch": "cudaLaunchKernel",
    "eMm": "autograd::engine::evaluate_function: MmBackward0",
    "optim": "Optimizer.step#SGD.step",
    "vllm": "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk5sqsq32sqsk5)",
    "older": "execute_context_1(888)_generation_0(0)",
    "decode": "step[DECODE bs=32]",
    "trt": "[Executor] _forward_step 12: 3 ctx reqs, 5 gen reqs",
    "tgi": "/usr/src/server/text_generation_server/models/flash_causal_lm.py(99): forward",
    "bwd": "void at::native::batch_norm_backward_kernel<float>",
    "reduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
}
CAPTURE = "main <begin><launch #1><launch #2><end><launch #3>\ngpu 7                       {k #3}"
MANY = "main " + "".join(f"[op{i}]" for i in range(FEW_OPERATORS + 1))


def kind_of(drawing: str) -> Workload:
    return facts_drawn(drawing, NAMES).summary.workload


@pytest.mark.parametrize(
    ("drawing", "kind"),
    [
        (CAPTURE, WorkloadKind.CAPTURE),
        # The capture was not ended in the recording.
        ("main <begin><launch #1>", WorkloadKind.CAPTURE),
        # As many launches ran as were captured; those of another thread ran.
        (CAPTURE + "\nmain" + 60 * " " + "<launch #4>", WorkloadKind.SINGLE_KERNEL),
        ("main <begin     ><end>\nother  <launch #1>\ngpu 7 {k #1}", WorkloadKind.SINGLE_KERNEL),
        ("main [aten::mm][eMm]", WorkloadKind.TRAINING),
        ("main [aten::mm](optim)", WorkloadKind.TRAINING),
        ("gpu 7 {bwd}{k}", WorkloadKind.TRAINING),
        # Operators were recorded, and no backward is among them.
        ("main [aten::mm]\ngpu 7 {bwd}{k}", WorkloadKind.UNKNOWN),
        ("main (vllm)", WorkloadKind.SERVING),
        ("main (older)", WorkloadKind.SERVING),
        ("main (decode)", WorkloadKind.SERVING),
        ("main (trt)", WorkloadKind.SERVING),
        ("main /tgi/", WorkloadKind.SERVING),
        ("gpu 7 {k}{k}{reduce}", WorkloadKind.SINGLE_KERNEL),
        (
            "main [a       ][b       ]\nmain <x #1>    <x #2>\ngpu 7 {k #1} {j #2}",
            WorkloadKind.MICROBENCHMARK,
        ),
        # Where a graph launches them, no operator is known to be behind them.
        ("main [a] <x #1>\ngpu 7 {k #1} {j #1}", WorkloadKind.UNKNOWN),
        (
            "main [a       ][b       ]\nmain <x #1>    <x #2>\nmain /nn.Module: L_0/\n"
            "gpu 7 {k #1} {j #2}",
            WorkloadKind.INFERENCE,
        ),
        ("main [a]\nother /nn.Module: L_0/", WorkloadKind.INFERENCE),
        (MANY, WorkloadKind.INFERENCE),
        ("gpu 7 " + "".join(f"{{k{i}}}" for i in range(FEW_KERNELS + 1)), WorkloadKind.UNKNOWN),
        ("", WorkloadKind.UNKNOWN),
    ],
)
def test_kind(drawing: str, kind: WorkloadKind) -> None:
    assert kind_of(drawing).kind == kind


def test_evidence_quotes_what_was_found() -> None:
    assert kind_of(CAPTURE).evidence.startswith("2 of 3 kernel launches went into a graph")
    assert kind_of("main (decode)").evidence == "It has names of SGLang: step[DECODE bs=32]."
