"""``torch-tb-profiler findings``: what costs recoverable time, with the events that show it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.api.waiting import fleet_places, verdict_lines
from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.finding_texts import findings_block
from torch_tb_profiler.cli.output import Report, identity, is_chosen
from torch_tb_profiler.cli.run_head import run_head
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.tables.ranks import findings_of
from torch_tb_profiler.views.findings.wire import FindingsPayload


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
            yield context.opened, findings_of(context.source(member=member))

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


def _plain(payload: FindingsPayload) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(payload)
    return {key: value for key, value in fields.items() if key not in ("missing", "progress")}
