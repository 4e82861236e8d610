"""``torch-tb-profiler compare``: what it prints, and when a build fails."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.builders.drawn import text_of
from tests.builders.pairs import CHANGES, NO_CHANGE, recording, write_pairs
from torch_tb_profiler.cli import main


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {name: str(path) for name, path in write_pairs(tmp_path_factory.mktemp("pairs")).items()}


def compare(*arguments: str) -> int:
    return main.main(["compare", *arguments, "--no-cache"])


def test_markdown_is_printed(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], pairs["slower_kernel"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("**Step 6.")
    assert f"`{pairs['slower_kernel']}`" in text
    assert "`aten::gelu`" in text


def test_a_folder_with_one_trace_will_do(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(str(Path(pairs["baseline"]).parent), str(Path(pairs["again"]).parent), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["beyond"] is False


def test_csv_is_printed(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], pairs["extra_copy"], "--format", "csv") == 0
    assert {row["table"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))} == {"category", "operator", "host", "kernel", "runtime", "module"}


@pytest.mark.parametrize(
    ("b", "limit", "code"),
    [("slower_kernel", "3", 1), ("slower_kernel", "0", 1), ("slower_kernel", "50", 0), ("again", "0", 0), ("missing_overlap", "5", 1)],
)
def test_a_build_fails_when_it_is_slower_by_more_than_noise(pairs: dict[str, str], b: str, limit: str, code: int) -> None:
    assert compare(pairs["baseline"], pairs[b], "--fail-on", limit) == code


def test_a_faster_step_fails_no_build(pairs: dict[str, str]) -> None:
    assert compare(pairs["slower_kernel"], pairs["baseline"], "--fail-on", "0") == 0


def test_one_step_fails_no_build_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name in (NO_CHANGE, "slower_kernel"):
        paths.append(tmp_path / f"{name}.pt.trace.json")
        paths[-1].write_text(text_of(recording(CHANGES[name], steps=1)))
    assert compare(*map(str, paths), "--fail-on", "1") == 0
    assert "cannot be told from noise" in capsys.readouterr().err


def test_ranges_of_one_trace(pairs: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], pairs["baseline"], "--steps-a", "0-3", "--steps-b", "4-7", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [s["index"] for s in found["b"]["steps"] if s["selected"]] == [4, 5, 6, 7]


@pytest.mark.parametrize(("option", "value"), [("--steps-a", "99"), ("--steps-b", "x"), ("--steps-b", "3-1")])
def test_wrong_steps(pairs: dict[str, str], option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], pairs["again"], option, value) == 2
    assert capsys.readouterr().err.startswith(f"torch-tb-profiler: {option}")


def test_what_cannot_be_read(pairs: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(pairs["baseline"], str(tmp_path / "nothing.json")) == 2
    assert compare(pairs["baseline"], str(Path(pairs["again"]).parents[1])) == 2
    assert "7 readable traces, expected one" in capsys.readouterr().err
    (tmp_path / "none.json").write_text("hello")
    assert compare(pairs["baseline"], str(tmp_path / "none.json")) == 2
    assert "none.json: Not a trace" in capsys.readouterr().err
    (tmp_path / "text.json").write_text("hello")
    assert compare(pairs["baseline"], str(tmp_path / "text.json")) == 2
