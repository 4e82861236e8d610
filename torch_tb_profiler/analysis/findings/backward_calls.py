"""Which backward functions belong to a stretch of the forward pass.

A thread gives out sequence numbers in order, and an operator carries the one that its function will get: functions of
a stretch have numbers from that of its first call to that which the first call after it finds.
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import picked, positions_of
from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.model import Trace

PAUSE = 1_000_000
"""ns; two calls further apart do not follow each other."""


class BackwardCalls(msgspec.Struct, frozen=True):
    """row: the engine's calls of backward functions that have a number; number: theirs, ascending. arguments: of
    operators. every: all of the engine's calls, ascending; since: when the one before
    each ended, at most ``PAUSE`` before its begin: the engine's own time.
    """

    row: Ints
    number: Ints
    arguments: Table
    every: Ints
    since: Ints

    @classmethod
    def of(cls, trace: Trace, row: Ints) -> BackwardCalls:
        """From a trace; ``row``: the engine's calls of backward functions in it."""
        spans, args = trace["spans"], trace["operator_args"]
        every = row[np.argsort(spans["track"][row], kind="stable")]
        since = _since(spans, every)
        by_row = np.argsort(every)
        calls = cls(row, row, args, every[by_row], since[by_row])
        number = calls.found_by(row)
        order = np.argsort(number, kind="stable")
        order = order[number[order] >= 0]
        return replace(calls, row=row[order], number=number[order])

    def found_by(self, row: Ints) -> Ints:
        """The sequence number that each of some rows of spans has, −1 none."""
        return picked(self.arguments["sequence"], positions_of(self.arguments["span"], row))

    def begins(self, row: Ints) -> Ints:
        """When the engine began with some of its calls, ns."""
        return np.asarray(self.since[np.searchsorted(self.every, row)])

    def within(self, low: int, high: int) -> Ints:
        """Functions with numbers from ``low`` to below ``high``; none where ``low`` is negative."""
        if low < 0 or high <= low:
            return np.zeros(0, np.int64)
        first, last = np.searchsorted(self.number, (low, high))
        return self.row[first:last]

    def after(self, calls: Ints) -> int:
        """The number that the first of some calls found; −1 unknown."""
        found = self.found_by(calls)
        found = found[found >= 0]
        return int(found[0]) if len(found) else -1


def _since(spans: Table, row: Ints) -> Ints:
    start, track = spans["start"][row], spans["track"][row]
    end = start + spans["dur"][row]
    since = start.copy()
    follows = (track[1:] == track[:-1]) & (end[:-1] <= start[1:]) & (start[1:] - end[:-1] <= PAUSE)
    since[1:][follows] = end[:-1][follows]
    return np.asarray(since)
