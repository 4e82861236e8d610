"""Wire types of the Distributed view. Units as in ``wire.py``. Lists of lists are
``[worker][column]``; a column is a step, or several consecutive ones where there are many.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.distributed.measures import Measure as Measure
from torch_tb_profiler.analysis.distributed.operations import OPERATIONS
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, RankSource, Subject, Wire

WorkerState = Literal["ready", "waiting", "failed"]


class DistributedWorker(Wire, frozen=True, kw_only=True):
    """A worker of the run, by rank. ``offset_ns``: add it to its times to get the common clock;
    null: not aligned. ``error_ns``: median distance of its
    collectives' ends from the median over the workers. ``node``, ``process``: empty when not known.
    ``message``: why it is not ready.
    """

    worker: str
    span: str
    rank: int | None
    rank_source: RankSource
    node: str
    process: str
    state: WorkerState
    message: str
    backend: str | None
    devices: list[str]
    offset_ns: int | None
    error_ns: int | None
    collectives: int


class OverlapColumns(Wire, frozen=True, kw_only=True):
    """Per worker and column, summed over its steps; the four add up to them. Null where a worker has no such step."""

    computation_ns: list[list[int | None]]
    overlap_ns: list[list[int | None]]
    communication_ns: list[list[int | None]]
    other_ns: list[list[int | None]]


class WaitingColumns(Wire, frozen=True, kw_only=True):
    """Per worker and column, summed over its steps: time in matched collectives before the last rank arrived (``waiting``)
    and after (``transfer``), and in those of which that is not
    known (``unsplit``). Moments at which several run count once, so that the three add up to the
    time with any collective. ``late``: how much later than
    the first of its group this worker arrived, summed over the collectives of the steps.
    """

    waiting_ns: list[list[int | None]]
    transfer_ns: list[list[int | None]]
    unsplit_ns: list[list[int | None]]
    late_ns: list[list[int | None]]


class BlamedPart(Wire, frozen=True, kw_only=True):
    """Work of a rank that holds the others back. ``kind``: what the critical path calls it; ``held_ns``: as of its ``Blame``;
    ``event``: the longest of it on the path.
    """

    kind: str
    name: str
    held_ns: int
    event: int
    module: str | None
    line: str | None


class BlameItem(Wire, frozen=True, kw_only=True):
    """Who holds a step back. ``worker``, ``also``: places in ``workers``; ``also`` take as long, without being on the
    path. ``held_ns``: what the work of the worker on the critical path takes longer than that of the others;
    ``path_ns``: the path on it. ``parts``: what takes longer, the most first; ``text`` says it in words.
    """

    step: int
    worker: int
    also: list[int]
    held_ns: int
    path_ns: int
    parts: list[BlamedPart]
    text: str


class RankCost(Wire, frozen=True, kw_only=True):
    """What a worker costs the others by the verdict: ``held_ns`` of each of the steps that ``text`` tells (``in 5 of 9 steps``,
    ``once, in step 7``).
    """

    worker: int
    held_ns: int
    text: str


class Unmatched(Wire, frozen=True, kw_only=True):
    """Collectives that other ranks did not record alike, by kind and group: how many each worker
    has, and a sentence on why.
    """

    kind: str
    group: str | None
    counts: list[int]
    reason: str


class DistributedPayload(Wire, frozen=True, kw_only=True):
    """Route ``/distributed``. ``worker`` and ``step`` of the parts are places in ``workers`` and
    ``steps`` (names common to the workers).

    ``own_steps``: which step of the asked worker each of them is, −1 none.
    ``column_begin``: the first step of each column. ``counts``: how many of the steps of a column each worker has; empty
        where each column is one step.
    ``matched``: collectives that at least two workers share. ``skew_ns``: how far apart the
        workers' profilers began; ``left_out``: collectives at the
    begin that this skew spoils and that no figure of waiting holds.
    ``clock``: a sentence on how the clocks were aligned and how well. ``ready``: workers whose
        figures are in; while ``progress`` is below 1, ask again.
    ``workers_total``: of the run; beyond a limit the nearest ranks are listed; ``world_size``: ranks of the job,
        null unknown. ``costs``: whom the verdict names, nobody where it is unknown. ``unjudged``: steps that it leaves
        out, such as cold ones. ``headline``: who holds the others back, and why, the answer first.
    """

    subject: Subject
    workers: list[DistributedWorker]
    steps: list[str]
    own_steps: list[int]
    column_begin: list[int]
    counts: list[list[int]]
    step_source: str
    overlap: OverlapColumns
    waiting: WaitingColumns
    blame: list[BlameItem]
    costs: list[RankCost]
    unjudged: list[int]
    operations: Annotated[dict[str, Any], table_of(OPERATIONS)]
    matched: int
    unmatched: list[Unmatched]
    clock: str
    skew_ns: int | None
    left_out: int
    ready: int
    progress: float
    workers_total: int
    world_size: int | None
    headline: list[str]
    notes: list[str]
    missing: list[Missing]


class MapOutlier(Wire, frozen=True, kw_only=True):
    """A worker far above the others. ``text``: who, by how much, in words."""

    worker: int
    text: str


class DistributedMapPayload(Wire, frozen=True, kw_only=True):
    """Route ``/distributed/map``: one measure of every worker and step, for the heat map. ``column_begin``:
    the first of the ``steps`` of each column, of which a cell holds the largest. ``values_ns``: null where a worker has no such step, or it is not known.
    ``means_ns``: per worker, the mean of its steps. ``outliers``: the largest first.
    """

    subject: Subject
    measure: Measure
    steps: list[str]
    column_begin: list[int]
    values_ns: list[list[int | None]]
    means_ns: list[int | None]
    outliers: list[MapOutlier]
    progress: float
