"""Bytes of the table ``path_steps``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.grouping import group_rows, sum_by
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Ints, Table


def memory_by_path(path_steps: Table, path: Ints, step: Ints, size: Ints) -> Table:
    """``path_steps`` with ``increase`` and ``allocated`` from records: their rows of paths and steps (−1 none) and their bytes, each of shape (records,).

    Where a path has a record in a step in which none of its calls began, a row without calls is added; the rows are ordered by (path, step) then.
    """
    n = path_steps.n
    first, of = group_rows((np.concatenate((path_steps["path"], path)), np.concatenate((path_steps["step"], step))))
    row = np.full(len(first), -1, np.int64)
    row[of[:n]] = np.arange(n)
    new = np.flatnonzero(row < 0)
    row[new] = n + np.arange(len(new))
    of = row[of[n:]]
    if len(new):
        place = first[new] - n
        columns = {c.name: np.concatenate((path_steps[c.name], np.zeros(len(new), c.dtype))) for c in schema.PATH_STEPS.columns}
        columns["path"][n:], columns["step"][n:] = path[place], step[place]
        path_steps = schema.PATH_STEPS.build(**columns)
    increase, allocated = (sum_by(of, path_steps.n, values) for values in (size, np.maximum(size, 0)))
    filled = path_steps.replace(increase=increase, allocated=allocated)
    return filled.take(np.lexsort((filled["step"], filled["path"]))) if len(new) else filled
