"""Runs the cells of a notebook without Jupyter: ``python -m tests.samples.notebook`` writes fresh
outputs into ``samples/analysis.ipynb``.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[2] / "samples" / "analysis.ipynb"
Output = dict[str, Any]
LARGEST = 20_000
"""Characters of markup that a kept output may have: the page in a frame is not committed."""


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells with programs, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(source: str, names: dict[str, Any], where: str) -> list[Output]:
    """Run one cell in a namespace; what it prints, and the value of its last line when that is an
    expression, as a notebook keeps them.
    """
    tree = ast.parse(source, where)
    last = tree.body[-1] if tree.body else None
    expression = ast.Expression(last.value) if isinstance(last, ast.Expr) else None
    if expression is not None:
        tree.body.pop()
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), names)
        if expression is not None:
            value = eval(compile(expression, where, "eval"), names)
    found: list[Output] = []
    if printed.getvalue():
        found.append(
            {
                "output_type": "stream",
                "name": "stdout",
                "text": printed.getvalue().splitlines(keepends=True),
            }
        )
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        markup = value._repr_html_() if hasattr(value, "_repr_html_") else None
        if markup and len(markup) <= LARGEST:
            data["text/html"] = markup.splitlines(keepends=True)
        found.append(
            {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        )
    return found


def run_all(notebook: dict[str, Any], folder: Path) -> list[list[Output]]:
    """The outputs of all cells, run in order in the notebook's folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        return [
            run("".join(cell["source"]), names, f"cell {number}")
            for number, cell in enumerate(code_cells(notebook), 1)
        ]
    finally:
        os.chdir(before)


def main() -> int:
    """Run the notebook and keep its outputs."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for number, (cell, outputs) in enumerate(
        zip(code_cells(notebook), run_all(notebook, NOTEBOOK.parent), strict=True), 1
    ):
        cell["execution_count"] = number
        cell["outputs"] = [
            {**output, **({"execution_count": number} if "execution_count" in output else {})}
            for output in outputs
        ]
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
