"""How figures of ranks spread: who stands out, who is alike, and which coordinates say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.analysis.distributed.written_ranks import rank_of
from torch_tb_profiler.analysis.distributed.coordinates import Dimension
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.run import run_figures
from torch_tb_profiler.analysis.distributed.spread import (
    RankFigure,
    alike,
    rank_values,
    spreads,
    where,
)
from torch_tb_profiler.store.columns import Array

MS = 1_000_000


def outliers(values: dict[RankFigure, list[float]]) -> dict[RankFigure, list[int]]:
    found = spreads({name: np.array(column) for name, column in values.items()})
    return {name: spread.outliers.tolist() for name, spread in found.items()}


def groups(values: dict[RankFigure, list[float]]) -> list[list[int]]:
    found = spreads({name: np.array(column) for name, column in values.items()})
    return [group.tolist() for group in alike(found)]


@pytest.mark.parametrize(
    ("values", "far"),
    [
        # Equal but for one: the deviation is 0, so 1 % of the step decides.
        ({"step": [100, 100, 100, 100.9]}, {"step": []}),
        ({"step": [100, 100, 100, 101.1]}, {"step": [3]}),
        # What is far among itself is measured by its own deviation: 2, limit 5 · 1.4826 · 2.
        ({"step": [98, 100, 102, 104, 100, 96, 114]}, {"step": []}),
        ({"step": [98, 100, 102, 104, 100, 96, 116]}, {"step": [6]}),
        # Times are judged by the step, not by their own median.
        ({"step": [100] * 4, "exposed": [1, 1, 1, 1.9]}, {"step": [], "exposed": []}),
        ({"step": [100] * 4, "exposed": [1, 1, 1, 2.1]}, {"step": [], "exposed": [3]}),
        ({"step": [100] * 4, "busy": [0.9, 0.9, 0.9, 0.889]}, {"step": [], "busy": [3]}),
        ({"memory": [2000, 2000, 2000, 2019]}, {"memory": []}),
        ({"memory": [2000, 2000, 2000, 2021]}, {"memory": [3]}),
        # Both sides, the farthest first; unknown ranks do not count, and three are too few.
        ({"step": [100, 100, 100, 100, np.nan, 130, 60]}, {"step": [6, 5]}),
        ({"step": [100, 100, 200, np.nan]}, {"step": []}),
    ],
)
def test_who_stands_out(
    values: dict[RankFigure, list[float]], far: dict[RankFigure, list[int]]
) -> None:
    assert outliers(values) == far


def test_a_figure_that_nobody_knows_is_left_out() -> None:
    assert outliers({"step": [1.0, 1.0], "busy": [np.nan, np.nan]}) == {"step": []}
    assert spreads({"step": np.full(3, np.nan)}) == {}
    assert groups({"step": [np.nan, np.nan]}) == []


def test_ranks_are_alike_in_every_figure_and_in_what_is_unknown() -> None:
    assert groups({"step": [100, 102, 104, 110, 112], "busy": [0.5, 0.5, 0.9, 0.9, np.nan]}) == [
        [0, 1],
        [2],
        [3],
        [4],
    ]


def test_who_stands_out_is_not_alike_to_who_does_not() -> None:
    """Rank 4 is 2 % above the others: no gap, but it stands out."""
    assert groups({"step": [100, 100, 100, 100, 102]}) == [[0, 1, 2, 3], [4]]


@given(
    st.lists(
        st.one_of(st.just(float("nan")), st.floats(0, 1e15, allow_nan=False)),
        min_size=1,
        max_size=40,
    )
)
def test_every_known_rank_is_in_one_group_and_quartiles_are_in_order(values: list[float]) -> None:
    found = spreads({"step": np.array(values)})
    known = [rank for rank, value in enumerate(values) if value == value]
    assert sorted(rank for group in alike(found) for rank in group.tolist()) == known
    for spread in found.values():
        assert list(spread.quartiles) == sorted(spread.quartiles)
        assert set(spread.outliers.tolist()) <= set(known)


def dimension(name: str, place: list[int]) -> Dimension:
    return Dimension(name, max(place) + 1, 0, True, np.array(place, np.int64))


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ([2, 3, 6, 7], {"DP": [1]}),
        ([2, 3], {"DP": [1], "PP": [0]}),
        ([6], {"PP": [1], "DP": [1], "TP": [0]}),
        # More than half of the places, or no such block, is no description.
        ([0, 1, 2], {}),
        (list(range(8)), {}),
    ],
)
def test_coordinates_describe_a_group_where_they_are_exactly_its(
    members: list[int], text: dict[str, list[int]]
) -> None:
    mesh = [
        dimension("TP", [0, 1] * 4),
        dimension("DP", [0, 0, 1, 1] * 2),
        dimension("PP", [0] * 4 + [1] * 4),
    ]
    found = where(np.array(members), mesh)
    assert {each.name: places for each, places in found.items()} == text


def test_coordinates_that_are_unknown_of_some_describe_nothing() -> None:
    assert where(np.array([0, 1]), [dimension("PP", [0, 0, 1, 1, -1])]) == {}
    assert where(np.array([0]), []) == {}


def ranked(number: int, walls: list[int], busy: list[int], memory: list[int]) -> Rank:
    """A rank with steps of these durations in ms, of which 1 ms is exposed communication."""
    bare = rank_of(number, [], steps=range(len(walls)))
    start = np.arange(len(walls), dtype=np.int64) * 1000 * MS
    wall = np.array(walls, np.int64) * MS
    one = np.full(len(walls), MS, np.int64)
    return replace(
        bare,
        step_start=start,
        step_end=start + wall,
        shares=np.stack([wall - 4 * one, 2 * one, one, one]),
        busy=np.array(busy, np.int64) * MS,
        peak_memory=np.array(memory, np.int64),
    )


def known(values: dict[RankFigure, Array], rank: int) -> dict[RankFigure, float]:
    return {name: float(column[rank]) for name, column in values.items()}


def test_figures_of_a_rank_are_means_of_its_steps_and_the_most_memory() -> None:
    figures = run_figures(
        [
            ranked(0, [100, 200, 300], [50, 50, 50], [7, 9, 8]),
            ranked(1, [100, 100], [-1, -1], [-1, -1]),
        ]
    )
    everything = rank_values(figures, None)
    assert known(everything, 0) == {
        "step": 200 * MS,
        "computation": 198 * MS,
        "exposed": MS,
        "busy": 0.25,
        "memory": 9,
    }
    last = rank_values(figures, np.array([2]))
    assert known(last, 0)["busy"] == pytest.approx(1 / 6)
    assert np.isnan(last["step"][1])
    assert np.isnan([everything["busy"][1], everything["memory"][1]]).all()
