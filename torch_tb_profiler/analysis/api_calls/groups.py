"""Order statistics within groups."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sorted_values_at
from torch_tb_profiler.store.columns import Array, Ints


def medians(group: Array, groups: int, values: Array) -> Array:
    """Median of the integer ``values`` (≥ 0) per group, float64 of shape (groups,); NaN of an empty group."""
    count = np.bincount(group, minlength=groups)
    first = np.cumsum(count) - count
    result = np.full(groups, np.nan)
    some = np.flatnonzero(count)
    middle = np.stack((first[some] + (count[some] - 1) // 2, first[some] + count[some] // 2))
    low, high = sorted_values_at(group, values, middle)
    result[some] = (low + high) / 2
    return result


def picked(rows: Ints, place: Ints) -> Ints:
    """``rows[place]``; −1 where the place is −1."""
    return np.where(place >= 0, rows[place] if len(rows) else -1, -1)
