"""Every phrase that the page, the command line and the report can show: texts of the package's code
that are no docstrings, and of the page's code. What is computed is ``{}``. What the page shows on
hover is listed in ``views/definitions.json``.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.architecture import tree

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "torch_tb_profiler"
SILENT = ("hardware/accelerators", "hardware/families/")
"""Tables of names."""
_CODE = re.compile(
    r"\\|\(\?|::|<[/!\w]|\w_\w+ \w+_\w|calc\(|color-mix|\(prefers-|^[-.#@]|;$|^SELECT |^PRAGMA |&&|=>"
)
_WORD = re.compile(r"(?<![\w{<-])[A-Za-z][a-z']+(?![\w}>(=])")


def is_phrase(text: str) -> bool:
    """Whether a literal reads like words for people: two of them at least, and no code."""
    return " " in text.strip() and len(_WORD.findall(text)) > 1 and not _CODE.search(text)


def _literals(node: ast.AST) -> Iterator[str]:
    """The texts of a syntax tree without its docstrings."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        elif isinstance(child, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in child.values
            )
            for part in child.values:
                yield from _literals(part)
        else:
            yield from _literals(child)


def python() -> Iterator[str]:
    """The phrases of the package's code; annotations are no phrases."""
    for path in PACKAGE.rglob("*.py"):
        if not any(part in path.as_posix() for part in SILENT):
            yield from _literals(tree.syntax(path.read_text(encoding="utf-8")))


def page() -> list[str]:
    """The phrases of the page's code, read by its own compiler.

    Raises:
        CalledProcessError, FileNotFoundError: Node.js or the page's packages are not installed.
    """
    command = ["node", str(ROOT / "fe/scripts/words.mjs")]
    texts: list[str] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return texts


def phrases(texts: Iterable[str]) -> list[str]:
    """Those that read like words for people, each once, on one line each."""
    return sorted({" ".join(text.split()) for text in texts if is_phrase(text)})
