"""Names that a room or module may not have."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

BANNED = frozenset({"utils", "util", "common", "helpers", "helper", "core", "misc"})
CODE = (".py", ".ts", ".tsx", ".js", ".mjs")


def banned(paths: Iterable[str]) -> list[str]:
    """Code below a folder, or in a file, of a name that says nothing about what it holds."""
    return sorted(
        p
        for p in paths
        if p.endswith(CODE)
        and {*PurePosixPath(p).parts[:-1], PurePosixPath(p).name.split(".")[0]} & BANNED
    )


def shadowing(paths: Iterable[str]) -> dict[str, int]:
    """Python files and packages whose own name is that of a module of the standard library → 1."""
    found = {}
    for path in paths:
        pure = PurePosixPath(path)
        name = pure.parent.name if pure.name == "__init__.py" else pure.stem
        if pure.suffix == ".py" and name in sys.stdlib_module_names and not name.startswith("__"):
            found[path] = 1
    return found
