"""Versions follow imports: which modules decide what a product holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.architecture.tree import syntax
from torch_tb_profiler.runs import code_version as code_version_
from torch_tb_profiler.runs.code_version import closure, code_version

PACKAGE = Path(torch_tb_profiler.__file__).parent
ROOTS = ("runs.import_job", "analysis.timeline.build", "analysis.insight")


@pytest.mark.parametrize("root", ROOTS)
def test_the_scan_finds_what_the_syntax_trees_say(root: str) -> None:
    known: set[str] = set()
    waiting = [root]
    while waiting:
        module = waiting.pop()
        if module not in known:
            known.add(module)
            waiting += [m for name in _imports(module) for m in _modules(name)]
    assert set(closure(root)) == known


def _imports(module: str) -> Iterator[str]:
    file = _file(module)
    assert file is not None
    text = file.read_text(encoding="utf-8")
    for node in ast.walk(syntax(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    if file.name == "__init__.py" and "import_module" in text:
        yield from (f"torch_tb_profiler.{module}.{f.stem}" for f in file.parent.glob("[!_]*.py"))


def _modules(name: str) -> Iterator[str]:
    parts = name.split(".")
    if parts[0] == PACKAGE.name:
        for end in range(2, len(parts) + 1):
            module = ".".join(parts[1:end])
            if _file(module) is not None:
                yield module


def _file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def test_what_decides_a_product_is_in_and_what_does_not_is_out() -> None:
    imported, timeline, insight = (set(closure(root)) for root in ROOTS)
    assert {"importers.chrome_trace", "importers.snapshot", "store.sidecar"} <= imported
    assert "hardware.families.gemm" in insight, "found by the package itself"
    assert "hardware.families.gemm" not in imported
    assert {"analysis.findings", "analysis.memory.build"} <= insight
    assert not any(module.startswith("analysis.findings") for module in imported | timeline)
    rooms = {module.partition(".")[0] for module in imported | timeline | insight}
    assert not rooms & {"web", "views", "api", "cli"}


def test_a_version_follows_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_version_, "_PACKAGE", str(tmp_path))
    for name, text in {
        "a": "def f():\n    from torch_tb_profiler.room import (\n        b,\n        thing,  # why\n    )",
        "room/__init__": "",
        "room/b": "import torch_tb_profiler.c",
        "room/d": "",
        "c": '"""Use it so::\n\n    from torch_tb_profiler.room import d\n"""',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    assert set(_anew("a")) == {"a", "room", "room.b", "c"}
    first = code_version("a")
    (tmp_path / "room" / "d.py").write_text("changed = 1")
    _anew("a")
    assert code_version("a") == first
    (tmp_path / "c.py").write_text("changed = 1")
    _anew("a")
    assert code_version("a") != first


def _anew(module: str) -> dict[str, bytes]:
    """The closure as a new process finds it."""
    _forget()
    return closure(module)


def _forget() -> None:
    for cached in ("_scan", "_files", "code_version"):
        getattr(code_version_, cached).cache_clear()


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    _forget()
