"""SQLite files of NVIDIA's profilers → ``Trace``: exports of Nsight Systems, and what nvprof and
nvvp write. Told apart by their tables.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.importers.sqlite.database import Database
from torch_tb_profiler.importers.sqlite.filling import Filling
from torch_tb_profiler.importers.sqlite.nsight import TABLES as NSIGHT_TABLES
from torch_tb_profiler.importers.sqlite.nsight import read_nsight
from torch_tb_profiler.importers.sqlite.nvprof import read_nvprof
from torch_tb_profiler.importers.window import Text
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace

MOST_BYTES = 64 << 30
"""Largest database that is unpacked into a temporary file."""
_READ_BYTES = 4 << 20
_HINT = "Give what nsys export --type sqlite or nvprof -o wrote."

Progress = Callable[[int, "int | None"], None]


def read_sqlite(stream: Text, path: str | None = None, progress: Progress | None = None) -> Trace:
    """Read a database.

    Args:
        stream: its bytes; read only where there is no ``path``, into a temporary file: SQLite reads
            files alone.
        path: a local file that holds these very bytes.
        progress: called with (bytes done, bytes in all or None).

    Raises:
        NotATrace: it is damaged, or none of the two profilers wrote it.
        SourceError: the source broke off, or there is no room for the temporary file.
    """
    with contextlib.ExitStack() as stack:
        where = path if path is not None else stack.enter_context(_unpacked(stream))
        counts = DefectCounts()
        database = stack.enter_context(Database(where, counts, progress))
        if path is None and stream.problem:
            counts.add(d.TRAILING if "follow" in stream.problem else d.TRUNCATED_GZIP)
        return _read(database, Filling(counts))


def read_record(path: str, tables: list[tuple[str, int]], ordinal: int) -> dict[str, Any]:
    """The row behind an event, all its columns: of a local file, from the ``DATABASE_TABLES`` of
    its header and the event's ordinal. Empty without one.

    Raises:
        NotATrace: the file is no database any more.
    """
    found = [(table, ordinal - first) for table, first in tables if first <= ordinal]
    if not found:
        return {}
    table, position = found[-1]
    with Database(path, DefectCounts()) as database:
        record = database.record(table, position)
    return {"table": table, "row": position, **record} if record else {}


def _read(database: Database, filling: Filling) -> Trace:
    if database.has("StringIds") or database.has("META_DATA_EXPORT") or database.has("NVTX_EVENTS"):
        if any(database.has(table) for table in NSIGHT_TABLES):
            return read_nsight(database, filling)
        raise NotATrace(
            "The export of Nsight Systems holds nothing of CUDA or NVTX.",
            "Record with nsys profile --trace=cuda,nvtx.",
        )
    if database.has("StringTable"):
        return read_nvprof(database, filling)
    raise NotATrace("The SQLite database holds no table of nvprof or Nsight Systems.", _HINT)


@contextlib.contextmanager
def _unpacked(stream: Text) -> Iterator[str]:
    """A temporary file with the bytes of a stream, removed at the end."""
    try:
        with tempfile.NamedTemporaryFile(
            prefix="torch_tb_profiler-", suffix=".sqlite", delete=False
        ) as file:
            path = file.name
    except OSError as error:
        raise SourceError(
            f"No temporary file could be made: {error.strerror}.",
            "Set TMPDIR to a folder with room for the database.",
        ) from error
    try:
        try:
            with open(path, "wb") as target:
                size = 0
                while data := stream.read(_READ_BYTES):
                    size += len(data)
                    if size > MOST_BYTES:
                        raise NotATrace(
                            f"The unpacked database is larger than {MOST_BYTES >> 30} GiB.",
                            "Unpack it, and give the file itself.",
                        )
                    target.write(data)
        except OSError as error:
            hint = "Set TMPDIR to a folder with room for the database, or unpack it yourself."
            raise SourceError(
                f"The database could not be unpacked: {error.strerror}.", hint
            ) from error
        yield path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
