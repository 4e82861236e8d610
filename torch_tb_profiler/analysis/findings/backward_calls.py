"""Which backward functions belong to a stretch of the forward pass.

A thread gives out sequence numbers in order, and an operator carries the one that its function will get: functions of
a stretch have numbers from that of its first call to that which the first call after it finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.module.forwards import EVALUATE
from torch_tb_profiler.store.columns import Ints


@dataclass(frozen=True)
class BackwardCalls:
    """row: the engine's calls of backward functions that have a number; number: theirs, ascending. sequence: number
    of every row of spans, −1 none.
    """

    row: Ints
    number: Ints
    sequence: Ints

    @classmethod
    def of(cls, case: Case) -> BackwardCalls:
        """From the trace."""
        args = case.trace["operator_args"]
        sequence = np.full(case.trace["spans"].n, -1, np.int64)
        sequence[args["span"]] = args["sequence"]
        row = case.operators[case.named(case.operators, lambda text: text.startswith(EVALUATE))]
        row = row[sequence[row] >= 0]
        order = np.argsort(sequence[row], kind="stable")
        return cls(row[order], sequence[row[order]], sequence)

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
