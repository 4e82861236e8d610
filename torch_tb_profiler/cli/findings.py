"""``torch-tb-profiler findings``: what costs time that could be had back, with the events that show it."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from torch_tb_profiler.cli.document import Document, Item, Listing
from torch_tb_profiler.cli.output import Told, place, tell, title
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import insight_of
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.findings_wire import Finding, FindingsPayload

EVENTS = 5
"""Events that a text names; JSON has the others that the page lists."""


def run(options: argparse.Namespace) -> int:
    """Print the findings of every trace at a path; the exit code. Raises as ``output.tell`` does."""
    return tell(options, about)


def about(opened: Opened, settings: Settings) -> Told:
    """The findings of one trace."""
    found = found_in(opened, settings)
    return Told(lambda: Document(title(opened), (opened.span.path,), (Listing("Findings", finding_items(found)),)), lambda: place(opened) | _plain(found))


def found_in(opened: Opened, settings: Settings) -> FindingsPayload:
    """The payload of the page's findings."""
    source = Source(opened.trace, opened.facts, opened.worker.name, opened.span.name)
    return findings_payload(source, insight_of(opened, settings).about["findings"])


def finding_items(found: FindingsPayload) -> list[Item]:
    """The headline, every finding with its evidence, and what could not be judged."""
    return [Item(found.headline, (), ""), *map(_item, found.findings), *(Item(text, (), "? ") for text in found.unsure)]


def _item(finding: Finding) -> Item:
    details = [f"at {finding.line}"] if finding.line else []
    if finding.evidence:
        shown = ", ".join(f"#{event.event} {event.label} {format_ns(event.dur_ns)}" for event in finding.evidence[:EVENTS])
        more = finding.evidence_count - min(len(finding.evidence), EVENTS)
        details.append(f"Events: {shown}{f' and {more:,} more' if more > 0 else ''}")
    details.append(f"Try: {finding.attempt} But: {finding.caveat}")
    return Item(f"{finding.title}. {finding.sentence}", tuple(details))


def _plain(found: FindingsPayload) -> dict[str, Any]:
    payload: dict[str, Any] = msgspec.to_builtins(found)
    return {key: value for key, value in payload.items() if key not in ("missing", "progress")}
