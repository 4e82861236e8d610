"""The source line that a finding leads to."""

from __future__ import annotations

from torch_tb_profiler.analysis.figures.source_lines import line_of_frames
from torch_tb_profiler.analysis.timeline.event_stack import event_stack
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts, Trace

TRIED = 10
"""Pieces of evidence to look at, the most expensive first."""
LEAST = 0.25
"""Share of their cost from which on a line stands for them."""


def line_of(trace: Trace, facts: Facts, rows: Ints, cost: Ints) -> str | None:
    """The line of most of the costliest evidence, user code if possible, as ``file(line): function``;
    None if unknown. ``rows``: evidence, the most expensive first; ``cost``: ns of each.
    """
    if not facts["stacks"].n:
        return None
    total: dict[str, int] = {}
    for row, weight in zip(rows[:TRIED].tolist(), cost[:TRIED].tolist(), strict=True):
        line = line_of_frames("\n".join(event_stack(trace, facts, row)))
        if ".py(" in line:
            total[line] = total.get(line, 0) + weight
    best = max(total, key=lambda line: total[line], default=None)
    return best if best is not None and total[best] >= LEAST * int(cost[:TRIED].sum()) else None
