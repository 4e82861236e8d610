"""``torch-tb-profiler critical-path``: what the end of each step waited for."""

from __future__ import annotations

import argparse
from typing import Any

from torch_tb_profiler.analysis.critical_path.table import KINDS, event_table, kind_table
from torch_tb_profiler.api import tables
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.cli.document import Column, Document, Table
from torch_tb_profiler.cli.output import Report, identity
from torch_tb_profiler.cli.tables import context_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.units import UNKNOWN, format_count, format_ns, format_share

_SEGMENT = ("kind", "start_ns", "end_ns", "name", "event", "rank", "operator", "module", "line")


def report(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """The critical path of a trace.

    Raises:
        BadRequest: there are no such steps.
    """
    context = context_of(opened, settings, options)
    return Report(
        lambda: Document(opened.title, (opened.span.path,), _blocks(context, options.limit)),
        lambda: {**identity(opened), "steps": _plain(context, opened.worker.rank)},
    )


def _blocks(context: TraceContext, limit: int) -> tuple[Table, Table]:
    facts, insight, selection = context.facts, context.insight, context.selection()
    kinds, events = (table(facts, insight, selection) for table in (kind_table, event_table))
    names, lines = events.texts("name"), events.texts("line")

    def numbers(table: DisplayTable, row: int) -> tuple[str, str, str]:
        time, segments = int(table["path_ns"][row]), int(table["segments"][row])
        return format_ns(time), format_share(float(table["share"][row])), format_count(segments)

    columns = (Column("On the path"), Column("Share"), Column("Segments"))
    wall = format_ns(int(kinds["path_ns"].sum()))
    steps = len(selection.steps)
    return (
        Table(
            f"Critical path of {format_count(steps)} step{'' if steps == 1 else 's'}, {wall}",
            (Column("Kind", "text"), *columns),
            [(KINDS[kinds["kind"][row]], *numbers(kinds, row)) for row in range(kinds.n)],
            kinds.n,
        ),
        Table(
            "On the path",
            (Column("Kind", "text"), Column("Event", "below"), Column("Line", "name"), *columns),
            [
                (
                    KINDS[events["kind"][row]],
                    names[row] or UNKNOWN,
                    lines[row] or "",
                    *numbers(events, row),
                )
                for row in range(min(events.n, limit))
            ],
            events.n,
        ),
    )


def _plain(context: TraceContext, rank: int | None) -> list[dict[str, Any]]:
    path, steps = tables.critical_path(context, None), tables.steps(context)
    segments = path.assign(end_ns=path["start_ns"] + path["dur_ns"], rank=rank)
    documents = []
    for step, name, wall in zip(steps["step"], steps["name"], steps["wall_ns"], strict=True):
        own = segments[segments["step"] == step]
        kinds = own.groupby("kind", observed=True)["dur_ns"].sum()
        columns = [
            own[key].astype(object).where(own[key].notna(), None).tolist() if key in own else []
            for key in _SEGMENT
        ]
        documents.append(
            {
                "name": name,
                "wall_ns": int(wall),
                "path_ns": int(own["dur_ns"].sum()),
                "by_kind_ns": {str(kind): int(time) for kind, time in kinds.items()},
                "segments": [
                    dict(zip(_SEGMENT, row, strict=True)) for row in zip(*columns, strict=True)
                ],
            }
        )
    return documents
