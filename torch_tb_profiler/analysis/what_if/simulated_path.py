"""The path of steps as simulated: what each stretch of it was spent on, and when."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import places_in
from torch_tb_profiler.analysis.critical_path.device import Begin
from torch_tb_profiler.analysis.what_if.graph import ROOT
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Delays, Durations, StepTimes
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathCause

_BEFORE = np.zeros(max(Begin) + 1, np.uint8)
"""``PathCause`` of the time before device work, by its ``Begin``."""
_BEFORE[[Begin.STREAM, Begin.LAUNCH, Begin.OTHER_STREAM]] = PathCause.LAUNCH
_BEFORE[Begin.EARLIER] = PathCause.BEFORE_RECORDING


class Stretches(msgspec.Struct, frozen=True):
    """Pieces of the path of steps, arrays of shape (stretches,) in no order. Nothing explains what lies between them.

    start, end: ns as simulated, float64. cause: ``PathCause``. event: row of spans, −1 none.
    """

    start: Array
    end: Array
    cause: Array
    event: Ints


def path_stretches(
    scene: Scene,
    delay: Delays,
    time: Array,
    times: StepTimes,
    steps: Ints,
    durations: Durations,
) -> Stretches:
    """The paths of some steps: from the end of each back to its begin, always to what came last."""
    graph = scene.graph
    late = time[graph.second] + delay.second > time[graph.first] + delay.first
    previous = np.where(late, graph.second, graph.first)
    point, begin = _walk(previous, time, times, steps)
    end = time[point]
    length = end - np.maximum(time[previous[point]], begin)
    work_of, host_of = (places_in(len(time), points) for points in (graph.ends, graph.hosts))
    device, host = work_of[point] >= 0, host_of[point] >= 0
    work, own, until = work_of[point[device]], length[device], end[device]
    busy = np.minimum(durations.work[work], own)
    reason = np.where(late[point[device]], Begin.LAUNCH, graph.work.begin[work])
    row, nothing = graph.work.row[work], np.full(len(point), -1)
    joint = ~device & ~host
    ran = host & ~late[point] & (previous[point] != ROOT)
    floored = steps[durations.floor[steps] > 0]
    over, whole = np.maximum(time[times.last[floored]], times.start[floored]), times.end[floored]
    parts = (
        (until - busy, until, scene.work_causes[work], row),
        (until - own, until - busy, _BEFORE[reason], row),
        _of_host(scene, durations, host_of[point[ran]], length[ran], end[ran]),
        (
            *(end[joint] - length[joint], end[joint]),
            *(np.full(joint.sum(), PathCause.LAUNCH), nothing[joint]),
        ),
        (
            *(over, np.maximum(whole, over)),
            *(np.full(len(floored), PathCause.COMMUNICATION), np.full(len(floored), -1)),
        ),
    )
    return Stretches(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _walk(previous: Ints, time: Array, times: StepTimes, steps: Ints) -> tuple[Ints, Array]:
    """The points on the paths of some steps, and for each the begin of its step, ns."""
    visited: list[int] = []
    counts = []
    # Few of many points are read: single numbers come quicker from a memoryview than from an array.
    back, when = previous.data, time.data
    for step in steps.tolist():
        point, begin, before = int(times.last[step]), float(times.start[step]), len(visited)
        while point > ROOT and when[point] > begin:
            visited.append(point)
            point = back[point]
        counts.append(len(visited) - before)
    return np.array(visited, np.int64), np.repeat(times.start[steps], counts)


def _of_host(
    scene: Scene, durations: Durations, points: Ints, length: Array, end: Array
) -> tuple[Array, Array, Array, Ints]:
    """What threads did in the ``length`` ns until some host points come: their segments since the point before, each as much
    shorter as the whole is.
    """
    graph = scene.graph
    since, until, whole = graph.since, graph.until, graph.between(durations.segment)
    known = np.flatnonzero(whole[points] > 0)
    points, end = points[known], end[known]
    part = length[known] / whole[points]
    first, last = since.segment[points], until.segment[points]
    count = last - first + 1
    of = np.repeat(np.arange(len(points)), count)
    closes = np.cumsum(count) - 1
    segment = np.arange(len(of)) - (closes - count + 1)[of] + first[of]
    cover = np.ones(len(of))
    cover[closes] = until.share[points]
    cover[closes - count + 1] -= since.share[points]
    took = cover * durations.segment[segment] * part[of]
    passed = np.cumsum(took)
    stop = (end - until.outside[points] * part)[of] - (passed[closes][of] - passed)
    host = graph.host
    return stop - took, stop, host.cause[segment], host.span[segment].astype(np.int64)
