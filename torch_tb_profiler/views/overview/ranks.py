"""Routes ``/overview/ranks`` and ``/overview/ranks/known``: a run at a glance, whatever the number of its ranks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.critical_path.verdict import UNKNOWN, Verdict
from torch_tb_profiler.analysis.distributed.coordinates import (
    Dimension,
    coordinates,
)
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.analysis.distributed.spread import (
    RankFigure,
    Spread,
    alike,
    rank_values,
    spreads,
    where,
)
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.views.distributed.payload import PlacedWorker, node_of
from torch_tb_profiler.views.distributed.texts import verdict_lines
from torch_tb_profiler.views.overview.ranks_texts import (
    coverage_text,
    far_text,
    headline_of,
    hint_text,
    notes_of,
    ranks_text,
    rules,
    where_text,
)
from torch_tb_profiler.views.overview.ranks_wire import (
    OverviewRanksPayload,
    RankDimension,
    RankGroup,
    RankOutlier,
    RankSpread,
    RankUnit,
    RunWorker,
)
from torch_tb_profiler.views.steps import subject_of_job

MOST_LISTED = 200
"""Outliers and groups that are listed."""
UNITS: Mapping[RankFigure, RankUnit] = {
    "step": "ns",
    "computation": "ns",
    "exposed": "ns",
    "busy": "share",
    "memory": "bytes",
}


class RunOfRanks(msgspec.Struct, frozen=True):
    """A run as far as it is read. ``chosen``: the common steps, None all. ``progress``: 0 to 1. ``verdict``: who holds it
    back, as far as that is known.
    """

    placed: Sequence[PlacedWorker]
    figures: RunFigures
    chosen: Ints | None
    progress: float
    workers_total: int
    verdict: Verdict = UNKNOWN

    @property
    def members(self) -> Ints:
        """Which worker each rank of the figures is."""
        place = np.array([worker.place for worker in self.placed], np.int64)
        members = np.flatnonzero(place >= 0)
        return members[np.argsort(place[members])]


def overview_ranks_payload(run: RunOfRanks) -> OverviewRanksPayload:
    """The payload of the workers that are ready."""
    workers = [_worker(worker, run.figures) for worker in run.placed]
    dimensions = _dimensions(run, workers)
    found = {
        name: _of_workers(spread, run)
        for name, spread in spreads(rank_values(run.figures, run.chosen)).items()
    }
    groups = alike(found)
    told = [_group(group, workers, found, dimensions) for group in groups[:MOST_LISTED]]
    listed = [
        (name, spread, int(worker))
        for name, spread in found.items()
        for worker in spread.outliers.tolist()
    ]
    return OverviewRanksPayload(
        known=True,
        progress=run.progress,
        workers=workers,
        workers_total=run.workers_total,
        subject=subject_of_job(
            (workers[member].worker for member in run.members.tolist()),
            len(run.figures.steps.names) if run.chosen is None else run.chosen,
        ),
        steps=len(run.chosen) if run.chosen is not None else _most_steps(run.figures),
        headline=headline_of(
            workers,
            found,
            groups,
            [group.where for group in told],
            run.progress,
            _verdict(run, workers),
        ),
        coverage=coverage_text(workers, run.workers_total, run.figures),
        rules=rules(),
        notes=notes_of(workers, found, run.workers_total, run.progress),
        dimensions=[_dimension(dimension) for dimension in dimensions],
        spreads=[_spread(name, spread) for name, spread in found.items()],
        outliers=[
            RankOutlier(
                worker=worker,
                figure=name,
                value=float(spread.values[worker]),
                difference=float(spread.values[worker]) - spread.median,
                text=far_text(name, spread, worker),
            )
            for name, spread, worker in listed[:MOST_LISTED]
        ],
        groups=told,
        pooled=max(0, len(groups) - MOST_LISTED),
    )


def unknown_payload(workers_total: int) -> OverviewRanksPayload:
    """The payload while nobody has asked for the ranks of the run."""
    return OverviewRanksPayload(known=False, progress=0.0, workers_total=workers_total)


def _verdict(run: RunOfRanks, workers: Sequence[RunWorker]) -> list[str]:
    """The verdict on all steps of the run; nothing where nobody holds it back, or while ranks are read."""
    found = run.verdict
    if run.progress < 1 or len(run.figures.ranks) < 2:
        return []
    if found.hold is None and not found.once and run.figures.whole:
        return []
    ranks = [workers[member] for member in run.members.tolist()]
    return verdict_lines(found, run.figures, ranks, run.workers_total)


def _most_steps(figures: RunFigures) -> int:
    return max((len(rank.step_start) for rank in figures.ranks), default=0)


def _worker(worker: PlacedWorker, figures: RunFigures) -> RunWorker:
    rank = figures.ranks[worker.place] if worker.place >= 0 else None
    return RunWorker(
        worker=worker.worker,
        span=worker.span,
        rank=worker.rank,
        node=node_of(worker.worker, rank),
        state=worker.state,
        message=worker.message,
    )


def _of_workers(spread: Spread, run: RunOfRanks) -> Spread:
    """How a figure spreads, by worker in place of rank."""
    values = np.full(len(run.placed), np.nan)
    values[run.members] = spread.values
    outliers = run.members[spread.outliers]
    return replace(spread, values=values, outliers=outliers)


def _dimensions(run: RunOfRanks, workers: Sequence[RunWorker]) -> tuple[Dimension, ...]:
    """By worker: unknown for those without a number, and where two have the same."""
    numbers = [worker.rank for worker in workers]
    times = Counter(numbers)
    used = [row for row, number in enumerate(numbers) if number is not None and times[number] == 1]
    groups = (group for rank in run.figures.ranks for group in rank.groups)
    ranks = [number for row in used if (number := numbers[row]) is not None]
    told = [dict(run.placed[row].told) for row in used]
    found = coordinates(ranks, groups, [workers[row].node for row in used], told)
    return tuple(_spread_out(dimension, used, len(workers)) for dimension in found)


def _spread_out(dimension: Dimension, used: Sequence[int], count: int) -> Dimension:
    place = np.full(count, -1, np.int64)
    place[list(used)] = dimension.place
    return replace(dimension, place=place)


def _dimension(dimension: Dimension) -> RankDimension:
    return RankDimension(
        name=dimension.name,
        hint=hint_text(dimension),
        size=dimension.size,
        independent=dimension.independent,
        values=list(dimension.values),
        place=dimension.place.tolist(),
    )


def _spread(name: RankFigure, spread: Spread) -> RankSpread:
    return RankSpread(
        figure=name,
        unit=UNITS[name],
        values=[None if math.isnan(value) else value for value in spread.values.tolist()],
        quartiles=list(spread.quartiles),
        limit=spread.limit,
        lowest=int(np.nanargmin(spread.values)),
        highest=int(np.nanargmax(spread.values)),
        outliers=spread.outliers.tolist(),
    )


def _group(
    group: Ints,
    workers: Sequence[RunWorker],
    found: Mapping[RankFigure, Spread],
    dimensions: Sequence[Dimension],
) -> RankGroup:
    ends = [_ends(spread, group) for spread in found.values()]
    return RankGroup(
        workers=group.tolist(),
        ranks=ranks_text([workers[worker] for worker in group.tolist()]),
        where=where_text(where(group, dimensions)),
        low=[low for low, _ in ends],
        high=[high for _, high in ends],
    )


def _ends(spread: Spread, group: Ints) -> tuple[float | None, float | None]:
    known = spread.values[group][~np.isnan(spread.values[group])]
    return (float(known.min()), float(known.max())) if len(known) else (None, None)
