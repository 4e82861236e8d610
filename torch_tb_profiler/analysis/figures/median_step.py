"""The one step that speaks for some steps: of median length, so that its figures add up and it can be shown."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.step_kinds import of_leading_kind
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Facts


def middle(lengths: Array) -> int:
    """Place of the median length, of an even number the shorter of the two in the middle; −1 without one."""
    return int(np.argsort(lengths, kind="stable")[(len(lengths) - 1) // 2]) if len(lengths) else -1


def median_step(facts: Facts, rows: Ints) -> int | None:
    """Row of ``steps`` of median length among some rows, of the kind that takes most of their time; of an even number the shorter
    of the two in the middle. Odd ones, too, are left out where others are left. None without a row.
    """
    steps = facts["steps"]
    rows = np.asarray(rows, np.int64)
    flags, wall = steps["flags"], step_lengths(steps)
    rows = rows[wall[rows] > 0] if (wall[rows] > 0).any() else rows
    if not len(rows):
        return None
    rows = of_leading_kind(facts, rows)
    usual = rows[(flags[rows] & StepFlag.ODD) == 0]
    kept = usual if len(usual) else rows
    return int(kept[middle(wall[kept])])
