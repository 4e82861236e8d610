"""The routes of more than one trace: findings, all workers of a run, two traces beside each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Annotated, cast

from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.views import diff_wire, distributed_wire, findings_wire, wire
from torch_tb_profiler.views.diff import Recording, compared, diff_payload
from torch_tb_profiler.views.diff_file import DiffFormat, diff_csv, diff_markdown
from torch_tb_profiler.views.distributed import FleetMember, distributed_payload
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.findings_run import findings_in_run
from torch_tb_profiler.web.downloads import Download
from torch_tb_profiler.web.parameters import OneOf, StepRange, Steps, StepsOf
from torch_tb_profiler.web.replies import Body
from torch_tb_profiler.web.route import Backend, Pair, chosen, route

FEW = 16
"""Workers of a run up to which all are read for the findings of one; of larger runs the Distributed
view has it done.
"""
_SECOND_STEPS = StepsOf("Steps of side B.")
_FILES: dict[DiffFormat, tuple[str, str, Callable[[diff_wire.DiffPayload], str]]] = {
    "csv": ("csv", "text/csv; charset=utf-8", diff_csv),
    "markdown": ("md", "text/markdown; charset=utf-8", diff_markdown),
}


def _fleet(fleets: Fleets, opened: Opened) -> tuple[Fleet | None, float]:
    """The workers of the run if all are known, and how far that is."""
    few = 1 < len(opened.run.beside(opened.worker)) <= FEW
    fleet = fleets.of(opened) if few else fleets.known(opened)
    if fleet is None or fleet.complete:
        return fleet, 1.0
    return None, min(round(fleet.progress, 2), 0.99)


def _others(backend: Backend, insight: OpenedInsight) -> Hashable:
    fleet, progress = _fleet(backend.fleets, insight.opened)
    return (tuple(member.id for member in fleet.members) if fleet else ()), progress


@route("/findings", also=_others, report="trace")
def findings(insight: OpenedInsight, fleets: Fleets) -> findings_wire.FindingsPayload:
    """What costs recoverable step time: each with its rule, a sentence, ``recoverable_ns``
    per step (an upper bound; no time is claimed by two findings), the dearest events it rests on, the
    source line where one is known, what to try and when that does not apply.
    """
    opened = insight.opened
    fleet, progress = _fleet(fleets, opened)
    source = Source(opened.trace, opened.facts, opened.worker.name, opened.span.name)
    listed = insight.insight.about["findings"]
    if fleet is None:
        return findings_payload(source, listed, progress)
    return findings_in_run(source, listed, fleet.figures, fleet.late, fleet.names)


def _complete(backend: Backend, opened: Opened) -> Hashable:
    """A complete fleet, which is made anew whenever anything of the catalogue changes; of another
    one the next question learns more.
    """
    fleet = backend.fleets.of(opened)
    return fleet if fleet.complete else None


@route("/distributed", also=_complete, report="trace")
def distributed(opened: Opened, fleets: Fleets) -> distributed_wire.DistributedPayload:
    """The workers of a run beside each other: for each the span that was recorded at the same time as
    the asked one. Insights that are missing are made from now on. Lists of lists are
    ``[worker][step]``. ``late`` names, for every step in which somebody waited, the worker that the
    others waited for, and what took more time on it (``before_…``) than on the one that waited
    longest. At most 1,024 workers and 32,768 pairs of worker and step are given.
    """
    fleet = fleets.of(opened)
    ranks = {member: number for number, member in enumerate(fleet.place)}
    seats = [
        FleetMember(
            m.worker.name,
            m.span.name,
            m.worker.rank,
            cast("wire.RankSource", m.worker.rank_source),
            m.state,
            m.message,
            ranks.get(number, -1),
        )
        for number, m in enumerate(fleet.members)
    ]
    return distributed_payload(
        seats, fleet.figures, fleet.late, round(fleet.progress, 3), fleet.workers_total
    )


@route("/diff")
def diff(
    pair: Pair, steps: Steps, steps2: Annotated[StepRange, _SECOND_STEPS]
) -> diff_wire.DiffPayload:
    """Two traces beside each other, A and B; both may be the same. ``verdict`` says how the step
    changed, whether by more than noise, and what made most of it; ``changes`` holds the tables, the
    largest change first, of each at most 500 rows and one for the rest; ``wholes`` what they add up
    to; ``tree`` both call trees matched on their structure.
    """
    a, b = (
        (insight.opened.facts, insight.insight, chosen(insight.opened, of_it))
        for insight, of_it in zip(pair, (steps, steps2), strict=True)
    )
    return diff_payload(compared(a, b), _recording(pair.a.opened), _recording(pair.b.opened))


@route("/diff/file")
def diff_file(
    pair: Pair,
    steps: Steps,
    steps2: Annotated[StepRange, _SECOND_STEPS],
    format: Annotated[DiffFormat, OneOf("`csv` has every row, times in ns per step.")] = "csv",
) -> Download:
    """The same as a download."""
    ending, content_type, write = _FILES[format]
    text = write(diff(pair, steps, steps2))
    return Download(f"diff.{ending}", content_type, Body(text.encode("utf-8", "replace")))


def _recording(opened: Opened) -> Recording:
    run, worker, span = opened.run.name, opened.worker.name, opened.span
    label = " · ".join(part for part in (run, worker, span.label) if part)
    return Recording(run, worker, span.name, label, opened.trace.header)
