"""The changes that can be simulated, each a function that writes to ``Durations``.

A change is written ``name`` or ``name:key=value,key=value``, e.g. ``scale:operator=aten::mm,factor=0.5``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, union
from torch_tb_profiler.analysis.critical_path.device import Begin
from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.facts.earlier_work import left_out
from torch_tb_profiler.analysis.facts.names import named
from torch_tb_profiler.analysis.what_if.fusion import fusions
from torch_tb_profiler.analysis.what_if.model import Choice, Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.units import format_share

Values = Mapping[str, str]
_HOST = (PathCause.OPERATOR, PathCause.PYTHON, PathCause.RUNTIME, PathCause.ANNOTATION)
DRIVER = re.compile(
    r"Lazy Function Loading|Runtime Triggered Module Loading|Driver Compiler|Command Buffer Full"
)
"""Overhead records of the driver; all others are the profiler's."""


@dataclass(frozen=True)
class Change:
    """A kind of change.

    name, words: what it is called and what it does; parameters in braces. apply: does it. defaults: its
    parameters; one without a default is empty. about: what each means. of_run: it compares ranks.
    """

    name: str
    words: str
    apply: Callable[[Scene, Durations, Values], None]
    defaults: Values = field(default_factory=dict)
    about: Values = field(default_factory=dict)
    of_run: bool = False


CHANGES: dict[str, Change] = {}
"""All changes by name."""
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
)
"""The changes that are tried on every trace."""


def _change(
    key: str, words: str, /, *, of_run: bool = False, **parameters: tuple[str, str]
) -> Callable[..., object]:
    """Declares a change; ``parameters``: default and meaning of each."""

    def declare(apply: Callable[[Scene, Durations, Values], None]) -> object:
        defaults = {name: default for name, (default, _) in parameters.items()}
        about = {name: meaning for name, (_, meaning) in parameters.items()}
        CHANGES[key] = Change(key, words, apply, defaults, about, of_run)
        return apply

    return declare


@dataclass(frozen=True)
class Applied:
    """A change with its values."""

    change: Change
    values: Values

    def __str__(self) -> str:
        given = [f"{key}={value}" for key, value in self.values.items() if value not in ("", "*")]
        return ":".join([self.change.name, *([",".join(given)] if given else [])])

    @property
    def words(self) -> str:
        """What it does, in words."""
        selected = [f"{key} {self.values[key]}" for key in SELECTORS if self.values.get(key)]
        every = {
            f"of_{key}": "" if value == "*" else f" of {value}"
            for key, value in self.values.items()
        }
        texts = {**self.values, **every, "chosen": ", ".join(selected)}
        if "share" in texts:
            texts["share"] = format_share(float(texts["share"]))
        return self.change.words.format_map(texts)


def read_change(text: str) -> Applied:
    """A change from its text.

    Raises:
        BadRequest: there is no such change or parameter, or its value is not one.
    """
    name, _, rest = text.partition(":")
    change = CHANGES.get(name)
    if change is None:
        raise BadRequest(f"No change is called {name!r}. There are: {', '.join(CHANGES)}.")
    values = dict(change.defaults)
    # Names of kernels hold commas, too: only one before a parameter's name ends a value.
    keys = "|".join(values) or "$^"
    for part in re.split(rf",(?=(?:{keys})=)", rest) if rest else []:
        key, equals, value = part.partition("=")
        if not equals or key not in values:
            known = ", ".join(values) or "none"
            raise BadRequest(f"The change {name} has no parameter {key!r}. It has: {known}.")
        values[key] = value
    for key in ("factor", "share", "within"):
        if key in values:
            _number(name, key, values[key])
    if set(SELECTORS) & set(values) and not any(values[key] for key in SELECTORS if key in values):
        raise BadRequest(f"The change {name} needs one of: {', '.join(SELECTORS)}.")
    if values.get("kind") and values["kind"] not in KINDS:
        raise BadRequest(f"No kind is called {values['kind']!r}. There are: {', '.join(KINDS)}.")
    return Applied(change, values)


def read_changes(text: str) -> list[Applied]:
    """Changes from their texts, separated by semicolons.

    Raises:
        BadRequest: there is no such change, or there are more than ``MOST``.
    """
    # Names of functions hold semicolons, too: only one before a change's name ends the one before.
    names = "|".join(CHANGES)
    texts = re.split(rf";(?=(?:{names})(?:[:;]|$))", text) if text else []
    if len(texts) > MOST:
        raise BadRequest(
            f"{len(texts)} changes are given, at most {MOST} are simulated together.",
            "Join some by wildcards.",
        )
    return [read_change(each) for each in texts]


MOST = 32


def _number(name: str, key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= _LARGEST or (key == "share" and not 0 < value <= 1):
        allowed = "above 0 and at most 1" if key == "share" else f"from 0 to {_LARGEST}"
        raise BadRequest(f"{key} of the change {name} is {text!r}. Give a number {allowed}.")
    return value


_LARGEST = 1_000
_BRIEF_CALL = 100_000
"""ns that a blocking call may take with nothing to wait for."""
SELECTORS = ("kernel", "operator", "module", "line", "name", "kind")
"""Parameters that say what a change is about."""
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


@_change(
    "scale",
    "Time of {chosen} × {factor}",
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


@_change(
    "peak",
    "Kernels{of_operator} reach {share} of the device's peak",
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


@_change("precision", "Products of float32 run in a 16-bit type on matrix cores")
def _precision(scene: Scene, durations: Durations, values: Values) -> None:
    row = scene.graph.work.row
    now, half = (
        ideal_times(scene.trace, scene.insight, row, scene.peaks, in_half)
        for in_half in (False, True)
    )
    precision = np.append(scene.insight["workloads"]["precision"], np.int32(-1))[now.workload]
    single = precision == scene.insight.strings.number("fp32")
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = half.time / now.time
    durations.work[:] *= np.where(single & (ratio < 1), ratio, 1.0)


@_change(
    "fuse",
    "Adjacent kernels{of_operator} become one",
    operator=("*", f"Operators whose kernels are fused, {_GLOB}."),
)
def _fuse(scene: Scene, durations: Durations, values: Values) -> None:
    """Of kernels of such operators that follow each other on a stream, one of the length of the longest
    stays: what is between them is neither written nor read again.
    """
    work = scene.graph.work
    chosen = scene.within(values["operator"], Role.OPERATOR).work
    chosen &= scene.work_causes == PathCause.KERNEL
    before = work.previous
    follows = chosen & (before >= 0) & chosen[before]
    root = np.arange(len(before))
    # Each row of kernels is led by its first, found by halving the way there.
    root[follows] = before[follows]
    while not np.array_equal(root, root[root]):
        root = root[root]
    longest = np.zeros(len(root))
    np.maximum.at(longest, root, durations.work)
    durations.work[chosen] = np.where(follows, 0.0, longest)[chosen]
    durations.lead[follows] = 0
    spare = np.zeros(scene.trace["spans"].n + 1, np.bool_)
    spare[work.launch[follows]] = True
    spare[scene.facts["span_links"]["operator"][work.row[follows]]] = True
    durations.segment[scene.inside(spare[:-1]).segment] = 0


@_change("graph", "All launches of a step are one graph launch")
def _graph(scene: Scene, durations: Durations, values: Values) -> None:
    launching = np.zeros(scene.trace["tracks"].n + 1, np.bool_)
    launch = scene.graph.work.launch
    launching[scene.trace["spans"]["track"][launch[launch >= 0]]] = True
    host = scene.graph.host
    durations.segment[launching[host.track] & np.isin(host.cause, _HOST)] = 0


@_change(
    "graphs",
    "Launches less than {within} µs apart are one graph launch",
    within=("1000", "Longest time between two launches of one graph, µs."),
)
def _graphs(scene: Scene, durations: Durations, values: Values) -> None:
    host = scene.graph.host
    for track, time in launching(scene, float(values["within"]) * 1000).items():
        own = host.of_track(track)
        taken = measure(time, host.start[own], host.end[own])
        durations.segment[own] -= np.where(np.isin(host.cause[own], _HOST), taken, 0)
    durations.segment[:] = np.maximum(durations.segment, 0)


def launching(scene: Scene, within: float) -> dict[int, Intervals]:
    """When each thread (row of tracks) launched: between launches at most ``within`` ns apart."""
    spans, launch = scene.trace["spans"], scene.graph.work.launch
    launches = np.zeros(spans.n, np.bool_)
    launches[launch[launch >= 0]] = True
    launch = np.flatnonzero(launches)
    periods = {}
    for track in np.unique(spans["track"][launch]).tolist():
        start = np.sort(spans["start"][launch[spans["track"][launch] == track]])
        near = np.diff(start) <= within
        periods[track] = union(start[:-1][near], start[1:][near])
    return periods


@_change(
    "no-sync",
    "Calls{of_name} that wait for the device return at once",
    name=("*", f"Name of the blocking calls, {_GLOB}."),
)
def _no_sync(scene: Scene, durations: Durations, values: Values) -> None:
    without_sync(scene, durations, scene.spans_named(values["name"], Role.RUNTIME))


def without_sync(scene: Scene, durations: Durations, calls: Mask) -> None:
    """The blocking calls among some rows of spans return at once."""
    calls = calls & ~_awaits_unrecorded(scene)
    call = scene.graph.points.call
    durations.waits[(call >= 0) & calls[call]] = False
    host = scene.graph.host
    waiting = host.cause == PathCause.SYNCHRONIZATION
    durations.segment[waiting & np.append(calls, False)[host.span]] = 0


def _awaits_unrecorded(scene: Scene) -> Mask:
    """Which rows of spans take long as blocking calls although no recorded work ended in them, or work from
    before the recording: what they waited for is not known, so neither is what happens without them.
    """
    spans, points, work = scene.trace["spans"], scene.graph.points, scene.graph.work
    released = points.call >= 0
    awaited = np.full(spans.n, -1, np.int64)
    awaited[points.call[released]] = points.device[released]
    recorded = np.append(work.end, -1)[awaited] > spans["start"]
    recorded &= np.append(work.begin, np.uint8(Begin.UNKNOWN))[awaited] != Begin.EARLIER
    earlier = left_out(scene.facts)
    recorded &= measure(earlier, spans["start"], spans["start"] + spans["dur"]) == 0
    return np.asarray(~recorded & (spans["dur"] > _BRIEF_CALL))


@_change("dataloader-ready", "The DataLoader has each batch ready")
def _dataloader_ready(scene: Scene, durations: Durations, values: Values) -> None:
    """Of a batch that workers made, taking it from them remains where Python frames tell this from waiting."""
    loads = scene.of_cause(PathCause.DATALOADER)
    waits = scene.inside(scene.spans_named(_WAIT) | scene.spans_named(_LOCK)).segment
    worked = scene.inside(scene.spans_named(_WORKERS)).segment
    if (loads.segment & worked & waits).any():
        loads = Choice(loads.segment & (waits | ~worked), loads.work)
    loads.scale(durations, 0)


_WORKERS = "*#_MultiProcessingDataLoaderIter.__next__"
_WAIT, _LOCK = "*multiprocessing/connection.py(*): wait", "<built-in method acquire of _thread.*"


@_change(
    "network",
    "Communication × {factor}",
    factor=("0.5", _FACTOR),
)
def _network(scene: Scene, durations: Durations, values: Values) -> None:
    scene.of_cause(PathCause.COMMUNICATION).scale(durations, float(values["factor"]))


@_change("fuse-chains", "Chains of memory-bound operators run as one kernel each")
def _fuse_chains(scene: Scene, durations: Durations, values: Values) -> None:
    """Each kernel keeps the share of its time that its remaining bytes are of all."""
    found = fusions(scene)
    place = positions_of(scene.graph.work.row, found.row)
    durations.work[place[place >= 0]] *= found.kept[place >= 0]


@_change("overlap", "Communication runs wholly beside computation")
def _overlap(scene: Scene, durations: Durations, values: Values) -> None:
    """Nothing waits for it, but no step is shorter than its communication."""
    graph = scene.graph
    communicates = scene.work_causes == PathCause.COMMUNICATION
    work = np.flatnonzero(communicates & (graph.step >= 0))
    work = work[np.argsort(graph.step[work], kind="stable")]
    steps, begin = np.unique(graph.step[work], return_index=True)
    for step, own in zip(steps.tolist(), np.split(work, begin[1:]), strict=False):
        length = union(graph.work.start[own], graph.work.end[own]).length
        durations.floor[step] = max(durations.floor[step], length)
    durations.work[communicates] = 0


@_change("host", "The host's own work × {factor}", factor=("0.5", _FACTOR))
def _host(scene: Scene, durations: Durations, values: Values) -> None:
    durations.segment[np.isin(scene.graph.host.cause, _HOST)] *= float(values["factor"])


@_change("no-python", "Python takes no time")
def _no_python(scene: Scene, durations: Durations, values: Values) -> None:
    scene.of_cause(PathCause.PYTHON).scale(durations, 0)


@_change("no-overhead", "The profiler's own work is gone")
def _no_overhead(scene: Scene, durations: Durations, values: Values) -> None:
    _without_overhead(scene, durations, of_driver=False)


@_change("kernels-loaded", "All kernels are loaded and compiled before")
def _kernels_loaded(scene: Scene, durations: Durations, values: Values) -> None:
    _without_overhead(scene, durations, of_driver=True)


def _without_overhead(scene: Scene, durations: Durations, of_driver: bool) -> None:
    spans, host = scene.trace["spans"], scene.graph.host
    row = np.flatnonzero(spans["role"] == Role.OVERHEAD)
    row = row[named(scene.trace, row, DRIVER.match) == of_driver]
    if not len(row):
        return
    taken = measure(
        union(spans["start"][row], spans["start"][row] + spans["dur"][row]), host.start, host.end
    )
    durations.segment[:] = np.maximum(durations.segment - taken, 0)


@_change(
    "no-stragglers",
    "Ranks{of_rank} take as long as their like",
    of_run=True,
    rank=("*", "Only this rank takes its ideal time; of a run only."),
)
def _no_stragglers(scene: Scene, durations: Durations, values: Values) -> None:
    """One rank has nobody to be compared with; see ``stragglers.py``."""
    raise BadRequest("The change no-stragglers needs the traces of several ranks: give the run.")
