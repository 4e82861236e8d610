"""Shared by the builders of both profilers' databases."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, TypeVar

File = TypeVar("File", bound="DatabaseFile")


class DatabaseFile:
    """A database that is being written; whole when its ``with`` block ends."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path)
        self._database.execute("PRAGMA synchronous = OFF")
        # Else every table is a transaction of its own.
        self._database.execute("BEGIN")

    def __enter__(self: File) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.commit()
        self._database.close()

    def create(self, table: str, columns: list[str]) -> None:
        """A table without rows; ``columns`` as they are declared."""
        self._database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")

    def insert(self, table: str, row: dict[str, Any]) -> None:
        """A row of a table that is there."""
        self._database.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            list(row.values()),
        )
