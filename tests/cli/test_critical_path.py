"""``critical-path``: the contract of its JSON, and its text."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from torch_tb_profiler.cli.main import main


def test_the_segments_of_each_step_cover_it(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["critical-path", str(samples / "transformer"), "--json"]) == 0
    [trace] = json.loads(capsys.readouterr().out)
    assert len(trace["steps"]) == 4
    for step in trace["steps"]:
        segments = step["segments"]
        times = [segment["end_ns"] - segment["start_ns"] for segment in segments]
        assert step["path_ns"] == step["wall_ns"] == sum(times) == sum(step["by_kind_ns"].values())
        assert all(a["end_ns"] == b["start_ns"] for a, b in pairwise(segments))
        keys = "kind start_ns end_ns name event rank operator module line"
        assert {tuple(segment) for segment in segments} == {tuple(keys.split())}


def test_the_text_says_what_is_on_it(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["critical-path", str(samples / "transformer"), "--steps", "1", "--limit", "2"]) == 0
    )
    text = capsys.readouterr().out
    assert "Critical path of 1 step," in text
    assert "Host operator" in text
    assert "aten::mm" in text
