"""Replays by chains against replays point by point, of any graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.analysis.what_if.graph import NONE, ROOT
from torch_tb_profiler.analysis.what_if.replay import Delays, replay
from torch_tb_profiler.analysis.what_if.simulation import find_chains
from torch_tb_profiler.store.columns import Ints

Graph = tuple[Ints, Ints, Delays]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Two threads, which now and then wait for any point, and two streams, whose work waits for launches of either;
    and some points that wait for any two.
    """
    n, seed = draw(st.integers(2, 120)), draw(st.integers(0, 2**32 - 1))
    rng, odd = np.random.default_rng(seed), draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))
    first, second = np.full((2, n), NONE, np.int64)
    last = {"thread": [ROOT, ROOT], "stream": [ROOT, ROOT]}
    for point in range(2, n):
        kind, own = ("thread", "stream")[rng.integers(2)], int(rng.random() < 0.3)
        first[point] = last[kind][own]
        if kind == "stream":
            second[point] = last["thread"][int(rng.random() < 0.1)]
        if rng.random() < odd:
            first[point], second[point] = rng.integers(NONE, point, 2)
        if first[point] == second[point] == NONE:
            first[point] = ROOT
        last[kind][own] = point
    # Eighths of whole numbers are summed without rounding, in whatever order.
    after_first, after_second = rng.integers(-8, 80, (2, n)) / 8
    after_second[rng.random(n) < 0.5] += 20
    after_second[rng.random(n) < 0.1] = -np.inf
    after_second[first == NONE] = 1.0
    return first, second, Delays(after_first, after_second)


@given(graphs())
@examples(400)
def test_chains_replay_as_points_do(graph: Graph) -> None:
    first, second, delay = graph
    expected = replay(first, second, delay)
    np.testing.assert_array_equal(find_chains(first, second).replay(delay), expected)


def key_points(first: list[int], second: list[int]) -> int:
    """How many key points a graph has."""
    return len(find_chains(np.array(first, np.int64), np.array(second, np.int64)).keys)


@pytest.mark.parametrize("members", [1, 50])
def test_a_thread_and_a_stream_have_one_key_point_each(members: int) -> None:
    """NONE, ROOT, and the first launch is a member of the begin: the first work alone is a key point."""
    first, second = [NONE, NONE], [NONE, NONE]
    launch, end = ROOT, NONE
    for _ in range(members):
        first, second = [*first, launch], [*second, NONE]
        launch = len(first) - 1
        first, second = [*first, end or ROOT], [*second, launch]
        end = len(first) - 1
    assert key_points(first, second) == 3
