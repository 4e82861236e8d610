"""Wire types of the critical path through all ranks, and of a run without stragglers."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from torch_tb_profiler.analysis.critical_path.ranks_figures import PATH_RANKS
from torch_tb_profiler.analysis.critical_path.table import PATH_KINDS
from torch_tb_profiler.views.critical_path.payload import PathStrip
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Subject, Wire


class RanksWorker(Wire, frozen=True, kw_only=True):
    """A rank of the run. ``shift_ns``: what to add to a time of the path for a time in its own trace."""

    worker: str
    span: str
    rank: int | None
    shift_ns: int


class RanksPathPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path/ranks``. Times are ns on the common clock after the begin of the first step
    of the run; ``worker`` in tables is a place in ``workers``, the ranks that were read. While ``progress`` is below 1
    nothing is known yet: ask again. ``strips``: of more than three
    steps that of the median one. ``clock``: how the clocks were aligned and how well.
    """

    progress: float
    subject: Subject = Subject()
    steps: int = 0
    headline: list[str] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    clock: str = ""
    workers: list[RanksWorker] = msgspec.field(default_factory=list)
    parts: Annotated[dict[str, Any], table_of(PATH_KINDS)]
    strips: list[PathStrip] = msgspec.field(default_factory=list)


class RanksRowsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/critical_path/ranks/rows``: the path through all ranks, or what of it lies in a window, by
    kind and by what was asked. ``pooled``: how many rows the last one stands for.
    """

    parts: Annotated[dict[str, Any], table_of(PATH_KINDS)]
    rows: Annotated[dict[str, Any], table_of(PATH_RANKS)]
    pooled: int


class SlowRank(Wire, frozen=True, kw_only=True):
    """A rank, and the slowdown with it alone as it was."""

    worker: str
    rank: int | None
    slowdown: float


class SlowOperation(Wire, frozen=True, kw_only=True):
    """An operation, and the slowdown with it alone as it was."""

    name: str
    slowdown: float


class StragglersPayload(Wire, frozen=True, kw_only=True):
    """Route ``/stragglers``: mean step over all ranks as measured, replayed and predicted without
    stragglers, ns, and the slowdown as StragglerAnalysis defines it. ``refused``: why nothing was simulated, else
    empty; while ``progress`` is below 1 neither: ask again. ``note``: of which steps the replay is not used. ``path``: the run's
    folder in the logdir, for commands. Unknown is null.
    """

    progress: float
    refused: str = ""
    note: str = ""
    path: str
    subject: Subject = Subject()
    steps: int = 0
    measured_ns: int | None = None
    replayed_ns: int | None = None
    replay_error: float | None = None
    predicted_ns: int | None = None
    low_ns: int | None = None
    high_ns: int | None = None
    slowdown: float | None = None
    by_worker: list[SlowRank] = msgspec.field(default_factory=list)
    by_operation: list[SlowOperation] = msgspec.field(default_factory=list)
