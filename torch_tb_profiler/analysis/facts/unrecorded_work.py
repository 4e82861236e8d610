"""Launches that lack device work which they should have.

::

    host    [graph launch][launch b][ stream synchronisation         ]
    device   ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░[ b ]
             ├────── what the device did is unknown ────────────┤

Everything that speaks of the device asks this one fact: where the work of a launch was not recorded, an idle device and a
busy one look alike.
"""

from __future__ import annotations

from collections import Counter
from enum import IntEnum

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, occurrences
from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    subtract,
    union,
    window_at,
)
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.device_causes import DeviceCauses
from torch_tb_profiler.analysis.facts.host_names import named
from torch_tb_profiler.analysis.facts.launches import KERNEL_LAUNCH, WAITS, capturing
from torch_tb_profiler.analysis.facts.steps import StepWindows
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.fact_schema import UNRECORDED_WORK
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LEAST_UNKNOWN = 0.02
"""Share of some time from which on what is unknown of it is said, and no figure of the device is one."""
_OF_KIND = 0.9
"""Share of the calls of a name that have device work, from which on all of them should."""
_ALIKE = 0.75
"""Share of the replays of a graph that have equally much device work, from which on all of them should."""


class Evidence(IntEnum):
    """What tells that a launch lacks device work; the column ``unrecorded_work.evidence``."""

    CALL = 0
    """The call launches work, and no work carries its id."""
    REPLAYS = 1
    """Other replays of the graph have more."""
    KIND = 2
    """Other calls of its name have device work."""


def unrecorded_work(
    trace: Trace, tree: CallTree, caused: DeviceCauses, windows: StepWindows
) -> Table:
    """``UNRECORDED_WORK``; empty where no device work was recorded at all."""
    spans = trace["spans"]
    calls = np.flatnonzero(spans["role"] == Role.RUNTIME)
    if not len(caused.row) or not len(calls):
        return UNRECORDED_WORK.empty()
    row, recorded, evidence = _launches(trace, tree, caused, calls)
    expected, alike = _expected(trace, tree, caused, windows, row, recorded)
    lacks = recorded < np.where(expected < 0, 1, expected)
    # Work without a launch and without an id may be theirs.
    loose = (caused.launch < 0) & (spans["correlation"][caused.row] <= 0)
    if int(loose.sum()) >= int(lacks.sum()):
        return UNRECORDED_WORK.empty()
    start, end = _unknown(trace, caused, calls, row[lacks])
    _, kind = group_rows((spans["name"][row],))
    return UNRECORDED_WORK.build(
        launch=row[lacks],
        name=spans["name"][row[lacks]],
        of=np.bincount(kind)[kind][lacks],
        expected=expected[lacks],
        recorded=recorded[lacks],
        evidence=np.where(alike, np.uint8(Evidence.REPLAYS), evidence)[lacks],
        start=start,
        end=end,
    )


def _launches(
    trace: Trace, tree: CallTree, caused: DeviceCauses, calls: Ints
) -> tuple[Ints, Ints, Array]:
    """``(row, recorded, evidence)``: the calls that should have device work, how much was recorded of each."""
    spans = trace["spans"]
    pieces = np.bincount(caused.launch[caused.launch >= 0], minlength=spans.n)
    name = spans["name"][calls]
    _, kind = group_rows((name,))
    many = np.bincount(kind)
    have = np.bincount(kind, weights=pieces[calls] > 0)
    of_kind = ((have >= 2) & (have >= _OF_KIND * many))[kind]
    by_name = tree.names.graph_launch[name] | named(trace, calls, KERNEL_LAUNCH.match)
    chosen = of_kind | (by_name & (spans["correlation"][calls] > 0))
    chosen &= ~capturing(trace, calls)
    row = calls[chosen]
    # A call of the runtime makes calls of the driver: all of them are one launch.
    launches = np.append(mask_of(spans.n, row), False)
    node = tree.node[row]
    above = np.where(node >= 0, tree.parent[node], -1)
    outer = np.where(above >= 0, tree.row[above], -1)
    inner = launches[outer]
    np.add.at(pieces, outer[inner], pieces[row[inner]])
    evidence = np.where(by_name[chosen], np.uint8(Evidence.CALL), np.uint8(Evidence.KIND))
    return row[~inner], pieces[row[~inner]], evidence[~inner]


def _expected(
    trace: Trace,
    tree: CallTree,
    caused: DeviceCauses,
    windows: StepWindows,
    row: Ints,
    recorded: Ints,
) -> tuple[Ints, Mask]:
    """How many pieces of device work each launch should have, −1 at least one; and which of that other replays tell."""
    spans = trace["spans"]
    expected, told = np.ones(len(row), np.int64), np.zeros(len(row), np.bool_)
    graph = np.flatnonzero(tree.names.graph_launch[spans["name"][row]])
    expected[graph] = -1
    if not len(graph):
        return expected, told
    launch = row[graph]
    step = window_at(windows.host_start, windows.host_end, spans["start"][launch]).astype(np.int64)
    whole = len(windows.start) <= 1
    # The first replay of each iteration of a name is of one graph, and the second of another one.
    place = np.zeros_like(step) if whole else occurrences(step)
    many = np.zeros_like(step) if whole else np.bincount(step + 1)[step + 1]
    like = np.append(np.where(windows.number >= 0, -1, windows.name), -2)[step]
    _, group = group_rows((spans["name"][launch], like, place, many))
    names = _NamesOfWork(trace, caused)
    for number in np.flatnonzero(np.bincount(group) > 1).tolist():
        own = graph[group == number]
        counts, times = np.unique(recorded[own][recorded[own] > 0], return_counts=True)
        if not len(times) or times.max() < max(2, _ALIKE * times.sum()):
            continue
        usual = int(counts[times.argmax()])
        if whole:
            # Replays of several graphs: how much one without any should have is not known, and less is no lack.
            expected[own[recorded[own] == 0]] = usual if len(counts) == 1 else -1
            continue
        all_of_it = names.of(row[own[recorded[own] == usual][0]])
        for at in own[recorded[own] < usual].tolist():
            if names.of(row[at]) <= all_of_it:
                expected[at], told[at] = usual, True
    return expected, told


class _NamesOfWork:
    """The names of the device work of launches, and how often each occurs."""

    def __init__(self, trace: Trace, caused: DeviceCauses) -> None:
        order = np.argsort(caused.launch, kind="stable")
        self._launch, self._name = caused.launch[order], trace["spans"]["name"][caused.row[order]]

    def of(self, launch: int) -> Counter[int]:
        """Numbers of strings."""
        begin, end = (np.searchsorted(self._launch, launch, side) for side in ("left", "right"))
        return Counter(self._name[begin:end].tolist())


def _unknown(trace: Trace, caused: DeviceCauses, calls: Ints, row: Ints) -> tuple[Ints, Ints]:
    """From when until when the work that some launches lack may have run: after the kernels launched before them, before those
    launched after them, and before a later call of their thread that waits for the device returns. Copies tell nothing:
    another queue may run them.
    """
    spans = trace["spans"]
    start = spans["start"][row]
    known = np.flatnonzero((caused.launch >= 0) & (spans["role"][caused.row] == Role.KERNEL))
    launched = spans["start"][caused.launch[known]]
    order = np.argsort(launched, kind="stable")
    launched, work = launched[order], caused.row[known[order]]
    begun = spans["start"][work]
    last = int((spans["start"] + spans["dur"]).max())
    ended = np.append(0, np.maximum.accumulate(begun + spans["dur"][work]))
    following = np.append(np.minimum.accumulate(begun[::-1])[::-1], last)
    since = np.maximum(start, ended[np.searchsorted(launched, start, side="left")])
    until = following[np.searchsorted(launched, start, side="right")]
    waits = calls[named(trace, calls, WAITS.match)]
    for track in unique_values(spans["track"][row]).tolist():
        own = np.flatnonzero(spans["track"][row] == track)
        there = waits[spans["track"][waits] == track]
        returns = np.append(spans["start"][there] + spans["dur"][there], last)
        returns = returns[np.searchsorted(spans["start"][there], start[own])]
        # What returns while earlier work still runs waited for something else.
        until[own] = np.where(returns >= since[own], np.minimum(until[own], returns), until[own])
    return since, np.maximum(since, until)


def unknown_time(trace: Trace, caused: DeviceCauses, table: Table) -> Intervals:
    """When what the devices did is unknown, by ``UNRECORDED_WORK``: nothing was recorded while work ran that was not."""
    work = trace["spans"]["start"][caused.row]
    recorded = union(work, work + trace["spans"]["dur"][caused.row])
    return subtract(union(table["start"], table["end"]), recorded)


def much_unknown(unrecorded: Ints | int, length: Ints) -> Mask:
    """In which of some stretches of time, ns, so much of what the devices did is unknown that no figure of theirs is one."""
    return np.asarray(unrecorded > LEAST_UNKNOWN * length)


def unknown_share(facts: Facts, steps: Ints) -> float:
    """Share of some steps (rows) in which what the devices did is unknown, 0 to 1."""
    table = facts["steps"]
    wall = int((table["end"] - table["start"] - table["earlier"])[steps].sum())
    return int(table["unrecorded"][steps].sum()) / wall if wall > 0 else 0.0
