"""The one step that speaks for some steps: of median length, so that its figures add up and it can be shown."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.step_kinds import phases_of_kinds
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts

_APART = (StepFlag.COLD | StepFlag.CUT | StepFlag.ODD, StepFlag.COLD | StepFlag.CUT, StepFlag(0))
"""What speaks for no others, where others are left."""


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
    if len(np.unique(phase)) > 1:
        times = {each: int(wall[kept[phase == each]].sum()) for each in np.unique(phase).tolist()}
        kept = kept[phase == max(times, key=lambda each: times[each])]
    order = kept[np.argsort(wall[kept], kind="stable")]
    return int(order[(len(order) - 1) // 2])
