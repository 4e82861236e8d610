"""What the workers of a run tell together: which collectives are the same one, how much of each was
waiting for the last worker, and who that was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.runs.model import Opened, OpenedInsight
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.views.distributed import LateSeat
from torch_tb_profiler.views.findings import Source, findings_payload
from torch_tb_profiler.views.findings_run import findings_in_run
from torch_tb_profiler.views.findings_wire import FindingsPayload

FleetMember = tuple[Fleet, int]
"""A run and a trace's place among its ranks; −1: it is none of them."""


class _Traces:
    """Opened traces in the place of the catalogue."""

    def __init__(self, traces: Sequence[TraceContext]) -> None:
        self._traces = {_key(one.opened): one for one in traces}

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        one = self._one(run, worker, span)
        return OpenedInsight(one.opened, one.insight, f"{run}\n{worker}\n{span}")

    def open(self, run: str, worker: str, span: str) -> Opened:
        return self._one(run, worker, span).opened

    def _one(self, run: str, worker: str, span: str) -> TraceContext:
        try:
            return self._traces[run, worker, span]
        except KeyError:
            raise NotFound(f"The trace {span} of {worker} was not opened.") from None


def seats(traces: Sequence[TraceContext]) -> list[FleetMember]:
    """For every trace the run that it belongs to, of one span per worker: those that were recorded
    at the same time.
    """
    fleets = Fleets(_Traces(traces))
    # The run as it was known when its last trace was read has all of them.
    runs = {one.opened.run.name: one.opened.run for one in traces}
    found: dict[tuple[str, str, str], FleetMember] = {}
    for one in reversed(traces):
        key, run = _key(one.opened), runs[one.opened.run.name]
        if key in found:
            continue
        worker = next(
            (worker for worker in run.workers if worker.name == one.opened.worker.name),
            one.opened.worker,
        )
        fleet = fleets.of(replace(one.opened, run=run, worker=worker))
        members = {
            (run.name, fleet.members[m].worker.name, fleet.members[m].span.name): place
            for place, m in enumerate(fleet.place)
        }
        found[key] = fleet, -1
        found |= {
            member: (fleet, place)
            for member, place in members.items()
            if member not in found or member == key
        }
    return [found[_key(one.opened)] for one in traces]


def waiting(seat: FleetMember) -> dict[str, Any]:
    """The columns ``match``, ``wait_ns``, ``transfer_ns``, ``last_worker`` and ``skewed`` of a
    trace, one entry per row of its ``collectives``.
    """
    fleet, rank = seat
    figures = fleet.figures
    own, waits = figures.ranks[rank], figures.waits
    row = figures.matched.matches.row[rank]
    shared = np.flatnonzero(row >= 0)
    match, wait, last = (np.full(len(own), -1, np.int64) for _ in range(3))
    skewed = np.zeros(len(own), np.bool_)
    match[row[shared]] = shared
    wait[row[shared]] = waits.wait[rank, shared]
    last[row[shared]] = waits.last[shared]
    skewed[row[shared]] = waits.spoiled[shared]
    transfer: Ints = np.where(wait >= 0, own.end - own.start - wait, -1)
    names = [fleet.members[member].worker.name for member in fleet.place]
    return {
        "match": match,
        "wait_ns": wait,
        "transfer_ns": transfer,
        "last_worker": [names[place] if place >= 0 else None for place in last.tolist()],
        "skewed": skewed,
    }


def findings_together(one: TraceContext, seat: FleetMember) -> FindingsPayload:
    """The findings of a trace, and who of its run keeps it waiting."""
    fleet, opened = seat[0], one.opened
    source, made = (
        Source(one.trace, one.facts, opened.worker.name, opened.span.name),
        one.insight.about["findings"],
    )
    if seat[1] < 0:
        return findings_payload(source, made)
    names = [
        (fleet.members[member].worker.name, fleet.members[member].span.name)
        for member in fleet.place
    ]
    return findings_in_run(
        source,
        made,
        fleet.figures,
        [LateSeat(late.member, late.late, late.cause) for late in fleet.late],
        names,
    )


def _key(opened: Opened) -> tuple[str, str, str]:
    return opened.run.name, opened.worker.name, opened.span.name
