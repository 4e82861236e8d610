"""``run.whatif("no-stragglers")`` of the eight synthetic ranks, of which rank 5 is slow."""

from __future__ import annotations

import pytest

import torch_tb_profiler
from tests.conftest import REPOSITORY
from torch_tb_profiler.api.frames import RunFrames
from torch_tb_profiler.errors import BadRequest

STRAGGLER = 5


@pytest.fixture(name="run", scope="module")
def _run() -> RunFrames:
    run = torch_tb_profiler.open(REPOSITORY / "samples" / "synthetic_ddp8")
    assert isinstance(run, RunFrames)
    return run


def test_one_row_for_the_run_and_the_slowdown_of_each_rank(run: RunFrames) -> None:
    found = run.whatif("no-stragglers")
    [row] = found.to_dict("records")
    assert row["predicted_ns"] == row["measured_ns"] - row["saved_ns"] < row["measured_ns"]
    slowest = max(found.attrs["by_worker"], key=lambda rank: rank["slowdown"])
    assert slowest == {"rank": STRAGGLER, "slowdown": pytest.approx(found.attrs["slowdown"])}
    assert len(found.attrs["steps"]) == 7


def test_with_one_other_rank_equalised_nothing_is_won(run: RunFrames) -> None:
    [saved] = run.whatif("no-stragglers:rank=0")["saved"]
    assert abs(saved) < 0.005


def test_other_changes_are_told_of_each_trace(run: RunFrames) -> None:
    assert list(run[:2].whatif("no-sync")["worker"]) == ["rank0", "rank1"]


def test_the_usual_changes_are_those_that_each_would_be_alone() -> None:
    trace = torch_tb_profiler.open(REPOSITORY / "samples" / "cnn_workers_0")
    usual = trace.whatif()
    assert usual["saved_ns"].is_monotonic_decreasing
    for change, predicted in zip(usual["change"], usual["predicted_ns"], strict=True):
        assert trace.whatif(change)["predicted_ns"].item() == pytest.approx(predicted, abs=2)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda run: run.whatif("no-stragglers:rank=77"), "no rank"),
        (lambda run: run.whatif("no-stragglers", steps=1), "all steps"),
        (lambda run: run.in_steps(1).whatif("no-stragglers"), "all steps"),
        (lambda run: run[:1].whatif("no-stragglers"), "two ranks"),
        (lambda run: run[:0].whatif("no-stragglers"), "0 recordings"),
    ],
)
def test_what_cannot_be_is_refused(run: RunFrames, ask: object, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        ask(run)  # type: ignore[operator]
