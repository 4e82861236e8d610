"""Device time carried up the call tree, as deep as it may be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import operators
from tests.builders.drawn import trace_of
from tests.builders.loop import span
from torch_tb_profiler.analysis.facts import operators as operator_facts
from torch_tb_profiler.analysis.facts.derive import derive

# A node's place above it, and its own value.
FORESTS = st.lists(st.tuples(st.integers(-1, 30), st.integers(0, 5)), max_size=30)


@pytest.mark.parametrize("deep", [0, 1, 3, 200])
@given(nodes=FORESTS)
def test_sums_over_everything_below(deep: int, nodes: list[tuple[int, int]]) -> None:
    above = np.array([min(outer, place - 1) for place, (outer, _) in enumerate(nodes)], np.int64)
    own = np.array([value for _, value in nodes], np.int64)
    expected = own.tolist()
    for place in range(len(nodes) - 1, -1, -1):
        if above[place] >= 0:
            expected[above[place]] += expected[place]
    usual, operator_facts.DEEP = operator_facts.DEEP, deep
    try:
        assert operator_facts._carried_up(own, above).tolist() == expected
    finally:
        operator_facts.DEEP = usual


def test_five_thousand_operators_in_one_another_that_launch_each() -> None:
    n = 5000
    listed = []
    for i in range(n):
        listed += [
            span("cpu_op", f"f{i}", 1, 1, i, 3 * n - 2 * i),
            span("cuda_runtime", "cudaLaunchKernel", 1, 1, i + 0.5, 0.1, correlation=i + 1),
            span("kernel", "k", 0, 7, 4 * n + i, 1, correlation=i + 1, device=0, stream=7),
        ]
    rows = operators(derive(trace_of(listed)))
    assert [rows[f"f{i}",][1:3] for i in (0, 1, n - 1)] == [(1, n), (1, n - 1), (1, 1)]
