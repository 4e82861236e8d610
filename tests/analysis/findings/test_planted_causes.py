"""``benchmarks/causes``: every program has its cause, and the score reads an answer as a person would."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "benchmarks" / "causes"
SCRIPTS = sorted((FOLDER / "programs").glob("*.py"))
ENTRIES: dict[str, Any] = json.loads((FOLDER / "causes.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def score() -> Any:
    spec = importlib.util.spec_from_file_location("causes_score", FOLDER / "score.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "causes_score", module)
        patch.setattr("sys.path", [*sys.path])
        spec.loader.exec_module(module)
        yield module


def test_every_program_has_a_cause() -> None:
    assert [script.stem for script in SCRIPTS] == sorted(ENTRIES)
    assert len(SCRIPTS) >= 24


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_lines_of_a_cause_are_in_its_program(score: Any, script: Path) -> None:
    entry = ENTRIES[script.stem]
    cause = score.Cause(script, entry)
    own = {line.partition(":")[0] for line in entry["lines"] if ":" in line}
    assert own <= {script.name}
    assert len(cause.spans) >= len(own)
    assert {"cause", "change", "rules", "operators", "whatif"} <= set(entry)
    # Its name and that of its file say nothing.
    assert not cause.named(f"most of it in {script.stem} at {script.name}(12): main")


def _answer(
    *findings: tuple[str, str, str], headline: str = "A step takes 3 ms."
) -> dict[str, Any]:
    return {
        "worker": "worker0",
        "headline": headline,
        "findings": [
            {"rule": rule, "title": title, "sentence": "", "line": line, "artefact": False}
            | {"attempt": "Use bincount.", "certainty": "certain"}
            for rule, title, line in findings
        ],
    }


OTHER = ("python_tracing", "Recording slows the host", "train.py(3): main")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (_answer(headline="A Python loop takes 3.54 ms of each step."), "first"),
        (_answer(("many_small_calls", "Small ones", "ballot.py(20): add")), "first"),
        (_answer(OTHER, OTHER, ("own_code", "640 calls of aten::item", "")), "three"),
        (_answer(OTHER, OTHER, OTHER, ("many_small_calls", "", "")), "no"),
        (_answer(OTHER, ("own_code", "Own code takes 40 %", "ballot.py(20): add")), "place!"),
        (_answer(OTHER, ("own_code", "aten::item takes 40 %", "")), "place!"),
        (_answer(OTHER, ("own_code", "Own code takes 40 %", "ballot.py(40): main")), "no"),
        (_answer(), "no"),
    ],
)
def test_verdicts(score: Any, answer: dict[str, Any], verdict: str) -> None:
    cause = score.Cause(FOLDER / "programs" / "ballot.py", ENTRIES["ballot"])
    assert cause.verdict(answer)[0] == verdict
