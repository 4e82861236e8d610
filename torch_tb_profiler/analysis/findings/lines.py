"""The source line that a finding leads to."""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.timeline.chain import is_users
from torch_tb_profiler.analysis.timeline.stack_of import stack_of
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts, Trace

TRIED = 10
"""Pieces of evidence that are asked, the dearest first."""
LEAST = 0.25
"""Share of their cost from which on a line stands for them."""
_FRAME = re.compile(r"(?P<file>.+)\((?P<line>\d+)\): .")


def line_of(trace: Trace, facts: Facts, rows: Ints, cost: Ints) -> str | None:
    """The line of the user's own code that most of the dearest evidence stands on, as ``file(line): function``; None where none is known.

    ``rows``: the evidence, the dearest first. ``cost``: of each, ns.
    """
    total: dict[str, int] = {}
    for row, weight in zip(rows[:TRIED].tolist(), cost[:TRIED].tolist(), strict=True):
        line = _user_line(stack_of(trace, facts, row))
        if line is not None:
            total[line] = total.get(line, 0) + weight
    best = max(total, key=lambda line: total[line], default=None)
    return best if best is not None and total[best] >= LEAST * int(cost[:TRIED].sum()) else None


def _user_line(frames: list[str]) -> str | None:
    """The innermost of some frames (innermost first) that is in the user's own code."""
    for frame in frames:
        found = _FRAME.match(frame)
        if found and is_users(found["file"]):
            return frame
    return None
