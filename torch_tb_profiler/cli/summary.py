"""``torch-tb-profiler summary``: the facts behind the page, for people, tests and CI."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import msgspec

from torch_tb_profiler.cli.summary_text import printable, report
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import Unreadable, insight_of, load_all
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.overview import Place, overview_payload
from torch_tb_profiler.views.steps import choose
from torch_tb_profiler.views.summary import Identity, summary

REASONS_SHOWN = 5


def run(options: argparse.Namespace) -> int:
    """See ``summarise``."""
    return summarise(options.path, as_json=options.json, use_cache=not options.no_cache)


def summarise(path: str, *, as_json: bool, use_cache: bool) -> int:
    """Print every trace at a path to standard output, what could not be read to standard error; the exit code.

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: none of its files could be read.
    """
    settings = Settings.from_environment(use_cache=False if not use_cache else None)
    unreadable: list[Unreadable] = []
    printed = 0
    for item in load_all(path, settings):
        if isinstance(item, Unreadable):
            unreadable.append(item)
            continue
        facts = facts_object(item)
        if as_json:
            write(("," if printed else "[") + "\n" + msgspec.json.encode(facts).decode())
        else:
            write(("\n\n" if printed else "") + text_report(item, facts, settings))
        printed += 1
    if not printed:
        raise NotATrace(_nothing(path, unreadable))
    if as_json:
        write("\n]\n")
    for item in unreadable:
        if not item.rejected:
            print(printable(f"torch-tb-profiler: {item.path}: {item.message}"), file=sys.stderr)
    return 0


def facts_object(opened: Opened) -> dict[str, Any]:
    """The object of ``--json`` for one trace."""
    lost = opened.span.lost or 0
    identity = Identity(opened.run.name, opened.worker.name, opened.span.name, opened.span.path, opened.trace.entries, lost)
    return summary(opened.facts, identity)


def text_report(opened: Opened, facts: dict[str, Any], settings: Settings) -> str:
    """The report on one trace; ``facts`` is its ``facts_object``."""
    worker = opened.worker
    place = Place(len(opened.run.beside(opened.worker)), worker.rank, worker.rank_source, worker.world_size)
    source = Source(opened.trace, opened.facts, worker.name, opened.span.name)
    found = findings_payload(source, insight_of(opened, settings).about["findings"])
    return report(facts, overview_payload(opened.facts, choose(opened.facts), place), found)


def _nothing(path: str, unreadable: list[Unreadable]) -> str:
    """One line that says why there is nothing to print."""
    if not unreadable:
        return printable(f"{path} holds no trace: no file ends in .json or .pickle, alone or with .gz or .zst behind it.")
    shown = "; ".join(f"{u.path}: {u.message}" for u in unreadable[:REASONS_SHOWN])
    more = len(unreadable) - REASONS_SHOWN
    return printable(f"{path} holds no readable trace: {shown}{f' (and {more} more files)' if more > 0 else ''}")


def write(text: str) -> None:
    # A terminal that cannot show µ or ×, such as one under LANG=C, shall get a report all the same.
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
