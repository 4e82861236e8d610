"""Tables that people see, declared once: what each column is called, holds and means.

The declaration stands where the table is computed. From it follow the wire encoding and its TypeScript type, the page's
columns, the DataFrame, the command line's text, Markdown and JSON, and the documentation::

    OPERATORS = display_spec("operators: One row per operator.\\n    calls  count  Calls  pool=sum  Number of calls.")
    operator_rows(facts, …) ─▶ DisplayTable ─┬─▶ views/display_wire.py   JSON ─▶ the page's grid
                                                ├─▶ api/table_frame.py       DataFrame, docs/api.md
                                                └─▶ cli/tables.py            text, Markdown, JSON
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.store.columns import Array, Columns
from torch_tb_profiler.store.strings import NO_STRINGS, StringTable

Kind = Literal[
    "text",
    "code",
    "category",
    "texts",
    "time",
    "mean time",
    "delta",
    "bytes",
    "delta bytes",
    "share",
    "count",
    "id",
    "row",
    "number",
    "flag",
    "knowledge",
    "counter",
    "FLOP",
    "FLOP/s",
    "B/s",
]
"""What a column holds. ``code``: text in a fixed-width face; ``category``: text of few distinct
values; ``texts``: a tuple of texts; ``time``, ``delta``: integer ns; ``mean time``: ns as a float;
``share``: a fraction of 1; ``id``: a number that names something;
``row``: number of a row elsewhere, of an event where ``unit`` says no other, on the wire −1 where there is none; ``knowledge``: 0 no, 1 yes, 2
unknown; ``counter``: floats that are shown as integers where only whole numbers were measured.
"""
Pool = Literal["sum", "min", "max", "any", "mean", "other"]
"""How the rows beyond a limit become one: ``mean`` is weighted by the column ``calls``; ``other``
is the text ``other``, as in the first column. Without a rule it is unknown."""

OTHER = "other"
"""Name of the row that pools those beyond a limit."""
TEXTS = ("text", "code", "category")
UNKNOWN = 2
"""``Knowledge.UNKNOWN``."""

_UNITS: dict[str, str] = {
    "time": "ns",
    "mean time": "ns",
    "delta": "ns",
    "bytes": "bytes",
    "delta bytes": "bytes",
    "share": "share",
    "row": "row of events",
    "FLOP": "FLOP",
    "FLOP/s": "FLOP/s",
    "B/s": "bytes/s",
}
_DTYPES: dict[str, str] = {
    **dict.fromkeys(("text", "code"), "str"),
    **dict.fromkeys(("mean time", "share", "number", "FLOP/s", "B/s"), "float64"),
    "category": "category",
    "texts": "object",
    "flag": "bool",
    "knowledge": "boolean",
    "counter": "Float64",
}
_OPTIONAL = {"int64": "Int64", "bool": "boolean"}


class DisplayColumn(msgspec.Struct, frozen=True):
    """One column.

    ``name`` is its only name: on the wire, in DataFrames, JSON and links. ``label``: its heading, in
    which ``{device}``, ``{matrix_cores}`` and ``{multiprocessor}`` stand for the vendor's words; the
    page shows no column without one. ``doc``: one sentence; a column without one is in no DataFrame.
    ``term``: key of its definition. ``optional``: values can be unknown (−1 of integers, NaN, None).
    ``unit`` overrides that of the kind. ``bar``: the page draws its part of the largest value.
    ``page``: whether the page gets it.
    """

    name: str
    kind: Kind
    label: str
    doc: str
    term: str = ""
    optional: bool = False
    pool: Pool | None = None
    unit: str = ""
    bar: bool = False
    width: int = 0
    hidden: bool = False
    page: bool = True

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "unit", self.unit or _UNITS.get(self.kind, ""))

    @property
    def dtype(self) -> str:
        """Its type in a DataFrame."""
        dtype = _DTYPES.get(self.kind, "int64")
        return _OPTIONAL.get(dtype, dtype) if self.optional or self.kind == "row" else dtype


def display_columns(text: str, **says: str) -> tuple[DisplayColumn, ...]:
    """Columns declared as text, as stored ones are: per line, four blanks in, a column's name, kind, label (``-`` none), options
    (``-`` none) and sentence. What stands further in continues the sentence above, and ``<key>`` in it stands for one of ``says``.

    Options are the other fields of ``DisplayColumn`` by name, those that are true alone, in a unit ``_`` for a blank; ``unsent``: the
    page does not get the column.
    """
    for key, own in says.items():
        text = text.replace(f"<{key}>", own)
    _, *rows = re.split(r"\n {4}(?=\S)", text.rstrip())
    return tuple(_column(*re.split(" {2,}", row, maxsplit=4)) for row in rows)


def _column(name: str, kind: str, label: str, options: str, doc: str = "") -> DisplayColumn:
    told: dict[str, Any] = {"name": name, "kind": kind, "label": label.strip("-")}
    for option in options.strip("-").split():
        key, given, value = option.partition("=")
        told[key] = value.replace("_", " ") if key == "unit" else value if given else True
    told["page"] = not told.pop("unsent", False)
    return msgspec.convert({**told, "doc": " ".join(doc.split())}, DisplayColumn, strict=False)


class Coded(msgspec.Struct, frozen=True):
    """A column of few distinct texts: ``texts[code]`` of each row, −1 unknown."""

    codes: Array
    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Array) -> Coded:
        return Coded(self.codes[rows], self.texts)

    def listed(self) -> list[str | None]:
        """The text of each row, None unknown."""
        return [self.texts[code] if code >= 0 else None for code in self.codes.tolist()]


class DisplaySpec(msgspec.Struct, frozen=True):
    """A declared table: its name, one sentence, its columns in order; the first one names a row."""

    name: str
    doc: str
    columns: tuple[DisplayColumn, ...]

    def build(self, strings: StringTable, **columns: Any) -> DisplayTable:
        """A table of the given columns; see ``DisplayTable``."""
        return DisplayTable(self, strings, columns)

    def joined(self, tables: Sequence[DisplayTable]) -> DisplayTable:
        """The rows of tables of these columns and of the same strings, one table behind the other."""
        if len(tables) == 1:
            return tables[0]
        if not tables:
            return self.build(NO_STRINGS, **{column.name: [] for column in self.columns})
        columns = {}
        for name, first in tables[0].items():
            parts = [table[name] for table in tables]
            arrays = isinstance(first, np.ndarray)
            columns[name] = np.concatenate(parts) if arrays else list(chain.from_iterable(parts))
        return DisplayTable(self, tables[0].strings, columns)


def display_spec(text: str, **says: str) -> DisplaySpec:
    """A table declared as text: ``name: a sentence``, and its columns as of ``display_columns``."""
    head = re.split(r"\n {4}(?=\S)", text.strip(), maxsplit=1)[0]
    name, doc = head.split(": ", 1)
    return DisplaySpec(name, " ".join(doc.split()), display_columns(text, **says))


class DisplayTable(Columns[Any]):
    """Numpy arrays, or lists. Text columns may be arrays of numbers of strings (−1 unknown), or ``Coded``.

    Declared columns that were not computed may be left out. ``attributes``: what else is to be said of the table, by name;
    a table among them is for people a list of its rows.
    """

    def __init__(
        self,
        spec: DisplaySpec,
        strings: StringTable,
        columns: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Raises:
        ValueError: a column is not declared, or columns differ in length.
        """
        super().__init__(spec.name, columns)
        if undeclared := columns.keys() - {column.name for column in spec.columns}:
            raise ValueError(f"table {spec.name}: undeclared columns {sorted(undeclared)}")
        self.spec = spec
        self.strings = strings
        self.attributes = dict(attributes or {})

    @property
    def shown(self) -> list[DisplayColumn]:
        """The computed columns that people get outside of the page."""
        return [column for column in self.spec.columns if column.doc and column.name in self]

    def take(self, rows: Array | slice) -> DisplayTable:
        """The rows selected by an index array, a boolean mask or a slice, in that order."""
        index = np.arange(self.n)[rows]
        columns = {
            name: values[index]
            if isinstance(values, (np.ndarray, Coded))
            else [values[i] for i in index.tolist()]
            for name, values in self._columns.items()
        }
        return DisplayTable(self.spec, self.strings, columns, self.attributes)

    def with_columns(self, **columns: Any) -> DisplayTable:
        """The table with more columns, or with others in their place."""
        return DisplayTable(self.spec, self.strings, {**self._columns, **columns}, self.attributes)

    def with_attributes(self, **attributes: Any) -> DisplayTable:
        """The table with more said of it."""
        return DisplayTable(self.spec, self.strings, self, {**self.attributes, **attributes})

    def texts(self, name: str) -> list[str | None]:
        """A text column as texts, each read once; None is unknown."""
        values = self._columns[name]
        if isinstance(values, Coded):
            return values.listed()
        if not isinstance(values, np.ndarray):
            return list(values)
        distinct, place = np.unique(values, return_inverse=True)
        texts = [self.strings[number] if number >= 0 else None for number in distinct.tolist()]
        return [texts[i] for i in place.tolist()]

    def head(self, limit: int) -> DisplayTable:
        """The first ``limit`` rows; where there are more, a last row named ``other`` pools them."""
        if self.n <= limit:
            return self
        columns = {
            column.name: self._pooled(column, limit)
            for column in self.spec.columns
            if column.name in self._columns
        }
        return DisplayTable(self.spec, self.strings, columns, self.attributes)

    def _pooled(self, column: DisplayColumn, limit: int) -> Any:
        values, first = self._columns[column.name], self.spec.columns[0].name
        if column.kind in TEXTS:
            kept = self.take(np.arange(limit)).texts(column.name)
            return [*kept, OTHER if column.name == first or column.pool == "other" else None]
        if not isinstance(values, np.ndarray):
            return [*values[:limit], None]
        return np.append(values[:limit], self._pool(column, values[limit:], limit)).astype(
            values.dtype
        )

    def _pool(self, column: DisplayColumn, rest: Array, limit: int) -> Any:
        if column.pool == "mean":
            calls = self._columns["calls"][limit:]
            return (rest * calls).sum() / max(int(calls.sum()), 1)
        if column.pool is not None:
            return getattr(rest, column.pool)()
        if column.kind == "flag":
            return False
        unknown = {"knowledge": UNKNOWN, "share": np.nan, "number": np.nan}
        return unknown.get(column.kind, np.nan if rest.dtype.kind == "f" else -1)


def known(values: Array, is_known: bool) -> Array:
    """Integers, or as many −1 where none of them is known."""
    return values if is_known else np.full(len(values), -1, np.int64)


def listed(values: Sequence[Any] | Array) -> list[Any]:
    """A column as a list of Python values."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
