"""An untrusted SQLite file as columns: its tables, and their rows in chunks of numpy arrays.

Only tables that we name are read, never views or virtual tables, and without the database's own
indexes, generated columns, triggers or functions. Values are checked by type, texts are cut, and no
name from the file becomes part of a query. A damaged database yields the rows before the damage.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.importers.window import Progress
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.sources.places import words
from torch_tb_profiler.sources.sniff import sqlite_bytes
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.units import format_count

if TYPE_CHECKING:
    import sqlite3

MISSING = -(1 << 63) + 1
"""A number that the file does not have: no such column, NULL, or a value of another type."""
CHUNK_ROWS = 1 << 14
LONGEST_TEXT = 1 << 16
"""Characters of a text that are kept."""
_ROW_BYTES = 4
"""No row takes less space: a database with more rows has looped pages."""
_PLAIN_NAME = regex(r"[A-Za-z_]\w{0,63}", re.ASCII)
_LONGEST_VALUE = 64 << 20
_LIMIT_LENGTH = 0
"""``SQLITE_LIMIT_LENGTH``."""
_HINT = (
    "Export the recording again: nsys export --type sqlite report.nsys-rep, or nvprof -o"
    " profile.nvprof."
)


class Rows(msgspec.Struct, frozen=True):
    """A chunk of a table: columns of equal length by name; ``numbers`` int64, ``MISSING`` unknown.

    ``first``: position of the first row in the table.
    """

    first: int
    count: int
    numbers: dict[str, Ints]
    texts: dict[str, list[str]]
    blobs: dict[str, list[bytes]]

    def tuples(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The values of some columns of numbers and texts, row by row."""
        values = (
            self.numbers[name].tolist() if name in self.numbers else self.texts[name]
            for name in columns
        )
        return zip(*values, strict=True)

    def properties(self, row: int, keys: Mapping[str, str]) -> dict[str, int]:
        """The known numbers of a row; ``keys``: column → what it is called in the result."""
        values = {key: int(self.numbers[column][row]) for column, key in keys.items()}
        return {key: value for key, value in values.items() if value != MISSING}


class Database:
    """One open file, as a context manager."""

    def __init__(self, path: str, counts: DefectCounts, progress: Progress | None = None) -> None:
        """Open a file read-only.

        Raises:
            NotATrace: it is not a database, or its list of tables cannot be read.
            SourceError: it cannot be opened.
        """
        try:
            import sqlite3
        except ImportError as error:
            raise NotATrace(
                "This Python was built without sqlite3, which SQLite files need.",
                "Use another build of Python.",
            ) from error
        # UnicodeError: the message of an error may quote damaged text.
        self._failure = (sqlite3.Error, UnicodeError)
        self._counts, self._progress = counts, progress
        self._size = os.path.getsize(path) if os.path.exists(path) else 0
        self._left = self._size // _ROW_BYTES
        self._done = self._total = 0
        self._damaged: set[str] = set()
        # Immutable: no journal and no lock, so a read-only folder does not matter.
        try:
            self._open: sqlite3.Connection = sqlite3.connect(
                f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True
            )
        except sqlite3.Error as error:
            raise SourceError(
                f"{os.path.basename(path)} could not be opened: {words(error)}.",
                "Check that it exists and may be read.",
            ) from error
        self._open.text_factory = lambda raw: raw.decode("utf-8", "replace")
        limit = getattr(self._open, "setlimit", None)
        if limit is not None:  # Python 3.11
            limit(_LIMIT_LENGTH, _LONGEST_VALUE)
        try:
            for pragma in (
                "query_only = ON",
                "trusted_schema = OFF",
                "cell_size_check = ON",
                "mmap_size = 0",
            ):
                self._open.execute(f"PRAGMA {pragma}")
            # Views and virtual tables have no page of their own.
            listed = self._open.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 LIMIT 10000"
            ).fetchall()
        except self._failure as error:
            self._open.close()
            raise NotATrace(_damage(path, self._size, error), _HINT) from error
        self._tables = {name.lower(): name for (name,) in listed if isinstance(name, str)}
        # SQLite accepts an incomplete last page and reads zeros there.
        counts.add(d.TRUNCATED, int(_whole(path) > self._size))
        pending = any(_holds_something(path + ending) for ending in ("-wal", "-journal"))
        counts.add(d.UNFINISHED_DATABASE, int(pending))

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def tables(self) -> list[str]:
        """Names of the tables, except those that could not be part of a query."""
        return [name for name in self._tables.values() if _PLAIN_NAME.fullmatch(name)]

    def has(self, table: str) -> bool:
        """Whether there is a table of that name."""
        return table.lower() in self._tables

    def columns(self, table: str) -> dict[str, bool]:
        """Columns of a table → whether it is the row id (``INTEGER PRIMARY KEY``); empty: no table."""
        if not self.has(table):
            return {}
        try:
            described = self._open.execute(f"PRAGMA table_info([{table}])").fetchall()
        except self._failure:
            return {}
        keys = [row for row in described if row[5]]
        return {
            str(row[1]): len(keys) == 1 and row[5] == 1 and str(row[2]).upper() == "INTEGER"
            for row in described
        }

    def expect(self, tables: Sequence[str]) -> None:
        """Announce the tables to read, for the progress."""
        self._done = 0
        self._total += sum(map(self.about, tables))

    def about(self, table: str) -> int:
        """The approximate number of rows of a table: its last row id; 0 without the table."""
        if not self.has(table) or not _PLAIN_NAME.fullmatch(table):
            return 0
        last = self.value(f"SELECT max(rowid) FROM [{table}]")
        return min(last, self._left) if isinstance(last, int) and last > 0 else 0

    def rows(
        self,
        table: str,
        numbers: Sequence[str],
        texts: Sequence[str] = (),
        blobs: Sequence[str] = (),
        where: str = "",
    ) -> Iterator[Rows]:
        """The rows of a table, ``CHUNK_ROWS`` at a time; none without the table.

        Raises:
            NotATrace: the tables have more rows than fit into the file.
        """
        present = {name.lower() for name in self.columns(table)}
        if not present:
            return
        selected = [_number(c) if c.lower() in present else str(MISSING) for c in numbers]
        selected += [_text(c) if c.lower() in present else "''" for c in texts]
        selected += [_blob(c) if c.lower() in present else "x''" for c in blobs]
        query = f"SELECT {', '.join(selected)} FROM [{table}] NOT INDEXED"
        if where:
            query += f" WHERE {where}"
        first = 0
        for chunk in self._chunks(table, query):
            self._report(len(chunk), counted=not where)
            yield _rows(first, chunk, numbers, texts, blobs)
            first += len(chunk)

    def _chunks(self, table: str, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, up to any damage."""
        first = 0
        try:
            cursor = self._open.execute(query)
            while chunk := cursor.fetchmany(CHUNK_ROWS):
                yield chunk
                first += len(chunk)
            return
        except self._failure:
            self._counts.add(d.DAMAGED_TABLE, int(table not in self._damaged))
            self._damaged.add(table)
        # The error lost the rows fetched before the damage: read them again, one by one.
        rest: list[tuple[Any, ...]] = []
        with contextlib.suppress(*self._failure):
            for row in self._open.execute(f"{query} LIMIT {CHUNK_ROWS} OFFSET {first}"):
                rest.append(row)
        if rest:
            yield rest

    def _report(self, count: int, counted: bool) -> None:
        self._left -= count
        if self._left < 0:
            raise NotATrace(
                "The SQLite database is damaged: its tables have more rows than fit into the file.",
                _HINT,
            )
        if counted:
            self._done += count
        if self._progress is not None:
            self._progress(
                int(self._size * min(1.0, self._done / self._total)) if self._total else 0,
                self._size,
            )

    def record(self, table: str, position: int) -> dict[str, Any]:
        """All columns of a row: texts cut, blobs in hexadecimal; empty without the row."""
        names = [name for name in self.columns(table) if _PLAIN_NAME.fullmatch(name)]
        if not names:
            return {}
        selected = ", ".join(
            f"CASE typeof([{name}]) WHEN 'text' THEN {_text(name)} WHEN 'blob' THEN"
            f" hex({_blob(name)}) ELSE [{name}] END"
            for name in names
        )
        try:
            row = self._open.execute(
                f"SELECT {selected} FROM [{table}] NOT INDEXED LIMIT 1 OFFSET ?", (position,)
            ).fetchone()
        except self._failure:
            return {}
        return dict(zip(names, row, strict=True)) if row else {}

    def numbers(self, table: str, key: str, value: str) -> dict[int, int]:
        """What a column of numbers says, by another one."""
        found: dict[int, int] = {}
        for rows in self.rows(table, [key, value]):
            found.update(rows.tuples(key, value))
        return found

    def texts(self, table: str, key: str, *columns: str) -> dict[int, str]:
        """The first text of some columns that is not empty, by a column of numbers; "" where all are."""
        found: dict[int, str] = {}
        for rows in self.rows(table, [key], columns):
            for number, *texts in rows.tuples(key, *columns):
                found[number] = next(filter(None, texts), "")
        return found

    def pairs(self, query: str, *parameters: Any) -> list[tuple[Any, Any]]:
        """The rows of a query with two columns; none if it fails."""
        try:
            return self._open.execute(query, parameters).fetchall()
        except self._failure:
            return []

    def value(self, query: str, *parameters: Any) -> Any:
        """The first value of a query; None without any, or if it fails."""
        try:
            row = self._open.execute(query, parameters).fetchone()
        except self._failure:
            return None
        return row[0] if row else None


def distinct_rows(*columns: Ints) -> tuple[list[tuple[int, ...]], Ints]:
    """Sorted distinct rows of some columns, and the index into them for each row.

    Like ``np.unique(axis=0)``, but ten times faster if most columns are constant, as they are here.
    """
    inverse = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if len(column) and (column != column[0]).any():
            values, codes = np.unique(column, return_inverse=True)
            inverse = np.unique(inverse * len(values) + codes, return_inverse=True)[1]
    _, first = np.unique(inverse, return_index=True)
    return list(zip(*(column[first].tolist() for column in columns), strict=True)), inverse


def mapped(value_of: Callable[..., int], *columns: Ints) -> Ints:
    """What a function says of the numbers of each row, int64; it is asked once per distinct row."""
    distinct, inverse = distinct_rows(*columns)
    return np.array([value_of(*row) for row in distinct], np.int64)[inverse]


class Texts:
    """The table of interned texts: ``StringIds`` (id, value) or ``StringTable`` (_id_, value)."""

    _KEPT, _FEW = 1 << 17, 64

    def __init__(self, database: Database, table: str, key: str, none: int = MISSING) -> None:
        """``none``: the number for no text; nvprof stores ``-- null --`` there."""
        self._database = database
        self._none = {MISSING: "", none: ""}
        self._known = dict(self._none)
        self._query = self._range = ""
        columns = database.columns(table)
        if columns.get(key):
            # Looking up by row id is fast; by any other column it would scan the whole table.
            self._query = f"SELECT {_text('value')} FROM [{table}] WHERE [{key}] = ?"
            self._range = (
                f"SELECT [{key}], {_text('value')} FROM [{table}] WHERE [{key}] BETWEEN ? AND ?"
            )
        elif columns:
            for rows in database.rows(table, [key], ["value"]):
                self._known.update(
                    zip(rows.numbers[key].tolist(), rows.texts["value"], strict=True)
                )
            self._known.update(self._none)

    def texts(self, numbers: Array) -> list[str]:
        """The texts of some numbers; ``""`` for none."""
        distinct, inverse = np.unique(numbers, return_inverse=True)
        self._fetch(distinct[distinct != MISSING])
        texts = [self.text(number) for number in distinct.tolist()]
        return [texts[i] for i in inverse.tolist()]

    def _fetch(self, numbers: Ints) -> None:
        """Fetch close numbers at once: marker texts are unique and adjacent."""
        if not self._query or len(numbers) < self._FEW:
            return
        low, high = int(numbers[0]), int(numbers[-1])
        if high - low < 4 * len(numbers):
            self._make_room()
            self._known.update(self._database.pairs(self._range, low, high))
            self._known.update(self._none)

    def _make_room(self) -> None:
        if len(self._known) > self._KEPT:
            self._known = dict(self._none)

    def text(self, number: int) -> str:
        """The text of a number; ``""`` for none."""
        if not self._query:
            return self._known.get(number, "")
        known = self._known.get(number)
        if known is None:
            self._make_room()
            known = self._known[number] = str(self._database.value(self._query, number) or "")
        return known


def _holds_something(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


def _whole(path: str) -> int:
    """The size in bytes that the header states; 0 if an old SQLite (before 3.7) left it stale."""
    with open(path, "rb") as file:
        head = file.read(100)
    return sqlite_bytes(head) if len(head) < 96 or head[24:28] == head[92:96] else 0


def _damage(path: str, size: int, error: Exception) -> str:
    """Why a database cannot be opened, as a sentence."""
    whole = _whole(path)
    if whole > size:
        return f"The SQLite database is truncated: it has {format_count(size)} of {format_count(whole)} bytes."
    why = (
        "its list of tables is unreadable"
        if isinstance(error, UnicodeError)
        else words(error).partition(": ")[2]
    )
    return f"The SQLite database is damaged: {why}."


def _rows(
    first: int,
    values: list[tuple[Any, ...]],
    numbers: Sequence[str],
    texts: Sequence[str],
    blobs: Sequence[str],
) -> Rows:
    columns = list(zip(*values, strict=True))
    first_text, first_blob = len(numbers), len(numbers) + len(texts)
    return Rows(
        first,
        len(values),
        {name: np.array(column, np.int64) for name, column in zip(numbers, columns, strict=False)},
        dict(zip(texts, map(list, columns[first_text:first_blob]), strict=True)),
        dict(zip(blobs, map(list, columns[first_blob:]), strict=True)),
    )


def _number(column: str) -> str:
    return (
        f"CASE typeof([{column}]) WHEN 'integer' THEN [{column}] WHEN 'real' THEN CAST([{column}]"
        f" AS INTEGER) ELSE {MISSING} END"
    )


def _text(column: str) -> str:
    return (
        f"CASE typeof([{column}]) WHEN 'text' THEN substr([{column}], 1, {LONGEST_TEXT}) ELSE"
        " '' END"
    )


def _blob(column: str) -> str:
    return f"CASE typeof([{column}]) WHEN 'blob' THEN substr([{column}], 1, 64) ELSE x'' END"
