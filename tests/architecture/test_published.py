"""What others get: types that their mypy sees, and nothing that only the Python interface needs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import tree
from torch_tb_profiler import __version__

pytestmark = pytest.mark.slow

STRANGER = """
import torch_tb_profiler

trace = torch_tb_profiler.open("trace.json")
reveal_type(trace)
number: int = torch_tb_profiler.open_all("run")
"""
IMPORT_ALL = """
import importlib, json, pkgutil, sys
import torch_tb_profiler as package
for module in pkgutil.walk_packages(package.__path__, "torch_tb_profiler."):
    if not module.name.startswith(
        (
            "torch_tb_profiler.api",
            # What extras alone can import.
            "torch_tb_profiler.cli.agents.asking",
            "torch_tb_profiler.cli.agents.server",
            "torch_tb_profiler.integrations.",
            "torch_tb_profiler.sql.arrow",
        )
    ) and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(json.dumps(sorted(sys.modules)))
"""


def checked(folder: Path, *, typed: bool) -> str:
    """What mypy says, strictly, of a project beside whose Python the package is installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (site,) = (folder / "venv").glob("**/site-packages")
    shutil.copytree(
        tree.ROOT / tree.PACKAGE, site / tree.PACKAGE, ignore=shutil.ignore_patterns("static")
    )
    if not typed:
        (site / tree.PACKAGE / "py.typed").unlink()
    (folder / "project.py").write_text(STRANGER)
    python = str(next(folder.glob("venv/[bS]*/python*")))
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        python,
        "project.py",
    ]
    # Otherwise mypy would see this checkout by PYTHONPATH.
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    return done.stdout + done.stderr


def test_mypy_of_a_strangers_project_sees_our_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    said = checked(tmp_path, typed=True)
    assert (
        'is "torch_tb_profiler.api.frames.TraceFrames | torch_tb_profiler.api.frames.RunFrames"'
        in said
    )
    assert (
        'project.py:6: error: Incompatible types in assignment (expression has type "list[TraceFrames]"'
        in said
    )
    assert said.count("error:") == 1


def test_what_the_python_interface_alone_needs_is_imported_by_nothing_else() -> None:
    command = [sys.executable, "-c", IMPORT_ALL]
    done = subprocess.run(
        command, cwd=tree.ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    modules = set(json.loads(done.stdout))
    assert "torch_tb_profiler.web.application" in modules
    others = {"pandas", "pyarrow", "tqdm", "torch", "tensorflow", "duckdb", "mcp", "anyio"}
    assert modules & others == set()


def test_the_changelog_begins_with_this_version() -> None:
    text = (tree.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.split("\n## ")[1].split()[0] == __version__
