"""Which rows of two tables differ significantly, when they have a value per step.

The test is Welch's t test on the mean per step (B. L. Welch, "The generalization of Student's problem
when several different population variances are involved", Biometrika 34, 1947), two-sided at ``LEVEL``
and corrected for the number of rows by Benjamini and Hochberg ("Controlling the false discovery rate",
J. R. Statist. Soc. B 57, 1995): ranks of a few steps could never reach the level that many rows ask for.
Steps as a whole are compared by ranks, see ``rank_test``.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by, sum_floats
from torch_tb_profiler.store.columns import Array, Mask

Floats = NDArray[np.float64]

LEVEL = 0.01
"""Significance level: the probability that noise alone shows a difference as large."""
LEAST_EFFECT = 0.01
"""Share of a row that a difference must reach to count where it cannot be tested."""
LEAST_ROW_EFFECT = 0.001
"""Share of A's step that the difference of a row must reach; smaller rows are not tested."""
MOST_CELLS = 4_000_000
"""Rows × steps of a table that is filled in densely; larger, mostly empty ones stay sparse."""
_TERMS = 300
_TINY = 1e-300
_CLOSE = 1e-13
_POINTS = 64


class Moments(msgspec.Struct, frozen=True):
    """Mean per step and variance of that mean, float64 of shape (rows,); NaN below two steps."""

    steps: int
    mean: Floats
    variance: Floats


def moments(row: Array, place: Array, value: Array, rows: int, steps: int) -> Moments:
    """The moments of each row of a sparse table; entries of one row and step add up, missing ones
    count as 0.

    row, place, value: the entries, shape (entries,); ``place``: index of the step.
    """
    if rows * steps <= MOST_CELLS:
        full = np.bincount(
            row * np.int64(max(steps, 1)) + place, weights=value, minlength=rows * steps
        ).reshape(rows, steps)
        mean = full.sum(axis=1) / max(steps, 1)
        return Moments(
            steps,
            mean,
            ((full - mean[:, None]) ** 2).sum(axis=1) / (steps - 1) / steps
            if steps > 1
            else np.full(rows, np.nan),
        )
    first, cell_of_entry = group_rows((row, place))
    owner = row[first].astype(np.int64)
    cell = sum_by(cell_of_entry, len(first), value).astype(np.float64)
    mean = sum_floats(owner, rows, cell) / steps
    if steps < 2:
        return Moments(steps, mean, np.full(rows, np.nan))
    squares = (
        sum_floats(owner, rows, (cell - mean[owner]) ** 2)
        + (steps - np.bincount(owner, minlength=rows)) * mean**2
    )
    return Moments(steps, mean, squares / (steps - 1) / steps)


def significant_rows(a: Moments, b: Moments, step: float) -> tuple[Mask, Mask]:
    """``(significant, tested)``, bool of shape (rows,): which rows differ, and which could be
    tested.

    Rows are chosen by their total time on both sides, which is independent of their difference.
    """
    delta = b.mean - a.mean
    testable = np.isfinite(a.variance) & np.isfinite(b.variance)
    tested = testable & (a.mean + b.mean >= LEAST_ROW_EFFECT * step)
    return _differ(a, b, tested) & (np.abs(delta) >= LEAST_ROW_EFFECT * step), testable


def means_differ(a: Moments, b: Moments) -> Mask:
    """Which rows differ significantly, or at all where that cannot be tested. For counts."""
    testable = np.isfinite(a.variance) & np.isfinite(b.variance)
    return (_differ(a, b, testable) | ~testable) & (np.abs(b.mean - a.mean) > _CLOSE)


def _differ(a: Moments, b: Moments, tested: Mask) -> Mask:
    differs = np.zeros(len(tested), np.bool_)
    p, _ = welch(
        (b.mean - a.mean)[tested], (a.variance[tested], a.steps), (b.variance[tested], b.steps)
    )
    differs[tested] = false_discovery(p) < LEVEL
    return differs


def welch(delta: Floats, a: tuple[Floats, int], b: tuple[Floats, int]) -> tuple[Floats, Floats]:
    """Two-sided p and degrees of freedom, from each side's variance of the mean and step count."""
    (va, na), (vb, nb) = a, b
    total = va + vb
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = total**2 / (va**2 / (na - 1) + vb**2 / (nb - 1))
        t2 = delta**2 / total
    exact = ~(total > 0)
    freedom = np.where(exact | ~np.isfinite(freedom), 1.0, freedom)
    p = student(np.where(exact, 0.0, t2), freedom)
    return np.where(exact, np.where(delta == 0, 1.0, 0.0), p), freedom


def student(t2: Floats, freedom: Floats) -> Floats:
    """Two-sided p of Student's t, given t²: the incomplete beta function."""
    x = freedom / (freedom + t2)
    return _incomplete_beta(x, freedom / 2, np.full(len(x), 0.5))


def quantile(p: float, freedom: float) -> float:
    """The t that is exceeded on both sides with probability ``p``, to a millionth."""
    points = np.concatenate(([0.0], np.geomspace(1e-3, 1e9, _POINTS)))
    while points[-1] - points[0] > 1e-7 * points[-1]:
        above = int(np.searchsorted(-student(points**2, np.full(len(points), freedom)), -p))
        above = min(max(above, 1), len(points) - 1)
        points = np.linspace(points[above - 1], points[above], _POINTS)
    return float(points[-1])


def false_discovery(p: Floats) -> Floats:
    """p values adjusted by Benjamini and Hochberg."""
    n = len(p)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * n / np.arange(1, n + 1)
    corrected = np.empty(n)
    corrected[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(corrected, 1.0)


def _incomplete_beta(x: Floats, a: Floats, b: Floats) -> Floats:
    """Regularised incomplete beta function (Press et al., "Numerical Recipes", 6.4)."""
    flip = x > (a + 1) / (a + b + 2)
    y, p, q = np.where(flip, 1 - x, x), np.where(flip, b, a), np.where(flip, a, b)
    log = np.array(
        [
            math.lgamma(i + j) - math.lgamma(i) - math.lgamma(j)
            for i, j in zip(p.tolist(), q.tolist(), strict=True)
        ]
    )
    with np.errstate(divide="ignore"):
        front = np.exp(log + p * np.log(y) + q * np.log1p(-y))
    value = np.where(y > 0, front / p * _fraction(y, p, q), 0.0)
    return np.asarray(np.clip(np.where(flip, 1 - value, value), 0.0, 1.0))


def _fraction(x: Floats, a: Floats, b: Floats) -> Floats:
    """The continued fraction of the incomplete beta function."""
    c = np.ones(len(x))
    value = d = _safe_reciprocal(1 - (a + b) * x / (a + 1))
    for m in range(1, _TERMS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = _safe_reciprocal(1 + factor * d), 1 + factor / c
            value = value * d * c
        if (np.abs(d * c - 1) < _CLOSE).all():
            break
    return np.asarray(value)


def _safe_reciprocal(values: Floats) -> Floats:
    return np.asarray(1 / np.where(np.abs(values) < _TINY, _TINY, values))
