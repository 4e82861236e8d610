"""``findings PATH``: the largest cause in one sentence; what costs step time and what its change saves, simulated, with the events that
show it, what to try and when not to
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.cli import arguments
from torch_tb_profiler.cli.document import Document
from torch_tb_profiler.cli.output import Report, identity, is_chosen, print_runs

if TYPE_CHECKING:
    from torch_tb_profiler.runs.model import Opened
    from torch_tb_profiler.settings import Settings
    from torch_tb_profiler.views.findings.wire import FindingsPayload

HELP = "list what costs recoverable time"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    arguments.trace(parser)
    arguments.form(parser)


def run(options: argparse.Namespace) -> int:
    """Print the findings of the traces at ``options.path``."""
    return print_runs(
        options,
        lambda traces, settings, options: run_reports(
            options, RunFindings(traces, settings), _report
        ),
    )


def run_reports(
    options: argparse.Namespace,
    findings: RunFindings,
    make_report: Callable[[Opened, FindingsPayload], Report],
) -> Iterator[Report]:
    """One on the run if it has several traces, then one on each trace that ``--worker`` selects."""
    traces = [(opened, payload) for opened, payload in findings if is_chosen(opened, options)]
    if len(traces) > 1:
        from torch_tb_profiler.cli.run_head import run_head

        yield Report(lambda: run_head(traces, findings.verdict), None)
    for opened, payload in traces:
        yield make_report(opened, payload)


class RunFindings:
    """The findings of the traces of a run, with who holds all of them back; all traces stay in memory."""

    def __init__(self, traces: Iterable[Opened], settings: Settings) -> None:
        from torch_tb_profiler.api.fleets import fleet_places
        from torch_tb_profiler.api.trace_context import TraceContext

        self._run = [TraceContext(opened, settings) for opened in traces]
        self._places = fleet_places(self._run)

    def __iter__(self) -> Iterator[tuple[Opened, FindingsPayload]]:
        from torch_tb_profiler.tables.ranks import findings_of

        for context, member in zip(self._run, self._places, strict=True):
            yield context.opened, findings_of(context.source(member=member))

    @property
    def verdict(self) -> list[str]:
        """Sentences on the ranks of each job and recording, the answer first; of several, of which each is."""
        from torch_tb_profiler.api.fleets import fleet_verdict, fleets_of

        said = ((fleet.names, fleet_verdict(fleet)) for fleet in fleets_of(self._places))
        fleets = [(names[0], lines) for names, lines in said if lines]
        spans = {span for (_, span), _ in fleets}
        told = []
        for (worker, span), (first, *more) in fleets:
            own = f"Recording {span}" if len(spans) == len(fleets) else f"Job of {worker}"
            told += [f"{own}: {first}" if len(fleets) > 1 else first, *more]
        return told


def _report(opened: Opened, payload: FindingsPayload) -> Report:
    from torch_tb_profiler.cli.finding_texts import findings_block

    return Report(
        lambda: Document(opened.title, (opened.span.path,), (findings_block(payload, opened),)),
        lambda: identity(opened) | _plain(payload),
    )


def _plain(payload: FindingsPayload) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(payload)
    return {key: value for key, value in fields.items() if key not in ("missing", "progress")}
