"""A step as simulated, as its two lanes are drawn: the path of the changed step, and what runs beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, intersect, union
from torch_tb_profiler.analysis.critical_path.lanes import (
    NO_WORK,
    PARTS,
    LaneWork,
    PathSegments,
    device_times,
)
from torch_tb_profiler.analysis.what_if.simulated_path import Stretches, path_stretches
from torch_tb_profiler.analysis.what_if.simulation import Edit, Simulation
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathCause


def simulated_step(
    simulation: Simulation, edits: Sequence[Edit], step: int, length: int, work: LaneWork
) -> tuple[PathSegments, LaneWork] | None:
    """The path of a step (row of steps) with all changes at once, and its lanes, from 0 to ``length``, which is what is
    predicted for it, ns; None of a step of which not all was recorded.

    Device work runs when the simulation says; what the host does beside the path is moved as the program's thread is.

    Args:
        work: what the trace shows of its lanes.
    """
    scene, durations = simulation.scene, simulation.changed(edits)
    steps, graph = scene.facts["steps"], scene.graph
    recorded = union(steps["start"][[step]], steps["end"][[step]])
    if steps["earlier"][step] or intersect(work.cuts, recorded).length:
        return None
    delay, time, times = simulation.replay(durations)
    begin, end = float(times.start[step]), float(times.end[step])
    if not end > begin or length <= 0:
        return None

    def drawn(at: Array) -> Ints:
        return np.asarray(np.rint((at - begin) * (length / (end - begin))), np.int64)

    def moved(found: Intervals) -> Intervals:
        return union(drawn(clock(found.start)), drawn(clock(found.end)))

    points, hosts = graph.points, graph.hosts
    # A thread comes to where it waits, and goes on when it is released.
    came = np.minimum(time[graph.first[hosts]] + delay.first[hosts], time[hosts])
    own = np.flatnonzero((points.track == graph.main) & np.isfinite(came))
    known = np.concatenate((points.reach[own], points.time[own])).astype(np.float64)
    told = np.concatenate((came[own], time[hosts[own]]))
    order = np.lexsort((told, known))
    known, told = known[order], np.maximum.accumulate(told[order])

    def clock(at: Ints) -> Array:
        return np.interp(at, known, told) if len(known) else at.astype(np.float64)

    ends = time[graph.ends]
    on_device = device_times(scene.work_causes, drawn(ends - durations.work), drawn(ends))
    on_host = {
        place: moved(when) for place, when in work.times.items() if PARTS[place][0] == "host"
    }
    lanes = msgspec.structs.replace(
        work, times=on_device | on_host, backward=moved(work.backward), cuts=NO_WORK.cuts
    )
    found = path_stretches(scene, delay, time, times, np.array([step]), durations)
    return _segments(simulation, found, drawn, length), lanes


def _segments(
    simulation: Simulation, found: Stretches, drawn: Callable[[Array], Ints], length: int
) -> PathSegments:
    """Stretches one after another from 0 to ``length``; what lies between is not recorded."""
    trace = simulation.scene.trace
    order = np.lexsort((found.end, found.start))
    start, end = (np.clip(drawn(at[order]), 0, length) for at in (found.start, found.end))
    start = np.maximum(start, np.append(0, np.maximum.accumulate(end))[:-1])
    some = np.flatnonzero(end > start)
    start, end = start[some], end[some]
    before, after = np.append(0, end), np.append(start, length)
    gap = np.flatnonzero(after > before)
    starts, ends = np.concatenate((start, before[gap])), np.concatenate((end, after[gap]))
    none = np.full(len(gap), -1)
    cause = np.concatenate((found.cause[order][some], np.full(len(gap), PathCause.NOT_RECORDED)))
    event = np.concatenate((found.event[order][some], none))
    place = np.argsort(starts, kind="stable")
    event = event[place]
    return PathSegments(
        trace.strings,
        np.zeros(len(place), np.int64),
        starts[place],
        ends[place],
        cause[place],
        event,
        np.append(trace["spans"]["name"], -1)[event].astype(np.int64),
        np.full(len(place), -1),
    )
