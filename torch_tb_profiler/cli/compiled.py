"""``compiled PATH``: kernels of torch.compile and what its graphs call of libraries: the operators that each fuses, its graph and region;
with ``--provenance FOLDER``, or a ``TORCH_TRACE`` or tlparse folder beside the trace, its source lines
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import path_or_url
from torch_tb_profiler.cli.document import Column, Document, Item, Listing, Table
from torch_tb_profiler.cli.output import Report, identity, print_traces
from torch_tb_profiler.units import and_more, format_count, format_ns

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.figures.selection import Selection
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.store.provenance import Provenance

HELP = "list what torch.compile made, what it fuses, and its source lines"
_SHOWN = ("name", "region", "calls", "device_ns", "host_ns")
_TIMES = ("compiler", "region", "calls", "steps", "host_ns")
_LINES = 6
"""Source lines of a kernel that text lists."""
_HOW = (
    "To see source lines, record with TORCH_TRACE=FOLDER INDUCTOR_PROVENANCE=1 and keep the folder"
    " beside the trace, or give it with --provenance."
)
_HOST = "Kernels in C++ are recorded with TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1 alone."


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)
    arguments.steps(parser)
    parser.add_argument(
        "--provenance",
        metavar="FOLDER",
        type=path_or_url,
        help="logs of torch.compile, as TORCH_TRACE or tlparse writes them (default: those beside the"
        " trace)",
    )
    arguments.limit(parser)


def run(options: argparse.Namespace) -> int:
    """Print the compiled kernels of the traces at ``options.path``."""
    return print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.analysis.compiled.table import compiled_table
    from torch_tb_profiler.analysis.compiled.times import compilation_table
    from torch_tb_profiler.cli.tables import records
    from torch_tb_profiler.runs.compile_logs import provenance_of

    opened, selection = context.opened, context.selection()
    provenance = provenance_of(opened, options.provenance)
    table = compiled_table(opened.trace, opened.facts, provenance, selection)
    rows = records(table)
    times = records(compilation_table(opened.trace, opened.facts, selection))
    logged = {"kernels": len(provenance.kernels), "problems": provenance.problems}
    return Report(
        lambda: _document(opened, selection, rows, times, provenance, options.limit),
        lambda: {
            **identity(opened),
            "rows": len(rows),
            "logged": logged,
            "compiled": rows[: options.limit],
            "compile_ns": sum(row["host_ns"] for row in times),
            "compilations": times[: options.limit],
        },
    )


def _document(
    opened: Opened,
    selection: Selection,
    rows: list[dict[str, Any]],
    times: list[dict[str, Any]],
    provenance: Provenance,
    limit: int,
) -> Document:
    from torch_tb_profiler.analysis.compiled.table import COMPILED
    from torch_tb_profiler.cli.tables import shown_columns
    from torch_tb_profiler.views.steps import window_text

    lines = [opened.span.path]
    if provenance.problems:
        counts = ", ".join(f"{format_count(n)} {what}" for what, n in provenance.problems.items())
        lines.append(f"Not used of the logs: {counts}.")
    compiling = _compiling(times, limit)
    if not rows:
        what = "No kernel of a compiled graph was recorded" if times else "Nothing was compiled"
        none = Item(f"{what} in the selected steps.", (_HOST,))
        listing = Listing("No compiled kernels", [none])
        return Document(opened.title, tuple(lines), (*compiling, listing))
    head, cells = shown_columns(COMPILED, _SHOWN, rows[:limit], {"name": "name"})
    columns = (*head, Column("Fused operators", "below"), Column("Source lines", "below"))
    below = [(row["fused"] or "", _lines(row)) for row in rows[:limit]]
    cells = [own + more for own, more in zip(cells, below, strict=True)]
    title = f"Compiled kernels of {window_text(opened.facts, selection)}"
    note = "" if any(row["lines"] for row in rows) else _HOW
    return Document(
        opened.title,
        tuple(lines),
        (*compiling, Table(title, columns, cells, len(rows), note)),
    )


def _compiling(times: list[dict[str, Any]], limit: int) -> tuple[Table, ...]:
    """The table of what was compiled in the selected steps, and how long that took; none where nothing was."""
    if not times:
        return ()
    from torch_tb_profiler.analysis.compiled.times import COMPILATIONS
    from torch_tb_profiler.cli.tables import shown_columns

    head, cells = shown_columns(COMPILATIONS, _TIMES, times[:limit], {"compiler": "name"})
    columns = (*head, Column("Source line", "below"))
    cells = [(*own, row["line"] or "") for own, row in zip(cells, times[:limit], strict=True)]
    title = f"Compiling takes {format_ns(sum(row['host_ns'] for row in times))}"
    return (Table(title, columns, cells, len(times)),)


def _lines(row: dict[str, Any]) -> str:
    if row["matched"] == "several":
        return "several kernels of this name are logged, which are not told apart"
    lines = row["lines"] or ()
    more = and_more(len(lines) - _LINES)
    return "; ".join((*lines[:_LINES], *([more] if more else [])))
