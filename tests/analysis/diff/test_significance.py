"""The test of rows: against tables of Student's t, and against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.diff import significance
from torch_tb_profiler.analysis.diff.significance import (
    Moments,
    false_discovery,
    means_differ,
    moments,
    significant_rows,
    welch,
)

pytestmark = pytest.mark.slow

TRIALS, ALLOWED = 100, 5
"""Equal pairs that may be called different, of a hundred."""


def integrated(t: float, freedom: float) -> float:
    """Two-sided p by adding up the density of Student's t; what lies beyond t + 400 is less than
    the tolerance for 5 degrees of freedom and more.
    """
    x = np.linspace(abs(t), abs(t) + 400, 2_000_001)
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(
        freedom * math.pi
    )
    density = constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    return float((density[1:] + density[:-1]).sum() * (x[1] - x[0]))


@pytest.mark.parametrize("seed", range(5))
def test_welch_against_the_formula_and_an_integral(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = random.normal(100, 3, 12), random.normal(103, 6, 9)
    va, vb = a.var(ddof=1) / 12, b.var(ddof=1) / 9
    p, freedom = welch(np.array([b.mean() - a.mean()]), (np.array([va]), 12), (np.array([vb]), 9))
    assert float(freedom[0]) == pytest.approx((va + vb) ** 2 / (va**2 / 11 + vb**2 / 8))
    assert float(p[0]) == pytest.approx(
        integrated((b.mean() - a.mean()) / math.sqrt(va + vb), float(freedom[0])), rel=1e-6
    )


def test_false_discovery_against_the_published_example() -> None:
    # Benjamini and Hochberg 1995, section 4: 15 p values, four are taken at 0.05.
    p = np.array(
        [
            0.0001,
            0.0004,
            0.0019,
            0.0095,
            0.0201,
            0.0278,
            0.0298,
            0.0344,
            0.0459,
            0.3240,
            0.4262,
            0.5719,
            0.6528,
            0.7590,
            1.0,
        ]
    )
    assert int((false_discovery(p) <= 0.05).sum()) == 4
    assert (false_discovery(p[::-1])[::-1] == false_discovery(p)).all()
    assert len(false_discovery(np.zeros(0))) == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 10**9)), max_size=40),
    st.sets(st.integers(0, 6)),
)
def test_moments_against_a_full_table(
    entries: list[tuple[int, int, int]], chosen: set[int]
) -> None:
    steps = np.array(sorted(chosen), np.int64)
    full = np.zeros((4, len(steps)))
    for row, step, value in entries:
        if step in chosen:
            full[row, sorted(chosen).index(step)] += value
    columns = np.array([e for e in entries if e[1] in chosen], np.int64).reshape(-1, 3).T
    found = moments(columns[0], np.searchsorted(steps, columns[1]), columns[2], 4, len(steps))
    assert found.steps == len(steps)
    if len(steps):
        np.testing.assert_allclose(found.mean, full.mean(axis=1))
    if len(steps) > 1:
        np.testing.assert_allclose(
            found.variance, full.var(axis=1, ddof=1) / len(steps), rtol=1e-9, atol=1e-6
        )
    else:
        assert np.isnan(found.variance).all()


def test_long_recordings_are_summed_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    row, place, value = (
        random.integers(0, 20, 500),
        random.integers(0, 30, 500),
        random.integers(0, 10**9, 500),
    )
    whole = moments(row, place, value, 20, 30)
    monkeypatch.setattr(significance, "MOST_CELLS", 0)
    apart = moments(row, place, value, 20, 30)
    np.testing.assert_allclose(apart.mean, whole.mean)
    np.testing.assert_allclose(apart.variance, whole.variance)
    assert np.isnan(moments(row, np.zeros(500, np.int64), value, 20, 1).variance).all()


def rows(mean: list[float], deviation: float, steps: int = 5) -> Moments:
    return Moments(steps, np.array(mean), np.full(len(mean), deviation**2 / steps))


def test_rows_are_corrected_for_their_number() -> None:
    # One of 200 rows differs by what would be beyond noise if it stood alone.
    a, b = rows([100.0] * 200, 5.0), rows([120.0] + [100.0] * 199, 5.0)
    alone = significant_rows(rows([100.0], 5.0), rows([120.0], 5.0), 1000.0)[0]
    assert alone.tolist() == [True]
    assert not significant_rows(a, b, 1000.0)[0].any()
    assert (
        significant_rows(a, rows([200.0] + [100.0] * 199, 5.0), 1000.0)[0].tolist()
        == [True] + [False] * 199
    )


def test_equal_tables_raise_no_row() -> None:
    random = np.random.default_rng(3)
    alarms = 0
    for _ in range(TRIALS):
        sides = [100 + 10 * random.normal(size=(50, 6)) for _ in range(2)]
        a, b = (Moments(6, x.mean(axis=1), x.var(axis=1, ddof=1) / 6) for x in sides)
        alarms += bool(significant_rows(a, b, 5000.0)[0].any())
    assert alarms <= ALLOWED


def test_counts_differ_where_they_are_exact() -> None:
    assert means_differ(rows([3.0, 3.0], 0.0), rows([3.0, 4.0], 0.0)).tolist() == [False, True]
    # Every second step: four steps of A have 2, three of B have 1.
    assert not means_differ(
        Moments(4, np.array([0.5]), np.array([1 / 12])),
        Moments(3, np.array([1 / 3]), np.array([1 / 9])),
    ).any()
    single = Moments(1, np.array([3.0, 3.0]), np.full(2, np.nan))
    assert means_differ(single, Moments(1, np.array([3.0, 4.0]), np.full(2, np.nan))).tolist() == [
        False,
        True,
    ]
