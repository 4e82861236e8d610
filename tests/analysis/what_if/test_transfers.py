"""The main thread waits for transfers that run on threads of a host library."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.listed import trace_listed
from tests.runs.written_run import WrittenRun
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.stragglers import Stragglers
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.runs.fleet import Fleets

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


def test_a_transfers_thread_does_not_compute() -> None:
    """Of the hosts' own 34 and 94 µs each takes 64. Rank 1 begins its transfer at (80 × 64 / 94) + 2, it takes 9, and
    rank 0 needs 9 × 64 / 34 after it.
    """
    rank = """
        1 note ProfilerStep#1@0+100
        1 op   aten::mm@5+{}
        1 op   c10d::allreduce_@{}+5 e1
        2 note gloo:all_reduce@{} e2
        1 op   aten::copy_@92+8
    """
    traces = [
        trace_listed(
            rank.format(*times),
            baseTimeNanoseconds=0,
            distributedInfo={"rank": number, "world_size": 2, "backend": "gloo"},
        )
        for number, times in enumerate(((15, 20, "22+69"), (75, 80, "82+9")))
    ]
    run = WrittenRun({f"rank{number}": trace for number, trace in enumerate(traces)})
    fleet = Fleets(run).of(run.open("run", "rank0", "1"))
    ranks = [fleet.open_rank(number) for number in range(2)]
    _, _, ideal = Stragglers(fleet.figures, ranks).steps()
    begin = 80 * 64 / 94 + 2
    assert ideal.tolist() == [pytest.approx(1000 * (begin + 9 + 9 * 64 / 34), rel=1e-3)]
