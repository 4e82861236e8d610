"""Keep of an export what a test needs: ``strip.py report.sqlite out.sqlite.gz``.

Rows are chosen, none is scrubbed: names of the machine, paths and environment stay out.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))

from tests.builders.tables import NSIGHT, Column, declared, tables

PROFILED = "(globalTid >> 24) IN (SELECT globalTid >> 24 FROM NVTX_EVENTS)"
META = "name IN ('EXPORT_PRODUCT_NAME', 'EXPORT_PRODUCT_VERSION', 'EXPORT_SCHEMA_VERSION')"
ROWS = {
    "NVTX_EVENTS": "1",
    "PROFILER_OVERHEAD": PROFILED,
    "OSRT_API": PROFILED,
    "ThreadNames": PROFILED,
    "ANALYSIS_DETAILS": "1",
    "PROCESSES": "globalPid IN (SELECT globalTid & ~16777215 FROM NVTX_EVENTS)",
    "TARGET_INFO_SESSION_START_TIME": "1",
    "META_DATA_EXPORT": META,
    "EXPORT_META_DATA": META,
    "ENUM_CUDA_MEM_KIND": "1",
    "ENUM_CUDA_MEMCPY_OPER": "1",
    "StringIds": " OR ".join(
        f"id IN (SELECT {column} FROM {table} WHERE {rows})"
        for table, column, rows in (
            ("NVTX_EVENTS", "textId", "1"),
            ("OSRT_API", "nameId", PROFILED),
            ("PROFILER_OVERHEAD", "nameId", PROFILED),
            ("ThreadNames", "nameId", PROFILED),
        )
    ),
}
"""Which rows of a table are kept; of all others none."""


def strip(source: Path, target: Path) -> None:
    """Write a compressed database with the tables of ``source`` known to ``tests.builders.tables``
    and the rows of ``ROWS``.
    """
    plain = target.with_suffix("")
    plain.unlink(missing_ok=True)
    with closing(sqlite3.connect(plain, isolation_level=None)) as database:
        database.execute("ATTACH ? AS report", (str(source),))
        for (table,) in database.execute(
            "SELECT name FROM report.sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall():
            if table in {
                name
                for version in ("2022.4", "2023.4", "2025.6")
                for name in tables(NSIGHT, version)
            }:
                columns = database.execute(f"PRAGMA report.table_info({table})").fetchall()
                database.execute(f"CREATE TABLE main.{table} ({', '.join(_as_declared(columns))})")
                database.execute(
                    f"INSERT INTO main.{table} SELECT * FROM report.{table} WHERE"
                    f" {ROWS.get(table, '0')}"
                )
        database.execute("DETACH report")
        database.execute("VACUUM")
    target.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
    os.unlink(plain)


def _as_declared(columns: list[tuple[int, str, str, int, None, int]]) -> list[str]:
    return declared(
        [
            Column(name, kind, bool(required), bool(key))
            for _, name, kind, required, _, key in columns
        ]
    )


if __name__ == "__main__":
    strip(Path(sys.argv[1]), Path(sys.argv[2]))
