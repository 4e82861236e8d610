"""How far predictions can be trusted: what came of such changes, how steps differ, and how well the replay fits.

``REACHED`` holds what changes of a kind really saved as shares of what had been predicted, from pairs of recordings
before and after; see ``docs/critical_path.md``. It is meant to hold four of five outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.what_if.change_types import Applied
from torch_tb_profiler.analysis.what_if.simulation import SPREAD
from torch_tb_profiler.store.columns import Array, percentiles_of


class Reach(msgspec.Struct, frozen=True):
    """The share of a predicted saving that at least and at most comes true."""

    low: float
    high: float


USUAL = Reach(0.5, 1.5)
"""Of a kind of change of which too few outcomes are known."""
REACHED: dict[str, Reach] = {
    "dataloader-ready": Reach(0.7, 1.5),
    "host": Reach(0.6, 1.4),
    "no-python": Reach(0.5, 1.5),
    "scale": Reach(0.5, 1.8),
    "network": Reach(0.5, 1.4),
    "buckets": Reach(0.6, 1.4),
    "overlap": Reach(0.2, 1.3),
    "graph": Reach(0.0, 1.2),
    "graphs": Reach(0.3, 1.3),
    "peak": Reach(0.3, 1.2),
    "precision": Reach(0.4, 1.2),
    "fuse": Reach(0.4, 1.3),
    "fuse-chains": Reach(0.4, 1.3),
    "no-sync": Reach(0.2, 1.2),
}
"""By the name of the change."""
BY_CERTAINTY = {
    "certain": Reach(0.6, 1.5),
    "likely": Reach(0.4, 1.5),
    "theoretical": Reach(0.0, 1.3),
}
"""Of findings whose change has no name, by their certainty."""
RUN_TO_RUN = 0.03
"""Share by which the mean step of one program differs between two recordings even where all steps of one are alike."""
LEAST_LEFT = 0.1
"""Least share of a predicted step that came in nine of ten pairs: a cause of nearly all of a step leaves next to nothing."""


def reach_of(changes: Iterable[Applied]) -> Reach:
    """What is reached of several changes together: no better and no worse than the least sure of them."""
    kinds = [REACHED.get(applied.change.name, USUAL) for applied in changes]
    if not kinds:
        return Reach(1.0, 1.0)
    return Reach(min(kind.low for kind in kinds), max(kind.high for kind in kinds))


def noise(steps: Array, error: float) -> tuple[float, float]:
    """By how much the mean of such steps, ns, may be lower and higher in another recording: how the steps differ, how
    recordings do, and the ``error`` of the replay, a share.
    """
    if not len(steps):
        return 0.0, 0.0
    mean = float(steps.mean())
    low, high = percentiles_of(steps, SPREAD).tolist()
    rest = np.hypot(RUN_TO_RUN * mean, error * mean)
    return float(np.hypot(max(mean - low, 0), rest)), float(np.hypot(max(high - mean, 0), rest))


def step_interval(
    measured: float, predicted: Array, error: float, reach: Reach
) -> tuple[float, float]:
    """Least and greatest mean step to expect, ns, where ``measured`` is the mean step now and ``predicted`` are the steps
    with the changes.
    """
    if not len(predicted):
        return 0.0, 0.0
    mean = float(predicted.mean())
    ends = [measured - share * (measured - mean) for share in (reach.low, reach.high)]
    below, above = noise(predicted, error)
    low = mean - np.hypot(mean - min(*ends, mean), below)
    high = mean + np.hypot(max(*ends, mean) - mean, above)
    return max(float(low), LEAST_LEFT * mean), float(high)


def saving_interval(
    saved: float, measured: float, spread: tuple[float, float], reach: Reach
) -> tuple[float, float]:
    """Least and greatest saving per step to expect, ns; ``spread``: as of ``noise``, of the steps measured."""
    left = max(measured - saved, 0)
    below, above = (left / measured * value if measured else 0.0 for value in spread)
    low = saved - np.hypot(saved * (1 - reach.low), above)
    high = saved + np.hypot(saved * (reach.high - 1), below)
    return max(float(low), 0.0), min(float(high), measured - LEAST_LEFT * left)
