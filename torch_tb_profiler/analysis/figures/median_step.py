"""The one step that speaks for some steps: of median length, so that its figures add up and it can be shown."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.step_kinds import phases_of_kinds
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Facts

_APART = (StepFlag.COLD | StepFlag.PART | StepFlag.ODD, StepFlag.COLD | StepFlag.PART, StepFlag(0))
"""What speaks for no others, where others are left."""


def middle(lengths: Array) -> int:
    """Place of the median length, of an even number the shorter of the two in the middle; −1 without one."""
    return int(np.argsort(lengths, kind="stable")[(len(lengths) - 1) // 2]) if len(lengths) else -1


def of_main_phase(phase: Ints, lengths: Ints) -> Mask:
    """Which steps are of the phase that takes most time, bool of shape (steps,); ``phase``, ``lengths``: of each step."""
    # Counted from −1, which is none.
    return np.asarray(phase == np.argmax(np.bincount(phase + 1, lengths)) - 1)


def median_step(facts: Facts, rows: Ints) -> int | None:
    """Row of ``steps`` of median length among some rows; of an even number the shorter of the two in the middle. Cold, cut and
    odd ones are left out where others are left; of a server's iterations it is one of the phase that takes most time. None
    without a row.
    """
    steps = facts["steps"]
    rows = np.asarray(rows, np.int64)
    flags, wall = steps["flags"], step_lengths(steps)
    rows = rows[wall[rows] > 0] if (wall[rows] > 0).any() else rows
    if not len(rows):
        return None
    kept = next(
        left for apart in _APART if len(left := rows[(flags[rows] & apart) == 0]) or not apart
    )
    phase = np.append(phases_of_kinds(facts), -1)[steps["kind"][kept]]
    kept = kept[of_main_phase(phase, wall[kept])]
    return int(kept[middle(wall[kept])])
