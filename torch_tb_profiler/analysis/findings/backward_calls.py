"""Which backward functions belong to a stretch of the forward pass.

A thread gives out sequence numbers in order, and an operator carries the one that its function will get: functions of
a stretch have numbers from that of its first call to that which the first call after it finds.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.model import Trace

PAUSE = 1_000_000
"""ns; two calls further apart do not follow each other."""


class BackwardCalls(msgspec.Struct, frozen=True):
    """row: the engine's calls of backward functions that have a number; number: theirs, ascending. sequence: number
    of every row of spans, −1 none. every: all of the engine's calls, ascending; since: when the one before
    each ended, at most ``PAUSE`` before its begin: the engine's own time.
    """

    row: Ints
    number: Ints
    sequence: Ints
    every: Ints
    since: Ints

    @classmethod
    def of(cls, trace: Trace, row: Ints) -> BackwardCalls:
        """From a trace; ``row``: the engine's calls of backward functions in it."""
        spans, args = trace["spans"], trace["operator_args"]
        sequence = np.full(spans.n, -1, np.int64)
        sequence[args["span"]] = args["sequence"]
        every = row[np.argsort(spans["track"][row], kind="stable")]
        since = _since(spans, every)
        row = row[sequence[row] >= 0]
        order = np.argsort(sequence[row], kind="stable")
        by_row = np.argsort(every)
        return cls(row[order], sequence[row[order]], sequence, every[by_row], since[by_row])

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
        found = self.sequence[calls]
        found = found[found >= 0]
        return int(found[0]) if len(found) else -1


def _since(spans: Table, row: Ints) -> Ints:
    start, track = spans["start"][row], spans["track"][row]
    end = start + spans["dur"][row]
    since = start.copy()
    follows = (track[1:] == track[:-1]) & (end[:-1] <= start[1:]) & (start[1:] - end[:-1] <= PAUSE)
    since[1:][follows] = end[:-1][follows]
    return np.asarray(since)
