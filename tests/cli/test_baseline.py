"""Baselines, budgets, JUnit and what the action runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.builders.drawn import events, text_of
from torch_tb_profiler.cli.main import main

ROOT = Path(__file__).parents[2]
FAST, SLOW = 8, 16
"""Widths of a step in a drawing, in its units of time."""


def recording(folder: Path, name: str, width: int, steps: int = 8, odd: int = -1) -> Path:
    """Equal steps of one operator, each a little longer or shorter than the one before; ``odd`` is ten
    times as long.
    """
    widths = [width * (10 if n == odd else 1) + n % 2 for n in range(steps)]
    drawn = "main " + "".join(
        f"[ProfilerStep#{n}{' ' * (wide + 6)}]" for n, wide in enumerate(widths)
    )
    inner = "main " + "".join(f"[aten::mm{' ' * (wide + 8)}]" for wide in widths)
    path = folder / name / "worker0.pt.trace.json"
    path.parent.mkdir()
    path.write_text(text_of(events(f"{drawn}\n{inner}\n")))
    return path.parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a fast and a slow recording."""
    monkeypatch.chdir(tmp_path)
    recording(tmp_path, "fast", FAST)
    recording(tmp_path, "slow", 5 * SLOW)
    return tmp_path


def cases(path: Path) -> dict[str, str]:
    """Name of a test → what became of it."""
    root = ElementTree.parse(path).getroot()
    return {str(case.get("name")): next((child.tag for child in case), "passed") for case in root}


def test_a_slower_recording_is_told_from_its_baseline(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "save", "main", "fast"]) == 0
    saved = folder / ".profiler-baselines" / "main.json"
    assert saved.stat().st_size < 4096
    assert list(json.loads(saved.read_text())["workers"][0]["operators"]) == ["aten::mm"]
    compare = ["baseline", "compare", "main"]
    assert main([*compare, "fast", "--fail-on", "5", "--junit", "a.xml"]) == 0
    assert main([*compare, "slow", "--fail-on", "5", "--junit", "b.xml"]) == 1
    said = capsys.readouterr()
    assert "% longer (" in said.out
    assert "| `aten::mm` |" in said.out
    assert "worker0: step time" in said.err
    assert (cases(folder / "a.xml"), cases(folder / "b.xml")) == (
        {"step time": "passed"},
        {"step time": "failure"},
    )


def test_what_is_no_baseline_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder / ".profiler-baselines"
    place.mkdir()
    for text in ("", "[]", '{"format": 1, "workers": [{"worker": "w"}]}', "[" * 100_000):
        (place / "main.json").write_text(text)
        assert main(["baseline", "compare", "main", "fast"]) == 2
    assert main(["baseline", "save", "", "fast"]) == 2
    assert main(["baseline", "compare", "other", "fast"]) == 2
    assert "Save one with" in capsys.readouterr().err


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no reader of TOML")
def test_budgets(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "profiler-budgets.toml").write_text(
        'step_ms = 0.001\nmfu = 0.3\nfindings_none_of = ["input_bound"]\n'
    )
    assert main(["budgets", "fast", "--junit", "a.xml"]) == 1
    assert cases(folder / "a.xml") == {
        "step_ms": "failure",
        "mfu": "skipped",
        "no input_bound": "passed",
    }
    (folder / "profiler-budgets.toml").write_text("step_ms = 1000000\n")
    assert main(["budgets", "fast"]) == 0
    for wrong in ("speed = 3", "step_ms = true", "findings_none_of = 3", "step_ms ="):
        (folder / "profiler-budgets.toml").write_text(wrong)
        assert main(["budgets", "fast"]) == 2
    assert "Correct the file" in capsys.readouterr().err


def test_what_cannot_be_told_fails_where_that_is_asked_for(folder: Path) -> None:
    recording(folder, "few", FAST, 3)
    assert main(["baseline", "save", "main", "fast"]) == 0
    for command in (["baseline", "compare", "main", "few"], ["diff", "fast", "few"]):
        for strict in ([], ["--strict"]):
            assert main([*command, *strict, "--fail-on", "5", "--junit", "a.xml"]) == len(strict)
            assert cases(folder / "a.xml") == {"step time": "failure" if strict else "skipped"}
        assert main([*command[:-1], "fast", "--strict"]) == 0


def test_diff_writes_junit(folder: Path) -> None:
    assert main(["diff", "fast", "slow", "--fail-on", "5", "--junit", "a.xml"]) == 1
    assert cases(folder / "a.xml") == {"step time": "failure"}


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="no bash")
@pytest.mark.usefixtures("built_page")
@pytest.mark.parametrize(("baseline", "code"), [("fast-as-saved", 0), ("fast", 1)])
def test_the_action_passes_fails_and_reports(folder: Path, baseline: str, code: int) -> None:
    profile = "fast" if code == 0 else "slow"
    assert main(["baseline", "save", "fast-as-saved", "fast"]) == 0
    command = folder / "bin" / "torch-tb-profiler"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m torch_tb_profiler "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PROFILE": profile,
        "BASELINE": baseline,
        "FAIL_ON": "5",
        "REPORT": "report.html",
        "SAVE_BASELINE": "new",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    done = subprocess.run(
        ["bash", str(ROOT / "action" / "run.sh")], env=environment, cwd=folder, check=False
    )
    assert done.returncode == code
    said = (folder / "output").read_text()
    assert said.splitlines()[0] == f"result={'failed' if code else 'passed'}"
    assert "mean" in (folder / "summary.md").read_text()
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / ".profiler-baselines" / "new.json").exists()
