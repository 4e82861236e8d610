"""``torch-tb-profiler iterations``: the iterations of an inference server."""

from __future__ import annotations

import argparse

from torch_tb_profiler.analysis.figures.iterations import (
    ITERATIONS,
    PHASE_TABLE,
    iteration_table,
    phase_table,
)
from torch_tb_profiler.cli.document import Block, Column, Document, Item, Listing, Table
from torch_tb_profiler.cli.output import Report, identity, selected_steps
from torch_tb_profiler.cli.tables import cell
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.display import DisplaySpec, DisplayTable
from torch_tb_profiler.views.display_wire import records, wire_columns
from torch_tb_profiler.views.work.iterations import HOW_TO_RECORD, headline

_SHOWN = (
    "name phase part context_requests context_tokens generation_requests generation_tokens batch"
    " wall_ns device_ns gap_ns scheduler_ns tokens_per_second"
)
_PHASES = "phase iterations wall_ns interval_ns tokens tokens_per_second padding device_share odd"
_BELOW = ("name",)


def iterations(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """The iterations of a trace.

    Raises:
        BadRequest: there are no such steps.
    """
    table = iteration_table(opened.facts, selected_steps(opened, options))
    return Report(
        lambda: Document(opened.title, (opened.span.path,), tuple(_blocks(table, options.limit))),
        lambda: {**identity(opened), "iterations": records(wire_columns(table))},
    )


def _blocks(table: DisplayTable, limit: int) -> list[Block]:
    if not table.n:
        items = [Item(f"{server}: {how}") for server, how in HOW_TO_RECORD]
        return [Listing("No iterations", [Item(headline(table), (), ""), *items])]
    phases = phase_table(table)
    shown = table.take(slice(0, limit))
    return [
        Listing("Iterations", [Item(headline(table), (), "")]),
        _block("Phases", phases, PHASE_TABLE, _PHASES, phases.n),
        _block("Iterations in time order", shown, ITERATIONS, _SHOWN, table.n),
    ]


def _block(title: str, table: DisplayTable, spec: DisplaySpec, names: str, total: int) -> Table:
    declared = {column.name: column for column in spec.columns}
    rows = records(wire_columns(table))
    chosen = [declared[name] for name in names.split()]
    used = [c for c in chosen if any(row[c.name] is not None for row in rows) or not rows]
    head = tuple(
        Column(
            column.label,
            "below" if column.name in _BELOW else "text" if column.kind == "text" else "number",
        )
        for column in used
    )
    cells = [tuple(cell(row[c.name], c.unit) for c in used) for row in rows]
    return Table(title, head, cells, total)
