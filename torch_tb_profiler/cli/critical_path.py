"""``torch-tb-profiler critical-path``: what the end of each step waited for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.api import tables
from torch_tb_profiler.cli.document import Column, Document, Table
from torch_tb_profiler.cli.output import Report, identity
from torch_tb_profiler.cli.tables import context_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import UNKNOWN, format_count, format_ns, format_share

if TYPE_CHECKING:
    from pandas import DataFrame

_SEGMENT = ("kind", "start_ns", "end_ns", "name", "event", "rank", "operator", "module", "line")


def report(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """The critical path of a trace.

    Raises:
        BadRequest: there are no such steps.
    """
    context = context_of(opened, settings, options)
    path, steps = tables.critical_path(context, None), tables.steps(context)
    return Report(
        lambda: Document(
            opened.title, (opened.span.path,), tuple(_blocks(path, steps, options.limit))
        ),
        lambda: {**identity(opened), "steps": _plain(path, steps, opened.worker.rank)},
    )


def _blocks(path: DataFrame, steps: DataFrame, limit: int) -> list[Table]:
    wall = int(steps["wall_ns"].sum())
    kinds = path.groupby("kind", observed=True)["dur_ns"].agg(["sum", "count"])
    kinds = kinds.sort_values("sum", ascending=False)
    events = path.assign(name=path["name"].fillna(UNKNOWN), line=path["line"].fillna(""))
    events = events.groupby(["kind", "name", "line"], observed=True)["dur_ns"].agg(["sum", "count"])
    events = events.sort_values("sum", ascending=False)

    def cells(total: int, count: int) -> tuple[str, str, str]:
        return format_ns(total), format_share(total / wall if wall else None), format_count(count)

    numbers = (Column("Time"), Column("Share"), Column("Segments"))
    return [
        Table(
            f"Critical path of {format_count(len(steps))} steps, {format_ns(wall)}",
            (Column("Kind", "text"), *numbers),
            [
                (kind, *cells(*row))
                for kind, row in zip(kinds.index, kinds.to_numpy().tolist(), strict=True)
            ],
            len(kinds),
        ),
        Table(
            "What is on it",
            (Column("Kind", "text"), Column("Event", "below"), Column("Line", "name"), *numbers),
            [
                (*key, *cells(*row))
                for key, row in zip(
                    events.index[:limit], events.to_numpy()[:limit].tolist(), strict=True
                )
            ],
            len(events),
        ),
    ]


def _plain(path: DataFrame, steps: DataFrame, rank: int | None) -> list[dict[str, Any]]:
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
