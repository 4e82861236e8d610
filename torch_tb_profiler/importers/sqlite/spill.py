"""Keeps columns of large databases on disk: a span takes 60 bytes in the file and 80 as columns.

::

    pieces of a column ──▶ in memory, all together at most HELD_BYTES ──▶ an unnamed temporary file per column ──▶ one mapped array
"""

from __future__ import annotations

import mmap
import tempfile
from collections import defaultdict
from typing import IO

import numpy as np

from torch_tb_profiler.store.columns import Array

HELD_BYTES = 64 << 20
"""Bytes collected in memory before they go to disk."""
LEAST_BYTES = 1 << 20
"""Smaller finished columns stay in memory, because each mapped one keeps a file open."""


class Spill:
    """Collects pieces of columns and returns each as one array. If the disk is full, they stay in
    memory.
    """

    def __init__(self) -> None:
        self._most = HELD_BYTES
        self._columns: defaultdict[tuple[str, str], _Column] = defaultdict(_Column)
        self._held = 0
        self.used = False
        """Whether anything is on disk."""

    def add(self, table: str, column: str, piece: Array) -> None:
        """Append to a column."""
        pieces = self._columns[table, column].pieces
        if len(piece) or not pieces:
            pieces.append(piece)
        self._held += piece.nbytes
        if self._held > self._most:
            self._to_disk()

    def _to_disk(self) -> None:
        self.used = True
        self._held = sum(column.write() for column in self._columns.values())
        # If nothing can be written, retry at twice the size rather than with every piece.
        self._most = max(self._most, 2 * self._held)

    def columns(self) -> dict[str, dict[str, Array]]:
        """Every column by table; they are removed from here."""
        tables: dict[str, dict[str, Array]] = defaultdict(dict)
        for (table, name), column in self._columns.items():
            tables[table][name] = column.as_array(self.used)
        self._columns.clear()
        return tables

    def keep(self, array: Array) -> Array:
        """The numbers of an array: mapped from a file if columns are on disk already, else the array
        itself.
        """
        if not self.used or array.nbytes < LEAST_BYTES or isinstance(array.base, mmap.mmap):
            return array
        column = _Column([array])
        column.write()
        return column.as_array(False)


class _Column:
    def __init__(self, pieces: list[Array] | None = None) -> None:
        self.pieces = pieces or []
        self._file: IO[bytes] | None = None
        self._written = 0
        self._dtype = np.dtype(np.int64)

    def write(self) -> int:
        """Append the pieces to the file; returns the bytes that remain in memory."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="torch_tb_profiler-", buffering=0)  # noqa: SIM115
            # A file has one dtype: pieces from the first other one on stay in memory.
            while self.pieces and (not self._written or self.pieces[0].dtype == self._dtype):
                self._dtype = self.pieces[0].dtype
                unwritten = np.ascontiguousarray(self.pieces[0]).view(np.uint8).data
                # An earlier attempt may have failed within a piece.
                self._file.seek(self._written)
                while len(unwritten):
                    unwritten = unwritten[self._file.write(unwritten) :]
                self._written += self.pieces.pop(0).nbytes
        except OSError:
            pass
        return sum(piece.nbytes for piece in self.pieces)

    def as_array(self, to_disk: bool) -> Array:
        """Everything as one array; ``to_disk``: write what is still in memory first."""
        if to_disk:
            self.write()
        parts = [*self._mapped(), *self.pieces]
        self.pieces = []
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _mapped(self) -> list[Array]:
        if self._file is None:
            return []
        with self._file as file:
            if not self._written:
                return [np.zeros(0, self._dtype)]
            try:
                return [
                    np.frombuffer(
                        mmap.mmap(file.fileno(), self._written, access=mmap.ACCESS_READ),
                        self._dtype,
                    )
                ]
            except OSError:
                # Some systems cannot map files, or too many are open.
                file.seek(0)
                return [np.frombuffer(file.read(), self._dtype)]
