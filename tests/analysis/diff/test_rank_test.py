"""The verdict on steps: against brute force, and by what it says of pairs that are known to be equal
or not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from torch_tb_profiler.analysis.diff import rank_test
from torch_tb_profiler.analysis.diff.rank_test import (
    LEAST_STEPS,
    MARGIN,
    Sample,
    compare_samples,
    critical_rank,
    dependence,
    u_distribution,
)
from torch_tb_profiler.analysis.diff.significance import LEVEL

pytestmark = pytest.mark.slow

Series = NDArray[np.float64]

SHAPES = ["normal", "lognormal", "bimodal", "outliers"]
SPREADS = [0.001, 0.01, 0.03, 0.1, 0.5]
PAIRS = 200


def compare_steps(a: Series, b: Series) -> rank_test.Test:
    return compare_samples([(Sample(a), Sample(b))])


def series(shape: str, steps: int, random: np.random.Generator, spread: float = 0.03) -> Series:
    """Step times around 1 ms, whole ns."""
    noise = random.normal(size=steps)
    if shape == "lognormal":
        found = np.exp(spread * noise)
    elif shape == "bimodal":
        found = np.where(random.random(steps) < 0.5, 1, 1 + 3 * spread) * (1 + spread / 10 * noise)
    else:
        found = 1 + spread * noise
        if shape == "outliers":
            found[random.random(steps) < 0.1] *= 1 + 10 * random.random()
        elif shape == "dependent steps":
            for i in range(1, steps):
                found[i] = 1 + 0.4 * (found[i - 1] - 1) + 0.92 * (found[i] - 1)
    return np.asarray(np.round(1e6 * np.maximum(found, 0.05)))


def drawn(seed: int, factor: float, least: int = 3) -> Iterator[tuple[Series, Series]]:
    """Pairs of ``least`` to 50 steps, those of B longer by a factor."""
    random = np.random.default_rng(seed)
    for _ in range(PAIRS):
        shape, spread = str(random.choice(SHAPES)), float(random.choice(SPREADS))
        a, b = (series(shape, int(random.integers(least, 51)), random, spread) for _ in range(2))
        yield a, np.round(b * factor)


def separate(a: Series, b: Series) -> bool:
    return bool(b.min() > a.max() or a.min() > b.max())


def test_a_regression_is_not_hidden_by_its_own_noise() -> None:
    a = np.array([520_000.0, 530_000, 526_000, 524_000, 531_000])
    b = np.array([2e6, 700e6, 20e6, 3e6, 40e6])
    assert compare_steps(a, b).changed is True
    assert compare_steps(b, a).changed is True


def test_equal_programs_raise_at_most_two_alarms_of_a_hundred_on_each_side() -> None:
    alarms = [compare_steps(a, b) for a, b in drawn(0, 1.0)]
    for longer in (False, True):
        told = [test for test in alarms if test.changed and (test.share > 0) is longer]
        assert len(told) <= 0.02 * PAIRS


@pytest.mark.parametrize("shape", [*SHAPES, "dependent steps"])
@pytest.mark.parametrize("counts", [(4, 4), (3, 10), (5, 5), (10, 10), (6, 30)])
def test_equal_programs_of_one_shape_are_not_changed(shape: str, counts: tuple[int, int]) -> None:
    random = np.random.default_rng(7)
    alarms = sum(
        compare_steps(*(series(shape, n, random) for n in counts)).changed is True
        for _ in range(100)
    )
    assert alarms <= 5


@pytest.mark.parametrize("factor", [1.0, 1.05, 20, 0.9])
def test_separate_steps_are_changed_wherever_the_data_can_tell(factor: float) -> None:
    told = 0
    for a, b in drawn(11, factor):
        changed = compare_steps(a, b).changed
        if separate(a, b):
            gap = max(b.min() - a.max(), a.min() - b.max())
            told += 1
            assert changed is not False
            if min(len(a), len(b)) >= LEAST_STEPS or gap > max(np.ptp(a), np.ptp(b)):
                assert changed is True
    assert told or abs(factor - 1) < 0.01


@pytest.mark.parametrize("n", range(2, 7))
def test_few_separate_steps_are_changed_if_far_apart_or_many_enough(n: int) -> None:
    a = np.arange(100.0, 100 + n)
    near, far = compare_steps(a, a + n), compare_steps(a, a + 2 * n)
    assert near.changed is (True if n >= LEAST_STEPS else None)
    assert far.changed is (True if n >= rank_test.LEAST_APART else None)
    assert compare_steps(a, a + n).needed >= LEAST_STEPS


@pytest.mark.parametrize(
    ("counts", "factor", "least"),
    [((5, 5), 1.3, 95), ((10, 10), 1.1, 90), ((20, 20), 1.06, 95), ((20, 20), 1.0, 90)],
)
def test_what_was_drawn_is_told(counts: tuple[int, int], factor: float, least: int) -> None:
    random = np.random.default_rng(8)
    told = [
        compare_steps(
            series("normal", counts[0], random), series("normal", counts[1], random) * factor
        )
        for _ in range(100)
    ]
    assert sum(test.changed is (factor != 1) for test in told) >= least


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_few_steps_that_became_much_longer_are_not_unchanged(share: float) -> None:
    random = np.random.default_rng(10)
    for _ in range(20):
        a, b = (series("normal", 50, random, 0.01) for _ in range(2))
        assert compare_steps(a, b).changed is not True
        test = compare_steps(a, np.where(np.arange(50) < share * 50, 2 * b, b))
        assert test.changed is not False
        assert test.high >= test.delta / a.mean()


def test_the_interval_holds_the_change() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(PAIRS):
        test = compare_steps(series("lognormal", 8, random), 1.2 * series("lognormal", 12, random))
        held += test.low <= 0.2 <= test.high
    assert held >= 0.97 * PAIRS


def test_as_many_steps_as_are_said_to_be_needed_tell() -> None:
    random = np.random.default_rng(6)
    told = []
    for _ in range(PAIRS):
        test = compare_steps(*(series("normal", 5, random) for _ in range(2)))
        if test.changed is None:
            more = (series("normal", test.needed, random) for _ in range(2))
            told.append(compare_steps(*more).changed is not None)
    assert np.mean(told) > 0.6


def enumerated(n: int, m: int) -> list[float]:
    """P(U ≤ u), from every order of n steps of A and m of B."""
    counts = np.zeros(n * m + 1)
    for places in itertools.combinations(range(n + m), n):
        counts[sum(place - i for i, place in enumerate(places))] += 1
    return list(np.cumsum(counts) / counts.sum())


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 3), (5, 5), (4, 7)])
def test_the_distribution_against_every_order(n: int, m: int) -> None:
    assert u_distribution(n, m) == pytest.approx(enumerated(n, m))


@pytest.mark.parametrize(("n", "m"), [(30, 30), (50, 50), (10, 60)])
def test_the_normal_approximation_is_near(n: int, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = critical_rank(n, m)
    monkeypatch.setattr(rank_test, "MOST_EXACT", 0)
    assert abs(critical_rank(n, m) - exact) <= 0.01 * n * m


def test_many_steps_are_thinned() -> None:
    random = np.random.default_rng(4)
    a, b = series("outliers", 3000, random), 1.02 * series("outliers", 5000, random)
    test = compare_steps(a, b)
    assert test.share == pytest.approx(0.02, abs=0.005)
    assert test.changed is True
    assert test.high - test.low < 0.01


def test_the_interval_and_p_agree() -> None:
    for a, b in drawn(3, 1.02, least=LEAST_STEPS):
        test = compare_steps(a, b)
        if not 0.005 < test.p < 0.02:
            assert (test.p <= LEVEL) is (test.changed is True)


def test_workers_that_swing_together_make_nothing_surer() -> None:
    random = np.random.default_rng(9)
    alarms = 0
    for _ in range(100):
        # What all workers of a side share in a step, and a little of their own.
        sides = [series("normal", 6, random) for _ in range(2)]
        pairs = [
            (Sample(sides[0] + 100 * random.normal(size=6)), Sample(sides[1])) for _ in range(16)
        ]
        alarms += compare_samples(pairs).changed is True
    assert alarms <= 2


def test_the_mean_over_equal_workers_is_one_of_them() -> None:
    a, b = np.array([100.0, 103, 99, 104, 101]), np.array([109.0, 112, 108, 115, 111])
    one, many = compare_steps(a, b), compare_samples([(Sample(a), Sample(b))] * 8)
    assert (many.delta, many.share, many.low, many.high) == pytest.approx(
        (one.delta, one.share, one.low, one.high)
    )
    mixed = compare_samples([(Sample(a), Sample(b)), (Sample(a), Sample(a))])
    assert mixed.share == pytest.approx(one.share / 2)
    assert compare_samples([(Sample(a), Sample(b)), (Sample(a), Sample(b[:1]))]).changed is None
    assert math.isnan(compare_samples([]).delta)


def test_a_single_step_varies_as_the_others_of_its_recording() -> None:
    """Mean 100, deviation 0.5 (variance 0.25 of five steps)."""
    others = np.array([99.5, 100.5, 99.5, 100.5, 100])
    usual = Sample(np.array([100.0]), others)
    late, near, same = (
        compare_samples([(usual, Sample(np.array([wall]), others))]) for wall in (120.0, 103, 100.1)
    )
    assert (late.changed, near.changed, same.changed) == (True, True, False)
    # Eight degrees of freedom, t 2.896 at 1 %, of a difference whose variance is 0.25 + 0.25.
    assert near.high - near.share == pytest.approx(2.8965 * math.sqrt(0.5) / 100, rel=1e-4)
    unknown = compare_samples([(usual, Sample(np.array([120.0]), others[:2]))])
    assert (unknown.changed, unknown.needed) == (None, LEAST_STEPS)


def test_steps_without_any_spread() -> None:
    same, longer, none = (np.full(5, wall) for wall in (100.0, 110.0, 0.0))
    assert compare_steps(same, same).changed is False
    assert compare_steps(same, longer).changed is True
    assert compare_steps(none, none).changed is False
    assert compare_steps(none, longer).changed is True


def test_a_sure_but_small_change_is_told_with_its_size() -> None:
    a = np.array([1000.0, 1001, 1000, 999, 1000])
    test = compare_steps(a, a + 5)
    assert test.changed is True
    assert 0 < test.low < 0.005 < test.high < MARGIN


def test_dependence_of_neighbours() -> None:
    assert dependence(np.array([1.0, 2, 3])) == 1.0
    assert dependence(np.full(10, 5.0)) == 1.0
    assert dependence(np.array([1.0, -1] * 10)) == 1.0
    assert dependence(np.repeat([1.0, 5.0], 10)) == pytest.approx(4.0)


def test_many_steps_have_the_normal_law_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [rank_test._p(u, 30, 30, 1.0) for u in range(200, 450, 25)]
    monkeypatch.setattr(rank_test, "MOST_EXACT", 0)
    assert [rank_test._p(u, 30, 30, 1.0) for u in range(200, 450, 25)] == pytest.approx(
        exact, abs=4e-3
    )
