"""``experiments LOGDIR``: the runs side by side: step time and spread, change against the last run before of the same work, or against
``--base RUN``, and whether the step changed, GPU active, MFU, peak memory, exposed communication, findings; ``--csv`` for a table
"""

from __future__ import annotations

import argparse
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Document, Kind
from torch_tb_profiler.cli.output import (
    Printer,
    Report,
    no_trace_message,
    print_csv,
    readable,
    settings_of,
)
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.units import format_delta, format_names

if TYPE_CHECKING:
    from torch_tb_profiler.runs.loading import Unreadable

HELP = "list the runs of a logdir side by side: step, MFU, memory, findings, change"
_KINDS: dict[str, Kind] = {
    "run": "name",
    **dict.fromkeys(("step_ns", "spread_ns", "delta_ns", "changed"), "number"),
    **dict.fromkeys(("busy", "mfu", "peak_bytes", "exposed_ns"), "number"),
    "findings": "below",
}
"""The columns of its text."""
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
        print_csv([(first[0], list(told[0]), ([*row.values()] for row in told))])
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


def _document(rows: list[dict[str, Any]], base: int | None) -> Document:
    from torch_tb_profiler.analysis.diff.experiments import EXPERIMENTS
    from torch_tb_profiler.cli.tables import table_block

    if base is None:
        said = ["Each run is compared with the last one before it of the same work."]
        alone = [row["run"] for row in rows if row["against"] is None]
        said += [f"No earlier recording of the same work: {format_names(alone)}."] if alone else []
    else:
        said = [f"Compared with {rows[base]['run']}, where the work is the same."]
    told = [row | _worded(row, base is None) for row in rows]
    names = [name for name in _KINDS if any(row[name] not in (None, "") for row in told)]
    runs = table_block("Runs", EXPERIMENTS, names, told, len(rows), _KINDS)
    return Document("Experiments", tuple(said), (runs,))


def _worded(row: dict[str, Any], named: bool) -> dict[str, Any]:
    """What of a row is said in words; ``named``: also what it is compared with."""
    if (delta := row["delta_ns"]) is None:
        return {"changed": None}
    against = f"against {row['against']}" if named else ""
    return {
        "delta_ns": format_delta(delta),
        # Whether a step changed is an answer also where it cannot be told.
        "changed": _CHANGED[row["changed"]],
        "findings": "; ".join(filter(None, (against, row["findings"]))),
    }
