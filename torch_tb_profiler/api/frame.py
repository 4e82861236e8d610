"""numpy columns → DataFrames with the types, units and docs that ``frame_columns.py`` declares;
``attrs["units"]`` and ``attrs["docs"]`` hold the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.store.columns import Array, Mask, TableSpec
from torch_tb_profiler.store.display import (
    TEXTS,
    UNKNOWN,
    DisplayColumn,
    DisplaySpec,
    DisplayTable,
    listed,
)
from torch_tb_profiler.store.strings import StringTable

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(
    spec: TableSpec | DisplaySpec,
    values: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
    *,
    share: bool = False,
) -> DataFrame:
    """The declared columns that have values, in declared order, then the columns of ``more``.

    A value is an array, a list (None: missing) or a pandas array. In numpy arrays for ``Int64``
    negative integers are missing; those for ``boolean`` hold ``Knowledge``. ``share``: columns
    share memory with the given arrays, which must not be written to.

    Raises:
        KeyError: a column is not declared.
    """
    import pandas

    declared = {column.name: column for column in spec.columns}
    unknown = [name for name in values if name not in declared]
    if unknown:
        raise KeyError(f"frame {spec.name}: the columns {unknown} are not declared")
    shown = {name: column for name, column in declared.items() if name in values}
    columns = {name: _column(values[name], column.dtype) for name, column in shown.items()}
    table: DataFrame = pandas.DataFrame({**columns, **(more or {})}, copy=not share)
    table.attrs = {
        "units": {name: column.unit for name, column in shown.items()},
        "docs": {name: column.doc for name, column in shown.items()},
    }
    return table


def table_frame(
    table: DisplayTable, more: Mapping[str, Any] | None = None, *, share: bool = False
) -> DataFrame:
    """The computed columns of a declared table that belong into a DataFrame, and ``more`` columns
    behind them; ``share`` as of ``frame``. Columns of kind ``category`` may be pandas' own.
    """
    columns = {column.name: column for column in table.spec.columns if column.doc}
    values = {name: _values(table, column) for name, column in columns.items() if name in table}
    return frame(table.spec, values, more, share=share)


def _values(table: DisplayTable, column: DisplayColumn) -> Any:
    values = table[column.name]
    if column.kind == "category":
        return category(values, table.strings) if isinstance(values, np.ndarray) else values
    if column.kind in TEXTS:
        return table.texts(column.name)
    # A negative difference is known.
    return listed(values) if column.kind.startswith("delta") and column.optional else values


def category(numbers: Array, strings: StringTable) -> Any:
    """Texts by number as a ``Categorical``; −1 is missing. Each distinct text is read once."""
    used = distinct(numbers, strings)
    codes: dict[str, int] = {}
    code = np.full(len(strings) + 1, -1, np.int32)
    # Texts that are not valid UTF-8 may become equal.
    code[used] = [codes.setdefault(text, len(codes)) for text in strings.many(used)]
    narrow = np.min_scalar_type(-max(len(codes), 1))
    return coded(code.astype(narrow)[numbers], list(codes))


def coded(codes: Any, texts: Sequence[str]) -> Any:
    """A ``Categorical`` of integer codes, −1 missing, and their texts."""
    import pandas

    return pandas.Categorical.from_codes(codes, pandas.Index(texts))


def known(values: Array, mask: Mask | bool) -> Any:
    """Integers, missing where the mask is not set; the values are not copied."""
    import pandas

    missing = np.full(len(values), not mask) if isinstance(mask, bool) else ~mask
    return pandas.arrays.IntegerArray(np.asarray(values, np.int64), missing)


def _column(values: Any, dtype: str) -> Any:
    import pandas

    if isinstance(values, pandas.api.extensions.ExtensionArray):
        return values
    if dtype == "Int64":
        return (
            known(values, values >= 0)
            if isinstance(values, np.ndarray)
            else pandas.array(list(values), dtype="Int64")
        )
    if dtype == "boolean":
        if isinstance(values, np.ndarray) and values.dtype != np.bool_:
            return pandas.arrays.BooleanArray(values == 1, values == UNKNOWN)
        return pandas.array(list(values), dtype="boolean")
    if dtype == "float64" and not isinstance(values, np.ndarray):
        return np.array([np.nan if v is None else v for v in values], np.float64)
    if dtype == "object":
        return _objects(values)
    if dtype == "str":
        # An empty list would make a column of floats.
        return pandas.Series(list(values), dtype=_text_type())
    return np.asarray(values, dtype)


def _text_type() -> Any:
    """pandas' own type of texts: ``object`` before version 3, ``str`` since."""
    import pandas

    return pandas.Series(["text"]).dtype


def _objects(values: Sequence[Any]) -> Array:
    """One object per row; numpy would make tuples of one length two-dimensional."""
    column = np.empty(len(values), object)
    for row, value in enumerate(values):
        column[row] = value
    return column
