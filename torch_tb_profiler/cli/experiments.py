"""``experiments LOGDIR``: the runs side by side: step time and spread, change against the last run before of the same work, or against
``--base RUN``, and whether the step changed, GPU active, MFU, peak memory, exposed communication, findings; ``--csv`` for a table
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Column, Document, Table
from torch_tb_profiler.cli.output import (
    Printer,
    Report,
    no_trace_message,
    readable,
    settings_of,
    write,
)
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.units import UNKNOWN, format_delta, format_names
from torch_tb_profiler.untrusted import printable

if TYPE_CHECKING:
    from torch_tb_profiler.runs.loading import Unreadable

HELP = "list the runs of a logdir side by side: step, MFU, memory, findings, change"
_SHOWN = "run step_ns spread_ns delta_ns changed busy mfu peak_bytes exposed_ns findings"
_CHANGED = {True: "yes", False: "no", None: "cannot tell"}


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    form = arguments.form(parser)
    form.add_argument("--csv", action="store_true", help="print CSV; unknown values are empty")
    parser.add_argument(
        "--base",
        metavar="RUN",
        help="run that the others are compared with (default: the one before, of the same work)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the runs at ``options.path``."""
    settings = settings_of(options)
    unreadable: list[Unreadable] = []
    traces = readable(options.path, settings, unreadable, options.worker)
    first = list(islice(traces, 1))
    from torch_tb_profiler.analysis.diff.experiments import experiment_table
    from torch_tb_profiler.api.experiments import base_row, experiment_rows
    from torch_tb_profiler.cli.tables import records

    rows = experiment_rows(chain(first, traces), settings)
    if not rows:
        raise NotATrace(no_trace_message(options.path, unreadable))
    base = base_row(rows, options.base)
    told = records(experiment_table(rows, base))
    if options.csv:
        write(_csv(told))
    else:
        printer = Printer(options)
        if options.json:
            for row in told:
                printer.add(Report(partial(Document, ""), partial(dict, row)))
        else:
            printer.add(Report(partial(_document, told, base), None))
        printer.end()
    options.unreadable += unreadable
    return 0


def _csv(rows: list[dict[str, Any]]) -> str:
    from torch_tb_profiler.views.words.escapes import csv_field

    cells = [list(rows[0]), *([csv_field(_plain(value)) for value in row.values()] for row in rows)]
    return "".join(",".join(line) + "\n" for line in cells)


def _plain(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else value


def _document(rows: list[dict[str, Any]], base: int | None) -> Document:
    from torch_tb_profiler.analysis.diff.experiments import EXPERIMENTS
    from torch_tb_profiler.cli.tables import cell

    declared = {column.name: column for column in EXPERIMENTS.columns}

    def text(name: str, row: dict[str, Any]) -> str:
        value = row[name]
        if name == "changed":
            return UNKNOWN if row["delta_ns"] is None else _CHANGED[value]
        if name == "delta_ns":
            return format_delta(value)
        if name == "findings" and base is None and row["against"]:
            return "; ".join(filter(None, (f"against {row['against']}", value)))
        return cell(value, declared[name].unit)

    # Whether a step changed is an answer also where it cannot be told.
    names = [n for n in _SHOWN.split() if any(text(n, row) != UNKNOWN for row in rows)]
    head = tuple(
        Column(
            declared[name].label,
            "name" if name == "run" else "below" if name == "findings" else "number",
        )
        for name in names
    )
    cells = [tuple(text(name, row) for name in names) for row in rows]
    if base is None:
        said = ["Each run is compared with the last one before it of the same work."]
        alone = [row["run"] for row in rows if row["against"] is None]
        said += [f"No earlier recording of the same work: {format_names(alone)}."] if alone else []
    else:
        said = [f"Compared with {rows[base]['run']}, where the work is the same."]
    return Document(
        "Experiments",
        tuple(said),
        (Table("Runs", head, cells, len(rows)),),
    )
