"""Declared tables → DataFrames; ``attrs["units"]`` and ``attrs["docs"]`` say what their columns
hold. Unknown is missing, never 0: ``<NA>`` in ``Int64`` and ``boolean``, NaN in floats, None or NaN
in texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.display import TEXTS, UNKNOWN, Coded, DisplayColumn, DisplayTable
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.tables.registry import TABLES

if TYPE_CHECKING:
    from pandas import DataFrame

    from torch_tb_profiler.runs.fleet import Fleet
    from torch_tb_profiler.tables.source import TableSource


LARGEST = 1 << 53
"""Counters beyond it are no whole numbers any more as the file's reader keeps them."""


def computed_frame(name: str, source: TableSource | Fleet, **options: Any) -> DataFrame:
    """The table of a name in ``tables/registry.py``, computed now."""
    table = TABLES[name]
    return table_frame(table.computed(source, **options), share=table.shared)


def table_frame(table: DisplayTable, *, share: bool = False) -> DataFrame:
    """The computed columns of a declared table that belong into a DataFrame. Columns of kind ``category`` may be pandas'
    own. ``share``: columns share memory with the table's arrays, which must not be written to.
    """
    import pandas

    shown = table.shown
    columns = {column.name: _values(table, column) for column in shown}
    frame: DataFrame = pandas.DataFrame(columns, copy=not share)
    frame.attrs = {
        "units": {column.name: column.unit for column in shown},
        "docs": {column.name: column.doc for column in shown},
        **{
            name: table_frame(said).to_dict("records") if isinstance(said, DisplayTable) else said
            for name, said in table.attributes.items()
        },
    }
    return frame


def _values(table: DisplayTable, column: DisplayColumn) -> Any:
    import pandas

    values, dtype = table[column.name], column.dtype
    computed = isinstance(values, np.ndarray)
    if column.kind == "category":
        if isinstance(values, Coded):
            return coded(values.codes, values.texts)
        return category(values, table.strings) if computed else values
    if column.kind == "counter":
        return _numbers(values)
    if column.kind in TEXTS:
        # An empty list would make a column of floats.
        return pandas.Series(table.texts(column.name), dtype=_text_type())
    if dtype == "Int64" and computed:
        # A negative difference is known; the values are not copied.
        signed = column.kind.startswith("delta")
        missing = np.zeros(len(values), np.bool_) if signed else values < 0
        return pandas.arrays.IntegerArray(np.asarray(values, np.int64), missing)
    if dtype == "boolean" and computed and values.dtype != np.bool_:
        return pandas.arrays.BooleanArray(values == 1, values == UNKNOWN)
    if dtype in ("Int64", "boolean"):
        return pandas.array(values, dtype=dtype)
    return _objects(values) if dtype == "object" else np.asarray(values, dtype)


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


def _numbers(values: Array) -> Any:
    """A counter that only took whole numbers is a column of integers."""
    import pandas

    finite = np.isfinite(values)
    whole = ((values == np.rint(values)) & (np.abs(values) < LARGEST) | ~finite).all()
    dtype: Any = "Int64" if whole and len(values) else "Float64"
    return pandas.array(np.where(finite, values, np.nan), dtype=dtype)
