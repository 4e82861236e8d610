"""Wire types of the overview of a run. Units as in ``wire.py``. A rank is named by its place in ``workers``."""

from __future__ import annotations

from typing import Literal

import msgspec

from torch_tb_profiler.analysis.distributed.spread import RankFigure as RankFigure
from torch_tb_profiler.views.distributed.wire import WorkerState
from torch_tb_profiler.views.wire import Subject, Wire

RankUnit = Literal["ns", "share", "bytes"]


class RunWorker(Wire, frozen=True, kw_only=True):
    """A worker of the run, by rank. ``node``: its host, empty unknown. ``message``: why it is not ready."""

    worker: str
    span: str
    rank: int | None
    node: str
    state: WorkerState
    message: str


class RankDimension(Wire, frozen=True, kw_only=True):
    """A dimension of the job, those with the nearest ranks first. ``hint`` says what it is made from. ``values``: names
    of its places, empty where they are numbers. ``independent``: these together tell all ranks apart. ``place``: of each
    worker, -1 unknown.
    """

    name: str
    hint: str
    size: int
    independent: bool
    values: list[str]
    place: list[int]


class RankSpread(Wire, frozen=True, kw_only=True):
    """A figure over all ranks. ``values``: of each worker. ``quartiles``: least, first quartile, median, third quartile,
    greatest. ``limit``: the distance from the median from which on a rank stands out. ``lowest``, ``highest``: who has the
    extremes. ``outliers``: who stands out, the farthest first.
    """

    figure: RankFigure
    unit: RankUnit
    values: list[float | None]
    quartiles: list[float]
    limit: float
    lowest: int
    highest: int
    outliers: list[int]


class RankOutlier(Wire, frozen=True, kw_only=True):
    """A rank that stands out in a figure. ``difference``: from the median; ``text`` says how far that is."""

    worker: int
    figure: RankFigure
    value: float
    difference: float
    text: str


class RankGroup(Wire, frozen=True, kw_only=True):
    """Ranks that are alike. ``ranks`` names them; ``where``: the coordinates that exactly they have, empty if there are
    none. ``low``, ``high``: the least and the greatest of each of ``spreads``; null unknown.
    """

    workers: list[int]
    ranks: str
    where: str
    low: list[float | None]
    high: list[float | None]


class OverviewRanksPayload(Wire, frozen=True, kw_only=True):
    """Routes ``/overview/ranks`` and ``/overview/ranks/known``. ``known``: false while nobody has asked for the
    ranks; then the rest is empty. ``progress`` below 1: ask again. ``coverage``: how many workers are read. ``rules``: what counts as an
    outlier and as alike. ``pooled``: groups beyond those listed. ``steps``: of the run that figures are means of.
    """

    known: bool
    progress: float
    workers: list[RunWorker] = msgspec.field(default_factory=list)
    workers_total: int
    subject: Subject = Subject()
    steps: int = 0
    headline: list[str] = msgspec.field(default_factory=list)
    coverage: str = ""
    rules: list[str] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    dimensions: list[RankDimension] = msgspec.field(default_factory=list)
    spreads: list[RankSpread] = msgspec.field(default_factory=list)
    outliers: list[RankOutlier] = msgspec.field(default_factory=list)
    groups: list[RankGroup] = msgspec.field(default_factory=list)
    pooled: int = 0
