"""Interval algebra against counting nanoseconds one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.arrays.intervals import (
    Intervals,
    intersect,
    join,
    measure,
    subtract,
    union,
)
from torch_tb_profiler.analysis.facts.derive import break_down
from torch_tb_profiler.store.categories import CATEGORIES

PAIR = st.tuples(st.integers(0, 40), st.integers(0, 12))
PAIRS = st.lists(PAIR, max_size=12)
Pairs = list[tuple[int, int]]


def columns(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([a for a, _ in pairs], np.int64)
    return start, start + np.array([d for _, d in pairs], np.int64)


def points(pairs: Pairs) -> set[int]:
    return {t for a, d in pairs for t in range(a, a + d)}


def covered(found: Intervals) -> set[int]:
    return {
        t
        for a, b in zip(found.start.tolist(), found.end.tolist(), strict=True)
        for t in range(a, b)
    }


@given(PAIRS)
def test_union_covers_the_same_points(pairs: Pairs) -> None:
    found = union(*columns(pairs))
    assert covered(found) == points(pairs)
    assert found.length == len(points(pairs))
    assert (found.start < found.end).all()
    assert (found.end[:-1] < found.start[1:]).all()


@given(PAIRS, PAIRS)
def test_join_covers_both(a: Pairs, b: Pairs) -> None:
    assert covered(join(union(*columns(a)), union(*columns(b)))) == points(a) | points(b)


@given(PAIRS, PAIRS)
def test_what_both_have_and_what_one_has_alone(a: Pairs, b: Pairs) -> None:
    first, second = union(*columns(a)), union(*columns(b))
    for found, expected in (
        (intersect(first, second), points(a) & points(b)),
        (subtract(first, second), points(a) - points(b)),
    ):
        assert covered(found) == expected
        assert (found.start < found.end).all()
        assert (found.end[:-1] < found.start[1:]).all()


@given(PAIRS, PAIRS)
def test_measure_counts_the_points_of_each_window(pairs: Pairs, windows: Pairs) -> None:
    begin, end = columns(windows)
    lengths = measure(union(*columns(pairs)), begin, end)
    assert lengths.tolist() == [len(points(pairs) & set(range(a, a + d))) for a, d in windows]


@given(PAIRS, st.lists(PAIR, min_size=100, max_size=120))
def test_many_windows_in_order_are_measured_as_each_alone(pairs: Pairs, windows: Pairs) -> None:
    begin, end = (np.sort(times) for times in columns(windows))
    found = union(*columns(pairs))
    alone = [measure(found, begin[i : i + 1], end[i : i + 1])[0] for i in range(len(begin))]
    assert measure(found, begin, end).tolist() == alone


@given(st.lists(PAIRS, min_size=7, max_size=7), PAIRS, PAIRS)
def test_every_point_of_a_window_belongs_to_the_first_active_category(
    active: list[Pairs], windows: Pairs, left_out: Pairs
) -> None:
    begin, end = columns(windows)
    unseen = union(*columns(left_out))
    categories = break_down([union(*columns(pairs)) for pairs in active], begin, end, unseen)
    for row, (a, d) in enumerate(windows):
        expected = dict.fromkeys(CATEGORIES, 0)
        for t in set(range(a, a + d)) - points(left_out):
            first = next(
                (key for key, pairs in zip(CATEGORIES, active, strict=False) if t in points(pairs)),
                "other",
            )
            expected[first] += 1
        assert {key: int(categories[key][row]) for key in CATEGORIES} == expected


def test_times_of_a_century_in_nanoseconds_stay_exact() -> None:
    century = 100 * 365 * 86_400 * 10**9
    covered = union(np.array([0, century]), np.array([1, century + 1]))
    assert measure(covered, np.array([0]), np.array([century + 1])).tolist() == [2]
