"""What no linter's rule says: files have at most 700 lines, functions of the package 60, and names
of files and folders say what they hold. (Statements and shadowed names: ruff; the page: eslint.)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from tests.architecture import tree

FILE_LIMIT, FUNCTION_LIMIT = 700, 60
BANNED = {"utils", "util", "common", "helpers", "helper", "core", "misc"}
ENDING = re.compile(r"(ings?|ed|ers?|e?s|e|d)$")
CODE = (".py", ".ts", ".tsx", ".js", ".mjs")


def long_files(files: Mapping[str, str]) -> dict[str, int]:
    """Files over the limit → lines; generated ones are not measured."""
    counts = {path: text.count("\n") for path, text in files.items() if ".gen." not in path}
    return {path: lines for path, lines in counts.items() if lines > FILE_LIMIT}


def long_functions(files: Mapping[str, str]) -> dict[str, int]:
    """``path:name`` of Python functions over the limit → lines."""
    return {
        f"{path}:{node.name}": lines
        for path, text in files.items()
        for node in ast.walk(tree.syntax(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LIMIT
    }


def banned(paths: Iterable[str]) -> list[str]:
    """Code below a folder, or in a file, of a name that says nothing about what it holds."""
    words = {
        path: {*PurePosixPath(path).parts[:-1], PurePosixPath(path).name.split(".")[0]}
        for path in paths
        if path.endswith(CODE)
    }
    return sorted(path for path, names in words.items() if names & BANNED)


def alike(paths: Iterable[str]) -> list[str]:
    """Code whose name differs from another one's of its folder by its ending alone: replays, replayed."""
    names: dict[tuple[PurePosixPath, str], set[str]] = {}
    for path in map(PurePosixPath, paths):
        if path.suffix in CODE:
            name = path.name.split(".")[0]
            names.setdefault((path.parent, ENDING.sub("", name)), set()).add(name)
    return sorted(
        f"{folder}/{name}" for (folder, _), n in names.items() if len(n) > 1 for name in n
    )


def test_files() -> None:
    assert long_files(tree.sources("", *CODE, ".css", ".sh")) == {}


def test_functions() -> None:
    assert long_functions(tree.python_package()) == {}


def test_names() -> None:
    assert banned(tree.files()) == []
    assert alike(tree.files()) == []


def test_what_is_too_long_is_found() -> None:
    assert long_files({"a.py": "x = 1\n" * 701, "b.py": "x = 1\n" * 700}) == {"a.py": 701}
    body = "    x = 1\n" * 59
    text = f"class A:\n  def long(self):\n{body}    y = 2\n  async def brief(self):\n{body}"
    assert long_functions({"a.py": text}) == {"a.py:long": 61}


def test_a_banned_name_is_found() -> None:
    wrong = ["fe/src/base/misc.test.ts", "fe/src/common/x.ts", "torch_tb_profiler/utils/x.py"]
    assert banned([*wrong, "torch_tb_profiler/store/cores.py", "docs/misc/x.md"]) == wrong


def test_names_that_are_alike_are_found() -> None:
    assert alike(["a/replays.py", "a/replayed.py", "b/replay.py", "c/x.ts", "c/x.test.ts"]) == [
        "a/replayed",
        "a/replays",
    ]
