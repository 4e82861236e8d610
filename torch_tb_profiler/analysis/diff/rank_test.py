"""Whether the steps of one recording take longer than those of another: changed, unchanged, or neither
is shown.

The change is the Hodges–Lehmann estimate of the ratio of a step of B to one of A, less 1: the median
of all n·m ratios (J. L. Hodges, E. L. Lehmann, "Estimates of location based on rank tests", Ann. Math.
Statist. 34, 1963). Its interval lies between two of these ratios and inverts the exact test of H. B.
Mann and D. R. Whitney ("On a test of whether one of two random variables is stochastically larger than
the other", Ann. Math. Statist. 18, 1947), which asks one side at ``LEVEL``: it leaves out 0 where the test
shows that steps are longer, or that they are shorter. Only the order of ratios counts, so that no noisy step
inflates it, and odd steps are left out of the mean alone. An interval that does not leave out 0 is widened to
hold the change of the mean: where a few steps became much longer, nothing is unchanged.

::

    interval        ├──┤   │            changed
    of the       ───┼──├─┤─┼───▶ ratio  unchanged within ±MARGIN: the interval lies inside
    change          ├──────┼──┤         cannot tell: it reaches beyond, and does not leave out 0
                    0    MARGIN
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.diff.repeats import Repeats, Unit, odd_items, unit_between
from torch_tb_profiler.analysis.diff.significance import LEVEL, Floats, quantile, welch
from torch_tb_profiler.analysis.diff.work_size import Shapes, Work, work_between
from torch_tb_profiler.store.columns import Mask

MARGIN = 0.05
"""Equivalence margin: unchanged is what differs by at most this share of A's step."""
LEAST_STEPS = 5
"""Steps of each side from which on two separate sides differ at ``LEVEL``: 1 / C(10, 5) < 0.01 < 1 / C(8, 4)."""
LEAST_APART = 3
"""Steps of each side from which on two sides differ that are further apart than either is wide, and are alike where
all lie within ``MARGIN``."""
LEAST_OTHERS = 3
"""Other steps of a recording from which the spread of a single one is estimated."""
LEAST_NEIGHBOURS = 4
"""Steps needed to estimate the correlation of neighbours."""
MOST_DEPENDENCE = 0.6
POWER = 1.85
"""Times as many steps as let the interval suffice in half of all recordings, for four of five: the square of
1 + 0.842 / 2.326, normal deviates of that power and of ``LEVEL``."""
MOST_EXACT = 2500
"""Pairs of steps up to which the distribution of U is exact; beyond, it is nearly normal."""
MOST_STEPS = 400
"""Steps of a side whose ratios are taken; of more, evenly spaced ones in order of length."""
_NORMAL = 2.3263478740408408
"""The standard normal deviate that is exceeded with probability ``LEVEL``."""


class Sample(msgspec.Struct, frozen=True):
    """One side.

    walls: times of the tested steps in order, ns, shape (steps,).
    others: of a single step, the other usual steps of its recording; it varies as they do.
    shapes: what its operators worked on.
    odd: which steps are left out of the mean, and of the mean alone; shape (steps,), or empty where none is.
    cold: times of its cold steps, ns.
    repeats: what a recording without steps repeats; None of one with steps.
    """

    walls: Floats
    others: Floats = msgspec.field(default_factory=lambda: np.zeros(0))
    shapes: Shapes = msgspec.field(default_factory=dict)
    odd: Mask = msgspec.field(default_factory=lambda: np.zeros(0, np.bool_))
    cold: Floats = msgspec.field(default_factory=lambda: np.zeros(0))
    repeats: Repeats | None = None

    @property
    def steps(self) -> int:
        return len(self.walls)

    @property
    def usual(self) -> Floats:
        """Times of the steps that make up the mean, ns."""
        return self.walls[~self.odd] if len(self.odd) else self.walls

    @property
    def mean(self) -> float:
        """ns; NaN without a step."""
        return float(self.usual.mean()) if self.steps else math.nan

    def of_factor(self, factor: float) -> Sample:
        """As much of its work as one ``factor``-th of a step does."""
        times = {key: getattr(self, key) / factor for key in ("walls", "others", "cold")}
        return replace(self, **times)


class Test(msgspec.Struct, frozen=True):
    """A comparison of B with A.

    delta: mean step of B less that of A, ns.
    share: the change, as a share of A's step; NaN where a side has no step.
    low, high: its interval; infinite where there are too few steps for one.
    p: one-sided, in the direction of the change; NaN of several workers, and where it cannot be tested.
    needed: steps of each side that would tell, if these are typical.
    counts: steps of A and B that are tested.
    means: mean steps of A and B, ns.
    apart: no order of so few steps reaches ``LEVEL``: what tells is the gap between both sides.
    work: where a step of B does more or less work; then all figures but the means are of as much of B's as a step of A does.
    unit: of recordings without steps what is tested in their place.
    """

    delta: float
    share: float
    low: float
    high: float
    p: float
    needed: int
    counts: tuple[int, int] = (0, 0)
    means: tuple[float, float] = (math.nan, math.nan)
    apart: bool = False
    work: Work | None = None
    unit: Unit | None = None

    @property
    def changed(self) -> bool | None:
        """True: changed; False: unchanged within ±``MARGIN``; None: cannot tell."""
        if self.low > 0 or self.high < 0:
            return True
        return False if max(-self.low, self.high) <= MARGIN else None


def compare_samples(pairs: Sequence[tuple[Sample, Sample]]) -> Test:
    """The mean over pairs of workers of the comparison of their step times.

    Workers that wait for each other are slow in the same steps, so more of them add no certainty:
    the interval of a mean of dependent quantities is at most as wide as the mean of their intervals,
    which is used here.
    """
    tests = [_per_unit(a, b) for a, b in pairs]
    if len(tests) == 1:
        return tests[0]

    def mean(*keys: str) -> list[float]:
        return [float(np.mean([getattr(t, key) for t in tests])) for key in keys if tests]

    least = np.min([test.counts for test in tests] or [(0, 0)], axis=0)
    means = np.mean([test.means for test in tests] or [(math.nan, math.nan)], axis=0)
    delta, share, low, high = mean("delta", "share", "low", "high") or [math.nan] * 4
    return Test(
        delta,
        share,
        low,
        high,
        math.nan,
        max((test.needed for test in tests), default=0),
        (int(least[0]), int(least[1])),
        (float(means[0]), float(means[1])),
        any(test.apart for test in tests),
        next((test.work for test in tests if test.work), None),
        next((test.unit for test in tests if test.unit), None),
    )


def _per_unit(a: Sample, b: Sample) -> Test:
    unit = unit_between(a.repeats, b.repeats) if a.repeats and b.repeats else None
    if unit is None:
        return _per_work(a, b)
    items = (
        Sample(items, shapes=side.shapes, odd=odd_items(items))
        for items, side in zip(unit.items, (a, b), strict=True)
    )
    return replace(_per_work(*items), unit=unit)


def _per_work(a: Sample, b: Sample) -> Test:
    work = work_between(a.shapes, b.shapes)
    if work is None:
        return _compare(a, b)
    return replace(_compare(a, b.of_factor(work.factor)), work=work, means=(a.mean, b.mean))


def _compare(a: Sample, b: Sample) -> Test:
    if not (a.steps and b.steps):
        test = Test(math.nan, math.nan, -math.inf, math.inf, math.nan, LEAST_STEPS)
    else:
        test = _by_ranks(a, b) if min(a.steps, b.steps) > 1 else _of_single(a, b)
    return replace(test, counts=(a.steps, b.steps), means=(a.mean, b.mean))


def _by_ranks(a: Sample, b: Sample) -> Test:
    n, m = a.steps, b.steps
    # A step of no length has no ratio.
    few = [np.maximum(_spaced(np.sort(one.walls)), 1.0) for one in (a, b)]
    ratios = np.sort((few[1][None, :] / few[0][:, None]).ravel()) - 1
    share = float(np.median(ratios))
    u = float((ratios < 0).mean() + (ratios == 0).mean() / 2) * n * m
    widened = math.sqrt((dependence(a.usual) * m + dependence(b.usual) * n) / (n + m))
    p, rank, apart = _p(u, n, m, widened), critical_rank(n, m), False
    if rank:
        rank = max(1, math.floor(n * m / 2 - widened * (n * m / 2 - rank)))
    else:
        p = min(p, _chance_with_cold(a, b))
        apart = p > LEVEL and _apart(a.walls, b.walls)
        rank = int(p <= LEVEL or apart or _alike(a.walls, b.walls))
    at = round((rank - 0.5) / (n * m) * len(ratios) - 0.5)
    low, high = (float(ratios[at]), float(ratios[-1 - at])) if rank else (-math.inf, math.inf)
    delta = b.mean - a.mean
    if low <= 0 <= high:
        # Ranks do not see that a few steps became much longer; the mean does.
        low, high = min(low, delta / max(a.mean, 1.0)), max(high, delta / max(a.mean, 1.0))
    half = (high - low) / 2 if rank else float(ratios[-1] - ratios[0]) / 2
    return Test(delta, share, low, high, p, _needed(share, half, n, m), apart=apart)


def _chance_with_cold(a: Sample, b: Sample) -> float:
    """The probability, one-sided, that so many steps of one distribution, and so many cold ones of another, are
    separate as these are; 1 where they are not. Cold steps are compared with cold ones alone.
    """
    chance, sides = 1.0, set[bool]()
    for one, other in ((a.walls, b.walls), (a.cold, b.cold)):
        if len(one) and len(other):
            longer = bool(other.min() > one.max())
            if not longer and other.max() >= one.min():
                return 1.0
            sides.add(longer)
            chance /= math.comb(len(one) + len(other), len(one))
    return chance if len(sides) == 1 else 1.0


def _spaced(ordered: Floats) -> Floats:
    if len(ordered) <= MOST_STEPS:
        return ordered
    return np.asarray(ordered[np.linspace(0, len(ordered) - 1, MOST_STEPS).round().astype(int)])


def _apart(a: Floats, b: Floats) -> bool:
    """Whether the gap between both sides exceeds the spread within each: a change by any standard,
    though fewer than ``LEAST_STEPS`` steps cannot reach ``LEVEL`` by their order alone.
    """
    gap = max(b.min() - a.max(), a.min() - b.max())
    return bool(min(len(a), len(b)) >= LEAST_APART and gap > max(np.ptp(a), np.ptp(b)))


def _alike(a: Floats, b: Floats) -> bool:
    """Whether no step differs from any other by more than ``MARGIN`` and neither side is wholly above the other."""
    low, high = min(a.min(), b.min()), max(a.max(), b.max())
    apart = a.max() < b.min() or b.max() < a.min()
    return bool(min(len(a), len(b)) >= LEAST_APART and high <= (1 + MARGIN) * low and not apart)


def critical_rank(n: int, m: int) -> int:
    """The rank among n·m ordered ratios, from 1, at which the interval begins, and as far from their
    end ends; 0 where so few steps allow none: the largest k with P(U < k) ≤ ``LEVEL``.
    """
    if n * m <= MOST_EXACT:
        return int(np.searchsorted(u_distribution(n, m), LEVEL, side="right"))
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    rank = math.floor(n * m / 2 - _NORMAL * deviation + 0.5)
    return max(rank, int(1 / math.comb(n + m, n) <= LEVEL))


@lru_cache(maxsize=64)
def u_distribution(n: int, m: int) -> Floats:
    """P(U ≤ u) of independent steps of one distribution, float64 of shape (n·m + 1,).

    The longest of all steps is one of A with probability n / (n + m), and then longer than all m of B
    (Mann and Whitney's recurrence).
    """
    before = [np.ones(1)] * (m + 1)
    for i in range(1, n + 1):
        row = [np.ones(1)]
        for j in range(1, m + 1):
            density = np.zeros(i * j + 1)
            density[j:] += i / (i + j) * before[j]
            density[: i * (j - 1) + 1] += j / (i + j) * row[j - 1]
            row.append(density)
        before = row
    return np.asarray(np.cumsum(before[m]))


def _p(u: float, n: int, m: int, widened: float) -> float:
    """One-sided p of U, whose deviation is ``widened`` by what neighbouring steps have in common."""
    below = min(u, n * m - u)
    if below == 0:
        return 1 / math.comb(n + m, n)
    below = n * m / 2 - (n * m / 2 - below) / widened
    if n * m <= MOST_EXACT:
        return float(u_distribution(n, m)[math.ceil(below)])
    deviation = math.sqrt(n * m * (n + m + 1) / 12)
    return math.erfc((n * m / 2 - below - 0.5) / deviation / math.sqrt(2)) / 2


def _of_single(a: Sample, b: Sample) -> Test:
    """Welch's t test, where a side has one step: its rank tells nothing, and the usual steps of a
    recording, without odd ones, vary little enough for their deviation to tell.
    """
    delta = b.mean - a.mean
    step = max(a.mean, 1.0)
    spreads = [_variance(one) for one in (a, b)]
    if any(math.isnan(variance) for variance, _ in spreads):
        return Test(delta, delta / step, -math.inf, math.inf, math.nan, LEAST_STEPS)
    (va, na), (vb, nb) = spreads
    p, freedom = welch(np.array([delta]), (np.array([va]), na), (np.array([vb]), nb))
    half = quantile(2 * LEVEL, float(freedom[0])) * math.sqrt(va + vb) if va + vb else 0.0
    ends = (delta - half) / step, (delta + half) / step
    return Test(
        delta, delta / step, *ends, float(p[0]) / 2, _needed(delta / step, half / step, 1, 1)
    )


def _variance(side: Sample) -> tuple[float, int]:
    """Variance of the mean of a side, ns², and the number of steps that it is estimated from."""
    if side.steps > 1:
        return float(side.walls.var(ddof=1)) / side.steps * dependence(side.walls), side.steps
    if len(side.others) >= LEAST_OTHERS:
        return float(side.others.var(ddof=1)), len(side.others)
    return math.nan, 0


def _needed(share: float, half: float, n: int, m: int) -> int:
    """Steps of each side at which an interval of this half width, which shrinks with the root of their
    number, would leave out 0 or lie inside ±``MARGIN`` in four of five recordings.
    """
    wanted = max(abs(share), MARGIN - abs(share))
    each = 2 / (1 / n + 1 / m) * POWER * (half / wanted) ** 2
    return max(LEAST_STEPS, min(n, m) + 1, math.ceil(each))


def dependence(x: Floats) -> float:
    """(1 + r) / (1 - r) of a series, r the correlation of neighbours; 1 without a positive one: how
    much more the mean of so dependent steps varies.

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
