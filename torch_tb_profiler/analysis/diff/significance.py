"""Whether two sets of measured steps differ significantly.

The test is Welch's t test on the mean step (B. L. Welch, "The generalization of Student's problem
when several different population variances are involved", Biometrika 34, 1947), two-sided at
``LEVEL``, with two additions. A difference below a least effect never counts, however certain.
Consecutive steps are not independent: the variance of the mean is widened by (1 + r) / (1 - r), r
the correlation of neighbouring steps, where there are enough steps to estimate it. Tables of many
rows are corrected for their number by Benjamini and Hochberg ("Controlling the false discovery
rate", J. R. Statist. Soc. B 57, 1995).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by, sum_floats
from torch_tb_profiler.store.columns import Array, Mask

Floats = NDArray[np.float64]

LEVEL = 0.01
"""Significance level: the probability that noise alone shows a difference as large."""
LEAST_EFFECT = 0.01
"""Share of A's step that a difference must reach: recordings of one program differ by that much."""
LEAST_ROW_EFFECT = 0.001
"""The same for a row of a table; rows below this share of a step are not tested."""
LEAST_OTHERS = 3
"""Other steps of a recording from which the spread of a single one is estimated."""
LEAST_NEIGHBOURS = 4
"""Steps needed to estimate the correlation of neighbours."""
MOST_DEPENDENCE = 0.6
MOST_CELLS = 4_000_000
"""Rows × steps of a table that is filled in densely; larger, mostly empty ones stay sparse."""
_TERMS = 300
_TINY = 1e-300
_CLOSE = 1e-13
_POINTS = 64


@dataclass(frozen=True)
class Moments:
    """Mean per step and variance of that mean, float64 of shape (rows,); NaN below two steps."""

    steps: int
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class Sample:
    """Measured step times of one side: their number, their mean in ns, the variance of that mean, and
    its degrees of freedom. The variance is NaN where it cannot be estimated.
    """

    steps: int
    mean: float
    variance: float
    freedom: int


@dataclass(frozen=True)
class Test:
    """A comparison of B with A.

    p: NaN if it cannot be tested.
    half: half the width of the 95 % interval of ``delta``; NaN likewise.
    noise: the difference from which on p is below ``LEVEL``; NaN likewise.
    """

    delta: float
    p: float
    half: float
    noise: float


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


def sample_of(walls: Floats, others: Floats | None = None) -> Sample:
    """The step times of a side, in order, ns.

    ``others``: of a single step, the other usual steps of its recording. It varies as much as they do.
    """
    n = len(walls)
    mean = float(walls.mean()) if n else math.nan
    if n > 1:
        return Sample(n, mean, float(walls.var(ddof=1)) / n * dependence(walls), n - 1)
    if n and others is not None and len(others) >= LEAST_OTHERS:
        return Sample(n, mean, float(others.var(ddof=1)), len(others) - 1)
    return Sample(n, mean, math.nan, 0)


def compare_steps(a: Floats, b: Floats) -> Test:
    """Compare the step times of both sides, in order, ns."""
    return compare_samples([(sample_of(a), sample_of(b))])


def compare_samples(pairs: Sequence[tuple[Sample, Sample]]) -> Test:
    """The mean over pairs of workers of the comparison of their step times.

    Workers that wait for each other are slow in the same steps, so more of them add no certainty:
    the spread of a mean of dependent quantities is at most the mean of their spreads, which is used
    here. A single pair gives Welch's test.
    """
    delta = float(np.mean([b.mean - a.mean for a, b in pairs])) if pairs else math.nan
    if not pairs or any(math.isnan(one.variance) for pair in pairs for one in pair):
        return Test(delta, math.nan, math.nan, math.nan)
    sides = list(zip(*pairs, strict=True))
    variance = [float(np.mean([math.sqrt(one.variance) for one in side])) ** 2 for side in sides]
    # ``welch`` takes numbers of steps: one more than the degrees of freedom.
    counts = [min(one.freedom for one in side) + 1 for side in sides]
    p, freedom = welch(
        np.array([delta]), (np.array(variance[:1]), counts[0]), (np.array(variance[1:]), counts[1])
    )
    deviation = math.sqrt(sum(variance))
    half, noise = (
        quantile(level, float(freedom[0])) * deviation if deviation else 0.0
        for level in (0.05, LEVEL)
    )
    return Test(delta, float(p[0]), half, noise)


def is_significant(test: Test, step: float) -> bool | None:
    """Whether the difference is significant, given A's mean step; None if untestable."""
    if math.isnan(test.p):
        return None
    return test.p < LEVEL and abs(test.delta) >= LEAST_EFFECT * step


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


def dependence(x: Floats) -> float:
    """(1 + r) / (1 - r) of a series, r the correlation of neighbours; 1 without a positive one.

    For n independent values r is -1 / n on average, so that much is added. Dividing by n - 1
    compensates part of the bias of dependent values; full compensation (M. G. Kendall, 1954) would
    make the correlation of a few steps too noisy to detect real changes.
    """
    n = len(x)
    around = x - x.mean()
    spread = float((around**2).sum())
    if n < LEAST_NEIGHBOURS or spread <= 0:
        return 1.0
    r = float((around[1:] * around[:-1]).sum()) / spread
    r = min(max((r * n + 1) / (n - 1), 0.0), MOST_DEPENDENCE)
    return (1 + r) / (1 - r)


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
