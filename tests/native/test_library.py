"""When the compiled library is used, and what is said where it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torch_tb_profiler.native import library

SAY = "from torch_tb_profiler.native.library import library, why_not; print(library() is None, why_not())"


def asked(**environment: str) -> str:
    """Whether a new process has no library, and why."""
    done = subprocess.run(
        [sys.executable, "-c", SAY],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the library, to be changed."""
    copy = tmp_path / "native"
    shutil.copytree(library.FOLDER, copy)
    monkeypatch.setattr(library, "FOLDER", copy)
    monkeypatch.setattr(library, "FILE", copy / library.FILE.name)
    monkeypatch.delenv(library.SWITCH, raising=False)
    return copy


def found() -> str:
    """What is said now; nothing is remembered."""
    return library._found.__wrapped__()[1]


@pytest.mark.parametrize("value", ["0", "off", " False "])
@pytest.mark.processes
def test_it_can_be_switched_off(value: str) -> None:
    assert asked(**{library.SWITCH: value}) == f"True switched off by {library.SWITCH}"


@pytest.mark.skipif(not library.FILE.is_file(), reason="nothing compiled")
def test_it_is_used_where_its_source_is_as_it_was(folder: Path) -> None:
    assert found() == ""
    (folder / "scan.c").write_bytes((folder / "scan.c").read_bytes() + b"\n")
    assert found() == "older than its source: install again"
    for source in folder.glob("*.c"):
        source.unlink()  # as in a wheel
    assert found() == ""


def test_what_is_no_library_is_not_loaded(folder: Path) -> None:
    (folder / library.FILE.name).write_bytes(b"nothing")
    assert found().startswith("cannot be loaded: ")
    (folder / library.FILE.name).unlink()
    assert found() == "not compiled at installation"
