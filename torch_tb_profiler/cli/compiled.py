"""``compiled PATH``: kernels of torch.compile and what its graphs call of libraries: the operators that each fuses, its graph and region"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Document, Item, Kind, Listing, Table
from torch_tb_profiler.cli.output import Report, identity, print_traces
from torch_tb_profiler.units import format_ns

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.figures.selection import Selection
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.model import Opened

HELP = "list what torch.compile made and what it fuses"
_SHOWN = ("name", "region", "calls", "device_ns", "host_ns", "fused")
_TIMES = ("compiler", "region", "calls", "steps", "host_ns", "line")
_KINDS: dict[str, Kind] = {"name": "name", "compiler": "name", "fused": "below", "line": "below"}
_HOST = "Kernels in C++ are recorded with TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE=1 alone."


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)
    arguments.steps(parser)
    arguments.limit(parser)


def run(options: argparse.Namespace) -> int:
    """Print the compiled kernels of the traces at ``options.path``."""
    return print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.analysis.compiled.calls import compiled_table
    from torch_tb_profiler.analysis.compiled.compilations import compilation_table
    from torch_tb_profiler.cli.tables import records

    opened, selection = context.opened, context.selection()
    table = compiled_table(opened.trace, opened.facts, selection)
    rows = records(table)
    times = records(compilation_table(opened.trace, opened.facts, selection))
    return Report(
        lambda: _document(opened, selection, rows, times, options.limit),
        lambda: {
            **identity(opened),
            "rows": len(rows),
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
    limit: int,
) -> Document:
    from torch_tb_profiler.analysis.compiled.calls import COMPILED
    from torch_tb_profiler.cli.tables import table_block
    from torch_tb_profiler.views.steps import window_text

    compiling = _compiling(times, limit)
    if not rows:
        what = "No kernel of a compiled graph was recorded" if times else "Nothing was compiled"
        none = Item(f"{what} in the selected steps.", (_HOST,))
        listing = Listing("No compiled kernels", [none])
        return Document(opened.title, (opened.span.path,), (*compiling, listing))
    title = f"Compiled kernels of {window_text(opened.facts, selection)}"
    table = table_block(title, COMPILED, _SHOWN, rows[:limit], len(rows), _KINDS)
    return Document(opened.title, (opened.span.path,), (*compiling, table))


def _compiling(times: list[dict[str, Any]], limit: int) -> tuple[Table, ...]:
    """The table of what was compiled in the selected steps, and how long that took; none where nothing was."""
    if not times:
        return ()
    from torch_tb_profiler.analysis.compiled.compilations import COMPILATIONS
    from torch_tb_profiler.cli.tables import table_block

    title = f"Compiling takes {format_ns(sum(row['host_ns'] for row in times))}"
    return (table_block(title, COMPILATIONS, _TIMES, times[:limit], len(times), _KINDS),)
