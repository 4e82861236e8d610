"""Knowledge in files: rows that are blocks of lines ``key: value``, apart by empty lines. A key may stand several times; what
begins with ``#`` is a comment, and says where the rows are from.
"""

from __future__ import annotations

from pathlib import Path

Row = dict[str, list[str]]
"""The values of each key, in their order."""


def rows_beside(module: str) -> list[Row]:
    """The rows of the file that lies beside a module, ``__file__``, and is called as it."""
    rows: list[Row] = [{}]
    for line in Path(module).with_suffix(".txt").read_text("utf-8").splitlines():
        if not line:
            rows.append({})
        elif not line.startswith("#"):
            key, value = line.split(": ", 1)
            rows[-1].setdefault(key, []).append(value)
    return [row for row in rows if row]
