"""Tables: declared columns over numpy arrays of equal length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NewType, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Values = TypeVar("Values", bound=Sized)

SpanRow = NewType("SpanRow", int)
"""A row of the table spans; of the tables steps and tracks in the same way. −1 none."""
StepRow = NewType("StepRow", int)
TrackRow = NewType("TrackRow", int)


def unique_values(*values: Array) -> Array:
    """The values that occur in some arrays, ascending. ``np.unique`` gives the same, and imports ``numpy.ma`` for that: 10 ms."""
    ordered = np.sort(
        values[0] if len(values) == 1 else np.concatenate(values, axis=None), axis=None
    )
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def median_of(values: Array) -> float:
    """The median of some numbers, NaN of none. ``np.median`` gives the same, and imports ``numpy.ma`` for that: 10 ms."""
    ordered, n = np.sort(values, axis=None), values.size
    return float((ordered[(n - 1) // 2] + ordered[n // 2]) / 2) if n else float("nan")


def percentiles_of(values: Array, percents: Sequence[float]) -> Array:
    """Percentiles of some numbers, at least one, float64. ``np.percentile`` gives the same, and imports ``numpy.ma`` for that: 10 ms."""
    ordered = np.sort(values, axis=None)
    at = (len(ordered) - 1) * (np.asarray(percents) / 100)
    place = at.astype(np.int64)
    low, high = ordered[place], ordered[np.minimum(place + 1, len(ordered) - 1)]
    part = at - place
    # From the nearer of both, as numpy rounds.
    near_low, near_high = low + (high - low) * part, high - (high - low) * (1 - part)
    return np.asarray(np.where(part < 0.5, near_low, near_high))


def is_one_of(values: Array, members: Iterable[int]) -> Mask:
    """Which values are among a few; bool of their shape. Of roles and causes quicker than ``np.isin``."""
    among = np.zeros(values.shape, np.bool_)
    for member in members:
        among |= values == member
    return among


class Column(msgspec.Struct, frozen=True):
    """One declared column: name, numpy dtype, unit (``""`` if none) and a sentence."""

    name: str
    dtype: str
    unit: str
    doc: str


class TableSpec(msgspec.Struct, frozen=True):
    """A declared table: name, a sentence, its columns in order."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    def empty(self) -> Table:
        """A table without rows."""
        return Table(self, {c.name: np.zeros(0, c.dtype) for c in self.columns})

    def build(self, **columns: Any) -> Table:
        """A table from arrays or sequences, each cast to the declared dtype.

        Raises:
            ValueError: a column is missing, unknown or of a different length.
        """
        names = [c.name for c in self.columns]
        if set(columns) != set(names):
            raise ValueError(
                f"table {self.name}: got columns {sorted(columns)}, declared are {sorted(names)}"
            )
        cast = {c.name: np.ascontiguousarray(columns[c.name], dtype=c.dtype) for c in self.columns}
        return Table(self, cast)


class Columns(Mapping[str, Values]):
    """Columns of equal length; ``n`` is the number of rows."""

    def __init__(self, name: str, columns: Mapping[str, Values]) -> None:
        """Raises:
        ValueError: columns differ in length.
        """
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"table {name}: columns of different lengths {sorted(lengths)}")
        self.n = lengths.pop() if lengths else 0
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Values:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of columns, as for any mapping."""
        return len(self._columns)


class Table(Columns[Array]):
    """Immutable; ``table["start"]`` is a numpy array of shape ``(n,)``."""

    def __init__(
        self,
        spec: TableSpec,
        columns: Mapping[str, Array],
        checks: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        """``checks``: column → what is called before its first use, and raises if it is damaged."""
        super().__init__(spec.name, columns)
        self.spec = spec
        self._checks = dict(checks or {})
        for column in self._columns.values():
            if column.flags.owndata:
                column.flags.writeable = False

    def __getitem__(self, name: str) -> Array:
        if self._checks and (check := self._checks.get(name)) is not None:
            check()
            self._checks.pop(name, None)
        return self._columns[name]

    def take(self, rows: Array) -> Table:
        """The rows selected by an index array or boolean mask, in that order."""
        return Table(self.spec, {k: v[rows] for k, v in self.items()})

    def replace(self, **columns: Any) -> Table:
        """The table with some columns replaced."""
        return self.spec.build(**{**self, **columns})


def declared(text: str) -> TableSpec:
    """A table declared as text: ``name: a sentence``, and per line, four blanks in, a column's name,
    dtype, unit (``-`` none) and sentence. What stands further in continues the sentence above.
    """
    head, *rows = re.split(r"\n {4}(?=\S)", text.strip())
    name, doc = head.split(": ", 1)
    cells = (re.split(" {2,}", row, maxsplit=3) for row in rows)
    columns = (Column(key, kind, unit.strip("-"), _joined(says)) for key, kind, unit, says in cells)
    return TableSpec(name, _joined(doc), tuple(columns))


def summed(steps: TableSpec, group: str) -> tuple[Column, ...]:
    """The columns of a table per step that can be summed over steps; ``group``: its key column."""
    return tuple(column for column in steps.columns if column.name not in (group, "step"))


def _joined(text: str) -> str:
    return " ".join(text.split())
