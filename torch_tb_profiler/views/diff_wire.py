"""Wire types of the Diff view. Units as in ``wire.py``; times are means per selected step. A is the
baseline, B what is compared with it.
"""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Missing, StepItem, Wire

ChangeStatus = Literal["same", "changed", "new", "gone"]
ChangeTable = Literal["category", "operator", "host", "kernel", "runtime", "module"]
DiffKind = Literal["module", "annotation", "operator", "kernel"]


class DiffSide(Wire, frozen=True, kw_only=True):
    """One side: which trace and steps, and its step times. Of ``steps`` those that are compared are
    ``selected``; ``selected`` counts them.

    ``spread_ns``: standard deviation over the compared steps; null with fewer than two.
    """

    run: str
    worker: str
    span: str
    label: str
    device: str | None
    step_source: str
    steps: list[StepItem]
    selected: int
    mean_ns: int | None
    spread_ns: int | None


class Verdict(Wire, frozen=True, kw_only=True):
    """Whether the step became faster. ``beyond``: more than step-to-step noise (null: cannot be
    told). ``test`` says how it was tested, ``p`` its p-value.

    ``low_ns`` to ``high_ns``: 95 % interval of the change. ``sentence``: the first line of the
    page. ``because``: what made most of the change; may be empty.
    """

    sentence: str
    because: str = ""
    delta_ns: int | None
    share: float | None
    beyond: bool | None
    test: str
    p: float | None
    low_ns: int | None
    high_ns: int | None


class ChangeColumns(Wire, frozen=True, kw_only=True):
    """What changed, the largest contribution of each table first; one entry per row, of all tables.
    Times per step; of an absent side null.

    ``time_a_ns``, ``time_b_ns``: of categories their wall time; of kernels (copies and memsets
    among them) the sum of durations; of operators the device self time, or host self time where
    ``device_time`` is false; of ``host``, which is there where it is true, operators by host self
    time; of runtime calls their host time; of modules the device (else host self) time of what runs
    in them outside inner modules, all instances of a class at one place together. The times of a
    table add up to those of ``wholes``.
    ``short``: the name to read. ``name_b``: the name in B where it differs. ``rest``: not one row
        but all beyond a table's limit, its last entry.
    ``host_*``: host self time of operators and modules. ``share``: of the step time of A.
        ``beyond``: by the same test as the step's, corrected for the
    number of rows (null: cannot be told). ``event_*``: an example, the longest.
    """

    table: list[ChangeTable]
    name: list[str]
    short: list[str]
    rest: list[bool]
    status: list[ChangeStatus]
    name_b: list[str | None]
    calls_a: list[float | None]
    calls_b: list[float | None]
    time_a_ns: list[int | None]
    time_b_ns: list[int | None]
    delta_ns: list[int]
    share: list[float | None]
    host_a_ns: list[int | None]
    host_b_ns: list[int | None]
    beyond: list[bool | None]
    event_a: list[int | None]
    event_b: list[int | None]


class RunChangeColumns(ChangeColumns, frozen=True, kw_only=True):
    """The same of two runs, as means over pairs of workers. ``worker_*``: whose ``event_*`` they
    are, those of the pair that shows the change most.
    """

    worker_a: list[str | None]
    worker_b: list[str | None]


class ChangeWhole(Wire, frozen=True, kw_only=True):
    """What the times of one table add up to, per step: of categories the step. ``pooled``: rows
    that stand together in its last one.
    """

    table: ChangeTable
    time_a_ns: int
    time_b_ns: int
    pooled: int


class DiffTreeColumns(Wire, frozen=True, kw_only=True):
    """Both call trees matched on their structure, parents before children. Times are totals per
    step, 0 of an absent side.

    ``kind`` ``kernel``: device work of one name launched by its parent itself. What is new around
    something that was there before (a wrapper) carries the times of what it wraps on the side that
    lacks it, so that a parent is never less than its children. ``device_*``: null without a device.
    """

    parent: list[int]
    kind: list[DiffKind]
    backward: list[bool]
    name_a: list[str | None]
    name_b: list[str | None]
    status: list[ChangeStatus]
    calls_a: list[float]
    calls_b: list[float]
    host_a_ns: list[int]
    host_b_ns: list[int]
    device_a_ns: list[int | None]
    device_b_ns: list[int | None]
    event_a: list[int | None]
    event_b: list[int | None]


class DiffPayload(Wire, frozen=True, kw_only=True):
    """Route ``/diff``. ``notes``: what makes the comparison weak (other device, other shapes, cold
    steps, few steps …).

    ``device_time``: both sides have device times of operators, and operators and modules are
        compared by them; else by host self time.
    """

    a: DiffSide
    b: DiffSide
    verdict: Verdict
    device_time: bool
    changes: ChangeColumns
    wholes: list[ChangeWhole]
    tree: DiffTreeColumns
    tree_pooled: int
    notes: list[str]
    missing: list[Missing]
