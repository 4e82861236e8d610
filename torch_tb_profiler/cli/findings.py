"""``torch-tb-profiler findings``: what costs recoverable time, with the events that show it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.api.waiting import fleet_places, member_findings, verdict_lines
from torch_tb_profiler.cli.document import Document, Item, Listing
from torch_tb_profiler.cli.output import Report, identity, is_chosen
from torch_tb_profiler.cli.run_head import run_head
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import and_more, format_ns
from torch_tb_profiler.views.findings_wire import Evidence, Finding, FindingsPayload

_CHANGES = {
    "certain": "certain",
    "likely": "certain and likely",
    "theoretical": "certain, likely and theoretical",
}
EVENTS, BRIEF = 5, 2
"""Events that text names, and shortened text; JSON has all that the page lists."""
HOW = "Show an event: torch-tb-profiler event PATH ID"


def reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    """The findings of the traces of a run."""
    return run_reports(options, RunFindings(traces, settings), _report)


def run_reports(
    options: argparse.Namespace,
    findings: RunFindings,
    make_report: Callable[[Opened, FindingsPayload], Report],
) -> Iterator[Report]:
    """One on the run if it has several traces, then one on each trace that ``--worker`` selects."""
    traces = [(opened, payload) for opened, payload in findings if is_chosen(opened, options)]
    if len(traces) > 1:
        yield Report(lambda: run_head(traces, findings.verdict), None)
    for opened, payload in traces:
        yield make_report(opened, payload)


class RunFindings:
    """The findings of the traces of a run, with who holds all of them back; all traces stay in memory."""

    def __init__(self, traces: Iterable[Opened], settings: Settings) -> None:
        self._run = [TraceContext(opened, settings) for opened in traces]
        self._places = fleet_places(self._run)

    def __iter__(self) -> Iterator[tuple[Opened, FindingsPayload]]:
        for context, member in zip(self._run, self._places, strict=True):
            yield context.opened, member_findings(context, member)

    @property
    def verdict(self) -> list[str]:
        """Sentences on the ranks of each job, the answer first."""
        fleets = {id(fleet): fleet for fleet, _ in self._places}.values()
        return [line for fleet in fleets for line in verdict_lines(fleet)]


def _report(opened: Opened, payload: FindingsPayload) -> Report:
    return Report(
        lambda: Document(opened.title, (opened.span.path,), (findings_block(payload, opened),)),
        lambda: identity(opened) | _plain(payload),
    )


def findings_block(payload: FindingsPayload, opened: Opened) -> Listing:
    """The headline, every finding with its evidence, and what could not be judged."""
    items = [
        Item(payload.headline, (*filter(None, [payload.detail]), *_together(payload)), ""),
        *(_item(finding, opened) for finding in payload.findings),
        *(Item(text, (), "? ") for text in payload.unsure),
    ]
    return Listing(
        "Findings", items, HOW if any(finding.evidence for finding in payload.findings) else ""
    )


def _together(payload: FindingsPayload) -> Iterator[str]:
    """What the step would be with all changes of some certainty."""
    for total in payload.totals:
        low, high = format_ns(total.low_ns), format_ns(total.high_ns)
        yield (
            f"With all {_CHANGES[total.certainty]} changes: {format_ns(payload.step_ns)} →"
            f" {format_ns(total.step_ns)} ({low} to {high}), simulated together."
        )


def _item(finding: Finding, opened: Opened) -> Item:
    details = [f"at {finding.line}"] if finding.line else []
    if finding.evidence:
        shown = [_event(event, opened) for event in finding.evidence[:EVENTS]]
        details.append(
            f"Events: {', '.join(shown)} {and_more(finding.evidence_count - len(shown))}".rstrip()
        )
    details.append(f"Try: {finding.attempt} But: {finding.caveat}")
    if finding.change:
        details.append(f"Simulate: torch-tb-profiler whatif PATH --change {finding.change}")
    sure = f"[{finding.certainty}] " if finding.certainty else ""
    brief = ", ".join(_number(event, opened) for event in finding.evidence[:BRIEF])
    return Item(
        f"{sure}{finding.title}. {finding.sentence}",
        tuple(details),
        brief=f"({brief})" if brief else "",
    )


def _event(event: Evidence, opened: Opened) -> str:
    return f"{_number(event, opened)} {event.label} {format_ns(event.dur_ns)}"


def _number(event: Evidence, opened: Opened) -> str:
    """An event's number, and its worker where that is another one."""
    own_trace = (event.worker, event.span) == (opened.worker.name, opened.span.name)
    return f"#{event.event}{'' if own_trace else f' of {event.worker}'}"


def _plain(payload: FindingsPayload) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(payload)
    return {key: value for key, value in fields.items() if key not in ("missing", "progress")}
