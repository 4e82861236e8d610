"""What the map of workers and steps shows: measures, columns of several steps, and who is far above the others."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.analysis.distributed.written_ranks import Call, rank_of
from torch_tb_profiler.analysis.arrays.grouping import block_begins
from torch_tb_profiler.analysis.distributed.measures import (
    largest,
    means,
    measured,
    step_times,
    summed,
)
from torch_tb_profiler.analysis.distributed.run import RunFigures, run_figures
from torch_tb_profiler.analysis.distributed.spread import outliers


def figures_of(late: list[int], steps: int = 2) -> RunFigures:
    """Ranks that reach one all_reduce per step so much later; a step takes 1,000 ns."""
    ranks = []
    for number, after in enumerate(late):
        calls = [
            Call("all_reduce", 1000 * step + after, 900 - after, sequence=step, step=step)
            for step in range(steps)
        ]
        shares = np.repeat([[600], [100], [200], [100]], steps, axis=1)
        ranks.append(replace(rank_of(number, calls, steps=range(steps)), shares=shares))
    return run_figures(ranks)


def test_each_measure_is_one_of_the_figures() -> None:
    figures = figures_of([0, 30, 100])
    assert measured(figures, "late").tolist() == [[0, 0], [30, 30], [100, 100]]
    assert measured(figures, "waiting").tolist() == [[100, 100], [70, 70], [0, 0]]
    assert (measured(figures, "transfer") == 800).all()
    for measure, expected in (("computation", 600), ("hidden", 100), ("exposed", 200)):
        assert (measured(figures, measure) == expected).all()  # type: ignore[arg-type]
    assert (measured(figures, "step") == 1000).all()


def test_lateness_to_collectives_at_once_counts_once_and_fits_into_the_step() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
        begins = np.sort(draw.integers(0, 300, size=6)).tolist()
        after = draw.integers(100, 900, size=6).tolist()
        ranks = []
        for number in (0, 1):
            calls = [
                Call(
                    "all_reduce",
                    begin + number * late,
                    2000 - begin - number * late,
                    sequence=place,
                    step=0,
                )
                for place, (begin, late) in enumerate(zip(begins, after, strict=True))
            ]
            shares = np.array([[600], [100], [200], [100]])
            ranks.append(replace(rank_of(number, calls, steps=range(1)), shares=shares))
        figures = run_figures(ranks)
        [[first], [second]] = measured(figures, "late").tolist()
        pairs = zip(begins, after, strict=True)
        covered = {moment for begin, late in pairs for moment in range(begin, begin + late)}
        assert (first, second) == (0, min(len(covered), 1000))
        assert second < sum(after)


def test_what_was_not_divided_is_unknown_and_not_nothing() -> None:
    figures = run_figures([rank_of(0, [Call("all_reduce", 10, 50)])])
    assert measured(figures, "waiting").tolist() == [[-1]]
    assert measured(figures, "late").tolist() == [[-1]]


@pytest.mark.parametrize(
    ("steps", "most", "begins"),
    [(7, 3, [0, 3, 6]), (6, 3, [0, 2, 4]), (3, 9, [0, 1, 2]), (3, 0, [0]), (0, 4, [])],
)
def test_columns_hold_equally_many_steps(steps: int, most: int, begins: list[int]) -> None:
    assert block_begins(steps, most).tolist() == begins


def test_a_column_shows_its_largest_and_knows_its_sum() -> None:
    values = np.array([[5, 1, 2, 4, -1, 4, 1], [-1, -1, -1, 0, 0, 0, -1]])
    begins = np.array([0, 3, 6])
    assert largest(values, begins).tolist() == [[5, 4, 1], [-1, 0, -1]]
    total, count = summed(values, begins)
    assert total.tolist() == [[8, 8, 1], [-1, 0, -1]]
    assert count.tolist() == [[3, 2, 1], [0, 3, 0]]


def test_without_steps_or_ranks_there_is_nothing() -> None:
    for shape in ((0, 3), (2, 0)):
        values, begins = np.zeros(shape, np.int64), block_begins(shape[1], 4)
        assert largest(values, begins).shape == (shape[0], len(begins))
        assert summed(values, begins)[0].shape == (shape[0], len(begins))
    assert np.isnan(means(np.full((1, 2), -1))).all()
    assert outliers(run_figures([]), np.zeros((0, 0), np.int64)) == []


def test_who_is_far_above_the_others_is_named_with_the_median() -> None:
    figures = figures_of([0, 1, 2, 3, 80, 4, 90])
    found = outliers(figures, measured(figures, "late"))
    assert [(item.rank, item.mean, item.median) for item in found] == [(6, 90, 3), (4, 80, 3)]


@pytest.mark.parametrize(
    ("late", "why"),
    [
        ([0, 1, 2, 3, 4, 5, 9], "less than a hundredth of a step"),
        ([0, 20, 40, 60, 80, 100, 120], "as far from the median as the others"),
        ([0, 0, 500], "too few ranks"),
    ],
)
def test_who_is_not_far_above_is_not_named(late: list[int], why: str) -> None:
    figures = figures_of(late)
    assert outliers(figures, measured(figures, "late")) == [], why


def test_a_rank_without_the_step_has_no_time() -> None:
    ranks = [rank_of(0, [], steps=(1, 2)), rank_of(1, [], steps=(2,))]
    assert (step_times(run_figures(ranks)) < 0).tolist() == [[False, False], [True, False]]
