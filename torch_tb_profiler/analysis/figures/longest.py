"""An event to look at for each name: the longest, by which a text lets its figures be checked."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by
from torch_tb_profiler.store.columns import Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


def longest_calls(trace: Trace) -> dict[str, int]:
    """Name of an operator → row of its longest call."""
    return _longest(trace, trace["spans"]["role"] == Role.OPERATOR)


def longest_kernels(trace: Trace) -> dict[str, int]:
    """Full name of a kernel → row of its longest launch."""
    return _longest(trace, trace["spans"]["role"] == Role.KERNEL)


def _longest(trace: Trace, wanted: Mask) -> dict[str, int]:
    spans = trace["spans"]
    row = np.flatnonzero(wanted)
    first, group = group_rows((spans["name"][row],))
    event = row[largest_by(group, len(first), spans["dur"][row])]
    return dict(zip(trace.strings.many(spans["name"][row[first]]), event.tolist(), strict=True))
