"""The evaluation of ``benchmarks/agents``: what it plants is found, and what was not planted is not."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import anyio
import pytest

CHOSEN = ("StalledLoader", "OddDimensions")


@pytest.fixture(scope="module")
def evaluation(repository: Path) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("samples", "benchmarks/agents"):
            patch.syspath_prepend(str(repository / folder))
        patch.setattr("sys.dont_write_bytecode", True)
        return importlib.import_module("run")


def test_a_scripted_assistant_finds_what_was_planted(
    evaluation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(evaluation.serving, "ask", evaluation.in_this_process)
    chosen = [case for case in evaluation.cases()[:20] if case.name[3:] in CHOSEN]
    for case in chosen:
        evaluation.write(case, tmp_path / "log")
    results = anyio.run(evaluation.evaluate, tmp_path / "log", chosen, [2000])[2000]

    assert len(chosen) == len(CHOSEN)
    for case, (report, verdicts) in zip(chosen, results, strict=True):
        assert all(verdict.found for verdict in verdicts), case.name
        assert all(verdict.planted for verdict in verdicts), case.name
        # The same answer about another time is wrong.
        moved = [
            evaluation.Planted(one.rank, one.name, one.start + 10**9, one.dur)
            for one in case.planted[0]
        ]
        assert not evaluation.judge(report, case.causes[0], moved).found
        # Nor is it what was planted elsewhere.
        for other in chosen:
            if other is not case:
                assert not evaluation.judge(report, other.causes[0], other.planted[0]).found
