"""The kernel table of a trace as plain rows."""

from __future__ import annotations

from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.pyprof.table import kernel_table
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.work.pyprof import Cell, KernelCells
from torch_tb_profiler.views.work.pyprof_columns import COLUMNS

Row = dict[str, Cell]


def rows_of(trace: Trace, facts: Facts | None = None, insight: Insight | None = None) -> list[Row]:
    """All twenty columns of every kernel."""
    facts = facts or derive(trace)
    insight = insight or build_insight(trace, facts)
    cells = KernelCells(trace, insight, kernel_table(trace, facts, insight))
    columns = [cells.column(key, 0, cells.rows) for key in COLUMNS]
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*columns, strict=True)]


def texts(rows: list[Row], *keys: str) -> list[str]:
    """Some columns of each row, with spaces between; ``~`` where there is no value."""
    return [" ".join("~" if row[key] is None else str(row[key]) for key in keys) for row in rows]
