"""The page ``docs/columns.md``, made of the declared tables by ``python -m tests.generate``."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.store.columns import TableSpec
from torch_tb_profiler.store.display import DisplaySpec
from torch_tb_profiler.store.fact_schema import FACT_TABLES
from torch_tb_profiler.store.insight_schema import INSIGHT_TABLES
from torch_tb_profiler.store.rank_schema import RANK_TABLES
from torch_tb_profiler.store.schema import TRACE_TABLES
from torch_tb_profiler.store.timeline_schema import TIMELINE_TABLES

_HEAD = """# Columns

Generated from `torch_tb_profiler/store/schema.py`, `fact_schema.py`, `timeline_schema.py`, `insight_schema.py` and `rank_schema.py` by
`python -m tests.generate --write`; do not edit. Sidecar files hold these tables in the safetensors format: one the trace and its
facts, a second the timeline (made when the Trace view is first opened), a third the insight (made when findings or one of the views Memory, Module,
Distributed and Diff are first opened), a fourth, made with the insight and small,
what the figures of a run need of the rank. Times are nanoseconds after the first event of the trace.
-1 (integers), NaN (floats) and, where a column says so, 0 stand for "unknown" or "none".

- *number of a string*: index into the string table of the same file; -1 is the empty text.
- *row of X*: row number in table X; -1 is none.
"""


def text() -> str:
    """The whole page."""
    titled = (
        ("Tables of a trace", TRACE_TABLES),
        ("Tables of facts", FACT_TABLES),
        ("Tables of a timeline", TIMELINE_TABLES),
        ("Tables of an insight", INSIGHT_TABLES),
        ("Tables of a rank index", RANK_TABLES),
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
    except TypeError:  # a pandas dtype
        return dtype
