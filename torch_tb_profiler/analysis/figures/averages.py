"""The step-time breakdown of each step and of the average one."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.selection import Selection, complete
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.model import Facts
from torch_tb_profiler.store.step_categories import CATEGORIES

_OF_DEVICE = ("kernel", "memcpy", "memset", "runtime")
_OF_HOST = ("dataloader", "cpu_exec")


def category_times(facts: Facts) -> dict[str, Ints]:
    """Each of ``CATEGORIES`` in ns per step; −1, unknown, where no step has any of it and the
    recording had no activity that it could come from.
    """
    table = facts["steps"]
    lacking = (() if facts.summary.has_device else _OF_DEVICE) + (
        () if facts["operators"].n else _OF_HOST
    )
    return {
        key: np.full(table.n, -1) if key in lacking and not table[key].any() else table[key]
        for key in CATEGORIES
    }


def average(facts: Facts, selection: Selection) -> tuple[float, dict[str, float | None]] | None:
    """Arithmetic mean in ns over the selected steps, steps that the recording cut off left out: of
    the wall time, and of each category (None: not recorded).

    None without a step.
    """
    steps = complete(facts, selection)
    if not len(steps):
        return None
    table, times = facts["steps"], category_times(facts)
    wall = float(step_lengths(table)[steps].mean())
    means = {key: float(times[key][steps].mean()) for key in CATEGORIES}
    return wall, {key: mean if mean >= 0 else None for key, mean in means.items()}
