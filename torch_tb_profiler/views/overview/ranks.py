"""Routes ``/overview/ranks`` and ``/overview/ranks/known``: where each rank of a run stands in its job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.distributed.coordinates import Dimension, coordinates
from torch_tb_profiler.analysis.distributed.run import RunFigures
from torch_tb_profiler.views.distributed.payload import PlacedWorker, node_of
from torch_tb_profiler.views.wire import Wire


class RunWorker(Wire, frozen=True, kw_only=True):
    """A worker of the run, by rank. ``node``: its host, empty unknown."""

    worker: str
    rank: int | None
    node: str


class RankDimension(Wire, frozen=True, kw_only=True):
    """A dimension of the job, those with the nearest ranks first. ``values``: names of its places, empty where they are
    numbers. ``place``: of each worker, -1 unknown.
    """

    name: str
    values: list[str]
    place: list[int]


class OverviewRanksPayload(Wire, frozen=True, kw_only=True):
    """The workers of the run and their coordinates. ``known``: false while nobody has asked for the ranks; then the rest is
    empty. ``progress`` below 1: ask again.
    """

    known: bool
    progress: float
    workers: list[RunWorker] = msgspec.field(default_factory=list)
    dimensions: list[RankDimension] = msgspec.field(default_factory=list)


UNKNOWN_RANKS = OverviewRanksPayload(known=False, progress=0.0)
"""The payload while nobody has asked for the ranks of the run."""


def overview_ranks_payload(
    placed: Sequence[PlacedWorker], figures: RunFigures, progress: float
) -> OverviewRanksPayload:
    """The payload of a run as far as it is read; ``progress``: 0 to 1."""
    workers = [_worker(worker, figures) for worker in placed]
    return OverviewRanksPayload(
        known=True,
        progress=progress,
        workers=workers,
        dimensions=[
            RankDimension(
                name=dimension.name,
                values=list(dimension.values),
                place=dimension.place.tolist(),
            )
            for dimension in _dimensions(placed, figures, workers)
        ],
    )


def _worker(worker: PlacedWorker, figures: RunFigures) -> RunWorker:
    rank = figures.ranks[worker.place] if worker.place >= 0 else None
    return RunWorker(worker=worker.worker, rank=worker.rank, node=node_of(worker.worker, rank))


def _dimensions(
    placed: Sequence[PlacedWorker], figures: RunFigures, workers: Sequence[RunWorker]
) -> list[Dimension]:
    """By worker: unknown for those without a number, and where two have the same."""
    times = Counter(worker.rank for worker in workers)
    used = [
        (row, worker.rank)
        for row, worker in enumerate(workers)
        if worker.rank is not None and times[worker.rank] == 1
    ]
    rows = [row for row, _ in used]
    groups = (group for rank in figures.ranks for group in rank.groups)
    hosts, told = [workers[row].node for row in rows], [dict(placed[row].told) for row in rows]
    found = []
    for dimension in coordinates([rank for _, rank in used], groups, hosts, told):
        place = np.full(len(workers), -1, np.int64)
        place[rows] = dimension.place
        found.append(replace(dimension, place=place))
    return found
