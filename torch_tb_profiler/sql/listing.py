"""The tables and columns for people: docs, command line and the page's list follow from their declarations."""

from __future__ import annotations

import re

import msgspec

from torch_tb_profiler.sql.kinds import FLAG, INSIGHT_TEXT, NAMED, TEXT, sql_type
from torch_tb_profiler.sql.tables import SCHEMAS, SqlTable, tables
from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.display import TEXTS, DisplayColumn


class ListedColumn(msgspec.Struct, frozen=True):
    """A column: name, type in SQL, unit (empty: none) and a sentence."""

    name: str
    type: str
    unit: str
    doc: str


class ListedTable(msgspec.Struct, frozen=True):
    """A table. ``about``: what its schema holds."""

    schema: str
    about: str
    name: str
    doc: str
    columns: tuple[ListedColumn, ...]

    @property
    def full_name(self) -> str:
        """As statements write it."""
        return self.name if self.schema == "main" else f"{self.schema}.{self.name}"


def listed() -> list[ListedTable]:
    """All tables, schema by schema."""
    return [
        ListedTable(
            table.schema, SCHEMAS[table.schema], table.spec.name, table.spec.doc, _columns(table)
        )
        for schema in SCHEMAS
        for table in tables().values()
        if table.schema == schema
    ]


def _columns(table: SqlTable) -> tuple[ListedColumn, ...]:
    if isinstance(table.spec, TableSpec):
        number = (ListedColumn("row", "BIGINT", "", "Number of the row, from 0."),)
        columns = tuple(_stored(column) for column in table.spec.columns)
        return (*number, *columns) if table.numbered else columns
    return tuple(_shown(column) for column in table.spec.columns if column.doc)


def _stored(column: Column) -> ListedColumn:
    unit = "" if column.unit in (TEXT, INSIGHT_TEXT, FLAG) or column.unit in NAMED else column.unit
    # What the store writes as −1 or 0 is null here.
    doc = re.sub(r"(?<=; )(-1|0)(?= unknown|(?<=-1) )", "null", column.doc)
    return ListedColumn(column.name, sql_type(column), unit, doc)


def _shown(column: DisplayColumn) -> ListedColumn:
    kind = (
        "VARCHAR"
        if column.kind in TEXTS
        else "VARCHAR[]"
        if column.kind == "texts"
        else "BOOLEAN"
        if column.kind in ("flag", "knowledge")
        else "DOUBLE"
        if column.dtype == "float64"
        else "BIGINT"
    )
    return ListedColumn(column.name, kind, column.unit, column.doc)
