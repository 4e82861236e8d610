"""``iterations PATH``: iterations of an inference server (vLLM, SGLang, TensorRT-LLM …): phase, requests and tokens of each kind, batch,
times, gap before, steady state, tokens per second; phases compared
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import positive
from torch_tb_profiler.cli.document import Block, Document, Item, Kind, Listing, Table
from torch_tb_profiler.cli.output import Report, identity, print_traces

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.store.display import DisplayTable

HELP = "list the iterations of an inference server"
_SHOWN = (
    "name phase part context_requests context_tokens generation_requests generation_tokens batch"
    " wall_ns device_ns gap_ns draft_ns scheduler_ns prompt_tokens_per_second"
    " least_tokens_per_second tokens_per_second"
)
_PHASES = (
    "phase iterations wall_ns interval_ns tokens prompt_tokens_per_second least_tokens_per_second"
    " tokens_per_second padding device_share odd"
)


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)
    arguments.steps(parser)
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        default=40,
        help="rows of the text; JSON has all (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Print the iterations of the traces at ``options.path``."""
    return print_traces(options, _report)


def _report(context: TraceContext, options: argparse.Namespace) -> Report:
    from torch_tb_profiler.analysis.figures.iterations import iteration_table
    from torch_tb_profiler.views.display_wire import records, wire_columns
    from torch_tb_profiler.views.work.iterations import headline

    opened, selection = context.opened, context.selection()
    table = iteration_table(opened.facts, selection)
    return Report(
        lambda: Document(
            opened.title,
            (opened.span.path,),
            tuple(_blocks(headline(opened.facts, selection), table, options.limit)),
        ),
        lambda: {**identity(opened), "iterations": records(wire_columns(table))},
    )


def _blocks(headline: str, table: DisplayTable, limit: int) -> list[Block]:
    from torch_tb_profiler.analysis.figures.iterations import phase_table
    from torch_tb_profiler.views.work.iterations import HOW_TO_RECORD, speaking

    phases = phase_table(speaking(table))
    said = Item(headline, (), "")
    if not table.n:
        items = [Item(f"{server}: {how}") for server, how in HOW_TO_RECORD]
        return [Listing("No iterations", [said, *items])]
    shown = table.take(slice(0, limit))
    return [
        Listing("Iterations", [said]),
        _block("Phases", phases, _PHASES, phases.n),
        _block("Iterations in time order", shown, _SHOWN, table.n),
    ]


def _block(title: str, table: DisplayTable, names: str, total: int) -> Table:
    from torch_tb_profiler.cli.tables import table_block
    from torch_tb_profiler.views.display_wire import records, wire_columns

    rows = records(wire_columns(table))
    used = [n for n in names.split() if any(row[n] is not None for row in rows) or not rows]
    texts: dict[str, Kind] = {c.name: "text" for c in table.spec.columns if c.kind == "text"}
    return table_block(title, table.spec, used, rows, total, {**texts, "name": "below"})
