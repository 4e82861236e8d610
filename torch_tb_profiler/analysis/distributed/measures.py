"""What the map of the Distributed view can show of every rank and step, in fewer columns where there are many steps.

::

    steps      0  1  2  3  4  5  6          columns begin at 0, 3 and 6
    rank 0     5  1  2 |4  -  4 |1    ─▶    5  4  1     the largest of each column
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.store.columns import Array, Ints

Measure = Literal[
    "late", "waiting", "transfer", "exposed", "hidden", "computation", "other", "step"
]
_OVERLAP = {
    "exposed": "communication",
    "hidden": "overlap",
    "computation": "computation",
    "other": "other",
}
WORTH = 0.01
"""Less of a step is no news."""
LEAST_RANKS = 4
"""Of fewer ranks none is an outlier."""


def measured(figures: RunFigures, measure: Measure) -> Ints:
    """ns of shape (ranks, steps); −1 where a rank has no such step or it is not known.

    What could not be divided into waiting and transferring has neither, and nobody is late in it.
    """
    if measure == "step":
        return step_times(figures)
    if measure in _OVERLAP:
        return figures.overlap[_OVERLAP[measure]]
    parts = figures.waiting
    undivided = (parts["unsplit"] > 0) & (parts["waiting"] + parts["transfer"] == 0)
    found = np.where(undivided, -1, parts[measure])
    if measure != "late":
        return found
    # What began before the step is no part of it.
    length = step_times(figures)
    return np.where(length >= 0, np.minimum(found, length), found)


def step_times(figures: RunFigures) -> Ints:
    """Duration of every step, ns of shape (ranks, steps); −1 where a rank has no such step."""
    parts = np.stack(list(figures.overlap.values()))
    return np.where((parts < 0).any(axis=0), -1, parts.sum(axis=0))


def largest(values: Ints, begins: Ints) -> Ints:
    """The largest value of each column, shape (ranks, columns); −1 where none is known."""
    if not values.size:
        return np.full((len(values), len(begins)), -1, np.int64)
    return np.maximum.reduceat(values, begins, axis=1)


def summed(values: Ints, begins: Ints) -> tuple[Ints, Ints]:
    """The sum of the known values (≥ 0) of each column, −1 where there is none, and their number."""
    if not values.size:
        none = np.zeros((len(values), len(begins)), np.int64)
        return none - 1, none
    known = values >= 0
    count = np.add.reduceat(known, begins, axis=1, dtype=np.int64)
    total = np.add.reduceat(np.where(known, values, 0), begins, axis=1)
    return np.where(count > 0, total, -1), count


def means(values: Ints) -> Array:
    """The mean of each rank's known steps, float64 of shape (ranks,); NaN without one."""
    known = values >= 0
    count = known.sum(axis=1)
    mean: Array = np.where(known, values, 0).sum(axis=1) / np.maximum(count, 1)
    return np.where(count > 0, mean, np.nan)
