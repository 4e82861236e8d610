"""Writes ``docs/columns.md`` from the declared tables: ``python -m
torch_tb_profiler.store.columns_doc --write``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torch_tb_profiler.store.columns import TableSpec
from torch_tb_profiler.store.display import DisplaySpec
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES
from torch_tb_profiler.store.timeline_schema import TIMELINE_TABLES

_HEAD = """# Columns

Generated from `torch_tb_profiler/store/schema.py`, `fact_schema.py`, `timeline_schema.py` and `insight_schema.py` by
`python -m torch_tb_profiler.store.columns_doc --write`; do not edit. A sidecar file holds the tables of a trace and its facts in the safetensors
format; a second one, made when the timeline is first looked at, those of the timeline; a third one, made when findings or one of the views Memory,
Module, Distributed and Diff are first asked for, those of the insight. Times are nanoseconds after the first event of the trace.
-1 (integers), NaN (floats) and 0 where a column says so stand for "unknown" or "none".

- *number of a string*: points into the string table of the same file, -1 is the empty text.
- *row of X*: row number of table X, -1 is none.
"""


def text() -> str:
    """The whole page."""
    titled = (
        ("Tables of a trace", TRACE_TABLES),
        ("Tables of facts", FACT_TABLES),
        ("Tables of a timeline", TIMELINE_TABLES),
        ("Tables of an insight", INSIGHT_TABLES),
    )
    parts = [_HEAD]
    for title, specs in titled:
        parts += [f"## {title}\n", *map(table_text, specs)]
    return "\n".join(parts)


def table_text(spec: TableSpec | DisplaySpec) -> str:
    """The section of one table."""
    lines = [
        f"### `{spec.name}`",
        "",
        spec.doc,
        "",
        "| column | type | unit or meaning | what it holds |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{c.name}` | {_type(c.dtype)} | {c.unit or '-'} | {c.doc} |"
        for c in spec.columns
        if c.doc
    ]
    return "\n".join([*lines, ""])


def _type(dtype: str) -> str:
    try:
        name: str = np.dtype(dtype).name
        return name
    except TypeError:
        # A type of pandas.
        return dtype


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, ``--write`` or ``--check`` the page; 1 when a checked page is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument(
        "--check", action="store_true", help="fail when the page is not what would be written"
    )
    parser.add_argument("page", nargs="?", type=Path, default=Path("docs/columns.md"))
    given = parser.parse_args(arguments)
    if given.check:
        return 0 if given.page.read_text(encoding="utf-8") == text() else 1
    if given.write:
        given.page.write_text(text(), encoding="utf-8")
    else:
        sys.stdout.write(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
