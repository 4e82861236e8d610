"""``torch-tb-profiler findings``: what costs recoverable time, with the events that show it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.api.waiting import fleet_places, member_findings
from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.finding_texts import findings_block
from torch_tb_profiler.cli.output import Report, identity, is_chosen
from torch_tb_profiler.cli.run_head import run_head
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.findings_wire import FindingsPayload


def reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    """The findings of the traces of a run."""
    return run_reports(options, run_findings(traces, settings), _report)


def run_reports(
    options: argparse.Namespace,
    findings: Iterable[tuple[Opened, FindingsPayload]],
    make_report: Callable[[Opened, FindingsPayload], Report],
) -> Iterator[Report]:
    """One on the run if it has several traces, then one on each trace that ``--worker`` selects."""
    traces = [(opened, payload) for opened, payload in findings if is_chosen(opened, options)]
    if len(traces) > 1:
        yield Report(lambda: run_head(traces), None)
    for opened, payload in traces:
        yield make_report(opened, payload)


def run_findings(
    traces: Iterable[Opened], settings: Settings
) -> Iterator[tuple[Opened, FindingsPayload]]:
    """The findings of the traces of a run, stragglers included; all traces stay in memory."""
    run = [TraceContext(opened, settings) for opened in traces]
    for context, member in zip(run, fleet_places(run), strict=True):
        yield context.opened, member_findings(context, member)


def _report(opened: Opened, payload: FindingsPayload) -> Report:
    return Report(
        lambda: Document(opened.title, (opened.span.path,), (findings_block(payload, opened),)),
        lambda: identity(opened) | _plain(payload),
    )


def _plain(payload: FindingsPayload) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(payload)
    return {key: value for key, value in fields.items() if key not in ("missing", "progress")}
