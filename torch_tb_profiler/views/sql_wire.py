"""Wire types of the SQL console. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Wire

SqlKind = Literal["text", "count", "number", "time", "bytes", "event"]
"""How the page writes the values of a column; ``event``: ids that the timeline opens."""


class SqlColumn(Wire, frozen=True, kw_only=True):
    """A column of a result."""

    name: str
    kind: SqlKind


class SqlPayload(Wire, frozen=True, kw_only=True):
    """Route ``/sql``. ``values[c][i]``: row i of column c; lists and numbers beyond 2^53 are texts. ``total``: rows of the whole
    result, null where counting them took too long. ``note``: what is missing, empty where nothing is. ``statement``: what was
    asked, of an example too.
    """

    statement: str
    columns: list[SqlColumn]
    values: list[list[str | int | float | None]]
    total: int | None
    note: str


class SqlTableColumn(Wire, frozen=True, kw_only=True):
    """A column of a table: its type in SQL, its unit (empty: none) and a sentence."""

    name: str
    type: str
    unit: str
    doc: str


class SqlTableItem(Wire, frozen=True, kw_only=True):
    """A table, by the name that a statement uses. ``topic``: what its schema holds."""

    name: str
    topic: str
    doc: str
    columns: list[SqlTableColumn]


class SqlExample(Wire, frozen=True, kw_only=True):
    """A question and the statement that answers it."""

    question: str
    statement: str


class SqlTablesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/sql/tables``. ``missing``: the command that installs what statements need; empty where it is there."""

    tables: list[SqlTableItem]
    examples: list[SqlExample]
    missing: str
