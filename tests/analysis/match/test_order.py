"""The longest common subsequence against the table that everybody knows, and bounds on what it costs."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.analysis.match.order import common_subsequence
from torch_tb_profiler.store.columns import Ints

SEQUENCE = st.lists(st.integers(0, 4), max_size=14)


def longest(a: list[int], b: list[int]) -> int:
    """The length by the recursion."""
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


def common(a: Ints, b: Ints) -> int:
    """How much was found; it ascends and is equal on both sides."""
    i, j = common_subsequence(a, b)
    assert (np.diff(i) > 0).all()
    assert (np.diff(j) > 0).all()
    assert (a[i] == b[j]).all()
    return len(i)


@examples(300)
@given(SEQUENCE, SEQUENCE)
def test_it_is_the_longest(a: list[int], b: list[int]) -> None:
    assert common(np.array(a, np.int64), np.array(b, np.int64)) == longest(a, b)


def test_long_sequences_cost_little_whatever_they_hold() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(0, 50, (2, 30_000))
    begin = time.process_time()
    assert common(a, b) > 0
    without = np.delete(a, np.arange(0, len(a), 300))
    assert common(a, without) == len(without)
    assert time.process_time() - begin < 20
