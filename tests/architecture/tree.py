"""The files that the rules look at: what git tracks and what it would."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "torch_tb_profiler"
OUTSIDE = (
    "node_modules",
    "__pycache__",
    ".git",
    ".venv",
    "build",
    "dist",
    "test-output",
    "static",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
)


syntax = cache(ast.parse)
"""The syntax tree of a text; many tests look at the same files."""


@cache
def files() -> tuple[str, ...]:
    """Paths relative to the repository with ``/``, sorted: git's view, or the folder's where there
    is no git.
    """
    found = _from_git() or _from_folder()
    return tuple(sorted(p for p in found if (ROOT / p).is_file() and not (ROOT / p).is_symlink()))


def _from_git() -> list[str]:
    try:
        done = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [p for p in done.stdout.decode().split("\0") if p]


def _from_folder() -> list[str]:
    paths = (p.relative_to(ROOT) for p in ROOT.rglob("*") if p.is_file())
    return [
        p.as_posix()
        for p in paths
        if not any(part in OUTSIDE or part.endswith(".egg-info") for part in p.parts)
    ]


def sources(prefix: str, *suffixes: str) -> dict[str, str]:
    """Path → text of the files below ``prefix`` that end with one of ``suffixes``."""
    return {
        p: (ROOT / p).read_text(encoding="utf-8")
        for p in files()
        if p.startswith(prefix) and p.endswith(suffixes)
    }


def python_package() -> dict[str, str]:
    """The package's own modules."""
    return sources(PACKAGE + "/", ".py")


def python_everything() -> dict[str, str]:
    """All Python of the repository."""
    return sources("", ".py")


def frontend() -> dict[str, str]:
    """The page's TypeScript, paths relative to the repository."""
    return sources("fe/src/", ".ts", ".tsx")
