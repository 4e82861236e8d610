"""Declared tables → JSON columns, and what the page has to know about them (``tables.gen.ts``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.store.display import TEXTS, DisplayColumn, DisplaySpec, DisplayTable, listed


def wire_columns(table: DisplayTable) -> dict[str, Any]:
    """Every declared column of a table as the reply holds it: numpy arrays where JSON can say all their values, else
    lists with None where unknown. A column that was not computed is unknown in every row.
    """
    return {column.name: _values(table, column) for column in table.spec.columns if column.page}


def records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Columns of ``wire_columns`` as one dict per row."""
    rows = zip(*map(listed, columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _values(table: DisplayTable, column: DisplayColumn) -> Any:
    if column.name not in table:
        return [None] * table.n
    if column.kind in TEXTS:
        return table.texts(column.name)
    values = table[column.name]
    if not isinstance(values, np.ndarray):
        return values
    if column.kind == "mean time":
        return np.rint(values).astype(np.int64)
    signed = column.kind.startswith("delta")
    if (
        values.dtype.kind == "i"
        and not signed
        and nullable(table.spec, column)
        and (values < 0).any()
    ):
        return [value if value >= 0 else None for value in values.tolist()]
    # The encoder writes NaN as null.
    return np.ascontiguousarray(values)


def nullable(spec: DisplaySpec, column: DisplayColumn) -> bool:
    """Whether a value can be unknown: where it need not be recorded, or where the row that pools the rest has none."""
    pooled = any(other.pool for other in spec.columns)
    plain = column.kind in ("flag", "knowledge", "row") or column is spec.columns[0]
    return column.optional or _is_float(column) or (pooled and column.pool is None and not plain)


def _is_float(column: DisplayColumn) -> bool:
    return column.dtype == "float64" and column.kind != "mean time"


def table_of(spec: DisplaySpec) -> msgspec.Meta:
    """Marks a payload's field as ``wire_columns`` of a table of this declaration: ``Annotated[dict[str, Any], table_of(SPEC)]``."""
    return msgspec.Meta(extra={"table": spec})


def type_name(spec: DisplaySpec) -> str:
    """Name of its TypeScript interface: ``OperatorsTable``."""
    return "".join(word.capitalize() for word in spec.name.split("_")) + "Table"


def interface(spec: DisplaySpec) -> str:
    """The TypeScript interface of its columns."""
    lines = [f"  {column.name}: {_type(spec, column)};" for column in spec.columns if column.page]
    doc = spec.doc.replace("``", "`")
    return "\n".join([f"/** {doc} */", f"export interface {type_name(spec)} {{", *lines, "}", ""])


def _type(spec: DisplaySpec, column: DisplayColumn) -> str:
    named = {**dict.fromkeys(TEXTS, "string"), "texts": "string[]", "flag": "boolean"}
    item = named.get(column.kind, "number")
    return f"({item} | null)[]" if nullable(spec, column) else f"{item}[]"


def page_columns(spec: DisplaySpec) -> str:
    """The declaration of the columns that the page shows, as a TypeScript constant; empty where it shows none."""
    columns = [
        {
            "key": column.name,
            "label": column.label,
            "kind": _KINDS.get(column.kind, column.kind),
            **({"term": column.term} if column.term else {}),
            **({"width": column.width} if column.width else {}),
            **({"bar": True} if column.bar else {}),
            **({"hidden": True} if column.hidden else {}),
        }
        for column in spec.columns
        if column.label and column.page
    ]
    if not columns:
        return ""
    listed = "".join(f"  {json.dumps(column, ensure_ascii=False)},\n" for column in columns)
    return f"export const {spec.name.upper()}: readonly DeclaredColumn[] = [\n{listed}];\n"


_KINDS = {
    "mean time": "time",
    "delta bytes": "bytes",
    "category": "code",
    "texts": "code",
    "id": "count",
    "flag": "text",
}
