"""``torch-tb-profiler summary``: the facts behind the page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.findings import RunFindings, run_reports
from torch_tb_profiler.cli.output import Report, identity
from torch_tb_profiler.cli.summary_document import summary_document
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.findings.wire import FindingsPayload
from torch_tb_profiler.views.overview.payload import Place, overview_payload
from torch_tb_profiler.views.overview.summary import summary
from torch_tb_profiler.views.steps import choose


def reports(
    traces: Iterable[Opened], settings: Settings, options: argparse.Namespace
) -> Iterator[Report]:
    """The facts of the traces of a run."""
    return run_reports(
        options,
        RunFindings(traces, settings),
        lambda opened, findings: _report(TraceContext(opened, settings), lambda: findings),
    )


def trace_report(
    opened: Opened, settings: Settings, options: argparse.Namespace | None = None
) -> Report:
    """The facts of one trace; their JSON has no findings and needs no other trace of the run."""
    return _report(
        TraceContext(opened, settings), lambda: next(iter(RunFindings([opened], settings)))[1]
    )


def _report(context: TraceContext, findings: Callable[[], FindingsPayload]) -> Report:
    return Report(lambda: _document(context, findings()), lambda: facts_object(context.opened))


def _document(context: TraceContext, findings: FindingsPayload) -> Document:
    opened, worker = context.opened, context.opened.worker
    place = Place(len(opened.beside), worker.rank, worker.rank_source, worker.world_size)
    return summary_document(
        context,
        facts_object(opened),
        overview_payload(opened.facts, choose(opened.facts), place),
        findings,
    )


def facts_object(opened: Opened) -> dict[str, Any]:
    """The object of ``--json`` for one trace."""
    return summary(opened.facts, identity(opened), opened.trace.entries, opened.span.lost or 0)
