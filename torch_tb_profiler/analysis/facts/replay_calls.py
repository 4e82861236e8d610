"""Calls that replays stand for: every replay of a graph calls the operators that it captured.

::

    captured once        aten::linear ─ aten::addmm ─ gemm
    replayed twice       [graph launch]   [graph launch]     2 calls of each operator, without host time
                            gemm             gemm
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked, positions_of, scatter
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


class ReplayedCalls(msgspec.Struct, frozen=True):
    """Captured calls within replays, once per replay, callers first; arrays of shape (calls,) unless
    said otherwise.

    call: row of ``captured_calls``.
    above: position of the enclosing one, −1 none.
    launch: row of spans of the graph launch.
    step: that of the replay's work, −1 outside.
    work, of_work: rows of spans of the device work within them, ascending, and the position of the
        innermost one around each.
    """

    call: Ints
    above: Ints
    launch: Ints
    step: Ints
    work: Ints
    of_work: Ints

    def __len__(self) -> int:
        return len(self.call)

    def around(self, row: Ints) -> Ints:
        """The position of the innermost one around each of some device events (rows), −1 none."""
        return np.asarray(np.append(self.of_work, -1)[positions_of(self.work, row)])


def replayed_calls(
    trace: Trace, tables: Mapping[str, Table], step: Array, counts: Mask
) -> ReplayedCalls:
    """The calls around replayed work whose capture is known.

    tables: ``replays`` and ``replayed_work``.
    step: of every row of ``replayed_work``, −1 outside.
    counts: which of ``captured_calls`` count; the others are transparent.
    """
    calls, launches = trace["captured_calls"], trace["captured_launches"]
    replays, replayed = tables["replays"], tables["replayed_work"]
    innermost = np.append(nearest(calls["parent"], counts), np.int32(-1)).astype(np.int64)
    parent = innermost[calls["parent"]]
    work = np.flatnonzero(replayed["captured"] >= 0)
    call = innermost[launches["call"][replayed["captured"][work]]]
    work, call = work[call >= 0], call[call >= 0]
    width = max(calls.n, 1)
    own = replayed["replay"][work].astype(np.int64) * width + call
    key = with_callers(own, width, parent)
    replay, call = key // width, key % width
    above = parent[call] if len(key) else key
    step_of = scatter(replays.n, replayed["replay"], step)
    return ReplayedCalls(
        call=call,
        above=np.where(above >= 0, np.searchsorted(key, replay * width + above), -1),
        launch=replays["launch"][replay].astype(np.int64),
        step=step_of[replay],
        work=replayed["span"][work].astype(np.int64),
        of_work=np.searchsorted(key, own),
    )


def with_callers(own: Ints, width: int, above: Ints) -> Ints:
    """Distinct keys ``number × width + call``, ascending, and those of all calls around each; ``above``: of each call, −1 none."""
    keys = [unique_values(own)]
    while len(keys[-1]):
        outer = above[keys[-1] % width]
        keys.append(unique_values((keys[-1] // width * width + outer)[outer >= 0]))
    return unique_values(np.concatenate(keys))


def is_operator(trace: Trace) -> Mask:
    """Which of ``captured_calls`` are operators."""
    return np.asarray(trace["captured_calls"]["role"] == Role.OPERATOR)


def captured_calls(trace: Trace, facts: Facts, row: Ints, counts: Mask) -> Ints:
    """Of events (rows of spans) the innermost captured call that counts, a row of ``captured_calls``;
    −1 none, as for all that was not replayed.
    """
    calls, launches = trace["captured_calls"], trace["captured_launches"]
    work = facts["replayed_work"]
    captured = picked(work["captured"], positions_of(work["span"], row))
    innermost = np.append(nearest(calls["parent"], counts), np.int32(-1))
    call = picked(launches["call"], captured)
    return np.asarray(innermost[call], np.int64)


def captured_operators(trace: Trace, facts: Facts, row: Ints) -> Ints:
    """The innermost operators among them."""
    return captured_calls(trace, facts, row, is_operator(trace))


def captured_frames(trace: Trace, facts: Facts, row: int) -> list[str]:
    """The Python frames around the captured launch of an event, innermost first."""
    calls = trace["captured_calls"]
    python = np.asarray(calls["role"] == Role.PYTHON)
    frame = int(captured_calls(trace, facts, np.array([row]), python)[0])
    frames = []
    while frame >= 0:
        if python[frame]:
            frames.append(trace.strings[int(calls["name"][frame])])
        frame = int(calls["parent"][frame])
    return frames


def joined(own: Array, more: Array) -> Array:
    """A column of calls with that of replayed calls behind it."""
    return np.concatenate((own, more.astype(own.dtype, copy=False))) if len(more) else own
