"""The source line that a finding leads to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.critical_path.origins import lines_of
from torch_tb_profiler.analysis.figures.source_lines import (
    OWN,
    line_of_frames,
    line_ranks,
    shown_frame,
)
from torch_tb_profiler.analysis.timeline.call_path import event_stack
from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.model import Facts, Trace

TRIED = 10
"""Pieces of evidence without Python frames around them whose stack is looked up, the most expensive first."""
LEAST = 0.25
"""Share of their cost from which on a line stands for them."""


def line_of(
    trace: Trace, facts: Facts, tables: Mapping[str, Table], rows: Ints, cost: Ints
) -> tuple[str | None, float]:
    """The line of most of the evidence, the user's own if possible, as ``file(line): function``, and its share
    of the cost; None if unknown. ``tables``: of the insight; ``rows``: evidence, the most expensive first; ``cost``: ns of each.
    """
    if not len(rows):
        return None, 0.0
    # What costs no time counts by its number.
    cost = cost if cost.any() else np.ones(len(rows), np.int64)
    number = lines_of(trace, facts, tables, rows)
    own = line_ranks(facts.strings, number)[number] == OWN
    total: dict[str, int] = {}
    # Stacks that are written as text are no frames around the work.
    examined = own.copy()
    if facts["stacks"].n:
        for at in np.flatnonzero(~own)[:TRIED].tolist():
            line = line_of_frames("\n".join(event_stack(trace, facts, int(rows[at]))))
            if ".py" in line:
                examined[at] = True
                line = shown_frame(facts, line)
                total[line] = total.get(line, 0) + int(cost[at])
    each, group = np.unique(number[own], return_inverse=True)
    for line, time in zip(
        facts.strings.many(each), sum_by(group, len(each), cost[own]).tolist(), strict=True
    ):
        total[line] = total.get(line, 0) + int(time)
    best = max(total, key=lambda line: total[line], default=None)
    examined[np.flatnonzero(~own)[:TRIED]] = True
    share = total[best] / max(int(cost[examined].sum()), 1) if best is not None else 0.0
    return (best, share) if best is not None and share >= LEAST else (None, 0.0)
