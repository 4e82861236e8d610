"""Declared tables as Arrow tables that share memory with the arrays, so with the mapped file.

::

    numbers  2 0 −1 2   strings  offsets, blob        Arrow: dictionary<int32, large_string>, the third value null
                                                       (only the bitmap of what is known is made)

Unknown becomes null: −1 of integers, NaN, 2 of ``Knowledge``, 0 of an address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from torch_tb_profiler.hardware.knowledge import Knowledge
from torch_tb_profiler.sql.kinds import FLAG, INSIGHT_TEXT, NAMED, TEXT
from torch_tb_profiler.store.columns import Array, Column, Mask, Table
from torch_tb_profiler.store.display import TEXTS, DisplayColumn, DisplayTable, listed
from torch_tb_profiler.store.strings import StringTable

_NEGATIVE = {("memory", "bytes"), ("memory_curve", "bytes"), ("finding_steps", "finding")}
"""Columns in which −1 is a value."""


def arrow_table(table: Table, strings: Callable[[str], Any], numbered: bool) -> Any:
    """A declared table. ``strings``: the Arrow texts behind a unit; ``numbered``: whether a column
    ``row`` with the number of the row comes first.
    """
    columns = {column.name: _column(table, column, strings) for column in table.spec.columns}
    numbers = {"row": pa.array(np.arange(table.n, dtype=np.int64))} if numbered else {}
    return pa.table({**numbers, **columns})


def arrow_texts(strings: StringTable) -> Any:
    """The texts by number; the arrays of a table of valid UTF-8 are used as they are."""
    buffers = [
        None,
        pa.py_buffer(strings.offsets),
        pa.py_buffer(np.ascontiguousarray(strings.blob)),
    ]
    texts = pa.Array.from_buffers(pa.large_string(), len(strings), buffers)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        texts = pa.array(strings.all(), pa.large_string())
    return texts


def _column(table: Table, column: Column, strings: Callable[[str], Any]) -> Any:
    values, unit = table[column.name], column.unit
    if unit in (TEXT, INSIGHT_TEXT):
        texts = strings(unit)
        return _dictionary(values, texts, (values >= 0) & (values < len(texts)))
    if unit in NAMED:
        known = (values >= 0) & (values < len(NAMED[unit]))
        return _dictionary(values.astype(np.int8), pa.array(NAMED[unit]), known)
    if unit == Knowledge.__name__:
        return pa.array(values == Knowledge.YES, mask=values == Knowledge.UNKNOWN)
    if unit == FLAG:
        return pa.array(values != 0)
    if values.dtype.kind == "f":
        return _plain(values, ~np.isnan(values))
    if values.dtype.kind == "u":
        return _plain(values, values != 0 if "0 unknown" in column.doc else None)
    signed = (table.spec.name, column.name) in _NEGATIVE
    return _plain(values, None if signed else values != -1)


def _plain(values: Array, known: Mask | None) -> Any:
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [_bitmap(known), pa.py_buffer(values)])


def _dictionary(numbers: Array, texts: Any, known: Mask) -> Any:
    if not len(texts):
        return pa.nulls(len(numbers), pa.string())
    # What stands at an unknown place is read by nobody, but must lie within the texts.
    return pa.DictionaryArray.from_arrays(_plain(numbers, known), texts, safe=False)


def _bitmap(known: Mask | None) -> Any:
    if known is None or known.all():
        return None
    return pa.py_buffer(np.packbits(known, bitorder="little"))


def display_table(table: DisplayTable) -> Any:
    """The computed columns of a table of the page."""
    return pa.table({column.name: _shown(table, column) for column in table.shown})


def _shown(table: DisplayTable, column: DisplayColumn) -> Any:
    values: Any = table[column.name]
    if column.kind in TEXTS:
        return pa.array(table.texts(column.name), pa.string())
    if column.kind == "texts":
        return pa.array([[*map(str, value or ())] for value in values], pa.list_(pa.string()))
    if column.kind == "knowledge" and isinstance(values, np.ndarray):
        return pa.array(values == Knowledge.YES, mask=values == Knowledge.UNKNOWN)
    if column.kind == "flag" and isinstance(values, np.ndarray):
        return pa.array(values != 0)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        delta = column.kind.startswith("delta") or values.dtype.kind == "u"
        floats = values.dtype.kind == "f"
        missing = np.isnan(values) if floats else (values < 0) & (not delta)
        return pa.array(values, pa.float64() if floats else pa.int64(), mask=missing)
    is_flag, is_float = column.kind in ("flag", "knowledge"), column.dtype == "float64"
    kind = pa.bool_() if is_flag else pa.float64() if is_float else pa.int64()
    return pa.array(_numbers(listed(values)), kind)


def _numbers(values: Sequence[Any]) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]
