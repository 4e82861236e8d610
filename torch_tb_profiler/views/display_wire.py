"""Declared tables → JSON columns, and what the page has to know about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import msgspec
import msgspec.inspect as inspect
import numpy as np
from numpy.typing import NDArray

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
        values = np.rint(np.where(np.isnan(values), -1, values)).astype(np.int64)
    unsigned = values.dtype.kind == "i" and not column.kind.startswith("delta")
    if unsigned and nullable(table.spec, column) and (values < 0).any():
        return [value if value >= 0 else None for value in values.tolist()]
    # The encoder writes NaN as null.
    return np.ascontiguousarray(values)


def nullable(spec: DisplaySpec, column: DisplayColumn) -> bool:
    """Whether a value can be unknown: where it need not be recorded, or where the row that pools the rest has none."""
    pooled = any(other.pool for other in spec.columns)
    plain = column.kind in ("flag", "knowledge", "row") or column is spec.columns[0]
    is_float = column.dtype == "float64" and column.kind != "mean time"
    return column.optional or is_float or (pooled and column.pool is None and not plain)


def table_of(spec: DisplaySpec) -> msgspec.Meta:
    """Marks a payload's field as ``wire_columns`` of a table of this declaration: ``Annotated[dict[str, Any], table_of(SPEC)]``."""
    return msgspec.Meta(extra={"table": spec})


def tables_in(types: Iterable[type]) -> list[DisplaySpec]:
    """The declared tables that payloads of these types hold, by name."""
    kinds: list[inspect.Type] = list(inspect.multi_type_info(types))
    seen: set[type] = set()
    specs: dict[str, DisplaySpec] = {}
    while kinds:
        kind = kinds.pop()
        if isinstance(kind, inspect.Metadata):
            if isinstance(spec := (kind.extra or {}).get("table"), DisplaySpec):
                specs[spec.name] = spec
        elif isinstance(kind, inspect.StructType) and kind.cls not in seen:
            seen.add(kind.cls)
            kinds += [field.type for field in kind.fields]
        elif isinstance(kind, inspect.ListType):
            kinds.append(kind.item_type)
        elif isinstance(kind, inspect.UnionType):
            kinds += kind.types
    return [specs[name] for name in sorted(specs)]


def optional_floats(values: NDArray[np.floating[Any]]) -> list[float | None]:
    """NaN and infinities are unknown."""
    return [value if isfinite(value) else None for value in values.tolist()]
