"""A step as simulated, drawn: without a change it is the recorded one, with one it is made of what is predicted."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.analysis.figures import insight, opened
from tests.builders.drawn import events, trace_of
from tests.conftest import REPOSITORY
from torch_tb_profiler.analysis.critical_path.lane_stretches import step_segments
from torch_tb_profiler.analysis.critical_path.lanes import (
    PARTS,
    Drawn,
    LaneWork,
    PathSegments,
    Source,
    lane_work,
    path_lanes,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_changes
from torch_tb_profiler.analysis.what_if.simulated_step import simulated_step
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.store.insight_schema import PathCause

CHANGES = (
    "",
    "dataloader-ready",
    "no-sync",
    "fuse-chains",
    "no-python",
    "scale:kernel=*,factor=0.5",
)
RECORDED = ("cnn_workers_0", "transformer", "synthetic_ddp8")
QUEUED = """
main    [ProfilerStep#1                             ](ProfilerStep#2         )
main     [aten::mm][aten::mm ][aten::item          ] [aten::mm][aten::item  ]
main      <run #1>  <run #2>  <cudaStreamSynchronize> <run #3>  <cudaStreamSynchronize>
gpu 7             {gemm #1         }{gemm #2   }              {gemm #3 }
"""


class Case:
    """A trace that can be replayed, and what it shows of its lanes."""

    def __init__(self, path: Path | None) -> None:
        if path is None:
            self.trace = trace_of(events(QUEUED))
            self.facts = derive(self.trace)
            self.insight = build_insight(self.trace, self.facts)
        else:
            self.trace, self.facts = opened(path)
            self.insight = insight(path)
        self.simulation = Simulation(self.trace, self.facts, self.insight)
        self.work = lane_work(self.trace, self.facts, self.insight)


@cache
def case(name: str) -> Case:
    """One of the samples, or the drawn trace."""
    if not name:
        return Case(None)
    return Case(min((REPOSITORY / "samples" / name).glob("*.json.gz")))


def drawn(path: PathSegments, work: LaneWork) -> Drawn:
    begin, end = path.bounds
    return path_lanes(path, {0: Source(work)}).measured(np.array([begin]), np.array([end]))


@pytest.mark.parametrize("name", ["", *RECORDED])
@pytest.mark.parametrize("change", CHANGES)
def test_it_is_made_of_what_is_predicted(name: str, change: str) -> None:
    one = case(name)
    for step in range(min(one.facts["steps"].n, 3)):
        made = edits(read_changes(change))
        prediction, by_cause = one.simulation.predict(made, np.array([step]))
        length = round(float(prediction.predicted[0]))
        found = simulated_step(one.simulation, made, step, length, one.work)
        assert found is not None
        path, work = found
        assert path.bounds == (0, length)
        assert (path.start[1:] == path.end[:-1]).all()
        spent = np.bincount(path.cause, path.end - path.start, len(PathCause)) / length
        near = len(path.start) / length
        assert spent == pytest.approx(by_cause / by_cause.sum(), abs=near)
        if change:
            continue
        recorded = drawn(step_segments(one.facts, one.insight, step), one.work)
        told = drawn(path, work)
        for key in {*recorded.times, *told.times}:
            was, now = (float(times.get(key, [0])[0]) for times in (recorded.times, told.times))
            assert now == pytest.approx(was, abs=0.002 * length), PARTS[key[0]]


def test_a_step_of_which_not_all_was_recorded_is_not_drawn() -> None:
    one = case("")
    steps = one.facts["steps"]
    cut = one.work.times[PARTS.index(("device", "compute"))]
    hidden = replace(one.work, cuts=cut)
    assert steps.n == 2
    assert simulated_step(one.simulation, [], 0, 1000, hidden) is None
