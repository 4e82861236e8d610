"""SQLite files of Nsight Systems, nvprof, nvvp and rocprofv3 → ``Trace``; their tables tell them apart."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from torch_tb_profiler.errors import NotATrace, SourceError
from torch_tb_profiler.importers.peeked_text import count_problem
from torch_tb_profiler.importers.sqlite.builder import TraceBuilder
from torch_tb_profiler.importers.sqlite.database import Database
from torch_tb_profiler.importers.sqlite.nsight import TABLES as NSIGHT_TABLES
from torch_tb_profiler.importers.sqlite.nsight import read_nsight
from torch_tb_profiler.importers.sqlite.nvprof import read_nvprof
from torch_tb_profiler.importers.sqlite.rocpd import read_rocpd, recordings
from torch_tb_profiler.importers.window import Progress, Text
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace

MOST_BYTES = 64 << 30
"""Largest database unpacked into a temporary file."""
_READ_BYTES = 4 << 20
_HINT = "Choose a file written by nsys export --type sqlite or nvprof -o."


def read_sqlite(stream: Text, path: str | None = None, progress: Progress | None = None) -> Trace:
    """Read a database.

    Args:
        stream: its bytes; without a ``path`` they are copied to a temporary file.
        path: a local file with exactly these bytes.
        progress: called with (bytes done, total bytes or None).

    Raises:
        NotATrace: it is damaged or not written by these profilers.
        SourceError: reading failed, or there is no space for the temporary file.
    """
    with contextlib.ExitStack() as stack:
        where = path if path is not None else stack.enter_context(_unpacked(stream))
        counts = DefectCounts()
        database = stack.enter_context(Database(where, counts, progress))
        if path is None:
            count_problem(stream, counts)
        return _read(database, TraceBuilder(database, counts))


def read_record(path: str, tables: list[tuple[str, int]], ordinal: int) -> dict[str, Any]:
    """All columns of the row behind an event of a local file; empty if there is none.

    ``tables``: ``DATABASE_TABLES`` of the trace's header.

    Raises:
        NotATrace: the file is no longer a database.
    """
    candidates = [(table, ordinal - first) for table, first in tables if first <= ordinal]
    if not candidates:
        return {}
    table, position = candidates[-1]
    with Database(path, DefectCounts()) as database:
        record = database.record(table, position)
    return {"table": table, "row": position, **record} if record else {}


def _read(database: Database, builder: TraceBuilder) -> Trace:
    if database.has("StringIds") or database.has("META_DATA_EXPORT") or database.has("NVTX_EVENTS"):
        if any(database.has(table) for table in NSIGHT_TABLES):
            return read_nsight(database, builder)
        raise NotATrace(
            "The Nsight Systems export has no CUDA or NVTX data.",
            "Record with nsys profile --trace=cuda,nvtx.",
        )
    if database.has("StringTable"):
        return read_nvprof(database, builder)
    if recordings(database):
        return read_rocpd(database, builder)
    if database.has("rocpd_op") or database.has("rocpd_api"):
        raise NotATrace(
            "The SQLite database was written by RocmProfileData (rpd).",
            "Turn it into JSON: rpd2tracing.py FILE.rpd trace.json.",
        )
    raise NotATrace(
        "The SQLite database has no table of nvprof, Nsight Systems or rocprofv3.", _HINT
    )


@contextlib.contextmanager
def _unpacked(stream: Text) -> Iterator[str]:
    """A temporary file with the bytes of a stream, removed on exit."""
    try:
        handle, path = tempfile.mkstemp(".sqlite", "torch_tb_profiler-")
    except OSError as error:
        raise SourceError(
            f"No temporary file could be created: {error.strerror}.",
            "Set TMPDIR to a folder with enough space.",
        ) from error
    try:
        try:
            with open(handle, "wb") as target:
                size = 0
                while data := stream.read(_READ_BYTES):
                    size += len(data)
                    if size > MOST_BYTES:
                        raise NotATrace(
                            f"The unpacked database is larger than {MOST_BYTES >> 30} GiB.",
                            "Unpack it yourself and use that file.",
                        )
                    target.write(data)
        except OSError as error:
            hint = "Set TMPDIR to a folder with enough space, or unpack it yourself."
            raise SourceError(
                f"The database could not be unpacked: {error.strerror}.", hint
            ) from error
        yield path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
