"""The noise test: against tables of Student's t, against brute force, and by what it says of pairs
that are known to be equal or not.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from torch_tb_profiler.analysis.diff import significance
from torch_tb_profiler.analysis.diff.significance import (
    Moments,
    compare_samples,
    compare_steps,
    dependence,
    false_discovery,
    is_significant,
    means_differ,
    moments,
    quantile,
    sample_of,
    significant_rows,
    student,
    welch,
)

pytestmark = pytest.mark.slow

Series = NDArray[np.float64]


def compare_walls(pairs: list[tuple[Series, Series]]) -> significance.Test:
    return compare_samples([(sample_of(a), sample_of(b)) for a, b in pairs])


TRIALS, ALLOWED = 100, 5
"""Equal pairs that may be called different, of a hundred."""


def series(shape: str, steps: int, random: np.random.Generator) -> Series:
    """Step times around 100."""
    if shape == "normal":
        return 100 + 3 * random.normal(size=steps)
    if shape == "lognormal":
        return np.asarray(100 * np.exp(0.3 * random.normal(size=steps)))
    if shape == "heavy tails":
        return 100 + 3 * random.standard_t(2, size=steps)
    found = 100 + 2 * random.normal(size=steps)
    if shape == "one outlier":
        found[random.integers(steps)] *= 1.5
    else:
        for i in range(1, steps):
            found[i] = 100 + 0.4 * (found[i - 1] - 100) + 0.92 * (found[i] - 100)
    return found


@pytest.mark.parametrize(
    "shape", ["normal", "lognormal", "heavy tails", "one outlier", "dependent steps"]
)
@pytest.mark.parametrize("counts", [(3, 3), (3, 10), (5, 5), (10, 10), (6, 30)])
def test_equal_programs_are_within_noise(shape: str, counts: tuple[int, int]) -> None:
    random = np.random.default_rng(7)
    pairs = [
        (series(shape, counts[0], random), series(shape, counts[1], random)) for _ in range(TRIALS)
    ]
    alarms = sum(bool(is_significant(compare_steps(a, b), float(a.mean()))) for a, b in pairs)
    assert alarms <= ALLOWED


@pytest.mark.parametrize(
    ("counts", "factor", "least"),
    [((3, 3), 1.4, 95), ((5, 5), 1.2, 95), ((10, 10), 1.1, 95), ((20, 20), 1.06, 95)],
)
def test_changes_are_found(counts: tuple[int, int], factor: float, least: int) -> None:
    random = np.random.default_rng(8)
    pairs = [
        (series("normal", counts[0], random), series("normal", counts[1], random) * factor)
        for _ in range(TRIALS)
    ]
    assert sum(bool(is_significant(compare_steps(a, b), 100.0)) for a, b in pairs) >= least


def test_workers_that_swing_together_make_nothing_surer() -> None:
    random = np.random.default_rng(9)
    alarms = 0
    for _ in range(TRIALS):
        # What all workers of a side share in a step, and a little of their own.
        sides = [series("normal", 5, random) for _ in range(2)]
        pairs = [
            (sides[0] + random.normal(size=5) / 10, sides[1] + random.normal(size=5) / 10)
            for _ in range(16)
        ]
        alarms += bool(is_significant(compare_walls(pairs), 100.0))
    assert alarms <= ALLOWED


def test_the_mean_over_equal_workers_is_one_of_them() -> None:
    a, b = np.array([100.0, 103, 99, 104]), np.array([109.0, 112, 108, 115])
    one, many = compare_steps(a, b), compare_walls([(a, b)] * 8)
    assert (many.delta, many.p, many.half) == pytest.approx((one.delta, one.p, one.half))
    mixed = compare_walls([(a, b), (a, a)])
    assert mixed.delta == pytest.approx(one.delta / 2)
    assert math.isnan(compare_walls([(a, b), (a, b[:1])]).p)
    assert math.isnan(compare_walls([]).delta)


def test_a_sure_but_tiny_difference_does_not_count() -> None:
    a = np.array([1000.0, 1001, 1000, 999, 1000])
    test = compare_steps(a, a + 5)
    assert test.p < 0.01
    assert is_significant(test, 1000.0) is False


@pytest.mark.parametrize("counts", [(1, 1), (1, 5), (5, 1), (0, 3)])
def test_one_step_tells_nothing(counts: tuple[int, int]) -> None:
    test = compare_steps(np.full(counts[0], 100.0), np.arange(500.0, 500.0 + counts[1]))
    assert math.isnan(test.p)
    assert is_significant(test, 100.0) is None


def test_a_single_step_varies_as_the_others_of_its_recording() -> None:
    """Mean 100, deviation 2 (variance 4 of five steps): 20 away is no noise, 3 is."""
    others = np.array([98.0, 102, 98, 102, 100])
    usual = sample_of(np.array([100.0]), others)
    late = compare_samples([(usual, sample_of(np.array([120.0]), others))])
    assert is_significant(late, 100.0) is True
    near = compare_samples([(usual, sample_of(np.array([103.0]), others))])
    assert is_significant(near, 100.0) is False
    # Eight degrees of freedom, t 3.355 at 1 %, of a difference whose variance is 4 + 4.
    assert near.noise == pytest.approx(3.3554 * math.sqrt(8), rel=1e-4)
    assert math.isnan(sample_of(np.array([100.0]), others[:2]).variance)


@pytest.mark.parametrize("beyond", [False, True])
def test_the_band_of_noise_ends_where_the_verdict_turns(beyond: bool) -> None:
    a = np.array([100.0, 103, 99, 104, 97])
    noise = compare_steps(a, a).noise
    shifted = compare_steps(a, a + noise * (1.001 if beyond else 0.999))
    assert is_significant(shifted, 100.0) is beyond


def test_steps_without_any_spread() -> None:
    assert is_significant(compare_steps(np.full(3, 100.0), np.full(3, 100.0)), 100.0) is False
    assert is_significant(compare_steps(np.full(3, 100.0), np.full(3, 110.0)), 100.0) is True


@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    [
        (12.706205, 1, 0.05),
        (63.656741, 1, 0.01),
        (4.302653, 2, 0.05),
        (2.776445, 4, 0.05),
        (4.604095, 4, 0.01),
        (2.228139, 10, 0.05),
        (1.959964, 1e7, 0.05),
        (0.0, 3, 1.0),
    ],
)
def test_student_against_the_printed_table(t: float, freedom: float, p: float) -> None:
    assert student(np.array([t * t]), np.array([float(freedom)]))[0] == pytest.approx(p, rel=1e-5)
    if 0 < p < 1 and freedom < 1e6:
        assert quantile(p, freedom) == pytest.approx(t, rel=1e-6)


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


def test_dependence_of_neighbours() -> None:
    assert dependence(np.array([1.0, 2, 3])) == 1.0
    assert dependence(np.full(10, 5.0)) == 1.0
    assert dependence(np.array([1.0, -1] * 10)) == 1.0
    assert dependence(np.repeat([1.0, 5.0], 10)) == pytest.approx(4.0)


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
