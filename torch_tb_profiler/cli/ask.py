"""``ask PATH "softmax"``: what a recording has under some words: what to change, then what costs most, places and definitions; or a command
such as `"why 7"`, `"rank 2"`, `"vs NAME"`, `"line 410"`, `"what if no-sync"`
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Block, Column, Document, Item, Listing, Table
from torch_tb_profiler.cli.output import Report, context_of, identity, is_chosen, print_runs
from torch_tb_profiler.units import (
    fit_text,
    format_about,
    format_bytes,
    format_count,
    format_delta,
    format_ns,
)

if TYPE_CHECKING:
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.views.ask.payload import Answer

LONGEST_TEXT = 80
"""Characters of a definition; JSON has all of it."""
HELP = "find what a recording has under some words"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    text = "words of names, or a command (default: the answer, and what costs most)"
    parser.add_argument("question", metavar="QUESTION", nargs="?", default="", help=text)
    arguments.form(parser)
    arguments.steps(parser)


def run(options: argparse.Namespace) -> int:
    """Print an answer for each run at ``options.path``, of the first worker that ``--worker`` selects."""
    return print_runs(options, _reports)


def _reports(
    traces: Iterator[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    from torch_tb_profiler.api.fleets import fleet_places

    contexts = [context_of(opened, settings, options) for opened in traces]
    members = fleet_places(contexts)
    for context, member in zip(contexts, members, strict=True):
        if is_chosen(context.opened, options):
            from torch_tb_profiler.runs.loading import runs_at
            from torch_tb_profiler.sources.places import Place
            from torch_tb_profiler.tables.ask import ask

            runs = runs_at(Place(options.path))[0]
            found = ask(context.source(member=member), options.question, runs)
            yield _report(context.opened, options.question, found)
            return


def _report(opened: Opened, question: str, found: Answer) -> Report:
    from torch_tb_profiler.cli.tables import records

    return Report(
        lambda: _document(opened, found),
        lambda: {
            **identity(opened),
            "question": question,
            "sentence": found.sentence,
            "over": found.over,
            "rows": records(found.table),
        },
    )


def _document(opened: Opened, found: Answer) -> Document:
    from torch_tb_profiler.cli.tables import records
    from torch_tb_profiler.views.ask.table import kind_name

    rows = records(found.table)
    cells = [(kind_name(row["kind"]), row["label"], _more(row), _figure(row)) for row in rows]
    head = (Column("Kind", "text"), Column("What", "name"), Column("", "text"), Column("Figure"))
    table = Table("Found", head, cells, len(cells), found.over)
    blocks: list[Block] = [table] if cells else []
    if found.sentence:
        blocks.insert(0, Listing("Answer", [Item(found.sentence, (), "")]))
    return Document(opened.title, (opened.span.path,), tuple(blocks))


def _more(row: dict[str, Any]) -> str:
    if row["kind"] == "word":
        return fit_text(row["more"], LONGEST_TEXT)
    calls = "" if row["calls"] is None else f"× {format_count(row['calls'])}"
    return " ".join(filter(None, (row["more"], calls)))


def _figure(row: dict[str, Any]) -> str:
    """By how much a step differs, or would, predicted and so with two digits; its memory, or its time; empty where there is none."""
    if row["change_ns"] is not None:
        told = row["kind"] == "step"
        return format_delta(row["change_ns"]) if told else f"−{format_about(-row['change_ns'])}"
    if row["bytes"] is not None:
        return format_bytes(row["bytes"])
    return "" if row["time_ns"] is None else format_ns(row["time_ns"])
