"""How well replays without a change fit real traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests import public
from tests.analysis.figures import opened, trace_files
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.what_if.graph import build_graph
from torch_tb_profiler.analysis.what_if.replay import (
    delays,
    measured_durations,
    replay,
    step_times,
)
from torch_tb_profiler.store.columns import Array


def errors(path: Path) -> tuple[Array, Array]:
    """Of a trace with device work: the error of each step's length, and of each begin of device work in its step, as
    shares of the step.
    """
    trace, facts = opened(path)
    graph, steps = build_graph(trace, facts, gather(trace, facts)), facts["steps"]
    durations = measured_durations(graph, facts)
    time = replay(graph.first, graph.second, delays(graph, durations))
    replayed = step_times(graph, facts, time)
    wall = np.maximum(steps["end"] - steps["start"], 1)
    work = np.flatnonzero(graph.step >= 0)
    step = graph.step[work]
    begin = time[graph.ends[work]] - durations.work[work] - replayed.start[step]
    late = begin - (graph.work.start[work] - steps["start"][step])
    return np.abs((replayed.end - replayed.start) / wall - 1), np.abs(late / wall[step])


def test_replays_fit_the_steps_and_the_device_work_of_real_traces(real_traces: Path) -> None:
    of_steps, of_begins = [], []
    for path in public.some(trace_files(real_traces)):
        lengths, begins = errors(path)
        if len(begins):
            of_steps += lengths.tolist()
            of_begins.append(float(np.median(begins)))
    assert np.median(of_steps) <= 0.003
    assert max(of_steps) <= 0.01
    assert np.median(of_begins) <= 0.003
    assert max(of_begins) <= 0.01
