"""``sql PATH "select …"``: the answer of one SELECT over the tables of each trace, ``--csv`` or ``--json``; ``--list`` names tables and
columns ([guide](guide/sql.md))
"""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import positive, seconds
from torch_tb_profiler.cli.document import Column, Document, Table
from torch_tb_profiler.cli.output import (
    Report,
    contexts,
    identity,
    print_csv,
    print_traces,
    write,
)
from torch_tb_profiler.cli.progress import say
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.sources.cache_folder import SUFFIX

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.sql.engine import Result

HELP = "answer one SELECT over the tables of a trace"
TEXT_ROWS = 100
_FILE_ROWS, _FILE_BYTES = 1_000_000, 256 << 20


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser, "?")
    parser.add_argument(
        "statement", metavar="STATEMENT", nargs="?", help="one SELECT; times are integer ns"
    )
    form = arguments.form(parser)
    form.add_argument("--csv", action="store_true", help="print CSV; unknown values are empty")
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        help="rows to print (default: 100 of the text, 1,000,000 of --csv and --json)",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds,
        default=10.0,
        help="end the statement after so long (default: %(default)g)",
    )
    parser.add_argument("--list", action="store_true", help="list the tables and their columns")


def run(options: argparse.Namespace) -> int:
    """Print the tables that there are, or the answer of each trace at ``options.path``."""
    if options.list:
        return _list()
    if options.path is None or not (options.statement or "").strip():
        raise BadRequest(
            "sql needs a trace and a statement.",
            'Like `sql PATH "select name, dur from kernels"`, or --list for the tables.',
        )
    from torch_tb_profiler.sql.engine import check_installed

    check_installed()
    from torch_tb_profiler.sql.process import Statements

    with closing(Statements()) as options.statements:
        return _print_csv(options) if options.csv else print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    opened, answer = context.opened, _answer(context, options)
    return Report(lambda: _document(opened, answer), lambda: {**identity(opened), **_plain(answer)})


def _answer(context: TraceContext, options: argparse.Namespace) -> Result:
    """As a server answers it, in another process: what is not kept is written for that."""
    from torch_tb_profiler.runs.products import IMPORT, INSIGHT, OpenTrace
    from torch_tb_profiler.sql.engine import Limits

    text = not (options.json or options.csv)
    rows = options.limit or (TEXT_ROWS if text else _FILE_ROWS)
    limits = Limits(rows=rows, bytes=_FILE_BYTES, seconds=options.seconds)
    opened = context.opened

    def make_insight() -> None:
        made = context.insight
        if not os.path.isfile(insight):
            INSIGHT.write(insight, made)

    with TemporaryDirectory(prefix="torch_tb_profiler-") as folder:
        sidecar = opened.sidecar
        if not os.path.isfile(sidecar):
            sidecar = os.path.join(folder, f"trace{SUFFIX}")
            IMPORT.write(sidecar, OpenTrace(opened.trace, opened.facts, opened.memo))
        insight = INSIGHT.path(sidecar, context.settings)
        found: Result = options.statements.ask(
            sidecar, insight, make_insight, options.statement, limits
        )
        return found


def _document(opened: Opened, answer: Result) -> Document:
    columns = tuple(
        Column(name, "number" if kind in ("integer", "number") else "name")
        for name, kind in zip(answer.columns, answer.types, strict=True)
    )
    rows = [tuple(map(_text, row)) for row in answer.rows]
    total = max(answer.total, len(rows))
    return Document(opened.title, (), (Table("Answer", columns, rows, total, answer.note),))


def _text(value: Any) -> str:
    from torch_tb_profiler.units import UNKNOWN

    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(answer: Result) -> dict[str, Any]:
    return {
        "columns": answer.columns,
        "rows": [dict(zip(answer.columns, row, strict=True)) for row in answer.rows],
        "total": None if answer.total < 0 else answer.total,
    }


def _print_csv(options: argparse.Namespace) -> int:
    """All traces as one table, as ``export`` writes them: with several, the worker and the span come first."""
    parts = []
    for context in contexts(options):
        answer = _answer(context, options)
        parts.append((context.opened, answer.columns, answer.rows))
        if answer.note:
            say(answer.note)
    print_csv(parts)
    return 0


def _list() -> int:
    from torch_tb_profiler.sql.listing import listed

    schema = ""
    for table in listed():
        if table.schema != schema:
            schema = table.schema
            write(f"{schema}: {table.about}\n")
        write(f"  {table.full_name}  {table.doc}\n")
        for column in table.columns:
            unit = f" ({column.unit})" if column.unit else ""
            write(f"      {column.name} {column.type}{unit}  {column.doc}\n")
    return 0
