"""The routes of the SQL console. What answers is imported when the first statement comes."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from torch_tb_profiler.errors import MissingPackage
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.products import INSIGHT
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sql.engine import (
    Limits,
    Result,
    check_installed,
    first_row_too_long,
    run,
)
from torch_tb_profiler.sql.process import Statements
from torch_tb_profiler.tables.source import TableSource
from torch_tb_profiler.views.sql_wire import (
    SqlColumn,
    SqlExample,
    SqlKind,
    SqlPayload,
    SqlTableColumn,
    SqlTableItem,
    SqlTablesPayload,
)
from torch_tb_profiler.views.steps import choose
from torch_tb_profiler.views.wire import to_json
from torch_tb_profiler.web.parameters import Text, Whole
from torch_tb_profiler.web.route import route

LONGEST = 8000
_EXACT = 1 << 53
_ENVELOPE = 4096
"""Bytes of an answer around its columns and rows."""
_KINDS: dict[str, SqlKind] = {"event": "event", "ns": "time", "bytes": "bytes"}


@route("/sql", kept=False)
def sql(
    opened: Opened,
    catalogue: Catalogue,
    settings: Settings,
    statements: Statements,
    q: Annotated[
        str, Text("One SELECT; `docs/guide/sql.md` lists the tables.", longest=LONGEST)
    ] = "",
    rows: Annotated[int, Whole("At most so many rows.", 1, 10_000)] = 1000,
) -> SqlPayload:
    """The answer of a statement on a trace, of at most 4 MiB; it may take 10 s and 1 GiB, and reads nothing else. Without a
    statement that of an example that suits the trace.
    """
    from torch_tb_profiler.sql.examples import opening

    asked = q or opening(opened.trace).statement
    limits = Limits(rows=rows)
    ask = partial(catalogue.insight, *opened.key)
    if not opened.sidecar:  # it is kept nowhere, so no other process can map it
        whole = choose(opened.facts)
        data = TableSource(opened.trace, opened.facts, lambda: ask().insight, whole)
        return _payload(asked, run(data, asked, limits), limits)
    insight = INSIGHT.path(opened.sidecar, settings)
    return _payload(asked, statements.ask(opened.sidecar, insight, ask, asked, limits), limits)


@route("/sql/tables")
def sql_tables() -> SqlTablesPayload:
    """The tables and columns that statements may name, and examples."""
    from torch_tb_profiler.sql.examples import EXAMPLES
    from torch_tb_profiler.sql.listing import listed

    missing = ""
    try:
        check_installed()
    except MissingPackage as error:
        missing = error.hint
    tables = [
        SqlTableItem(
            name=table.full_name,
            topic=table.about,
            doc=table.doc,
            columns=[
                SqlTableColumn(name=c.name, type=c.type, unit=c.unit, doc=c.doc)
                for c in table.columns
            ],
        )
        for table in listed()
    ]
    examples = [SqlExample(question=e.question, statement=e.statement) for e in EXAMPLES]
    return SqlTablesPayload(tables=tables, examples=examples, missing=missing)


def _payload(statement: str, answer: Result, limits: Limits) -> SqlPayload:
    """What fits of an answer: escaped, and with what stands between values, texts are longer than the engine counts.

    Raises:
        BadRequest: not even the first row fits.
    """
    columns = [
        SqlColumn(name=name, kind=_kind(kind, unit))
        for name, kind, unit in zip(answer.columns, answer.types, answer.units, strict=True)
    ]
    rows = [[_value(value) for value in row] for row in answer.rows]
    left = limits.bytes - _ENVELOPE - len(to_json(columns))
    for fits, row in enumerate(rows):
        left -= len(to_json(row))
        if left < 0:
            if not fits:
                raise first_row_too_long(limits)
            answer = replace(answer, rows=answer.rows[:fits])
            break
    values = [[row[place] for row in rows[: len(answer.rows)]] for place in range(len(columns))]
    total = None if answer.total < 0 else answer.total
    return SqlPayload(
        statement=statement, columns=columns, values=values, total=total, note=answer.note
    )


def _kind(kind: str, unit: str) -> SqlKind:
    if kind not in ("integer", "number"):
        return "text"
    return _KINDS.get(unit, "count" if kind == "integer" else "number")


def _value(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) and abs(value) > _EXACT else value
