"""What an installation compiles, and that nothing old is left where it does not."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture import tree
from torch_tb_profiler.native import library

pytestmark = pytest.mark.processes


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """``_build/native.py`` for a copy of the sources, in which an older build left a library twice."""
    spec = importlib.util.spec_from_file_location("native", tree.ROOT / "_build" / "native.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path / "torch_tb_profiler" / "native"
    folder.mkdir(parents=True)
    for source in library.FOLDER.glob("*.c"):
        shutil.copy(source, folder)
    staged = tmp_path / "build" / "lib" / "torch_tb_profiler" / "native"
    staged.mkdir(parents=True)
    for old in (staged, folder):
        (old / module.FILE).write_bytes(b"old")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "FOLDER", folder)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv(module.SKIP, raising=False)
    return module


def left(native: ModuleType) -> list[Path]:
    return sorted(native.ROOT.rglob("_native.*"))


def test_nothing_is_compiled_where_that_is_asked_for(
    native: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.SKIP, "1")
    assert native.requirements() == []
    assert native.ensure_library() == "any"
    assert left(native) == []


@pytest.mark.parametrize("compiler", [None, "true", "false"])
def test_without_a_compiler_that_links(
    compiler: str | None, native: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor with one that only pretends to."""
    links = tmp_path / "bin"
    links.mkdir()
    if compiler and (real := shutil.which(compiler)):
        (links / "cc").symlink_to(real)
    monkeypatch.setenv("PATH", str(links))
    monkeypatch.setattr(native, "_zig", lambda: None)
    monkeypatch.setattr(native, "ZIG_PLATFORMS", {(sys.platform, native.platform.machine())})
    assert native.requirements() == [native.ZIG]
    monkeypatch.setattr(native, "ZIG_PLATFORMS", set())
    assert native.requirements() == []
    assert native.ensure_library() == "any"
    assert left(native) == []


def test_with_a_compiler(native: ModuleType) -> None:
    if native._system() is None:
        pytest.skip("no compiler on this machine")
    assert native.requirements() == []
    assert native.ensure_library() != "any"
    assert left(native) == [native.FOLDER / native.FILE]
    command = [sys.executable, "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).scan)"]
    subprocess.run([*command, str(native.FOLDER / native.FILE)], check=True, timeout=60)


def test_the_platforms_name_is_that_of_the_library(native: ModuleType) -> None:
    assert library.FILE.name == native.FILE
