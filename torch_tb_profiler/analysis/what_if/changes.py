"""The changes that can be simulated, each a function that writes to ``Durations``.

A change is written ``name`` or ``name:key=value,key=value``, e.g. ``scale:operator=aten::mm,factor=0.5``.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked
from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, union
from torch_tb_profiler.analysis.critical_path.device import Begin
from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.facts.earlier_work import stretches
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.what_if.change_types import (
    CHANGES,
    MOST,
    SELECTORS,
    Applied,
    Change,
    Values,
    change,
    read_change,
    read_changes,
)
from torch_tb_profiler.analysis.what_if.collectives import hide, merge
from torch_tb_profiler.analysis.what_if.loading import loading_calls
from torch_tb_profiler.analysis.what_if.model import Choice, Scene
from torch_tb_profiler.analysis.what_if.removal import fuse, fuse_chains
from torch_tb_profiler.analysis.what_if.replay import Durations, take_away
from torch_tb_profiler.analysis.what_if.stages import Stage
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, is_one_of, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

__all__ = [
    "CHANGES",
    "DRIVER",
    "MOST",
    "PRESETS",
    "SELECTORS",
    "Applied",
    "Change",
    "launching",
    "read_change",
    "read_changes",
    "without_sync",
]
_HOST = (PathCause.OPERATOR, PathCause.PYTHON, PathCause.RUNTIME, PathCause.ANNOTATION)
DRIVER = regex(
    r"Lazy Function Loading|Runtime Triggered Module Loading|Driver Compiler|Command Buffer Full"
)
"""Overhead records of the driver; all others are the profiler's."""


PRESETS = (
    "dataloader-ready",
    "no-sync",
    "graph",
    "no-python",
    "host:factor=0.5",
    "network:factor=0.5",
    "overlap",
    "peak:share=0.7",
    "precision",
    "no-overhead",
    "kernels-loaded",
)
"""The changes that are tried on every trace."""


LONG_SILENCE = 1_000_000
"""ns without a record beyond which it is no matter of launching."""
_BRIEF_CALL = 100_000
"""ns that a blocking call may take with nothing to wait for."""
_FACTOR = "How many times as long it takes."
_GLOB = "with * and ? as wildcards"


def _chosen(scene: Scene, values: Values) -> Choice:
    """What all given selectors choose."""
    choices = []
    if values.get("kernel"):
        work = scene.spans_named(values["kernel"], Role.KERNEL, Role.MEMCPY, Role.MEMSET)
        none = np.zeros(len(scene.graph.host.span), np.bool_)
        choices.append(Choice(none, work[scene.graph.work.row]))
    for key, roles in (("operator", (Role.OPERATOR,)), ("line", (Role.PYTHON,)), ("name", ())):
        if values.get(key):
            choices.append(scene.within(values[key], *roles))
    if values.get("module"):
        choices.append(scene.in_module(values["module"]))
    if values.get("kind"):
        choices.append(scene.of_cause(PathCause(list(KINDS).index(values["kind"]))))
    chosen = choices[0]
    for choice in choices[1:]:
        chosen &= choice
    return chosen


@change(
    "scale",
    "Time of {chosen} × {factor}",
    Stage.SCALE,
    kernel=("", f"Name of device work, {_GLOB}."),
    operator=("", "Name of an operator, with all that it calls and launches."),
    module=("", "Name of a module, with its backward."),
    line=("", "Python frame, with all that it calls and launches."),
    name=("", "Name of any event, with all that it calls and launches."),
    kind=("", f"Kind of cause: {', '.join(KINDS)}."),
    factor=("0.5", _FACTOR),
)
def _scale(scene: Scene, durations: Durations, values: Values) -> None:
    _chosen(scene, values).scale(durations, float(values["factor"]))


@change(
    "peak",
    "Kernels{of_operator} reach {share} of the device's peak",
    Stage.LIMIT,
    share=("0.7", "Share of what the peaks of computing and memory allow."),
    operator=("*", f"Only those launched by operators of this name, {_GLOB}."),
)
def _peak(scene: Scene, durations: Durations, values: Values) -> None:
    work = scene.graph.work
    least = ideal_times(scene.trace, scene.insight, work.row, scene.peaks).time
    reached = np.fmin(durations.work, least / float(values["share"]))
    if values["operator"] != "*":
        inside = scene.within(values["operator"], Role.OPERATOR).work
        reached = np.where(inside, reached, durations.work)
    durations.work[:] = np.fmin(reached, durations.work)


@change("precision", "Products of float32 run in a 16-bit type on matrix cores", Stage.SCALE)
def _precision(scene: Scene, durations: Durations, values: Values) -> None:
    row = scene.graph.work.row
    now, half = (
        ideal_times(scene.trace, scene.insight, row, scene.peaks, in_half)
        for in_half in (False, True)
    )
    precision = picked(scene.insight["workloads"]["precision"], now.workload)
    single = precision == scene.insight.strings.number("fp32")
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = half.time / now.time
    durations.work[:] *= np.where(single & (ratio < 1), ratio, 1.0)


@change(
    "fuse",
    "Adjacent kernels{of_operator} become one",
    Stage.JOIN,
    operator=("*", f"Operators whose kernels are fused, {_GLOB}."),
)
def _fuse(scene: Scene, durations: Durations, values: Values) -> None:
    fuse(scene, durations, scene.within(values["operator"], Role.OPERATOR).work)


@change("graph", "All launches of a step are one graph launch", Stage.REMOVE)
def _graph(scene: Scene, durations: Durations, values: Values) -> None:
    take_away(durations, scene.graph.host, launching(scene), _own_work(scene))


@change(
    "graphs",
    "Launches less than {within} µs apart are one graph launch",
    Stage.REMOVE,
    within=("1000", "Longest time between two launches of one graph, µs."),
)
def _graphs(scene: Scene, durations: Durations, values: Values) -> None:
    within = float(values["within"]) * 1000
    take_away(durations, scene.graph.host, launching(scene, within), _own_work(scene))


def _own_work(scene: Scene) -> Mask:
    """Which segments are the host's own work: on the program's thread what is between its calls as well, with marks of steps
    and without. A long stretch in which nothing was recorded may be anything.
    """
    host = scene.graph.host

    def own() -> Mask:
        between = (host.cause == PathCause.NOT_RECORDED) & (host.track == scene.graph.main)
        long = scene.silent & (host.end - host.start > LONG_SILENCE)
        return np.asarray((is_one_of(host.cause, _HOST) | between) & ~long)

    return scene.once("own work", own)


def launching(scene: Scene, within: float | None = None) -> dict[int, Intervals]:
    """When each thread (row of tracks) launched device work: between launches at most ``within`` ns apart; None: between all
    of a step.
    """
    spans, work = scene.trace["spans"], scene.graph.work
    known = (work.launch >= 0) & is_one_of(spans["role"][work.row], DEVICE_ROLES)
    launch = unique_values(work.launch[known])
    periods = {}
    for track in unique_values(spans["track"][launch]).tolist():
        own = launch[spans["track"][launch] == track]
        own = own[np.argsort(spans["start"][own], kind="stable")]
        start, step = spans["start"][own], scene.facts["span_links"]["step"][own]
        near = np.diff(start) <= within if within is not None else np.diff(step) == 0
        periods[track] = union(start[:-1][near], start[1:][near])
    return periods


@change(
    "no-sync",
    "Calls{of_name} that wait for the device return at once",
    Stage.REMOVE,
    name=("*", f"Name of the blocking calls, {_GLOB}."),
)
def _no_sync(scene: Scene, durations: Durations, values: Values) -> None:
    without_sync(scene, durations, scene.spans_named(values["name"], Role.RUNTIME))


def without_sync(scene: Scene, durations: Durations, calls: Mask) -> None:
    """The blocking calls among some rows of spans return at once."""
    calls = calls & ~_awaits_unrecorded(scene)
    released, waiting = scene.waits
    released = released[calls[scene.graph.points.call[released]]]
    waiting = waiting[calls[scene.graph.host.span[waiting]]]
    if len(released):
        durations.waits[released] = False
    if len(waiting):
        durations.segment[waiting] = 0


def _awaits_unrecorded(scene: Scene) -> Mask:
    """Which rows of spans take long as blocking calls although no recorded work ended in them, or work that is missing or from
    before the recording: what they waited for is not known, so neither is what happens without them.
    """
    return scene.once("unrecorded", lambda: _find_unrecorded(scene))


def _find_unrecorded(scene: Scene) -> Mask:
    spans, points, work = scene.trace["spans"], scene.graph.points, scene.graph.work
    released = points.call >= 0
    awaited = np.full(spans.n, -1, np.int64)
    awaited[points.call[released]] = points.device[released]
    recorded = np.append(work.end, -1)[awaited] > spans["start"]
    recorded &= np.append(work.begin, np.uint8(Begin.UNKNOWN))[awaited] != Begin.EARLIER
    earlier, missing = (
        measure(stretches(scene.facts[key]), spans["start"], spans["start"] + spans["dur"]) > 0
        for key in ("earlier_work", "unrecorded_work")
    )
    return np.asarray(missing | ((~recorded | earlier) & (spans["dur"] > _BRIEF_CALL)))


@change("dataloader-ready", "The DataLoader has each batch ready", Stage.REMOVE)
def _dataloader_ready(scene: Scene, durations: Durations, values: Values) -> None:
    """Of a batch that workers made, taking it from them remains where Python frames tell this from waiting."""

    def loads() -> tuple[Ints, Ints]:
        loading = scene.of_cause(PathCause.DATALOADER)
        waits = scene.inside(scene.spans_named(_WAIT) | scene.spans_named(_LOCK)).segment
        worked = scene.inside(scene.spans_named(_WORKERS)).segment
        if (loading.segment & worked & waits).any():
            loading = Choice(loading.segment & (waits | ~worked), loading.work)
        return np.flatnonzero(loading.segment), np.flatnonzero(loading.work)

    segment, work = scene.once("dataloader", loads)
    if len(segment):
        durations.segment[segment] = 0
    if len(work):
        durations.work[work] = 0


_WORKERS = "*#_MultiProcessingDataLoaderIter.__next__"
_WAIT, _LOCK = "*multiprocessing/connection.py(*): wait", "<built-in method acquire of _thread.*"


@change(
    "network",
    "Communication × {factor}",
    Stage.SCALE,
    factor=("0.5", _FACTOR),
)
def _network(scene: Scene, durations: Durations, values: Values) -> None:
    own, factor = scene.work_causes == PathCause.COMMUNICATION, float(values["factor"])
    # Another rank is waited for as long as before.
    waits = np.minimum(scene.waiting[own], durations.work[own])
    durations.work[own] = waits + (durations.work[own] - waits) * factor
    chosen = scene.of_cause(PathCause.COMMUNICATION)
    durations.segment[chosen.segment] *= factor


@change("fuse-chains", "Chains of memory-bound operators run as one kernel each", Stage.JOIN)
def _fuse_chains(scene: Scene, durations: Durations, values: Values) -> None:
    fuse_chains(scene, durations)


@change(
    "buckets",
    "Collectives are merged into buckets of {size} MiB",
    Stage.JOIN,
    size=("25", "Most that one collective moves, MiB."),
)
def _buckets(scene: Scene, durations: Durations, values: Values) -> None:
    merge(scene, durations, float(values["size"]) * (1 << 20))


@change("overlap", "Communication runs wholly beside computation", Stage.HIDE)
def _overlap(scene: Scene, durations: Durations, values: Values) -> None:
    hide(scene, durations)


@change("host", "The host's own work × {factor}", Stage.SCALE, factor=("0.5", _FACTOR))
def _host(scene: Scene, durations: Durations, values: Values) -> None:
    durations.segment[_own_work(scene)] *= float(values["factor"])


@change("no-python", "Python takes no time", Stage.REMOVE)
def _no_python(scene: Scene, durations: Durations, values: Values) -> None:
    scene.of_cause(PathCause.PYTHON).scale(durations, 0)


@change("no-overhead", "The profiler's own work is gone", Stage.REMOVE)
def _no_overhead(scene: Scene, durations: Durations, values: Values) -> None:
    _without_overhead(scene, durations, of_driver=False)


@change("kernels-loaded", "All kernels are loaded and compiled before", Stage.REMOVE)
def _kernels_loaded(scene: Scene, durations: Durations, values: Values) -> None:
    _without_overhead(scene, durations, of_driver=True)
    calls = mask_of(scene.trace["spans"].n, scene.once("loading", lambda: loading_calls(scene)))
    durations.segment[scene.inside(calls).segment] = 0


def _without_overhead(scene: Scene, durations: Durations, of_driver: bool) -> None:
    spans, host = scene.trace["spans"], scene.graph.host
    row = np.flatnonzero(spans["role"] == Role.OVERHEAD)
    row = row[named(scene.trace, row, DRIVER.match) == of_driver]
    if not len(row):
        return
    time = union(spans["start"][row], spans["start"][row] + spans["dur"][row])
    take_away(durations, host, host.on_all(time))


@change(
    "no-stragglers",
    "Ranks{of_rank} take as long as their like",
    Stage.REMOVE,
    of_run=True,
    rank=("*", "Only this rank takes its ideal time; of a run only."),
)
def _no_stragglers(scene: Scene, durations: Durations, values: Values) -> None:
    """One rank has nobody to be compared with; see ``stragglers.py``."""
    raise BadRequest("The change no-stragglers needs the traces of several ranks: give the run.")
