"""``critical-path``: the contract of its JSON, and its text."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.cli.main import main


def covered(steps: list[dict[str, Any]]) -> None:
    """The segments of each step cover it."""
    for step in steps:
        segments = step["segments"]
        times = [segment["end_ns"] - segment["start_ns"] for segment in segments]
        assert step["path_ns"] == step["wall_ns"] == sum(times) == sum(step["by_kind_ns"].values())
        assert all(a["end_ns"] == b["start_ns"] for a, b in pairwise(segments))
        keys = "kind start_ns end_ns name event rank operator module line"
        assert {tuple(segment) for segment in segments} == {tuple(keys.split())}


def test_the_segments_of_each_step_cover_it(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["critical-path", str(samples / "transformer"), "--json"]) == 0
    [trace] = json.loads(capsys.readouterr().out)
    assert len(trace["steps"]) == 4
    covered(trace["steps"])


def test_the_text_says_what_is_on_it(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["critical-path", str(samples / "transformer"), "--steps", "1", "--limit", "2"]) == 0
    )
    text = capsys.readouterr().out
    assert "Critical path of 1 step," in text
    assert "Host operator" in text
    assert "aten::mm" in text


def test_one_path_goes_through_all_ranks_of_a_run(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["critical-path", str(samples / "synthetic_ddp8"), "--ranks", "all", "--json"]) == 0
    [run] = json.loads(capsys.readouterr().out)
    assert (run["run"], run["ranks"], len(run["steps"])) == ("synthetic_ddp8", True, 7)
    assert [worker["rank"] for worker in run["workers"]] == list(range(8))
    assert 0 < run["clock_error_ns"] < 400
    covered(run["steps"])
    # Rank 5 computes a quarter longer; rank 2's DataLoader stalls in one step.
    assert [{s["rank"] for s in step["segments"]} for step in run["steps"]] == [
        {5} if number != 4 else {2, 5} for number in range(7)
    ]


def test_the_text_of_a_run_says_which_ranks_are_on_it(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["critical-path", str(samples / "synthetic_ddp8"), "--ranks", "all", "--steps", "4"]
    assert main(run) == 0
    text = capsys.readouterr().out
    assert "Critical path of 1 step through all ranks, 19.7 ms" in text
    assert "rank2       18.1 ms  92.2 %" in text


def test_all_ranks_leave_no_choice_of_workers_or_a_step_that_is_not_there(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["critical-path", str(samples / "synthetic_ddp8"), "--ranks", "all"]
    with pytest.raises(SystemExit):
        main([*run, "--worker", "0"])
    assert "leave out --worker" in capsys.readouterr().err
    assert main([*run, "--steps", "7"]) == 2
    assert "there is no step 7; the run has 7" in capsys.readouterr().err
