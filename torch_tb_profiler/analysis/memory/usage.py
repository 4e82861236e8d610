"""What each operator or module allocated and released in a time window, self and total.

Totals count only the outermost call of a name, so that a recursion counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.memory.forest import beneath, module_forest, operator_forest
from torch_tb_profiler.analysis.memory.window import Window, records_in
from torch_tb_profiler.analysis.module.path_modules import modules_of_paths
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight

MemoryGroup = Literal["operator", "module"]
_SUMS = ("increase", "allocations", "allocated")


@dataclass(frozen=True)
class Usage:
    """Names with records in the window, self or total, by self increase descending; int64 of shape
    (names,).

    name: insight string.
    increase: bytes allocated − released.
    allocations, allocated: number and bytes of allocations.
    outside, outside_increase: bytes allocated, and increase, by no known operator or module.

    ``self_``: without the calls beneath.
    """

    name: Ints
    increase: Ints
    self_increase: Ints
    allocations: Ints
    self_allocations: Ints
    allocated: Ints
    self_allocated: Ints
    outside: int
    outside_increase: int


def usage(insight: Insight, device: int, window: Window | None, group: MemoryGroup) -> Usage:
    """Sums over the records of a device in a window; None: all."""
    curve = insight["memory_curve"]
    rows = records_in(insight, device, window)
    size = curve["bytes"][rows]
    owner = (
        curve["node"][rows]
        if group == "operator"
        else modules_of_paths(insight["paths"])[curve["path"][rows]]
    )
    trees = operator_forest(insight) if group == "operator" else module_forest(insight)
    n, texts, known, grows = len(trees.parent), len(insight.strings), owner >= 0, size > 0
    growing = owner[known & grows]
    own = {
        "increase": sum_by(owner[known], n, size[known]),
        "allocations": np.bincount(growing, minlength=n),
        "allocated": sum_by(growing, n, size[known & grows]),
    }
    totals = {key: beneath(trees, column) for key, column in own.items()}
    first = np.flatnonzero(trees.outermost)
    by_name = {
        key: sum_by(trees.name[first], texts, column[first]) for key, column in totals.items()
    }
    self_by_name = {key: sum_by(trees.name, texts, column) for key, column in own.items()}
    used = np.flatnonzero((by_name["allocations"] > 0) | (by_name["increase"] != 0))
    used = used[np.lexsort((-by_name["allocated"][used], -self_by_name["increase"][used]))]
    columns = {key: by_name[key][used] for key in _SUMS} | {
        f"self_{key}": self_by_name[key][used] for key in _SUMS
    }
    outside, outside_increase = int(size[~known & grows].sum()), int(size[~known].sum())
    return Usage(used, **columns, outside=outside, outside_increase=outside_increase)
