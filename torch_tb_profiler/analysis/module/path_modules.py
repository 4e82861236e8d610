"""The modules that paths lie in."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import picked
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.store.columns import Array, Table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathKind


def modules_of_paths(paths: Table) -> Array:
    """The innermost module at or around each path, −1 none, and for −1; int32 (paths + 1,)."""
    return np.append(nearest(paths["parent"], paths["kind"] == PathKind.MODULE), np.int32(-1))


def module_names_of(insight: Insight) -> Array:
    """The names of these modules as insight strings; int32 of shape (paths + 1,)."""
    return picked(insight["paths"]["name"], modules_of_paths(insight["paths"]))
