"""Columns of large databases wait on disk instead of in memory: a span takes 60 bytes of its file,
and 80 as columns.

::

    pieces of a column ──▶ held in memory, together at most HELD_BYTES ──▶ a temporary file without a name per column ──▶ one array, mapped:
                                                                          its pages come when they
                                                                          are read, and may go again
"""

from __future__ import annotations

import mmap
import tempfile
from collections import defaultdict
from typing import IO

import numpy as np

from torch_tb_profiler.store.columns import Array

HELD_BYTES = 64 << 20
"""What is collected in memory before it goes to disk; a trace of less never does."""
LEAST_BYTES = 1 << 20
"""Finished columns that are smaller stay in memory: each mapped one holds a file open."""


class Spill:
    """Collects the pieces of columns, and gives each as one array. Without room on the disk,
    columns stay in memory.
    """

    def __init__(self) -> None:
        self._most = HELD_BYTES
        self._columns: defaultdict[tuple[str, str], _Column] = defaultdict(_Column)
        self._held = 0
        self.used = False
        """Whether anything went to disk."""

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
        # Where nothing can be written it is tried again when there is twice as much: not with every
        # piece.
        self._most = max(self._most, 2 * self._held)

    def columns(self) -> dict[str, dict[str, Array]]:
        """Every column that was added to, by table; nothing of them stays here."""
        found: dict[str, dict[str, Array]] = defaultdict(dict)
        for (table, name), column in self._columns.items():
            found[table][name] = column.whole(self.used)
        self._columns.clear()
        return found

    def keep(self, array: Array) -> Array:
        """The same numbers: mapped from a file if columns are on disk already, else as they are."""
        if not self.used or array.nbytes < LEAST_BYTES or isinstance(array.base, mmap.mmap):
            return array
        column = _Column([array])
        column.write()
        return column.whole(False)


class _Column:
    def __init__(self, pieces: list[Array] | None = None) -> None:
        self.pieces = pieces or []
        self._file: IO[bytes] | None = None
        self._written = 0
        self._dtype = np.dtype(np.int64)

    def write(self) -> int:
        """Put the pieces to the end of the file; bytes that stay in memory."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="torch_tb_profiler-", buffering=0)  # noqa: SIM115
            # A file holds numbers of one kind: what differs stays in memory, and what follows it.
            while self.pieces and (not self._written or self.pieces[0].dtype == self._dtype):
                self._dtype = self.pieces[0].dtype
                left = np.ascontiguousarray(self.pieces[0]).view(np.uint8).data
                # Behind what is whole: an earlier try may have broken off in a piece.
                self._file.seek(self._written)
                while len(left):
                    left = left[self._file.write(left) :]
                self._written += self.pieces.pop(0).nbytes
        except OSError:
            pass
        return sum(piece.nbytes for piece in self.pieces)

    def whole(self, to_disk: bool) -> Array:
        """All as one array; ``to_disk``: what is still in memory goes there first."""
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
                # Some systems map nothing, and a process may hold too many files.
                file.seek(0)
                return [np.frombuffer(file.read(), self._dtype)]
