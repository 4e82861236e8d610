"""Queries that database tests make on a trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.builders import nsight, nvprof
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.sources.streams import open_text
from torch_tb_profiler.store.model import Trace

TRAININGS: dict[str, Callable[..., None]] = {
    "nsight": nsight.write_training,
    "nvprof": nvprof.write_training,
}
"""Writers of a training, by profiler."""
Report = Callable[[int, "int | None"], None]


def read(path: Path, report: Report | None = None) -> Trace:
    """The trace of a file."""
    with open_text(Place(str(path))) as stream:
        return read_trace(stream, Settings(), report)


def spans(trace: Trace, *columns: str) -> list[tuple[Any, ...]]:
    """(name, *columns) of every span by begin; categories and tracks as texts."""
    table, tracks = trace["spans"], trace["tracks"]
    listed = []
    for row in range(table.n):
        found: list[Any] = [trace.strings[int(table["name"][row])]]
        for column in columns:
            value = int(table[column][row])
            if column == "category":
                found.append(trace.strings[value])
            elif column == "track":
                found.append(
                    tuple(trace.strings[int(tracks[part][value])] for part in ("pid", "tid"))
                )
            else:
                found.append(value)
        listed.append(tuple(found))
    return listed


def arguments(trace: Trace, table: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    """Name of the span → columns of a side table, strings as texts; the last span of a name wins."""
    side, found = trace[table], {}
    texts = {column.name for column in side.spec.columns if column.unit == "number of a string"}
    for row in range(side.n):
        name = trace.strings[int(trace["spans"]["name"][side["span"][row]])]
        found[name] = tuple(
            trace.strings[int(side[c][row])] if c in texts else side[c][row].item() for c in columns
        )
    return found


def instants(trace: Trace) -> list[tuple[Any, ...]]:
    """(time, name, category, phase, arguments) of every instant."""
    table = trace["instants"]
    names, categories, args = (trace.strings.many(table[c]) for c in ("name", "category", "args"))
    return [
        *zip(
            table["time"].tolist(),
            names,
            categories,
            map(chr, table["phase"].tolist()),
            args,
            strict=True,
        )
    ]


def drop_column(path: Path, column: str) -> None:
    """Drop a column, with its constraints, from every table of a database that has it."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        for (table,) in database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall():
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            remaining = [name for name in columns if name != column]
            if 0 < len(remaining) < len(columns):
                database.execute(
                    f"CREATE TABLE copy_of AS SELECT {', '.join(f'[{name}]' for name in remaining)} FROM"
                    f" {table}"
                )
                database.execute(f"DROP TABLE {table}")
                database.execute(f"ALTER TABLE copy_of RENAME TO {table}")
