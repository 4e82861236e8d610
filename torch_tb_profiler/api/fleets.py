"""What takes all workers of a run: its fleets, who holds it back, and the path through all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.ranks_figures import ranks_segments, ranks_table
from torch_tb_profiler.api.trace_context import Steps, TraceContext, bounds
from torch_tb_profiler.errors import BadRequest, NotFound, NotReady, ProfilerError
from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.runs.model import Opened, OpenedInsight, OpenedRank
from torch_tb_profiler.runs.rank_indexes import opened_rank
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.tables.source import FleetPlace
from torch_tb_profiler.views.distributed.texts import verdict_lines


class OpenedTraces:
    """Opened traces instead of a catalogue, for ``Fleets``."""

    def __init__(self, traces: Sequence[TraceContext]) -> None:
        self._traces = {context.opened.key: context for context in traces}

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
        key, run = context.opened.key, runs[context.opened.run.name]
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
    return [memberships[context.opened.key] for context in traces]


def fleets_of(places: Sequence[FleetPlace]) -> list[Fleet]:
    """Each fleet once."""
    return list({id(fleet): fleet for fleet, _ in places}.values())


def one_fleet(members: Sequence[FleetPlace], why: str) -> Fleet:
    """The one fleet of all members. ``why``: what needs it to be one.

    Raises:
        BadRequest: there are several, or none.
    """
    fleets = fleets_of(members)
    if len(fleets) != 1:
        raise BadRequest(
            f"The traces are {len(fleets)} recordings, {why}.",
            "Open one run folder, or take some of its traces by a slice.",
        )
    return fleets[0]


class _NamedRank(NamedTuple):
    worker: str
    rank: int | None


def fleet_verdict(fleet: Fleet) -> list[str]:
    """Who holds the run back, in the words of the page; nothing of a single rank."""
    if len(fleet.names) < 2 or not fleet.figures.tied.any():
        return []
    ranks = [_NamedRank(member.worker.name, member.worker.rank) for member in fleet.ranks]
    return verdict_lines(fleet.verdict, fleet.figures, ranks, fleet.workers_total)


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


def ranks_path(fleet: Fleet, chosen: Steps) -> DisplayTable:
    """One path per step through all ranks, with the columns of ``RANKS_PATH``. Attributes: ``steps``, the number, name and wall time of each;
    ``clock_error_ns``, how far the clocks of the ranks may be apart, None unknown; ``verdict``, sentences on who holds
    the run back.
    """
    path, figures = fleet.path, fleet.figures
    if path is None:
        raise NotReady("The workers of the run are still being read.")
    expect_tied(fleet)
    first, last = bounds(chosen)
    count = len(path.begin)
    step = np.arange(count)[(first or 0) : count if last is None else last + 1]
    if chosen is not None and not len(step):
        raise IndexError(f"there is no step {first}; the run has {count}, counted from 0")
    workers = [(member.worker.rank, member.worker.name) for member in fleet.ranks]
    segments = ranks_segments(path, fleet.open_rank, np.isin(np.arange(count), step))
    names = [figures.steps.names[number] for number in step.tolist()]
    wall = (path.stop - path.begin)[step]
    errors = [clock.error for clock in figures.aligned if clock.error is not None]
    return ranks_table(segments, workers).with_attributes(
        steps=list(zip(step.tolist(), names, wall.tolist(), strict=True)),
        clock_error_ns=max(errors, default=None),
        verdict=fleet_verdict(fleet),
    )
