"""Steps: where they begin and end, what they own, and which of them are particular."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.breakdown import CATEGORIES
from torch_tb_profiler.analysis.flags import StepFlag
from torch_tb_profiler.store.trace import Facts

__all__ = ["StepFlag", "odd_reason"]


def odd_reason(facts: Facts, row: int) -> tuple[str, float] | None:
    """For a step marked ODD: the category that exceeds its median over the complete steps most, and by how many ns; else None."""
    table = facts["steps"]
    if not table["flags"][row] & StepFlag.ODD:
        return None
    others = (table["flags"] & (StepFlag.CUT | StepFlag.COLD)) == 0
    excess = {key: float(table[key][row] - np.median(table[key][others])) for key in CATEGORIES}
    worst = max(excess, key=lambda key: excess[key])
    return worst, excess[worst]
