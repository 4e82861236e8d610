"""Which ranks of a run lie far above the others.

::

    step of ranks 0 to 7, ms    101 102 102 103 | 131 | 101 102 102
                                      median 102: rank 4 stands out, by 29 ms
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torch_tb_profiler.analysis.distributed.measures import LEAST_RANKS, WORTH, means, step_times
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.facts.step_kinds import odd_limit
from torch_tb_profiler.store.columns import Array, Ints


class Outlier(NamedTuple):
    """A rank whose mean is far above that of the others, ns."""

    rank: int
    mean: float
    median: float


def outliers(figures: RunFigures, values: Ints) -> list[Outlier]:
    """Ranks whose mean stands out and is above the median, the largest first."""
    mean, steps = means(values), means(step_times(figures))
    step = 0.0 if np.isnan(steps).all() else float(np.nanmedian(steps))
    return [
        Outlier(rank, float(mean[rank]), float(np.nanmedian(mean)))
        for rank in far_above(mean, step)
    ]


def far_above(values: Array, step: float) -> list[int]:
    """Places of values that are odd (``odd_limit``) and above the median by more than ``WORTH`` of the median ``step``, the largest
    first; of fewer than four known ones none.
    """
    known = values[~np.isnan(values)]
    if len(known) < LEAST_RANKS:
        return []
    usual, limit = odd_limit(known, WORTH * step)
    far = np.flatnonzero(values - usual > limit)
    found: list[int] = far[np.argsort(usual - values[far], kind="stable")].tolist()
    return found
