"""An SQLite file as columns: what tables it has, and the rows of one in chunks of numpy arrays.

The file comes from anywhere and is not trusted. Only tables that we name are read, never views or
virtual tables, without the database's own indexes, generated columns, triggers or functions; every
value is taken by its type (a number where a number is due), every text is cut at a length, and no
name of the file becomes part of a query. A database that is damaged in the middle gives the rows
before the damage.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.sources.places import words
from torch_tb_profiler.sources.sniff import sqlite_bytes
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.defects import (
    DAMAGED_TABLE,
    TRUNCATED,
    UNFINISHED_DATABASE,
    DefectCounts,
)
from torch_tb_profiler.units import format_count

if TYPE_CHECKING:
    import sqlite3

MISSING = -(1 << 63) + 1
"""What a number is where the file has none: no column, NULL, or a value of another type."""
CHUNK_ROWS = 1 << 14
LONGEST_TEXT = 1 << 16
"""Characters of a text that are kept."""
_ROW_BYTES = 4
"""No row takes less of the file: a database that has more is one whose pages are tied into knots.
"""
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_LONGEST_VALUE = 64 << 20
_LIMIT_LENGTH = 0
"""``SQLITE_LIMIT_LENGTH``."""
_HINT = (
    "Export the recording again: nsys export --type sqlite report.nsys-rep, or nvprof -o"
    " profile.nvprof."
)

Progress = Callable[[int, "int | None"], None]


@dataclass(frozen=True)
class Rows:
    """A chunk of a table: ``numbers`` int64 arrays (``MISSING`` where there is none) and ``texts``
    lists, of one length each, by column.

    ``first``: position of the first row in the table.
    """

    first: int
    count: int
    numbers: dict[str, Ints]
    texts: dict[str, list[str]]
    blobs: dict[str, list[bytes]]


class Database:
    """One open file. Close it after use: it is a context manager."""

    def __init__(self, path: str, counts: DefectCounts, progress: Progress | None = None) -> None:
        """Open a file for reading, in place.

        Raises:
            NotATrace: it is no database, or its list of tables cannot be read.
            SourceError: it cannot be opened.
        """
        try:
            import sqlite3
        except ImportError as error:
            raise NotATrace(
                "This Python was built without sqlite3: SQLite files cannot be read.",
                "Use another build of Python.",
            ) from error
        # The second where the message of the first quotes a damaged text.
        self._failure = (sqlite3.Error, UnicodeError)
        self._counts, self._progress = counts, progress
        self._size = os.path.getsize(path) if os.path.exists(path) else 0
        self._left = self._size // _ROW_BYTES
        self._done = self._total = 0
        self._damaged: set[str] = set()
        # Immutable: no journal is looked for and no lock is taken, so that a folder that may not be
        # written is no matter.
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
            # What has no page of its own is a view or a virtual table.
            listed = self._open.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 LIMIT 10000"
            ).fetchall()
        except self._failure as error:
            self._open.close()
            raise NotATrace(_damage(path, self._size, error), _HINT) from error
        self._tables = {name.lower(): name for (name,) in listed if isinstance(name, str)}
        # SQLite opens what lacks but a part of its last page, and reads zeros there.
        counts.add(TRUNCATED, int(_whole(path) > self._size))
        counts.add(
            UNFINISHED_DATABASE,
            int(any(_holds_something(path + ending) for ending in ("-wal", "-journal"))),
        )

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def rows_read(self) -> int:
        """Rows of all tables read so far."""
        return self._done

    @property
    def tables(self) -> list[str]:
        """Names of the tables, as they are written; none that could not stand in a query."""
        return [name for name in self._tables.values() if _PLAIN_NAME.fullmatch(name)]

    def has(self, table: str) -> bool:
        """Whether there is a table of that name."""
        return table.lower() in self._tables

    def columns(self, table: str) -> dict[str, bool]:
        """The columns of a table: whether each is the number of the row itself (``INTEGER PRIMARY
        KEY``); none without the table.
        """
        if not self.has(table):
            return {}
        try:
            found = self._open.execute(f"PRAGMA table_info([{table}])").fetchall()
        except self._failure:
            return {}
        keys = [row for row in found if row[5]]
        return {
            str(row[1]): len(keys) == 1 and row[5] == 1 and str(row[2]).upper() == "INTEGER"
            for row in found
        }

    def expect(self, tables: Sequence[str]) -> None:
        """Say how many rows there are to read, for the progress: about the last row's number of
        each table.
        """
        self._done = 0
        self._total += sum(map(self.about, tables))

    def about(self, table: str) -> int:
        """The number of the last row of a table: about how many it has; 0 without the table."""
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
        """The rows of a table, ``CHUNK_ROWS`` at a time; none without the table. ``where``: a
        condition of our own.

        Raises:
            NotATrace: the tables have more rows than the file has room for.
        """
        present = {name.lower() for name in self.columns(table)}
        asked = [_number(c) if c.lower() in present else str(MISSING) for c in numbers]
        asked += [_text(c) if c.lower() in present else "''" for c in texts] + [
            _blob(c) if c.lower() in present else "x''" for c in blobs
        ]
        if not present:
            return
        query = (
            f"SELECT {', '.join(asked)} FROM [{table}] NOT"
            f" INDEXED{f' WHERE {where}' if where else ''}"
        )
        first = 0
        for found in self._chunks(table, query):
            self._tell(len(found), counted=not where)
            yield _rows(first, found, numbers, texts, blobs)
            first += len(found)

    def _chunks(self, table: str, query: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, up to where the database is damaged."""
        first = 0
        try:
            cursor = self._open.execute(query)
            while found := cursor.fetchmany(CHUNK_ROWS):
                yield found
                first += len(found)
            return
        except self._failure:
            self._counts.add(DAMAGED_TABLE, int(table not in self._damaged))
            self._damaged.add(table)
        # What was fetched of the last chunk before the damage is lost with the error: once more,
        # row by row.
        rest: list[tuple[Any, ...]] = []
        with contextlib.suppress(*self._failure):
            for row in self._open.execute(f"{query} LIMIT {CHUNK_ROWS} OFFSET {first}"):
                rest.append(row)
        if rest:
            yield rest

    def _tell(self, count: int, counted: bool) -> None:
        self._left -= count
        if self._left < 0:
            raise NotATrace(
                "The SQLite database is damaged: its tables have more rows than the file has room"
                " for.",
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
        """All columns of the row at a position of a table, in their order; texts cut, bytes in
        hexadecimal. Empty without the row.
        """
        names = [name for name in self.columns(table) if _PLAIN_NAME.fullmatch(name)]
        if not names:
            return {}
        asked = ", ".join(
            f"CASE typeof([{name}]) WHEN 'text' THEN {_text(name)} WHEN 'blob' THEN"
            f" hex({_blob(name)}) ELSE [{name}] END"
            for name in names
        )
        try:
            row = self._open.execute(
                f"SELECT {asked} FROM [{table}] NOT INDEXED LIMIT 1 OFFSET ?", (position,)
            ).fetchone()
        except self._failure:
            return {}
        return dict(zip(names, row, strict=True)) if row else {}

    def pairs(self, query: str, *given: Any) -> list[tuple[Any, Any]]:
        """The rows of a query of our own for two columns; none where it fails."""
        try:
            return self._open.execute(query, given).fetchall()
        except self._failure:
            return []

    def value(self, query: str, *given: Any) -> Any:
        """The first value of a query of our own; None without any, or where it fails."""
        try:
            row = self._open.execute(query, given).fetchone()
        except self._failure:
            return None
        return row[0] if row else None


def distinct_rows(*columns: Ints) -> tuple[list[tuple[int, ...]], Ints]:
    """Distinct rows of some columns of one length, in their order, and which of them each row is.

    As ``np.unique(axis=0)``, which compares whole rows and is ten times slower where most columns
    hold one value, as these do.
    """
    of = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if len(column) and (column != column[0]).any():
            values, place = np.unique(column, return_inverse=True)
            of = np.unique(of * len(values) + place, return_inverse=True)[1]
    _, first = np.unique(of, return_index=True)
    return list(zip(*(column[first].tolist() for column in columns), strict=True)), of


class Texts:
    """The table of texts that others name by number: ``StringIds`` (id, value) or ``StringTable``
    (_id_, value).
    """

    _KEPT, _FEW = 1 << 17, 64

    def __init__(self, database: Database, table: str, key: str, none: int = MISSING) -> None:
        """``none``: the number of no text, whatever stands there: nvprof writes ``-- null --``."""
        self._database = database
        self._none = {MISSING: "", none: ""}
        self._known = dict(self._none)
        self._query = self._range = ""
        columns = database.columns(table)
        if columns.get(key):
            # A look-up by the number of the row costs the depth of the tree; by any other column it
            # would cost the whole table.
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

    def many(self, numbers: Array) -> list[str]:
        """The texts of some numbers; empty where there is none."""
        distinct, of = np.unique(numbers, return_inverse=True)
        self._fetch(distinct[distinct != MISSING])
        found = [self.one(number) for number in distinct.tolist()]
        return [found[place] for place in of.tolist()]

    def _fetch(self, numbers: Ints) -> None:
        """Take texts that stand close together in one go: a marker's text of its own is asked for
        once, with those of its neighbours.
        """
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

    def one(self, number: int) -> str:
        """The text of a number; empty where there is none."""
        known = self._known.get(number)
        if known is None:
            if self._query:
                self._make_room()
            known = self._known[number] = (
                str(self._database.value(self._query, number) or "") if self._query else ""
            )
        return known


def _holds_something(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


def _whole(path: str) -> int:
    """Bytes that the file has by its own header; 0 where the header was left as it was by a version
    of SQLite that did not know them (before 3.7).
    """
    with open(path, "rb") as file:
        head = file.read(100)
    return sqlite_bytes(head) if len(head) < 96 or head[24:28] == head[92:96] else 0


def _damage(path: str, size: int, error: Exception) -> str:
    """Why a database cannot be opened."""
    whole = _whole(path)
    if whole > size:
        return f"The SQLite database ends early: {format_count(size)} of {format_count(whole)} bytes are there."
    why = (
        "its list of tables is unreadable"
        if isinstance(error, UnicodeError)
        else words(error).partition(": ")[2]
    )
    return f"The SQLite database is damaged: {why}."


def _rows(
    first: int,
    found: list[tuple[Any, ...]],
    numbers: Sequence[str],
    texts: Sequence[str],
    blobs: Sequence[str],
) -> Rows:
    columns = list(zip(*found, strict=True))
    many = len(numbers)
    return Rows(
        first,
        len(found),
        {name: np.array(columns[i], np.int64) for i, name in enumerate(numbers)},
        {name: list(columns[many + i]) for i, name in enumerate(texts)},
        {name: list(columns[many + len(texts) + i]) for i, name in enumerate(blobs)},
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
