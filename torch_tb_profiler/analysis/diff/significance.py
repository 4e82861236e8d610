"""Whether two sets of measured steps differ by more than steps differ among themselves.

The test is Welch's t test on the mean step (B. L. Welch, "The generalization of Student's problem
when several different population variances are involved", Biometrika 34, 1947), two-sided at
``LEVEL``, with two additions. A difference below a least effect never counts, however sure it is.
And steps that follow each other are not independent: the variance of the mean is widened by (1 + r)
/ (1 - r), r the correlation of neighbouring steps, where there are enough steps to see it. Tables
of many rows are corrected for their number by Benjamini and Hochberg ("Controlling the false
discovery rate", J. R. Statist. Soc. B 57, 1995). Everything here is numpy and the standard library.
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
"""A difference is more than noise when noise alone would show one as large less often than this."""
LEAST_EFFECT = 0.01
"""Share of the step of A below which no difference of steps counts: steps of equal programs differ
that much between recordings.
"""
LEAST_ROW_EFFECT = 0.001
"""The same for a row of a table; rows that take less than this share of a step are not tested at
all.
"""
LEAST_NEIGHBOURS = 4
"""Steps from which on the correlation of neighbours is looked at; fewer cannot show it."""
MOST_DEPENDENCE = 0.6
MOST_CELLS = 4_000_000
"""Rows times steps of a table that is filled in whole; one with more is mostly empty, and is summed
entry by entry.
"""
_TERMS = 300
_TINY = 1e-300
_CLOSE = 1e-13
_POINTS = 64


@dataclass(frozen=True)
class Moments:
    """Of each row the mean per step and the variance of that mean, float64 of shape (rows,); the
    variance is NaN with fewer than two steps.
    """

    steps: int
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class Test:
    """A comparison of B with A. ``p``: NaN where it cannot be told. ``half``: half the width of the
    95 % interval of ``delta``; NaN likewise.
    """

    delta: float
    p: float
    half: float


def moments(row: Array, place: Array, value: Array, rows: int, steps: int) -> Moments:
    """Per row of a sparse table: entries of one row and step are added, a step without an entry
    counts as 0.

    Args:
        row, place, value: the entries, shape (entries,); ``place`` says which of the ``steps``
        compared ones, from 0.
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
    first, of = group_rows((row, place))
    owner = row[first].astype(np.int64)
    cell = sum_by(of, len(first), value).astype(np.float64)
    mean = sum_floats(owner, rows, cell) / steps
    if steps < 2:
        return Moments(steps, mean, np.full(rows, np.nan))
    squares = (
        sum_floats(owner, rows, (cell - mean[owner]) ** 2)
        + (steps - np.bincount(owner, minlength=rows)) * mean**2
    )
    return Moments(steps, mean, squares / (steps - 1) / steps)


def compare_steps(a: Floats, b: Floats) -> Test:
    """Step times of both sides in their order, ns."""
    return compare_workers([(a, b)])


def compare_workers(pairs: Sequence[tuple[Floats, Floats]]) -> Test:
    """The mean over pairs of workers of the same comparison; of each pair the step times of both
    sides.

    Workers that wait for each other are slow in the same steps, so their number makes nothing
    surer: the spread of a mean of dependent quantities is at most the mean of their spreads, and
    that is taken. One pair alone gives Welch's test.
    """
    told = all(len(x) >= 2 for pair in pairs for x in pair)
    delta = (
        float(np.mean([b.mean() - a.mean() for a, b in pairs]))
        if pairs and all(len(x) for pair in pairs for x in pair)
        else math.nan
    )
    if not told or not pairs:
        return Test(delta, math.nan, math.nan)
    spreads = [
        [math.sqrt(float(x.var(ddof=1)) / len(x) * dependence(x)) for x in side]
        for side in zip(*pairs, strict=True)
    ]
    variance = [float(np.mean(side)) ** 2 for side in spreads]
    counts = [min(map(len, side)) for side in zip(*pairs, strict=True)]
    p, freedom = welch(
        np.array([delta]), (np.array(variance[:1]), counts[0]), (np.array(variance[1:]), counts[1])
    )
    return Test(
        delta,
        float(p[0]),
        quantile(0.05, float(freedom[0])) * math.sqrt(sum(variance)) if sum(variance) > 0 else 0.0,
    )


def is_significant(test: Test, step: float) -> bool | None:
    """Whether the difference is more than noise, ``step`` being the mean step of A; None where it
    cannot be told.
    """
    if math.isnan(test.p):
        return None
    return test.p < LEVEL and abs(test.delta) >= LEAST_EFFECT * step


def significant_rows(a: Moments, b: Moments, step: float) -> tuple[Mask, Mask]:
    """``(beyond, told)``, bool of shape (rows,): which rows of a table differ by more than noise,
    and of which that can be told.

    Rows are chosen for the test by their time on both sides together, which says nothing about
    their difference.
    """
    delta = b.mean - a.mean
    told = np.isfinite(a.variance) & np.isfinite(b.variance)
    tested = told & (a.mean + b.mean >= LEAST_ROW_EFFECT * step)
    return _differ(a, b, tested) & (np.abs(delta) >= LEAST_ROW_EFFECT * step), told


def means_differ(a: Moments, b: Moments) -> Mask:
    """Which rows differ by more than noise, however little; where that cannot be told, which differ
    at all. For counts.
    """
    told = np.isfinite(a.variance) & np.isfinite(b.variance)
    return (_differ(a, b, told) | ~told) & (np.abs(b.mean - a.mean) > _CLOSE)


def _differ(a: Moments, b: Moments, tested: Mask) -> Mask:
    found = np.zeros(len(tested), np.bool_)
    p, _ = welch(
        (b.mean - a.mean)[tested], (a.variance[tested], a.steps), (b.variance[tested], b.steps)
    )
    found[tested] = false_discovery(p) < LEVEL
    return found


def welch(delta: Floats, a: tuple[Floats, int], b: tuple[Floats, int]) -> tuple[Floats, Floats]:
    """Two-sided p and degrees of freedom of differences of means; of each side the variance of the
    mean and the number of steps (at least 2).
    """
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
    """Two-sided p of Student's t, given squared: the regularised incomplete beta function at
    freedom / (freedom + t²).
    """
    x = freedom / (freedom + t2)
    return _incomplete_beta(x, freedom / 2, np.full(len(x), 0.5))


def quantile(p: float, freedom: float) -> float:
    """The t that is exceeded on both sides together with probability ``p``, to a millionth; found
    between ever closer points.
    """
    points = np.concatenate(([0.0], np.geomspace(1e-3, 1e9, _POINTS)))
    while points[-1] - points[0] > 1e-7 * points[-1]:
        above = int(np.searchsorted(-student(points**2, np.full(len(points), freedom)), -p))
        above = min(max(above, 1), len(points) - 1)
        points = np.linspace(points[above - 1], points[above], _POINTS)
    return float(points[-1])


def dependence(x: Floats) -> float:
    """(1 + r) / (1 - r) of a series, r the correlation of neighbours; 1 without a positive one.

    In independent series of n values r is -1 / n on average, so that much is added. Dividing by n -
    1 makes up for part of what dependent ones lack; all of it (M. G. Kendall, 1954) would make the
    correlation of a handful of steps swing so far that real changes drown.
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
    """p values corrected by Benjamini and Hochberg: the rate of false discoveries at which each row
    would be the last one taken.
    """
    n = len(p)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * n / np.arange(1, n + 1)
    corrected = np.empty(n)
    corrected[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(corrected, 1.0)


def _incomplete_beta(x: Floats, a: Floats, b: Floats) -> Floats:
    """Regularised incomplete beta function, by the continued fraction of W. H. Press et al.,
    "Numerical Recipes", 6.4, evaluated by Lentz.
    """
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
    value = d = _kept_off_zero(1 - (a + b) * x / (a + 1))
    for m in range(1, _TERMS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = _kept_off_zero(1 + factor * d), 1 + factor / c
            value = value * d * c
        if (np.abs(d * c - 1) < _CLOSE).all():
            break
    return np.asarray(value)


def _kept_off_zero(values: Floats) -> Floats:
    return np.asarray(1 / np.where(np.abs(values) < _TINY, _TINY, values))
