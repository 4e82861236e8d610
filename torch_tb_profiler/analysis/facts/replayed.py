"""Calls that replays stand for: every replay of a graph calls the operators that it captured.

::

    captured once        aten::linear ─ aten::addmm ─ gemm
    replayed twice       [graph launch]   [graph launch]     2 calls of each operator, without host time
                            gemm             gemm
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.attribution import Causes
from torch_tb_profiler.analysis.facts.calltree import CallTree
from torch_tb_profiler.analysis.facts.replays import Replays
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
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


def replayed_calls(
    trace: Trace, tree: CallTree, caused: Causes, replays: Replays, step: Ints
) -> ReplayedCalls:
    """The operators of all replays whose capture is known; ``step``: of every device event."""
    calls, launches = trace["captured_calls"], trace["captured_launches"]
    work = np.flatnonzero(replays.captured >= 0)
    innermost = np.append(nearest(calls["parent"], calls["role"] == Role.OPERATOR), np.int32(-1))
    above_of = innermost[calls["parent"]].astype(np.int64)
    operator = innermost[launches["call"][replays.captured[work]]].astype(np.int64)
    work, operator = work[operator >= 0], operator[operator >= 0]
    replay = replays.replay[work]
    width = max(calls.n, 1)
    own = replay * width + operator
    keys = [np.unique(own)]
    while len(keys[-1]):
        above = above_of[keys[-1] % width]
        keys.append(np.unique((keys[-1] // width * width + above)[above >= 0]))
    key = np.unique(np.concatenate(keys))
    call, number = key % width, key // width
    above = above_of[call] if calls.n else call
    of_work = np.full(len(caused.row), -1, np.int64)
    of_work[work] = np.searchsorted(key, own)
    step_of = np.full(len(replays.launch), -1, np.int64)
    replayed = np.flatnonzero(replays.replay >= 0)
    step_of[replays.replay[replayed]] = step[replayed]
    launch = replays.launch[number]
    around = np.append(tree.operator, np.int32(-1))[tree.node[launch]]
    return ReplayedCalls(
        call=call,
        above=np.where(above >= 0, np.searchsorted(key, number * width + above), -1),
        around=around.astype(np.int64),
        launch=launch,
        step=step_of[number],
        of_work=of_work,
    )


def joined(own: Array, more: Array) -> Array:
    """A column of calls with that of replayed calls behind it."""
    return np.concatenate((own, more.astype(own.dtype, copy=False))) if len(more) else own
