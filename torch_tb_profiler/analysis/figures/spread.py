"""How the durations of calls spread: mean, median, standard deviation, shortest, longest."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import scatter, sorted_within, sum_by
from torch_tb_profiler.store.columns import Array, Ints, Table


def spread(calls: Table, group_of_row: Ints, groups: int) -> dict[str, Array]:
    """Of each group: ``mean``, ``median``, ``deviation`` in ns (float64, NaN without a call),
    ``min``, ``max`` (int64, −1 without); shape (groups,).

    ``calls``: columns ``cell`` and ``duration``; ``group_of_row``: group of each value of ``cell``,
    −1 none. All are exact over the calls. The median of an even number is the mean of the two in
    the middle; the deviation is that of a sample (n − 1), NaN of a single call::

        durations 2, 4, 4, 10   mean 5, median 4, deviation √((9 + 1 + 1 + 25) / 3) = 3.46
    """
    group, duration = group_of_row[calls["cell"]], calls["duration"]
    if len(group_of_row) and int(group_of_row.min()) < 0:
        taken = group >= 0
        group, duration = group[taken], duration[taken]
    group, duration = sorted_within(group, duration)
    count = np.bincount(group, minlength=groups)
    some = np.flatnonzero(count)
    first = (np.cumsum(count) - count)[some]
    n = count[some]
    mean = sum_by(group, groups, duration)[some] / n
    apart = duration - np.repeat(mean, n)
    squares = np.add.reduceat(apart * apart, first) if len(first) else apart
    low, high = duration[first + (n - 1) // 2], duration[first + n // 2]
    found = {
        "mean": mean,
        "median": (low + high) / 2,
        "deviation": np.sqrt(np.divide(squares, n - 1, out=np.full(len(n), np.nan), where=n > 1)),
        "min": duration[first],
        "max": duration[first + n - 1],
    }
    return {key: _of_all(values, some, groups) for key, values in found.items()}


def _of_all(values: Array, some: Ints, groups: int) -> Array:
    every = scatter(groups, some, values, np.nan if values.dtype.kind == "f" else -1, values.dtype)
    return every


def shares(values: Array) -> Array:
    """Each value's part of the sum of those that are known (not negative), float64; NaN where there
    is none.
    """
    known = values >= 0
    total = int(values[known].sum())
    return np.where(known & (total > 0), values / max(total, 1), np.nan)
