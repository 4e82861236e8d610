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
from torch_tb_profiler.analysis.facts.step_kinds import NORMAL_MAD, ODD_DEVIATIONS
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
    """Places of values above the median by more than ``ODD_DEVIATIONS`` usual deviations (1.4826 × the median absolute
    deviation) and more than ``WORTH`` of the median ``step``, the largest first; of fewer than four known ones none.
    """
    known = values[~np.isnan(values)]
    if len(known) < LEAST_RANKS:
        return []
    median = float(np.median(known))
    deviation = NORMAL_MAD * float(np.median(np.abs(known - median)))
    far = np.flatnonzero(values - median > max(ODD_DEVIATIONS * deviation, WORTH * step))
    found: list[int] = far[np.argsort(median - values[far], kind="stable")].tolist()
    return found
