"""The figures that the original plugin shows for its own sample (ResNet-50 on a V100), to the
microsecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.figures import everything, kernels, opened, operators, step_names, trace_files
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.operators import operator_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.figures.step_table import average
from torch_tb_profiler.store.model import Facts

SHOWN = ("kernel", "memcpy", "memset", "runtime", "dataloader", "cpu_exec", "other")


@dataclass(frozen=True)
class Original:
    """What the original shows of one file; times µs, shares per cent. ``steps``: row → categories
    in the order of ``SHOWN``.
    """

    wall: int
    average: tuple[int, ...]
    first_step: int
    steps: dict[int, tuple[int, ...]]
    device: tuple[float, float, float, float]
    operators: tuple[int, int, int, int]
    shapes: int
    kernels: tuple[int, int, int]
    by_operator: int
    eligible: int


ORIGINAL = {
    ("num_workers_0", 0): Original(
        177592,
        (98589, 1915, 89, 2908, 59262, 13674, 1156),
        5,
        {
            0: (98598, 1941, 90, 2796, 69317, 14091, 1115),
            1: (98570, 1947, 89, 2762, 57669, 12968, 1148),
            2: (98596, 1931, 91, 2877, 61257, 13768, 1213),
            3: (98623, 1938, 89, 2841, 56453, 13420, 1200),
            4: (98504, 1937, 87, 2788, 62690, 15025, 1141),
            5: (98641, 1798, 88, 3381, 48185, 12773, 1117),
        },
        (55.51, 54.68, 49.13, 0.0),
        (76, 23616, 603558, 548817),
        577,
        (67, 8772, 591532),
        226,
        68,
    ),
    ("num_workers_0", 1): Original(
        154911,
        (98535, 1734, 89, 4053, 35504, 13786, 1210),
        16,
        {0: (98420, 1654, 88, 9789, 46723, 13876, 1222)},
        (63.61, 62.65, 49.14, 0.0),
        (76, 23616, 602145, 509129),
        577,
        (67, 8772, 591209),
        226,
        68,
    ),
    # The original has 70.27 and 69.22 here: it divides by the time from the first step to the last
    # one, 134 µs between steps included.
    ("num_workers_4", 0): Original(
        141068,
        (99145, 3160, 98, 10564, 1186, 22665, 4251),
        5,
        {0: (99778, 3606, 98, 41028, 4341, 27460, 5995)},
        (70.28, 69.24, 48.91, 0.0),
        (69, 20532, 614413, 491379),
        559,
        (62, 8868, 594868),
        222,
        68,
    ),
    ("num_workers_4", 1): Original(
        142808,
        (99044, 2885, 98, 10581, 292, 14313, 15596),
        16,
        {5: (98930, 2991, 98, 3460, 0, 14389, 82749)},
        (69.35, 68.32, 48.91, 0.0),
        (69, 20532, 612158, 424963),
        559,
        (62, 8868, 594263),
        222,
        68,
    ),
}


@pytest.fixture(
    scope="module", params=sorted(ORIGINAL), ids=lambda key: f"{key[0]}-span-{key[1] + 1}"
)
def pair(request: pytest.FixtureRequest, real_traces: Path) -> tuple[Facts, Original]:
    run, span = request.param
    path = [
        path for path in trace_files(real_traces) if path.parent.name == f"v100_resnet50_{run}"
    ][span]
    return opened(path)[1], ORIGINAL[request.param]


def test_average_step(pair: tuple[Facts, Original]) -> None:
    facts, original = pair
    mean = average(facts, select(facts))
    assert mean is not None
    wall, times = mean
    assert (round(wall / 1000), *(round((times[key] or 0) / 1000) for key in SHOWN)) == (
        original.wall,
        *original.average,
    )
    assert times["communication"] == 0


def test_steps(pair: tuple[Facts, Original]) -> None:
    facts, original = pair
    assert step_names(facts) == [f"ProfilerStep#{original.first_step + row}" for row in range(6)]
    assert {
        row: tuple(int(facts["steps"][key][row]) // 1000 for key in SHOWN) for row in original.steps
    } == original.steps


def test_device(pair: tuple[Facts, Original]) -> None:
    facts, original = pair
    (device,) = device_use(facts, select(facts))
    figures = (device.utilization, device.sm_efficiency, device.occupancy, device.matrix_share)
    assert [round(figure * 100, 2) for figure in figures if figure is not None] == list(
        original.device
    )
    assert (device.name, device.capability) == ("Tesla V100-DGXS-32GB", "7.0")
    assert round((device.memory or 0) / 2**30, 2) == 31.74
    assert device.matrix_unknown_share == 0


def test_gaps_between_steps_explain_the_difference(real_traces: Path) -> None:
    path = next(
        path
        for path in trace_files(real_traces)
        if path.parent.name == "v100_resnet50_num_workers_4"
    )
    facts = opened(path)[1]
    steps, devices = facts["steps"], facts["device_steps"]
    assert int((steps["start"][1:] - steps["end"][:-1]).sum()) == 134_000
    window = int(steps["end"][-1] - steps["start"][0])
    assert round(float(devices["busy"].sum() / window * 100), 2) == 70.27
    assert round(float(devices["sm_integral"].sum() / window * 100), 2) == 69.22


def test_operator_table(pair: tuple[Facts, Original]) -> None:
    facts, original = pair
    rows = operator_rows(facts, everything(facts), "name")
    sums = [
        int(rows["calls"].sum()),
        int(rows["device_self_ns"].sum()) // 1000,
        int(facts["operator_steps"]["host_self"].sum()) // 1000,
    ]
    assert (rows.n, *sums) == original.operators
    # By decision our host self time has the runtime calls, which the original takes off.
    assert rows["host_self_ns"].sum() == sum(
        int(facts["operator_steps"][key].sum()) for key in ("host_self", "runtime")
    )
    assert len(operator_rows(facts, everything(facts), "shape")["name"]) == original.shapes


def test_kernel_table(pair: tuple[Facts, Original]) -> None:
    facts, original = pair
    rows = kernels(facts)
    assert (
        len(rows),
        sum(row["calls"] for row in rows),
        round(sum(row["total"] for row in rows)),
    ) == original.kernels
    assert len(kernels(facts, "properties")) == original.by_operator


def test_share_of_operators_that_could_use_matrix_cores(pair: tuple[Facts, Original]) -> None:
    facts, original = pair
    assert round((facts.summary.matrix_eligible_share or 0) * 100) == original.eligible


def test_largest_operators_and_kernel(real_traces: Path) -> None:
    path = next(
        path
        for path in trace_files(real_traces)
        if path.parent.name == "v100_resnet50_num_workers_0"
    )
    facts = opened(path)[1]
    figures = list(operators(facts).items())[:3]
    assert [(name, (*row[:3], row[4])) for (name,), row in figures] == [
        ("aten::cudnn_convolution_backward_weight", (318, 142461, 142461, 40246)),
        ("aten::cudnn_convolution_backward_input", (312, 130967, 130967, 41445)),
        ("aten::cudnn_convolution", (318, 126619, 126619, 56998)),
    ]
    rows = operator_rows(facts, select(facts), "stack")
    number = facts.strings.number("aten::cudnn_convolution")
    stacks = np.unique(rows["stack"][(rows["name"] == number) & (rows["stack"] >= 0)])
    assert len(stacks) == 17
    first = kernels(facts)[0]
    assert "dgrad_engine" in first["name"]
    assert (
        first["calls"],
        first["total"],
        round(first["mean"]),
        first["longest"],
        first["shortest"],
    ) == (162, 80756, 498, 1017, 323)
    assert (round(first["blocks_per_sm"], 2), round(first["occupancy"], 2)) == (42.25, 29.97)
