"""The cases of the original plugin's own tests, with its figures; where it was wrong, the right ones and why."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.written import device, facts_of, kernels, launch, operator, operators, steps
from torch_tb_profiler.analysis.breakdown import average
from torch_tb_profiler.analysis.devices import device_use
from torch_tb_profiler.analysis.flags import NoOperator, StepFlag
from torch_tb_profiler.analysis.kernels import kernel_rows
from torch_tb_profiler.analysis.operators import operator_rows
from torch_tb_profiler.analysis.selection import select

CUNN = "void cunn_ClassNLLCriterion_updateGradInput_kernel<float>"


def test_all_categories() -> None:
    facts = facts_of(
        operator("ProfilerStep#1@50+400"), operator("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__@100+180"),
        operator("aten::to@200+60", **{"Input Dims": [[2, 8, 5], [], [], [], [], [], [], []]}), operator("aten::nll_loss_backward@340+70", 2),
        launch("cudaMemcpyAsync@360+20", 334, 2), launch("cudaMemsetAsync@390+10", 40344, 2), launch("cudaLaunchKernel@405+5", 40348, 2),
        device("Memcpy HtoD@405+10", 334), device("Memset (Device)@420+5", 40344), device(f"{CUNN}@430+15", 40348),
    )
    assert steps(facts) == [{"kernel": 15, "memcpy": 10, "memset": 5, "runtime": 30, "dataloader": 180, "cpu_exec": 35, "other": 125, "total": 400}]
    assert operators(facts) == {"aten::nll_loss_backward": (1, 70, 35, 30, 30), "aten::to": (1, 60, 60, 0, 0)}
    shapes = operator_rows(facts, select(facts), "shape")
    assert facts.strings.many(shapes.dims) == ["", "[[2,8,5],[],[],[],[],[],[],[]]"]
    assert kernels(facts, "properties") == [(CUNN, "aten::nll_loss_backward", 1, 15)]


def test_self_and_total_device_time_follow_the_launch() -> None:
    facts = facts_of(
        operator("aten::mat_mul@100+100"), operator("aten::mm@120+70"), launch("cudaLaunchKernel@130+1", 1), launch("cudaLaunchKernel@110+1", 2),
        launch("cudaLaunchKernel@150+1", 3), launch("cudaLaunchKernel@195+1", 4),
        device("a@220+5", 1), device("b@230+6", 2), device("c@240+7", 3), device("d@250+8", 4),
    )
    assert operators(facts) == {"aten::mat_mul": (1, 100, 28, 26, 14), "aten::mm": (1, 70, 68, 12, 12)}


@pytest.mark.parametrize("inner", ["aten::mm@100+70", "aten::mm@130+70"])
def test_an_operator_that_begins_or_ends_with_another_is_its_child(inner: str) -> None:
    found = operators(facts_of(operator("aten::mat_mul@100+100"), operator(inner)))
    assert found == {"aten::mat_mul": (1, 100, 30, 0, 0), "aten::mm": (1, 70, 70, 0, 0)}


def test_an_only_child_of_the_same_name_is_one_with_its_parent() -> None:
    facts = facts_of(
        operator("aten::mm@100+100"), operator("aten::mm@110+80"), operator("aten::mm@120+60"), launch("cudaLaunchKernel@130+20", 4), device("k@200+8", 4),
    )
    assert operators(facts) == {"aten::mm": (1, 100, 80, 8, 8)}


def test_two_children_of_the_same_name_stay() -> None:
    assert operators(facts_of(operator("aten::mm@100+100"), operator("aten::mm@110+10"), operator("aten::mm@130+10")))["aten::mm"][0] == 3


def test_a_launch_outside_every_operator() -> None:
    facts = facts_of(operator("aten::mm@100+100"), launch("cudaLaunchKernel@130+20", 4, tid=2), device("k@200+8", 4))
    assert operators(facts)["aten::mm"][3:] == (0, 0)
    rows = kernel_rows(facts, select(facts), "properties")
    assert (rows.reason.tolist(), rows.operator.tolist(), rows.calls.tolist()) == ([NoOperator.OUTSIDE], [-1], [1])


def test_a_launch_in_a_step_alone() -> None:
    facts = facts_of(operator("ProfilerStep#1@100+300"), launch("cudaLaunchKernel@130+20", 4), device("k@220+8", 4))
    assert steps(facts) == [{"kernel": 8, "runtime": 20, "other": 272, "total": 300}]
    assert operators(facts) == {}
    assert kernels(facts, "properties") == [("k", "", 1, 8)]


def test_one_launch_of_two_kernels() -> None:
    facts = facts_of(
        operator("c10d::allreduce_@100+300"), launch("cudaLaunchCooperativeKernelMultiDevice@150+20", 6),
        device("ncclKernel_AllReduce_RING_LL_Sum_float@200+120318", 6), device("ncclKernel_AllReduce_RING_LL_Sum_float@300+132800", 6, gpu=1),
    )
    assert operators(facts)["c10d::allreduce_"][3:] == (253118, 253118)
    assert kernels(facts, "properties") == [("ncclKernel_AllReduce_RING_LL_Sum_float", "c10d::allreduce_", 2, 253118)]


def test_no_profilerstep() -> None:
    facts = facts_of(
        operator("aten::to@100+60"), operator("aten::nll_loss_backward@300+70"), launch("cudaLaunchKernel@310+20", 4), device(f"{CUNN}@320+100", 4),
    )
    assert steps(facts) == [{"kernel": 100, "runtime": 10, "cpu_exec": 70, "other": 140, "total": 320}]
    assert facts.summary["step_source"] == "whole span"
    assert facts["steps"]["flags"].tolist() == [StepFlag.WHOLE]
    assert operators(facts)["aten::nll_loss_backward"] == (1, 70, 50, 100, 100)


TWO_STEPS = (
    operator("ProfilerStep#1@100+200"), operator("ProfilerStep#2@350+150"), operator("aten::to@200+60"), operator("aten::mm@360+50"),
    launch("cudaMemcpyAsync@240+5", 1), launch("cudaLaunchKernel@400+5", 2), device("gemm@410+200", 2),
)


def test_steps_that_do_not_overlap() -> None:
    facts = facts_of(*TWO_STEPS, device("Memcpy HtoD@280+40", 1))
    assert steps(facts) == [
        {"memcpy": 40, "runtime": 5, "cpu_exec": 55, "other": 120, "total": 220},
        {"kernel": 200, "runtime": 5, "cpu_exec": 45, "other": 10, "total": 260},
    ]
    mean = average(facts, select(facts))
    assert mean is not None
    assert mean["wall"] == 240_000
    assert operators(facts) == {"aten::mm": (1, 50, 45, 200, 200), "aten::to": (1, 60, 55, 40, 40)}


def test_a_step_begins_when_the_device_work_before_it_ends() -> None:
    facts = facts_of(*TWO_STEPS, device("k@150+90"), device("Memcpy HtoD@280+100", 1))
    assert steps(facts) == [
        {"memcpy": 100, "runtime": 5, "cpu_exec": 15, "other": 20, "total": 140},
        {"kernel": 200, "runtime": 5, "cpu_exec": 25, "total": 230},
    ]


def test_last_steps_without_device_work_are_marked_and_left_out_of_averages() -> None:
    facts = facts_of(
        operator("ProfilerStep#1@100+200"), operator("ProfilerStep#2@310+50"), operator("ProfilerStep#3@370+50"), operator("aten::to@200+60"),
        launch("cudaMemcpyAsync@210+5", 1), device("Memcpy HtoD@280+40", 1),
    )
    assert facts["steps"]["flags"].tolist() == [0, StepFlag.CUT, StepFlag.CUT]
    mean = average(facts, select(facts))
    assert mean is not None
    assert mean["wall"] == 220_000
    alone = average(facts, select(facts, 2, 2))
    assert alone is not None
    assert alone["wall"] == 50_000


@pytest.mark.parametrize(("last", "flag"), [(7, StepFlag.CUT), (8, 0)])
def test_a_last_step_with_much_less_device_work_was_cut(last: int, flag: int) -> None:
    work = []
    for step, count in enumerate((10, 10, last)):
        for i in range(count):
            at = 1000 * step + 10 * i + 5
            work += [launch(f"cudaLaunchKernel@{at}+1", at), device(f"k@{at + 2}+1", at)]
    facts = facts_of(*(operator(f"ProfilerStep#{i}@{1000 * i}+900") for i in range(3)), *work)
    assert facts["steps"]["flags"].tolist() == [0, 0, flag]
    assert facts["steps"]["launched"].tolist() == [10, 10, last]


def test_pure_cpu() -> None:
    facts = facts_of(operator("ProfilerStep#1@100+200"), operator("ProfilerStep#2@300+100"), operator("aten::to@110+10"), operator("aten::mm@320+40"))
    assert steps(facts) == [{"cpu_exec": 10, "other": 190, "total": 200}, {"cpu_exec": 40, "other": 60, "total": 100}]
    assert device_use(facts, select(facts)) == ()
    assert facts.defects.as_dict() == {}


def occupied(blocks: float, occupancy: float) -> dict[str, float]:
    return {"blocks per SM": blocks, "est. achieved occupancy %": occupancy}


def test_device_use() -> None:
    facts = facts_of(
        operator("aten::mat_mul@100+100"), operator("aten::mm@120+70"), *(launch(f"cudaLaunchKernel@{121 + i}+0", 334 + i) for i in (0, 2)),
        *(launch(f"cudaLaunchKernel@{105 + i}+0", 334 + i) for i in (1, 3, 4)),
        device("cunn@130+10", 334, 1, **occupied(0.5, 0.6)), device("gemm@135+15", 335, 1, **occupied(0.6, 0.1)),
        device("cunn@145+25", 336, 1, **occupied(0.3, 1.0)), device("cunn@150+0", 337, 1, **occupied(0.3, 0.99)),
        device("cunn@200+20", 338, 1, **occupied(10.5, 0.3)),
    )
    (use,) = device_use(facts, select(facts))
    assert use.id == 1
    assert use.utilization == 0.5
    assert use.sm_efficiency == pytest.approx(41 / 120)
    assert use.occupancy == pytest.approx(0.0055)
    rows = kernel_rows(facts, select(facts), "name")
    by_name = {facts.strings[int(n)]: (b, o) for n, b, o in zip(rows.name, rows.blocks_per_sm, rows.occupancy, strict=True)}
    assert by_name == {"cunn": (pytest.approx(222.5 / 55), pytest.approx(37 / 55)), "gemm": (pytest.approx(0.6), pytest.approx(0.1))}


def test_kernels_outside_the_steps_are_no_use_of_the_device() -> None:
    facts = facts_of(
        operator("ProfilerStep#1@100+100"), operator("aten::mm@120+10"), device("cunn@50+10", gpu=1, **occupied(0.5, 1.0)), device("cunn@230+10", gpu=1),
    )
    (use,) = device_use(facts, select(facts))
    assert (use.utilization, use.sm_efficiency, use.occupancy) == (0.0, None, None)
    assert kernels(facts) == [("cunn", "", 2, 20)]


def test_kernels_by_their_launch_properties() -> None:
    def kernel(at: int, dur: int, correlation: int, **args: object) -> dict[str, object]:
        return device(f"kernel1@{at}+{dur}", correlation, **{"grid": [16, 16, 16], "registers per thread": 18, "shared memory": 0, **args})

    facts = facts_of(
        operator("op1@100+50"), operator("op2@200+50"), *(launch(f"cudaLaunchKernel@{105 + i}+0", 1 + i) for i in range(3)), launch("cudaLaunchKernel@210+0", 4),
        kernel(300, 10, 1, block=[16, 16, 16]), kernel(320, 15, 2, block=[16, 16, 16]), kernel(340, 13, 3, block=[16, 16, 64]), kernel(360, 17, 4, block=[16, 16, 64]),
    )
    rows = kernel_rows(facts, select(facts), "properties")
    found = list(zip(facts.strings.many(rows.operator), facts.strings.many(rows.block), rows.calls.tolist(), rows.total.tolist(), strict=True))
    assert found == [("op1", "[16,16,16]", 2, 25_000), ("op2", "[16,16,64]", 1, 17_000), ("op1", "[16,16,64]", 1, 13_000)]
    assert (rows.mean[0], rows.shortest[0], rows.longest[0]) == (12_500, 10_000, 15_000)
    assert np.isnan(rows.blocks_per_sm).all()


def test_launch_properties_that_are_not_recorded_are_unknown() -> None:
    facts = facts_of(operator("op1@100+50"), launch("cudaLaunchKernel@105+0", 1), device("kernel1@300+10", 1))
    rows = kernel_rows(facts, select(facts), "properties")
    assert [int(column[0]) for column in (rows.grid, rows.block, rows.registers, rows.shared_memory)] == [-1, -1, -1, -1]
    assert np.isnan(rows.occupancy[0])


def test_matrix_cores() -> None:
    facts = facts_of(
        operator("aten::conv2d@100+100"), operator("op_no_tc@110+20"), operator("aten::cudnn_convolution@140+40"), launch("cudaLaunchKernel@115+0", 1),
        launch("cudaLaunchKernel@150+0", 2), device("kernel_no_tc@200+10", 1), device("volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp@210+15", 2),
        deviceProperties=[{"id": 0, "name": "Tesla V100", "computeMajor": 7, "computeMinor": 0, "numSms": 80}],
    )
    rows = operator_rows(facts, select(facts), "name")
    found = {facts.strings[int(n)]: (int(e), s, t) for n, e, s, t in zip(
        rows.name, rows.matrix_eligible, rows.matrix_self_share, rows.matrix_total_share, strict=True)}
    assert found["aten::conv2d"] == (1, pytest.approx(np.nan, nan_ok=True), 0.6)
    assert found["aten::cudnn_convolution"] == (1, 1.0, 1.0)
    assert found["op_no_tc"] == (0, 0.0, 0.0)
    assert facts.summary["matrix_eligible_share"] == 0.6
    (use,) = device_use(facts, select(facts))
    assert (use.matrix_share, use.matrix_unknown_share) == (0.6, 0.0)


def test_categories_never_exceed_the_step() -> None:
    """The original started again when a kernel took the whole step, and showed 200 of 100."""
    facts = facts_of(
        operator("ProfilerStep#1@0+100"), operator("aten::mm@10+60"), launch("cudaLaunchKernel@0+1", 1), launch("cudaMemcpyAsync@2+2", 2),
        device("k@0+100", 1), device("Memcpy HtoD@10+10", 2),
    )
    assert steps(facts) == [{"kernel": 100, "total": 100}]
