"""Distinct calls with their work, and what is counted of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests import public
from tests.analysis.efficiency.cases import NAMES, drawn, of
from torch_tb_profiler.analysis.efficiency.workloads import build_workloads
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import StringBuilder

NESTED = """
main   [linear                             ]
main    [addmm                            ]
main     [zero   ]
main     <L #1>     <L #2> <L #3>
gpu 7             {fill #1} {gemm #2             } {reduce #3 }
"""
ADDMM_FLOPS = 2 * 64 * 128 * 256 + 64 * 256


def test_work_is_laid_at_the_call_that_launches_it_and_counted_once() -> None:
    """``aten::linear`` launches nothing but through another modelled call; what ``aten::zero_``
    launches is part of the ``aten::addmm``.
    """
    _, _, insight = drawn(NESTED)
    steps, kernels = insight["workload_steps"], insight["workload_kernels"]
    assert of(insight, steps, "counted") == {
        "aten::linear": [0],
        "aten::addmm": [1],
        "aten::zero_": [0],
    }
    assert of(insight, steps, "device_self") == {
        "aten::linear": [0],
        "aten::addmm": [34_000],
        "aten::zero_": [9_000],
    }
    assert of(insight, steps, "device_total") == {
        "aten::linear": [43_000],
        "aten::addmm": [43_000],
        "aten::zero_": [9_000],
    }
    assert of(insight, steps, "counted_time") == {
        "aten::linear": [0],
        "aten::addmm": [43_000],
        "aten::zero_": [0],
    }
    assert set(of(insight, kernels, "total")) == {"aten::addmm"}
    by_kernel = dict(
        zip(insight.strings.many(kernels["kernel"]), kernels["flops"].tolist(), strict=True)
    )
    assert by_kernel == {NAMES["fill"]: 0, NAMES["gemm"]: ADDMM_FLOPS, NAMES["reduce"]: 0}
    matrix = dict(
        zip(insight.strings.many(kernels["kernel"]), kernels["matrix"].tolist(), strict=True)
    )
    assert matrix[NAMES["gemm"]] == Knowledge.YES
    assert matrix[NAMES["fill"]] == Knowledge.NO


def test_a_call_is_asked_once_for_its_work() -> None:
    _, _, insight = drawn("""
    main   [mm     ] [mm     ] [mm32   ] [other  ]
    main    <L #1>    <L #2>    <L #3>    <L #4>
    gpu 7     {gemm #1} {gemm #2} {sgemm #3} {plus #4}
    """)
    table = insight["workloads"]
    found = {
        (insight.strings[int(table["name"][i])], insight.strings[int(table["precision"][i])]): (
            int(table["flops"][i]),
            int(table["bytes"][i]),
        )
        for i in range(table.n)
    }
    elements = 64 * 128 + 128 * 256 + 64 * 256
    flops = 2 * 64 * 128 * 256
    assert found == {
        ("aten::mm", "bf16"): (flops, 2 * elements),
        ("aten::mm", "fp32"): (flops, 4 * elements),
        ("mine::thing", ""): (-1, -1),
    }
    assert sorted(of(insight, insight["workload_steps"], "calls")["aten::mm"]) == [1, 2]


def test_work_of_no_operator_and_of_replayed_graphs() -> None:
    _, _, insight = drawn(
        """
    main   [mm     ]            <G #2  >   <L #3>
    main    <L #1>
    gpu 7     {gemm #1}            {gemm #2}  {plus #3}
    """,
        {"G": {}},
    )
    kernels = insight["workload_kernels"]
    assert set(of(insight, kernels, "total")) == {"", "aten::mm"}
    assert of(insight, kernels, "flops")[""] == [-1, -1]
    assert sorted(insight["device_workloads"]["workload"].tolist()) == [-1, -1, 0]


def test_steps_are_kept_apart() -> None:
    _, _, insight = drawn("""
    main   [ProfilerStep#1           ][ProfilerStep#2           ]
    main     [mm     ]                  [mm     ] [mm     ]
    main      <L #1>                     <L #2>    <L #3>
    gpu 7       {gemm #1}                   {gemm #2} {gemm #3}
    """)
    steps = insight["workload_steps"]
    assert dict(zip(steps["step"].tolist(), steps["counted"].tolist(), strict=True)) == {0: 1, 1: 2}
    assert insight["workload_kernels"]["flops"].tolist() == [
        2 * 64 * 128 * 256,
        2 * 2 * 64 * 128 * 256,
    ]


def test_without_a_device_the_outermost_modelled_calls_count() -> None:
    _, facts, insight = drawn("""
    main   [other                                 ]
    main    [linear              ] [add     ]
    main     [addmm             ]
    """)
    assert not facts.summary.has_device
    steps = insight["workload_steps"]
    assert of(insight, steps, "counted") == {
        "mine::thing": [1],
        "aten::linear": [1],
        "aten::add": [1],
        "aten::addmm": [0],
    }
    time = of(insight, steps, "counted_time")
    assert time == {
        "mine::thing": [40_000 - 22_000 - 10_000],
        "aten::linear": [22_000],
        "aten::add": [10_000],
        "aten::addmm": [0],
    }
    assert sum(value for values in time.values() for value in values) == 40_000


def test_shapes_that_no_such_operator_can_have_are_not_modelled() -> None:
    _, _, insight = drawn(
        """
    main   [mm     ]
    main    <L #1>
    gpu 7     {gemm #1}
    """,
        {"mm": {"Input Dims": [[64, 128], "nonsense"], "Input type": ["float", 7]}},
    )
    assert insight["workloads"]["flops"].tolist() == [-1]
    assert insight["workload_kernels"]["flops"].tolist() == [-1]


def test_public_traces(real_traces: Path) -> None:
    """All device time is laid somewhere, once; the FLOPs of the counted calls are those at their
    kernels.
    """
    modelled = {}
    found = (load_all(str(run), Settings()) for run in public.some(public.FOLDERS))
    for opened in (each for run in found for each in run):
        if not isinstance(opened, Opened):
            continue
        trace, facts = opened.trace, opened.facts
        tables, _ = build_workloads(trace, facts, {}, StringBuilder(), call_tree(trace))
        works, steps, kernels = (
            tables[name] for name in ("workloads", "workload_steps", "workload_kernels")
        )
        rows = device_rows(trace)
        assert kernels["total"].sum() == trace["spans"]["dur"][rows].sum()
        assert kernels["calls"].sum() == len(rows)
        assert (
            kernels["total"][kernels["workload"] < 0].sum()
            + (steps["counted_time"].sum() if len(rows) else 0)
            == kernels["total"].sum()
        )
        counted = np.maximum(works["flops"], 0)[steps["workload"]] * steps["counted"]
        assert counted.sum() * bool(len(rows)) == np.maximum(kernels["flops"], 0).sum()
        assert (steps["counted"] <= steps["calls"]).all()
        # Of replayed calls the launch of their graph.
        again = np.isin(steps["event"], facts["replays"]["launch"])
        assert (again | (trace["spans"]["role"][steps["event"]] == Role.OPERATOR)).all()
        known = np.append(works["flops"] >= 0, np.False_)[kernels["workload"]]
        modelled[opened.run.name] = float(
            kernels["total"][known].sum() / max(1, kernels["total"].sum())
        )
    assert modelled["h100_vit"] == pytest.approx(1, abs=0.01)
    assert modelled["h100_bert_small"] > 0.95
    # Replayed graphs have no shapes.
    assert modelled["mi300_vllm_graph"] < 0.5
