"""What a recording is compared with: an earlier one of the same work, by the times in the files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from torch_tb_profiler.analysis.diff.experiments import (
    Experiment,
    ExperimentRow,
    experiment_table,
    same_work,
    suggested,
)
from torch_tb_profiler.analysis.diff.rank_test import Sample

HOUR = 3_600_000_000_000
TRANSFORMER = {"aten::mm": 60.0, "aten::softmax": 20, "aten::copy_": 5, "aten::add": 15}
CONVOLUTION = {"aten::conv2d": 80.0, "aten::relu": 10, "aten::copy_": 2, "aten::add": 8}
WIDE = "[[4, 512], [512, 512]]"


def recorded(
    name: str, hours: float | None, work: dict[str, float], shapes: tuple[str, ...] = ()
) -> ExperimentRow:
    """A run of this work, so many hours after the others' begin; ``shapes``: of its products."""
    hashes = np.array([hash(text) for text in work], np.int64)
    order, times = np.argsort(hashes), np.array(list(work.values()))
    experiment = Experiment(
        sample=Sample(np.full(8, 1e6), shapes={("aten::mm", text): 1.0 for text in shapes}),
        began=None if hours is None else round(hours * HOUR),
        device="",
        median=1e6,
        spread=0.0,
        busy=1.0,
        mfu=np.nan,
        memory=np.nan,
        exposed=np.nan,
        findings=(),
        operators=hashes[order],
        times=times[order] / times.sum(),
    )
    return ExperimentRow(name, "w0", "1", "ready", "", {"w0": experiment})


def against(*rows: ExperimentRow) -> list[str | None]:
    """What each row is compared with."""
    return list(experiment_table(rows, None)["against"])


def test_each_is_compared_with_the_last_before_it_of_the_same_work() -> None:
    told = against(
        recorded("c", 3, TRANSFORMER),
        recorded("a", 1, TRANSFORMER),
        recorded("b", 2, CONVOLUTION),
        recorded("d", 2.5, CONVOLUTION),
        recorded("z", 2, TRANSFORMER),
        recorded("unknown", None, TRANSFORMER),
    )
    assert told == ["z", None, None, "b", "a", None]


@pytest.mark.parametrize(
    ("shapes", "same"),
    [
        (("[[4, 512], [512, 512]]",), True),
        (("[[32, 512], [512, 512]]",), True),
        (("[[7, 640], [640, 64]]",), False),
        ((), True),
    ],
)
def test_other_layers_are_other_work(shapes: tuple[str, ...], same: bool) -> None:
    one, other = recorded("a", 1, TRANSFORMER, (WIDE,)), recorded("b", 2, TRANSFORMER, shapes)
    assert same_work(one.first, other.first) is same
    assert against(one, other) == [None, "a" if same else None]


def test_names_in_common_that_take_little_time_are_no_common_work() -> None:
    shared = {f"aten::small{i}": 1.0 for i in range(9)}
    one = recorded("a", 1, {**shared, "aten::mm": 200})
    other = recorded("b", 2, {**shared, "aten::conv2d": 200})
    assert against(one, other) == [None, None]
    assert against(one, recorded("b", 2, {**shared, "aten::mm": 20, "aten::extra": 5})) == [
        None,
        "a",
    ]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=8))
def test_nobody_is_compared_with_what_came_later_or_is_unrelated(
    drawn: list[tuple[int, bool]],
) -> None:
    rows = [
        recorded(str(i), hours, TRANSFORMER if one else CONVOLUTION)
        for i, (hours, one) in enumerate(drawn)
    ]
    for row, (hours, one) in enumerate(drawn):
        found = suggested(rows, row)
        before = [other for other, same in drawn if same is one and other < hours]
        assert (found is not None) is bool(before)
        if found is not None:
            assert drawn[found] == (max(before), one)


def test_a_row_is_compared_with_the_base_that_was_asked_for() -> None:
    rows = [recorded("a", 2, TRANSFORMER), recorded("b", 1, TRANSFORMER)]
    assert list(experiment_table(rows, 0)["against"]) == [None, "a"]
    assert (
        list(experiment_table([rows[0], replace(rows[1], members={})], 0)["against"]) == [None] * 2
    )
