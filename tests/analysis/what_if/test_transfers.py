"""The main thread waits for transfers that run on threads of a host library."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.listed import trace_listed
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits

WAITED = """
    1 note ProfilerStep#1@0+100
    1 op   c10d::allreduce_@10+10 e1
    1 op   aten::mm@20+20
    2 note gloo:all_reduce@20+60 e2
    1 op   aten::copy_@81+19
"""
NOT_WAITED = """
    1 note ProfilerStep#1@0+100
    1 op   c10d::allreduce_@10+10 e1
    1 op   aten::mm@20+20
    2 note gloo:all_reduce@20+30 e2
    1 op   aten::copy_@81+19
"""


@pytest.mark.parametrize(
    ("text", "change", "length"),
    [
        (WAITED, "network:factor=1", 100),
        (WAITED, "network:factor=0.5", 70),
        (WAITED, "network:factor=0", 60),  # main comes to wait at 40
        (WAITED, "network:factor=2", 160),
        (WAITED, "scale:operator=aten::mm,factor=0", 100),
        (NOT_WAITED, "network:factor=0", 100),
        (NOT_WAITED, "network:factor=2", 100),
        (NOT_WAITED, "scale:operator=aten::mm,factor=0", 80),
    ],
)
def test_the_step(text: str, change: str, length: int) -> None:
    trace = trace_listed(text)
    facts = derive(trace)
    simulation = Simulation(trace, facts, build_insight(trace, facts))
    prediction, _ = simulation.predict(edits([read_change(change)]), np.arange(1))
    assert prediction.predicted.tolist() == [pytest.approx(length * 1000, abs=1)]
