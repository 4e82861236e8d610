"""The main thread waits for transfers that run on threads of a host library."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders.listed import trace_listed
from tests.runs.written_run import WrittenRun
from torch_tb_profiler.analysis.critical_path.waiting import with_waiting
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


def test_of_hosts_alone_what_they_waited_counts() -> None:
    """Rank 0 waits for 60 of the 100 µs, from its begin of the transfer to that of rank 1."""
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
    stragglers = Stragglers(fleet.figures, ranks)
    _, _, ideal = stragglers.steps()
    assert ideal.tolist() == [pytest.approx(40_000, rel=1e-3)]
    found = stragglers.slowdown()
    assert found.total == found.by_rank[1] == pytest.approx(2.5)
    assert found.by_rank[0] == 1


@pytest.mark.parametrize("moves", [4, 9, 30])
def test_waiting_for_another_rank_can_neither_be_hidden_nor_made_faster(moves: int) -> None:
    """Of rank 0's transfer only what follows the begin of rank 1's is one: the rest is waiting."""
    rank = """
        1 note ProfilerStep#1@0+{}
        1 op   aten::mm@0+{}
        1 op   c10d::allreduce_@{}+5 e1
        2 note gloo:all_reduce@{}+{} e2
        1 op   aten::copy_@{}+9
    """
    end = 82 + moves
    traces = [
        trace_listed(
            rank.format(end + 10, begin, begin, begin + 2, end - begin - 2, end + 1),
            baseTimeNanoseconds=0,
            distributedInfo={"rank": number, "world_size": 2, "backend": "gloo"},
        )
        for number, begin in enumerate((20, 80))
    ]
    run = WrittenRun({f"rank{number}": trace for number, trace in enumerate(traces)})
    fleet = Fleets(run).of(run.open("run", "rank0", "1"))
    own = fleet.open_rank(0)
    assert own is not None
    told = with_waiting(own.trace, own.facts, own.insight, fleet.figures, 0)
    for change, share in (("overlap", 1.0), ("network:factor=0.5", 0.5)):
        applied = edits([read_change(change)])
        saved = []
        for insight in (own.insight, told):
            found, _ = Simulation(own.trace, own.facts, insight).predict(applied, np.arange(1))
            saved.append(float((found.measured - found.predicted)[0]))
        assert saved[0] > 30_000 * share
        assert 0 <= saved[1] <= (moves + 2) * share * 1000
