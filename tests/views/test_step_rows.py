"""Very many steps as fewer rows: sums stay exact, and few steps stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.builders.drawn import Event, trace_of
from tests.builders.grown import devices, steps, threads
from tests.builders.server_trace import server_trace
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.figures.step_table import step_table
from torch_tb_profiler.views.steps import first_steps, row_names, step_columns, steps_payload


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_tb_profiler.views.steps.MOST_STEP_ROWS", 4)


def columns(n: int, **chosen: Any) -> dict[str, Any]:
    facts = derive(trace_of(steps(n)))
    found = step_columns(facts, select(facts, **chosen))
    return {key: list(values) for key, values in found.items()}


@pytest.mark.parametrize(
    ("n", "first"),
    [(0, []), (1, [0]), (4, [0, 1, 2, 3]), (5, [0, 2, 4]), (9, [0, 3, 6]), (12, [0, 3, 6, 9])],
)
def test_no_more_rows_than_a_chart_shows(n: int, first: list[int]) -> None:
    assert first_steps(n).tolist() == first


def test_no_step_has_no_row() -> None:
    assert row_names([], first_steps(0)) == []
    assert row_names(["a", "b", "c"], first_steps(3)) == ["a", "b", "c"]


def test_few_steps_are_rows_of_their_own() -> None:
    found = columns(4)
    assert found["step"] == [0, 1, 2, 3]
    assert found["steps"] == [1, 1, 1, 1]
    assert found["name"][2] == "ProfilerStep#2"


def test_sums_are_those_of_the_steps() -> None:
    facts = derive(trace_of(steps(9)))
    every = step_table(facts, select(facts))
    found = columns(9, first=4, last=4)
    assert found["step"] == [0, 3, 6]
    assert found["steps"] == [3, 3, 3]
    assert found["name"] == [
        f"ProfilerStep#{a} to ProfilerStep#{b}" for a, b in ((0, 2), (3, 5), (6, 8))
    ]
    assert found["start_ns"] == every["start_ns"][[0, 3, 6]].tolist()
    assert found["selected"] == [False, True, False]
    for key in ("wall_ns", "kernel_ns", "other_ns", "runtime_ns"):
        assert found[key] == np.asarray(every[key]).reshape(3, 3).sum(axis=1).tolist()


def test_what_was_not_recorded_stays_unknown() -> None:
    assert set(columns(9)["dataloader_ns"]) <= {0, None}
    host = [event for event in steps(9) if event["cat"] == "user_annotation"]
    facts = derive(trace_of(host))
    assert list(step_columns(facts, select(facts))["cpu_exec_ns"]) == [None] * 3


@pytest.mark.parametrize(
    ("events", "missing"),
    [
        (steps(2), ["memory", "stack"]),
        (threads(1), ["steps", "device", "memory", "stack"]),
        (devices(1), ["steps", "host", "stack"]),
    ],
)
def test_the_selector_is_told_what_was_not_recorded(
    events: list[Event], missing: list[str]
) -> None:
    facts = derive(trace_of(events))
    payload = steps_payload(facts, select(facts))
    assert [lack.key for lack in payload.missing] == missing
    assert payload.iterations == 0


def test_the_selector_counts_the_iterations_of_a_server() -> None:
    facts = derive(trace_of(server_trace(20)[0]))
    assert steps_payload(facts, select(facts)).iterations == facts["iterations"].n > 0


def test_the_selector_is_told_the_median_of_all_usual_steps() -> None:
    facts = derive(trace_of(steps(9)))
    lengths = facts["steps"]["end"] - facts["steps"]["start"]
    # One step is chosen, and the median is that of all.
    median = steps_payload(facts, select(facts, 0, 0)).median
    assert sorted(lengths)[4] == lengths[median]
