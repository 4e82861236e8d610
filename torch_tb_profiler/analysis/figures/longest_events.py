"""An event to look at for each name: the longest, by which a text lets its figures be checked."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role


def longest_calls(trace: Trace, facts: Facts, selection: Selection) -> dict[str, int]:
    """Name of an operator → row of its longest call in the selected steps."""
    return _longest(trace, facts, selection, Role.OPERATOR)


def longest_kernels(trace: Trace, facts: Facts, selection: Selection) -> dict[str, int]:
    """Full name of a kernel → row of its longest launch in the selected steps."""
    return _longest(trace, facts, selection, Role.KERNEL)


def _longest(trace: Trace, facts: Facts, selection: Selection, role: Role) -> dict[str, int]:
    spans = trace["spans"]
    row = np.flatnonzero(spans["role"] == role)
    row = row[mask(selection, facts["span_links"]["step"][row])]
    first, group = group_rows((spans["name"][row],))
    event = row[largest_by(group, len(first), spans["dur"][row])]
    return dict(zip(trace.strings.many(spans["name"][row[first]]), event.tolist(), strict=True))
