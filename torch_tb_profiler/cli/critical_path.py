"""``critical-path PATH``: what the end of each step waited for, back to its begin: time by cause, and the events, operators and lines
behind it; JSON has every segment; ``--ranks all`` takes one path per step through all ranks of a run folder
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.argument_types import positive
from torch_tb_profiler.cli.document import Column, Document, Kind, Table
from torch_tb_profiler.cli.output import (
    Report,
    context_of,
    identity,
    is_chosen,
    print_runs,
    steps_option,
)
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.units import UNKNOWN, format_count, format_counted, format_ns, format_share

if TYPE_CHECKING:
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.fleet import Fleet
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.store.display import DisplayTable
    from torch_tb_profiler.tables.source import FleetPlace

HELP = "show what the end of each step waited for, back to its begin"
Rows = Sequence[Mapping[str, Any]]
"""Segments, by the columns of the table of the path."""
_SEGMENT = ("kind", "start_ns", "end_ns", "name", "event", "rank", "operator", "module", "line")
ROWS = 20
"""Rows of the text, unless others are asked for."""
_TEXTS: dict[str, Kind] = {"kind": "text", "name": "below", "line": "name"}
_LABELS = {"kind": "Kind", "line": "Line"}
_TIMES = (Column("On the path"), Column("Share"), Column("Segments"))


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)
    arguments.steps(parser)
    parser.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        help="rows of the text (default: 20); of JSON the longest N segments of each step (default: all)",
    )
    parser.add_argument(
        "--ranks",
        choices=("all",),
        help="one path per step through all ranks of a run folder, with steps as the run counts them",
    )


def run(options: argparse.Namespace) -> int:
    """Print the critical path of the traces at ``options.path``, or through all ranks of their runs."""
    return print_runs(options, _reports)


def _reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    """Of a run; of each recording if there are several."""
    from torch_tb_profiler.api.fleets import fleet_places
    from torch_tb_profiler.api.trace_context import TraceContext

    run = [TraceContext(opened, settings) for opened in traces]
    places = fleet_places(run)
    if options.ranks:
        yield from _run_paths(run, places, options)
        return
    if options.tokens and not options.worker:
        # The path through all ranks is the answer; those of each are what is left out first.
        with suppress(BadRequest):
            yield from _run_paths(run, places, options, tied=True)
    for context, place in zip(run, places, strict=True):
        if is_chosen(context.opened, options):
            yield _report(context_of(context.opened, settings, options), place, options.limit)


def _run_paths(
    run: Sequence[TraceContext],
    places: Sequence[FleetPlace],
    options: argparse.Namespace,
    tied: bool = False,
) -> Iterator[Report]:
    """The path through all ranks of each recording. ``tied``: only where something ties them."""
    from torch_tb_profiler.api.fleets import fleets_of, ranks_path
    from torch_tb_profiler.cli.tables import records

    chosen = steps_option(options)
    fleets = fleets_of(places)
    known = [one for one in fleets if one.figures.tied.any()]
    for fleet in known or ([] if tied else fleets[:1]):
        try:
            path = ranks_path(fleet, chosen)
        except IndexError as error:
            raise BadRequest(f"--steps: {error}.") from None
        several = len(fleets) > 1
        yield _run_report(
            run[0].opened, fleet, records(path), path.attributes, options.limit, several
        )


def _report(context: TraceContext, place: FleetPlace, limit: int | None) -> Report:
    opened = context.opened
    return Report(
        lambda: Document(opened.title, (opened.span.path,), _blocks(context, place, limit or ROWS)),
        lambda: {**identity(opened), "steps": _plain(context, place, limit)},
    )


def _run_report(
    opened: Opened,
    fleet: Fleet,
    path: Rows,
    attributes: Mapping[str, Any],
    limit: int | None,
    several: bool,
) -> Report:
    """``several``: the run has other recordings, too."""
    steps, verdict = attributes["steps"], attributes["verdict"]
    worker, span = fleet.names[0]
    title = " · ".join((opened.run.name, worker, span)) if several else opened.run.name
    clocks = zip(fleet.ranks, fleet.figures.aligned, strict=True)
    return Report(
        lambda: Document(
            title, tuple(verdict), _run_blocks(path, len(steps), limit or ROWS), whole=True
        ),
        lambda: {
            "run": opened.run.name,
            "ranks": True,
            "verdict": verdict,
            "clock_error_ns": attributes["clock_error_ns"],
            "workers": [
                {
                    "rank": member.worker.rank,
                    "worker": member.worker.name,
                    "span": member.span.name,
                    "offset_ns": clock.offset,
                    "error_ns": clock.error,
                }
                for member, clock in clocks
            ],
            "steps": _documents(path, steps, limit),
        },
    )


def _run_blocks(path: Rows, steps: int, limit: int) -> tuple[Table, ...]:
    wall = sum(row["dur_ns"] for row in path)
    title = f"Critical path of {format_counted(steps, 'step')} through all ranks, {format_ns(wall)}"
    return tuple(
        _sums_table(path, title, columns, limit, wall)
        for title, columns in (
            (title, {"kind": Column("Kind", "text")}),
            ("By rank", {"worker": Column("Worker", "name")}),
            (
                "On the path",
                {
                    "worker": Column("Worker", "name"),
                    "kind": Column("Kind", "text"),
                    "name": Column("Event", "below"),
                    "line": Column("Line", "name"),
                },
            ),
        )
    )


def _sums_table(
    path: Rows, title: str, columns: Mapping[str, Column], limit: int, wall: int
) -> Table:
    """Time and segments of the path by some columns, the most first."""
    from torch_tb_profiler.analysis.critical_path.table import KINDS

    sums: dict[tuple[str, ...], list[int]] = {}
    for row in path:
        texts = {**row, "line": row["line"] or ""}
        texts["name"] = UNKNOWN if row["name"] is None else row["name"]
        of = sums.setdefault(tuple(texts[key] for key in columns), [0, 0])
        of[0] += row["dur_ns"]
        of[1] += 1
    ordered = sorted(sums.items(), key=lambda pair: -pair[1][0])
    rows = [
        (
            *(KINDS.get(text, text) for text in key),
            format_ns(time),
            format_share(time / max(wall, 1)),
            format_count(segments),
        )
        for key, (time, segments) in ordered[:limit]
    ]
    return Table(title, (*columns.values(), *_TIMES), rows, len(sums))


def _blocks(context: TraceContext, place: FleetPlace, limit: int) -> tuple[Table, Table]:
    from torch_tb_profiler.analysis.critical_path.table import KINDS, event_table, kind_table
    from torch_tb_profiler.analysis.figures.step_table import counted
    from torch_tb_profiler.cli.tables import records, table_block
    from torch_tb_profiler.tables.ranks import path_insight

    facts, selection = context.facts, counted(context.facts, context.selection())
    insight = path_insight(context.source(member=place))
    kinds, events = (table(facts, insight, selection) for table in (kind_table, event_table))

    def block(title: str, table: DisplayTable, names: tuple[str, ...], rows: int) -> Table:
        shown = [
            {
                **row,
                "kind": KINDS[row["kind"]],
                "name": row.get("name") or UNKNOWN,
                "line": row.get("line") or "",
            }
            for row in records(table)[:rows]
        ]
        names = (*names, "path_ns", "share", "segments")
        return table_block(title, table.spec, names, shown, table.n, _TEXTS, labels=_LABELS)

    wall, steps = (
        format_ns(int(kinds["path_ns"].sum())),
        format_counted(len(selection.steps), "step"),
    )
    return (
        block(f"Critical path of {steps}, {wall}", kinds, ("kind",), kinds.n),
        block("On the path", events, ("kind", "name", "line"), limit),
    )


def _plain(context: TraceContext, place: FleetPlace, limit: int | None) -> list[dict[str, Any]]:
    from torch_tb_profiler.cli.tables import records

    source = context.source(member=place)
    path, steps = (
        records(TABLES["critical_path"].computed(source)),
        TABLES["steps"].computed(source),
    )
    # The path holds what the step's own time leaves out.
    whole = steps["wall_ns"] + steps["earlier_ns"]
    columns = zip(steps["step"].tolist(), steps.texts("name"), whole.tolist(), strict=True)
    return _documents([{**row, "rank": context.opened.worker.rank} for row in path], columns, limit)


def _documents(
    path: Rows, steps: Iterable[tuple[int, str | None, int]], limit: int | None
) -> list[dict[str, Any]]:
    """The steps ``(number, name, wall time)`` with their segments, or the longest ``limit`` of each."""
    segments: dict[int, list[Mapping[str, Any]]] = {}
    for row in path:
        segments.setdefault(row["step"], []).append(row)
    documents = []
    for step, name, wall in steps:
        own = segments.get(step, [])
        kinds: dict[str, int] = dict.fromkeys(sorted({row["kind"] for row in own}), 0)
        for row in own:
            kinds[row["kind"]] += row["dur_ns"]
        longest = sorted(range(len(own)), key=lambda i: -own[i]["dur_ns"])[:limit]
        documents.append(
            {
                "name": name,
                "wall_ns": wall,
                "path_ns": sum(kinds.values()),
                "segments_count": len(own),
                "by_kind_ns": kinds,
                "segments": [_segment(own[i]) for i in sorted(longest)],
            }
        )
    return documents


def _segment(row: Mapping[str, Any]) -> dict[str, Any]:
    row = {**row, "end_ns": row["start_ns"] + row["dur_ns"]}
    return {key: row[key] for key in _SEGMENT}
