"""Route ``/table``: any computed table by name. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.views.display_wire import wire_columns
from torch_tb_profiler.views.wire import Wire


class TableColumn(Wire, frozen=True, kw_only=True):
    """A column: its name, what kind of values it holds, their unit (empty: none) and a sentence."""

    name: str
    kind: str
    unit: str
    doc: str


class TablePayload(Wire, frozen=True, kw_only=True):
    """``rows``: the values of each column, null unknown. ``pooled``: rows that the last row pools; 0 none."""

    name: str
    doc: str
    columns: list[TableColumn]
    rows: dict[str, list[Any]]
    pooled: int


def table_payload(table: DisplayTable, limit: int) -> TablePayload:
    """The computed columns of a table, at most ``limit`` rows and a row that pools the rest."""
    rows, columns = wire_columns(table.head(limit)), table.spec.columns
    shown = [column for column in columns if column.name in rows and column.name in table]
    return TablePayload(
        name=table.spec.name,
        doc=table.spec.doc,
        columns=[
            TableColumn(name=column.name, kind=column.kind, unit=column.unit, doc=column.doc)
            for column in shown
        ],
        rows={column.name: rows[column.name] for column in shown},
        pooled=max(0, table.n - limit),
    )
