"""Grouping by several columns against a dictionary, and exact sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.arrays.grouping import (
    group_rows,
    join_knowledge,
    largest_by,
    sum_by,
)
from torch_tb_profiler.hardware.knowledge import Knowledge

# What a hostile file may hold: numbers of any size and sign in columns that mostly hold small ones.
VALUES = (
    st.integers(-3, 3)
    | st.integers(-1, 30)
    | st.integers(-(1 << 62), 1 << 62)
    | st.just((1 << 31) - 1)
)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.tuples(*[VALUES] * width), min_size=1, max_size=20)
    )
)
def test_groups_are_the_distinct_tuples(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)]
    first, group = group_rows(columns)
    assert [rows[row] for row in first] == sorted(set(rows))
    assert [rows[first[number]] for number in group] == rows
    assert all(rows.index(rows[row]) == row for row in first)


def test_no_rows_have_no_groups() -> None:
    first, group = group_rows((np.zeros(0, np.int64), np.zeros(0, np.int32)))
    assert (len(first), len(group)) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1 << 58)), max_size=16))
def test_sums_are_exact(pairs: list[tuple[int, int]]) -> None:
    group, values = (np.array([pair[k] for pair in pairs], np.int64) for k in (0, 1))
    assert sum_by(group, 4, values).tolist() == [
        sum(value for key, value in pairs if key == number) for number in range(4)
    ]


def test_one_known_use_outweighs_what_is_not_known() -> None:
    no, yes, unknown = Knowledge.NO, Knowledge.YES, Knowledge.UNKNOWN
    values = np.array([no, no, no, unknown, unknown, yes, yes, no])
    assert join_knowledge(np.array([0, 0, 1, 1, 2, 2, 3, 3]), 4, values).tolist() == [
        no,
        unknown,
        yes,
        yes,
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(-2, 2)), max_size=20))
def test_the_largest_of_a_group(rows: list[tuple[int, bool, int]]) -> None:
    group, first, second = (np.array([row[k] for row in rows], np.int64) for k in range(3))
    expected = [
        max(
            (i for i, row in enumerate(rows) if row[0] == number),
            key=lambda i: (rows[i][1:], i),
            default=-1,
        )
        for number in range(4)
    ]
    assert largest_by(group, 4, first.astype(np.bool_), second).tolist() == expected
