"""What takes all workers of a run: matched collectives, waiting, and who was last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from torch_tb_profiler.analysis.critical_path.verdict_texts import verdict_sentences
from torch_tb_profiler.analysis.critical_path.waiting import with_waiting
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import BadRequest, NotFound, ProfilerError
from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.runs.model import Opened, OpenedInsight, OpenedRank
from torch_tb_profiler.runs.rank_indexes import opened_rank
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.views.distributed.texts import all_called, world_size
from torch_tb_profiler.views.findings.payload import Source, findings_in_run, findings_payload
from torch_tb_profiler.views.findings.wire import FindingsPayload

FleetPlace = tuple[Fleet, int]
"""A fleet and a trace's place among its ranks; −1: not among them."""


class OpenedTraces:
    """Opened traces instead of a catalogue, for ``Fleets``."""

    def __init__(self, traces: Sequence[TraceContext]) -> None:
        self._traces = {_key(context.opened): context for context in traces}

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        context = self._context(run, worker, span)
        return OpenedInsight(context.opened, context.insight, f"{run}\n{worker}\n{span}")

    def ask_ranks(
        self, run: str, names: Sequence[tuple[str, str]]
    ) -> list[OpenedRank | float | ProfilerError]:
        return [self._ask_rank(run, worker, span) for worker, span in names]

    def _ask_rank(self, run: str, worker: str, span: str) -> OpenedRank | ProfilerError:
        try:
            found = self.ask_insight(run, worker, span)
        except ProfilerError as error:
            return error
        return opened_rank(found)

    def open(self, run: str, worker: str, span: str) -> Opened:
        return self._context(run, worker, span).opened

    def _context(self, run: str, worker: str, span: str) -> TraceContext:
        try:
            return self._traces[run, worker, span]
        except KeyError:
            raise NotFound(f"The trace {span} of {worker} was not opened.") from None


def fleet_places(traces: Sequence[TraceContext]) -> list[FleetPlace]:
    """For every trace its fleet: one span per worker, recorded at the same time."""
    fleets = Fleets(OpenedTraces(traces), most_spans=None)
    # The run as known when its last trace was read has all workers.
    runs = {context.opened.run.name: context.opened.run for context in traces}
    memberships: dict[tuple[str, str, str], FleetPlace] = {}
    for context in reversed(traces):
        key, run = _key(context.opened), runs[context.opened.run.name]
        if key in memberships:
            continue
        worker = next(
            (worker for worker in run.workers if worker.name == context.opened.worker.name),
            context.opened.worker,
        )
        fleet = fleets.of(replace(context.opened, run=run, worker=worker))
        memberships[key] = fleet, -1
        for rank, names in enumerate(fleet.names):
            trace = (run.name, *names)
            if trace == key or trace not in memberships:
                memberships[trace] = fleet, rank
    return [memberships[_key(context.opened)] for context in traces]


def one_fleet(members: Sequence[FleetPlace], why: str) -> Fleet:
    """The one fleet of all members. ``why``: what needs it to be one.

    Raises:
        BadRequest: there are several, or none.
    """
    [*fleets] = {id(fleet): fleet for fleet, _ in members}.values()
    if len(fleets) != 1:
        raise BadRequest(
            f"The traces are {len(fleets)} recordings, {why}.",
            "Open one run folder, or take some of its traces by a slice.",
        )
    return fleets[0]


class _NamedRank(NamedTuple):
    worker: str
    rank: int | None


def verdict_lines(fleet: Fleet) -> list[str]:
    """Who holds the run back, in the words of the page; nothing of a single rank."""
    if len(fleet.names) < 2 or not fleet.figures.tied.any():
        return []
    members = [fleet.members[number].worker for number in fleet.place]
    ranks = [_NamedRank(worker.name, worker.rank) for worker in members]
    read = len(ranks)
    return verdict_sentences(
        fleet.verdict,
        lambda places: all_called(ranks, places),
        fleet.figures.steps.names,
        read,
        max(world_size(fleet.figures) or 0, fleet.workers_total, read),
    )


def expect_tied(fleet: Fleet) -> None:
    """Expect ranks that are known to have waited for each other.

    Raises:
        BadRequest: there are none.
    """
    if not fleet.figures.tied.any():
        names = ", ".join(worker for worker, _ in fleet.names[:4])
        raise BadRequest(
            f"No collective of two ranks could be matched ({names}): there is no path through all ranks.",
            "Compare the recordings by `diff` or `experiments` instead.",
        )


def waiting_columns(member: FleetPlace) -> dict[str, Any]:
    """The columns ``match``, ``wait_ns``, ``transfer_ns``, ``last_worker`` and ``skewed`` of a
    trace, one entry per row of its ``collectives``.
    """
    fleet, rank = member
    figures = fleet.figures
    own, waits = figures.ranks[rank], figures.waits
    matches = figures.matched.matches
    entry = matches.of_rank(rank)
    row, shared = matches.row[entry], matches.match[entry]
    match, wait, last = (np.full(len(own), -1, np.int64) for _ in range(3))
    skewed = np.zeros(len(own), np.bool_)
    match[row] = shared
    wait[row] = waits.wait[entry]
    last[row] = waits.last[shared]
    skewed[row] = waits.spoiled[shared]
    transfer: Ints = np.where(wait >= 0, own.end - own.start - wait, -1)
    workers = [worker for worker, _ in fleet.names]
    return {
        "match": match,
        "wait_ns": wait,
        "transfer_ns": transfer,
        "last_worker": [workers[number] if number >= 0 else None for number in last.tolist()],
        "skewed": skewed,
    }


def path_insight(context: TraceContext, member: FleetPlace | None = None) -> Insight:
    """The insight of a trace; of a member of a fleet, waiting for other ranks on its path apart from transfer."""
    if member is None or member[1] < 0:
        return context.insight
    return with_waiting(context.trace, context.facts, context.insight, member[0].figures, member[1])


def member_findings(context: TraceContext, member: FleetPlace | None = None) -> FindingsPayload:
    """The findings of a trace; of a member of a fleet, stragglers of its run included."""
    opened = context.opened
    selection = context.selection()
    source = Source(
        context.trace,
        context.facts,
        context.insight,
        opened.worker.name,
        opened.span.name,
        selection.steps,
    )
    if member is None or member[1] < 0:
        return findings_payload(source)
    fleet = member[0]
    return findings_in_run(source, fleet.figures, fleet.verdict, fleet.names)


def _key(opened: Opened) -> tuple[str, str, str]:
    return opened.run.name, opened.worker.name, opened.span.name
