"""Intervals of predictions: what they hold, and what makes them wider."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.what_if.changes import CHANGES, read_change
from torch_tb_profiler.analysis.what_if.outcomes import (
    BY_CERTAINTY,
    LEAST_LEFT,
    REACHED,
    RUN_TO_RUN,
    Reach,
    noise,
    reach_of,
    saving_interval,
    step_interval,
)

STEPS = st.lists(st.floats(1e3, 1e9), min_size=1, max_size=8).map(np.array)
SHARE, ERROR = st.floats(0, 1), st.floats(-0.3, 0.3)
REACH = st.sampled_from([*REACHED.values(), *BY_CERTAINTY.values()])


@given(STEPS, SHARE, ERROR, REACH)
def test_it_holds_what_is_predicted(
    steps: np.ndarray, left: float, error: float, reach: Reach
) -> None:
    predicted, measured = left * steps, float(steps.mean())
    mean = float(predicted.mean())
    low, high = step_interval(measured, predicted, error, reach)
    assert LEAST_LEFT * mean <= low <= mean + 1e-6
    assert high >= mean - 1e-6
    least, most = saving_interval(measured - mean, measured, noise(steps, error), reach)
    assert 0 <= least <= measured - mean + 1e-6
    assert most <= measured


def test_one_step_has_an_interval_too() -> None:
    """The steps of one recording say nothing of the next one."""
    predicted = np.array([526.0])
    low, high = step_interval(1406.0, predicted, 0.0, Reach(1.0, 1.0))
    assert (low, high) == pytest.approx((526 * (1 - RUN_TO_RUN), 526 * (1 + RUN_TO_RUN)))


def test_the_ends_are_what_such_changes_came_to() -> None:
    low, high = step_interval(100.0, np.array([60.0]), 0.0, Reach(0.5, 1.5))
    assert (low, high) == pytest.approx((60 - np.hypot(20, 1.8), 60 + np.hypot(20, 1.8)))


def test_several_changes_are_as_unsure_as_the_least_sure() -> None:
    changes = [read_change("dataloader-ready"), read_change("overlap")]
    one, other = REACHED["dataloader-ready"], REACHED["overlap"]
    assert reach_of(changes) == Reach(min(one.low, other.low), max(one.high, other.high))


def test_the_table_names_changes() -> None:
    assert set(REACHED) <= set(CHANGES)
