"""The walk back along the critical path that the insight of a rank holds already, for traces that are too large to be
gone through again.

::

    own path of the rank   [ a ][ b ][ all_reduce ][ c ]      from c back to the all_reduce, if another rank was late to it,
                                 ◀───────────────────── c     else through it and on to a

It takes what the rank's own path did at that time. The walk through the trace (``walk.py``) says the same where it comes
out on that path, and may find another reason where what it starts from was not on it.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.critical_path.walk import Piece, Place
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause


class OwnPath:
    """As ``Walk``, of copied rows of the table ``critical_path``: some 20 bytes each. ``step_end``: of the rank's steps."""

    def __init__(self, insight: Insight, step_end: Ints) -> None:
        path = insight["critical_path"]
        order = np.argsort(path["start"], kind="stable")
        self._start, self._end, self._cause, self._event = (
            path[key][order] for key in ("start", "end", "cause", "event")
        )
        self._step_end = step_end
        self._met = self._release = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._start)

    def meet(self, event: Ints, release: Ints) -> None:
        """As ``Walk.meet``."""
        order = np.argsort(event, kind="stable")
        at = positions_of(event[order], self._event.astype(np.int64))
        row = np.flatnonzero((at >= 0) & (self._cause == PathCause.COMMUNICATION))
        late = release[order][at[row]]
        own = (late > self._start[row]) & (late < self._end[row])
        self._met, self._release = row[own], late[own]

    def end_of(self, step: int) -> Place:
        """Where the end of a step is."""
        return Place(int(self._step_end[step]), -1, -1)

    def begin_of(self, event: int, time: int) -> Place:
        """The path at ``time``; the event need not be on it."""
        return Place(time, -1, -1)

    def leg(self, place: Place, floor: int) -> tuple[list[Piece], int]:
        """As ``Walk.leg``."""
        time = place.time
        if time <= floor:
            return [], -1
        last = int(np.searchsorted(self._start, time, "left")) - 1
        first, late = int(np.searchsorted(self._end, floor, "right")), -1
        met = int(np.searchsorted(self._met, last, "right")) - 1
        while met >= 0 and self._met[met] >= first:
            if floor < self._release[met] < time:
                first, late = int(self._met[met]), int(self._release[met])
                break
            met -= 1
        if last < first:
            return [_not_recorded(floor)], -1
        row = np.arange(last, first - 1, -1)
        start, cause, event = self._start[row], self._cause[row], self._event[row].astype(np.int64)
        if late >= 0:
            start[-1] = late
        # What lies between two rows, as between steps, is on no path.
        hole = np.flatnonzero(self._end[row[1:]] < start[:-1]) + 1
        until = self._end[row[hole]]
        pieces = (
            np.insert(start, hole, until),
            np.insert(cause, hole, np.uint8(PathCause.NOT_RECORDED)),
            np.insert(event, hole, -1),
        )
        before = [_not_recorded(int(self._end[last]))] if self._end[last] < time else []
        after = [_not_recorded(floor)] if late < 0 and start[-1] > floor else []
        return [*before, pieces, *after], -1 if late < 0 else int(event[-1])


def _not_recorded(start: int) -> tuple[Array, Array, Array]:
    return np.array([start]), np.array([PathCause.NOT_RECORDED], np.uint8), np.array([-1])
