"""Kernels that become one go with their launches, and only those that can be fused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.drawn import events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits

HOST_BOUND = """
main    [ProfilerStep#1                                          ]
main     [aten::add ] [aten::mul ] [aten::exp ] [aten::item     ]
main      <launch #1>  <launch #2>  <launch #3>  <cudaStreamSync>
gpu 7         {a #1}       {b #2}       {c #3   }
"""
"""Each operator takes 12 µs and launches a kernel of 6 to 9 µs; the last call ends 1 µs before the step."""


def saved(drawing: str, change: str, **names: str) -> float:
    """By how much the step is shorter, µs."""
    trace = trace_of(events(drawing, names))
    facts = derive(trace)
    simulation = Simulation(trace, facts, build_insight(trace, facts))
    prediction, _ = simulation.predict(edits([read_change(change)]), np.arange(1))
    return float((prediction.measured - prediction.predicted)[0]) / 1000


def test_operators_of_what_is_fused_take_no_time() -> None:
    """Two of three operators go with their kernels; the one that is left lasts as long as the longest."""
    assert saved(HOST_BOUND, "fuse") == pytest.approx(2 * 12, abs=2)


@pytest.mark.parametrize("name", ["sm90_xmma_gemm", "flash_fwd_kernel", "ncclDevKernel_AllReduce"])
def test_what_cannot_be_fused_stays(name: str) -> None:
    """With a product, attention or communication between them nothing is adjacent."""
    assert saved(HOST_BOUND, "fuse", b=name) == 0
    assert saved(HOST_BOUND, "fuse", b="vectorized_elementwise_kernel") > 0


def test_steps_are_not_fused_with_each_other() -> None:
    drawing = """
main    [ProfilerStep#1        ](ProfilerStep#2        )
main     [aten::add ]            [aten::mul ]
main      <launch #1>             <launch #2>
gpu 7         {a #1}                  {b #2}
"""
    assert saved(drawing, "fuse") == 0


def test_an_operator_that_launches_more_keeps_its_time() -> None:
    """Of an operator that launches a product, too, only the launch of what is fused goes."""
    drawing = """
main    [ProfilerStep#1                                             ]
main     [aten::add ] [aten::mine              ] [aten::item       ]
main      <launch #1>  <launch #2>  <launch #3>   <cudaStreamSync >
gpu 7         {a #1}       {b #2}       {gemm #3  }
"""
    assert saved(drawing, "fuse") == pytest.approx(12, abs=2)
