"""What the changes of rules do to the durations of a simulation."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked, positions_of
from torch_tb_profiler.analysis.arrays.intervals import Intervals, union
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.what_if.changes import without_sync
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations, take_away
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.analysis.what_if.stages import Stage, StagedEdit, in_order, stage_of
from torch_tb_profiler.store.columns import Array, Ints, unique_values


def together(*parts: Edit) -> Edit:
    """All of some edits."""

    def edit(scene: Scene, durations: Durations) -> None:
        for part in in_order(parts):
            part(scene, durations)

    return StagedEdit(max(map(stage_of, parts)), edit)


def work_takes(row: Ints, time: Array | float) -> Edit:
    """Device work (rows of spans) takes no longer than ``time``, ns; as long as now where that is NaN."""

    def edit(scene: Scene, durations: Durations) -> None:
        place = positions_of(scene.graph.work.row, row)
        known = place >= 0
        limit = np.broadcast_to(time, place.shape)[known]
        durations.work[place[known]] = np.fmin(durations.work[place[known]], limit)

    return StagedEdit(Stage.LIMIT, edit)


def host_skips(row: Ints) -> Edit:
    """Host calls (rows of spans) and what they call take no time; else as ``host_takes``."""
    return host_takes(row, 0)


def calls_gone(row: Ints, work: Ints) -> Edit:
    """Host calls with what they call, and device work (rows of spans), take no time; the host does not wait in them."""
    return together(host_skips(row), work_takes(work, 0))


def host_takes(row: Ints, factor: float) -> Edit:
    """Host calls (rows of spans) and what they call take ``factor`` times as long, and the host does not wait in them;
    what they launch stays.
    """

    def edit(scene: Scene, durations: Durations) -> None:
        chosen = mask_of(scene.trace["spans"].n, row)
        durations.segment[scene.inside(chosen).segment] *= factor
        without_sync(scene, durations, chosen)

    return StagedEdit(Stage.SCALE, edit)


def host_takes_each(row: Ints, factor: Array) -> Edit:
    """Each of some host calls (rows of spans), none within another, and what it calls take ``factor`` times as long."""

    def edit(scene: Scene, durations: Durations) -> None:
        each = np.ones(scene.trace["spans"].n + 1)
        each[row] = factor
        wanted = mask_of(scene.trace["spans"].n, row)
        home = nearest(scene.facts["span_links"]["parent"], wanted)
        durations.segment *= each[picked(home, scene.graph.host.span)]

    return StagedEdit(Stage.SCALE, edit)


def own_time_takes(row: Ints, factor: Array | float) -> Edit:
    """Of host calls (rows of spans), what is not spent in calls beneath takes ``factor`` times as long."""

    def edit(scene: Scene, durations: Durations) -> None:
        each = np.ones(scene.trace["spans"].n + 1)
        each[row] = factor
        durations.segment *= each[scene.graph.host.span]

    return StagedEdit(Stage.SCALE, edit)


def thread_time_gone(track: Ints, start: Ints, end: Ints) -> Edit:
    """Of single threads (rows of tracks), some stretches of time are gone, ns; the arrays have one entry each."""

    def edit(scene: Scene, durations: Durations) -> None:
        threads = [(thread, track == thread) for thread in unique_values(track).tolist()]
        periods = {thread: union(start[mine], end[mine]) for thread, mine in threads}
        take_away(durations, scene.graph.host, periods)

    return edit


def work_scaled(row: Ints, factor: Array | float) -> Edit:
    """Device work (rows of spans) takes ``factor`` times as long."""

    def edit(scene: Scene, durations: Durations) -> None:
        place = positions_of(scene.graph.work.row, row)
        known = place >= 0
        durations.work[place[known]] *= np.broadcast_to(factor, place.shape)[known]

    return StagedEdit(Stage.SCALE, edit)


def host_time_gone(time: Intervals) -> Edit:
    """Of host threads, some stretches of time are gone."""

    def edit(scene: Scene, durations: Durations) -> None:
        host = scene.graph.host
        take_away(durations, host, host.on_all(time))

    return edit


def stretches_take(track: Ints, start: Ints, end: Ints, factor: Array) -> Edit:
    """Stretches of threads (rows of tracks) take ``factor`` times as long; the arrays have one entry each. Of those
    of a thread that overlap, the one that begins last counts.
    """

    def edit(scene: Scene, durations: Durations) -> None:
        host = scene.graph.host
        for thread in unique_values(track).tolist():
            mine = np.flatnonzero(track == thread)
            mine = mine[np.argsort(start[mine], kind="stable")]
            for own in host.blocks(thread, int(start[mine[0]]), int(end[mine].max())):
                place = np.searchsorted(start[mine], host.start[own], side="right") - 1
                inside = (place >= 0) & (host.end[own] <= end[mine[place]])
                durations.segment[own] *= np.where(inside, factor[mine[place]], 1.0)

    return StagedEdit(Stage.SCALE, edit)
