"""The evaluation of ``benchmarks/agents``: what it plants is found, and what was not planted is not."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

CHOSEN = ("StalledLoader", "OddDimensions")


@pytest.fixture(scope="module")
def evaluation(repository: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        for folder in ("samples", "benchmarks/agents"):
            patch.syspath_prepend(str(repository / folder))
        patch.setattr("sys.dont_write_bytecode", True)
        yield importlib.import_module("run")


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


PROGRAM = """
def load():
    return 1

class Net:
    def forward(self):
        return load()
"""
ENTRY = {
    "lines": ["net.py:Net.forward"],
    "words": ["too small"],
    "rules": ["input_bound"],
    "operators": ["aten::sort"],
    "place_suffices": True,
}
HEAD = "## Findings\n\n- The host works for 5 ms.\n"


@pytest.mark.parametrize(
    ("answer", "place", "line"),
    [
        (f"{HEAD}- \\[likely\\] Small operators. They are too small.\n  At `a/net.py(7): forward`", 1, True),
        (f"{HEAD}- \\[certain\\] The step waits for input data. It waits.\n  At `net.py(3): load`", 1, False),
        (f"{HEAD}- Something else. In `too small.py(3): too small`.", -1, False),
        (f"{HEAD}- Something else. In `aten::sort`.\n  At `net.py(6): forward`", 1, True),
        ("## Findings\n\n- Operators are too small at `net.py(6): forward`.", 0, True),
    ],
)  # fmt: skip
def test_a_cause_of_a_program_is_reached_by_words_rule_or_place(
    evaluation: Any, tmp_path: Path, answer: str, place: int, line: bool
) -> None:
    programs = importlib.import_module("programs")
    agent = importlib.import_module("agent")
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/net.py").write_text(PROGRAM, encoding="utf-8")
    headline, findings = agent.read_findings(answer)
    report = agent.Report(findings, headline=headline, answers=[answer])
    reached = programs.judge(report, programs.Program(tmp_path, "net", ENTRY), stacks=True)
    assert (reached.place, reached.line) == (place, line)
    assert reached.all == (place >= 0 and line)
    assert programs.judge(report, programs.Program(tmp_path, "net", ENTRY), False).line is None
