"""Calls that replays stand for: every replay of a graph calls the operators that it captured.

::

    captured once        aten::linear ─ aten::addmm ─ gemm
    replayed twice       [graph launch]   [graph launch]     2 calls of each operator, without host time
                            gemm             gemm
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.replays import Replays
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


@dataclass(frozen=True)
class ReplayedCalls:
    """Operators within replays, callers first; arrays of shape (calls,) unless said otherwise.

    call: row of ``captured_calls``.
    above: position of the enclosing one, −1 none.
    around: position in the call tree of the operator around the graph launch, −1 none.
    launch: row of spans of the graph launch.
    step: that of the replay's work, −1 outside.
    of_work: for every device event the position of the innermost one, −1 none.
    """

    call: Ints
    above: Ints
    around: Ints
    launch: Ints
    step: Ints
    of_work: Ints

    def __len__(self) -> int:
        return len(self.call)


@dataclass(frozen=True)
class Occurrences:
    """Captured calls within replays, ordered by (replay, call), so callers come first; arrays of shape
    (occurrences,), ``of_work`` of shape (work,).

    above: position of the enclosing one, −1 none; ``of_work``: of the one around each piece of work.
    """

    replay: Ints
    call: Ints
    above: Ints
    of_work: Ints


def occurrences(parent: Ints, replay: Ints, call: Ints) -> Occurrences:
    """The calls around pieces of replayed work, once per replay.

    parent: of every captured call the enclosing one that counts, −1 none.
    replay, call: of every piece of work its replay and the innermost call that counts.
    """
    width = max(len(parent), 1)
    own = replay * width + call
    keys = [np.unique(own)]
    while len(keys[-1]):
        above = parent[keys[-1] % width]
        keys.append(np.unique((keys[-1] // width * width + above)[above >= 0]))
    key = np.unique(np.concatenate(keys))
    above = parent[key % width] if len(key) else key
    outer = np.searchsorted(key, key // width * width + above)
    return Occurrences(
        key // width, key % width, np.where(above >= 0, outer, -1), np.searchsorted(key, own)
    )


def replayed_calls(
    trace: Trace, tree: CallTree, caused: Causes, replays: Replays, step: Ints
) -> ReplayedCalls:
    """The operators of all replays whose capture is known; ``step``: of every device event."""
    calls, launches = trace["captured_calls"], trace["captured_launches"]
    work = np.flatnonzero(replays.captured >= 0)
    innermost = np.append(nearest(calls["parent"], calls["role"] == Role.OPERATOR), np.int32(-1))
    operator = innermost[launches["call"][replays.captured[work]]].astype(np.int64)
    work, operator = work[operator >= 0], operator[operator >= 0]
    found = occurrences(innermost[calls["parent"]].astype(np.int64), replays.replay[work], operator)
    of_work = np.full(len(caused.row), -1, np.int64)
    of_work[work] = found.of_work
    step_of = np.full(len(replays.launch), -1, np.int64)
    replayed = np.flatnonzero(replays.replay >= 0)
    step_of[replays.replay[replayed]] = step[replayed]
    launch = replays.launch[found.replay]
    around = np.append(tree.operator, np.int32(-1))[tree.node[launch]]
    return ReplayedCalls(
        call=found.call,
        above=found.above,
        around=around.astype(np.int64),
        launch=launch,
        step=step_of[found.replay],
        of_work=of_work,
    )


def captured_operators(trace: Trace, facts: Facts, row: Ints) -> Ints:
    """Of device events (rows) the innermost captured operator, a row of ``captured_calls``; −1 none."""
    calls, launches, work = (
        trace["captured_calls"],
        trace["captured_launches"],
        facts["replayed_work"],
    )
    captured = np.append(work["captured"], np.int32(-1))[positions_of(work["span"], row)]
    innermost = np.append(nearest(calls["parent"], calls["role"] == Role.OPERATOR), np.int32(-1))
    call = np.append(launches["call"], np.int32(-1))[captured]
    return np.asarray(innermost[call], np.int64)


def joined(own: Array, more: Array) -> Array:
    """A column of calls with that of replayed calls behind it."""
    return np.concatenate((own, more.astype(own.dtype, copy=False))) if len(more) else own
