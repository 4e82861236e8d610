"""What is kept is made anew by a program that may make something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.architecture.tree import syntax
from torch_tb_profiler.runs import code_version
from torch_tb_profiler.runs.code_version import program_version

PACKAGE = Path(torch_tb_profiler.__file__).parent


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of two rooms."""
    monkeypatch.setattr(code_version, "_PACKAGE", str(tmp_path))
    for name in ("units.py", "store/columns.py", "analysis/facts/steps.py", "web/route.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one = 1\n")
    program_version.cache_clear()
    yield tmp_path
    program_version.cache_clear()


@pytest.mark.parametrize(
    ("name", "text", "another"),
    [
        ("units.py", "one = 2", True),
        ("store/columns.py", "one = 2", True),
        ("analysis/facts/steps.py", "", True),
        ("analysis/facts/new.py", "", True),
        ("analysis/facts/names.txt", "", True),
        ("analysis/facts/notes.md", "", False),
        ("web/route.py", "one = 2", False),
    ],
)
def test_a_version_follows_the_files_that_decide_what_is_made(
    package: Path, name: str, text: str, another: bool
) -> None:
    first = program_version()
    program_version.cache_clear()
    assert program_version() == first
    (package / name).write_text(text)
    program_version.cache_clear()
    assert (program_version() != first) is another


def test_a_file_that_moves_makes_another_version(package: Path) -> None:
    first = program_version()
    (package / "store" / "columns.py").rename(package / "store" / "rows.py")
    program_version.cache_clear()
    assert program_version() != first


def test_what_is_left_out_is_imported_by_nothing_that_makes() -> None:
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0]
        if path.parent == PACKAGE or room in code_version._OTHERS:
            continue
        for node in ast.walk(syntax(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                name = f"{node.module}.".removeprefix(f"{PACKAGE.name}.")
                assert name.partition(".")[0] not in code_version._OTHERS, (path, node.module)
