"""``whatif PATH``: what a step would take with the usual changes, or with ``--change NAME:key=value`` …, all at once; ``--list`` names them
([critical_path.md](critical_path.md))
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Column, Document, Kind, Table
from torch_tb_profiler.cli.output import (
    Report,
    context_of,
    identity,
    is_chosen,
    print_runs,
    write,
)
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.units import format_count, format_ns, format_share

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.what_if.changes import Applied
    from torch_tb_profiler.api.trace_context import TraceContext
    from torch_tb_profiler.runs.fleet import Fleet
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.store.display import DisplayTable
    from torch_tb_profiler.tables.source import FleetPlace

HELP = "predict the step if something in it were different"
_TEXTS: dict[str, Kind] = {"words": "text", "change": "name"}
ABSENT = "Nothing that this acts on was recorded: no step changes."


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser, "?")
    arguments.form(parser)
    arguments.steps(parser)
    parser.add_argument(
        "--change",
        metavar="NAME[:KEY=VALUE,...]",
        action="append",
        default=[],
        help="a change; several are simulated together (default: each usual one)",
    )
    parser.add_argument("--list", action="store_true", help="list the changes and their parameters")


def run(options: argparse.Namespace) -> int:
    """Print the changes that there are, or predictions for the traces at ``options.path``."""
    if options.list:
        return _list()
    if options.path is None:
        raise BadRequest("whatif needs a trace.", "Give a PATH, or --list for the changes.")
    if any(text.partition(":")[0] == "no-stragglers" for text in options.change):
        return print_runs(options, _run_reports)
    return print_runs(options, _reports)


def _list() -> int:
    from torch_tb_profiler.analysis.what_if.changes import CHANGES

    for change in CHANGES.values():
        write(f"{change.name}  {change.words}\n")
        for key, about in change.about.items():
            default = change.defaults[key]
            write(f"    {key}  {about}{f' Default: {default}.' if default else ''}\n")
    return 0


def _reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    """Of each trace that ``--worker`` selects; the others of its run tell how long it waits for them."""
    from torch_tb_profiler.api.fleets import fleet_places

    run = [context_of(opened, settings, options) for opened in traces]
    for context, place in zip(run, fleet_places(run), strict=True):
        if is_chosen(context.opened, options):
            yield _report(context, options, place)


def _report(context: TraceContext, options: argparse.Namespace, place: FleetPlace) -> Report:
    """What a trace would take with all changes at once; without any, with each usual one. ``place``: in its run."""
    from torch_tb_profiler.analysis.figures.selection import judged
    from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
    from torch_tb_profiler.analysis.what_if.changes import read_change
    from torch_tb_profiler.analysis.what_if.table import (
        preset_table,
        what_if_document,
        what_if_table,
    )
    from torch_tb_profiler.views.overview.summary import subject_object

    opened = context.opened
    changes = [read_change(text) for text in options.change]
    facts, selection = context.facts, judged(context.facts, context.selection())
    averaged = of_one_kind(facts, selection.steps)

    def document() -> Document:
        rows = (
            what_if_table(facts, context.simulation(place), changes, selection)
            if changes
            else preset_table(facts, context.insight_beside(place), selection)
        )
        plain = what_if_document(facts, context.simulation(place), changes, selection)
        measured, error = format_ns(plain["measured_ns"]), format_share(plain["replay_error"])
        heading = f"Step of {measured}, mean of {format_count(len(averaged))}; replay error {error}"
        note = ABSENT if plain["absent"] else ""
        tables = [predictions(heading, rows, note, interval=True)]
        if changes:
            tables.append(_kinds(plain["by_kind_ns"]))
        return Document(opened.title, (opened.span.path,), tuple(tables))

    return Report(
        document,
        lambda: {
            **identity(opened),
            "subject": subject_object(facts, identity(opened), averaged),
            **what_if_document(facts, context.simulation(place), changes, selection),
        },
    )


def predictions(
    title: str, table: DisplayTable, note: str, most: int | None = None, *, interval: bool = False
) -> Table:
    """What each change would save; ``interval``: also within which bounds it is predicted."""
    from torch_tb_profiler.cli.tables import records, table_block

    rows = [
        {**row, "low_ns": f"{format_ns(row['low_ns'])} to {format_ns(row['high_ns'])}"}
        for row in records(table)[:most]
    ]
    names = ("words", "change", "predicted_ns", *["low_ns"] * interval, "saved_ns", "saved")
    labels = {"low_ns": "Interval", "saved": "Share"}
    return table_block(title, table.spec, names, rows, table.n, _TEXTS, note, labels)


def _kinds(times: dict[str, int]) -> Table:
    """What the changed steps are spent on, the most first."""
    from torch_tb_profiler.analysis.critical_path.table import KINDS

    whole = max(sum(times.values()), 1)
    kinds = sorted(times.items(), key=lambda pair: -pair[1])
    return Table(
        "Critical path after it",
        (Column("Kind", "text"), Column("On the path"), Column("Share")),
        [(KINDS[kind], format_ns(time), format_share(time / whole)) for kind, time in kinds],
        len(kinds),
    )


def _run_reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    """What a run would take without stragglers, of each recording if there are several."""
    from torch_tb_profiler.analysis.what_if.changes import read_change
    from torch_tb_profiler.api.fleets import fleet_places, fleets_of
    from torch_tb_profiler.api.trace_context import TraceContext

    run = [TraceContext(opened, settings) for opened in traces]
    changes = [read_change(text) for text in options.change]
    for fleet in fleets_of(fleet_places(run)):
        yield _run_report(run[0].opened, fleet, changes)


def _run_report(opened: Opened, fleet: Fleet, changes: Sequence[Applied]) -> Report:
    from torch_tb_profiler.analysis.what_if.stragglers import (
        LEAST_RANKS,
        Stragglers,
        not_replayed_text,
        run_document,
    )
    from torch_tb_profiler.api.fleets import expect_tied

    if len(fleet.place) < LEAST_RANKS:
        raise BadRequest("no-stragglers needs at least two ranks.", f"{opened.run.name} has one.")
    expect_tied(fleet)
    ranks = [fleet.open_rank(number) for number in range(len(fleet.place))]
    names = [member.worker.rank for member in fleet.ranks]
    plain = run_document(Stragglers(fleet.figures, ranks), names, changes)

    def document() -> Document:
        slowest = sorted(plain["by_worker"], key=lambda row: -row["slowdown"])
        measured, predicted = (format_ns(plain[key]) for key in ("measured_ns", "predicted_ns"))
        error = format_share(plain["replay_error"])
        heading = f"Step of {measured} over all ranks, without stragglers {predicted}; replay error {error}"
        note = not_replayed_text(plain["not_replayed"], len(plain["steps"]))
        return Document(
            opened.run.name,
            (note,) if note else (),
            (
                Table(
                    heading,
                    (Column("Slowdown", "text"), Column("Times")),
                    [("All ranks", f"{plain['slowdown']:.3f}")],
                    1,
                ),
                Table(
                    "With only this rank as it was",
                    (Column("Rank", "text"), Column("Times")),
                    [(f"rank {row['rank']}", f"{row['slowdown']:.3f}") for row in slowest],
                    len(slowest),
                ),
                Table(
                    "With only this operation as it was",
                    (Column("Operation", "text"), Column("Times")),
                    [(row["name"], f"{row['slowdown']:.3f}") for row in plain["by_operation"]],
                    len(plain["by_operation"]),
                ),
            ),
        )

    return Report(document, lambda: {"run": opened.run.name, "ranks": True, **plain})
