"""What is asked of columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.store.columns import is_one_of, percentiles_of, unique_values

numbers = st.lists(st.integers(-3, 12), max_size=30)


@given(numbers)
def test_unique_values_are_those_of_numpy(values: list[int]) -> None:
    column = np.array(values, np.int32)
    found = unique_values(column)
    np.testing.assert_array_equal(found, np.unique(column))
    assert found.dtype == column.dtype


@given(numbers, st.sets(st.integers(-3, 12), max_size=5))
def test_members_are_those_of_numpy(values: list[int], members: set[int]) -> None:
    column = np.array(values, np.int8)
    np.testing.assert_array_equal(is_one_of(column, members), np.isin(column, list(members)))


@given(
    st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=40),
    st.lists(st.integers(0, 100), max_size=4),
)
def test_percentiles_are_those_of_numpy(values: list[float], percents: list[int]) -> None:
    found = percentiles_of(np.array(values), percents)
    assert found.tolist() == np.percentile(values, percents).tolist()
