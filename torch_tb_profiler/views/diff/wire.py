"""Wire types of the Diff view. Units as in ``wire.py``; times are means per selected step. A is the
baseline, B what is compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from torch_tb_profiler.analysis.diff.memory import DIFF_MEMORY
from torch_tb_profiler.analysis.diff.table import DIFF, DIFF_TREE
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Missing, StepsTable, Subject, Wire

ChangeStatus = Literal["same", "changed", "new", "gone"]
ChangeTable = Literal["category", "operator", "host", "kernel", "runtime", "module"]
Columns = Mapping[str, Any]
"""The columns of ``changes``."""
DiffTable = Annotated[dict[str, Any], table_of(DIFF)]
DiffMemoryTable = Annotated[dict[str, Any], table_of(DIFF_MEMORY)]
DiffTreeTable = Annotated[dict[str, Any], table_of(DIFF_TREE)]


class DiffSide(Wire, frozen=True, kw_only=True):
    """One side: which trace and steps, and its step times; ``kind`` of its subject may be a unit. Of ``steps`` those that are compared are
    ``selected``; ``selected`` counts them.

    ``spread_ns``: standard deviation over the compared steps; null with fewer than two.
    """

    subject: Subject
    run: str
    worker: str
    span: str
    label: str
    device: str | None
    step_source: str
    steps: StepsTable
    selected: int
    mean_ns: int | None
    spread_ns: int | None


class Work(Wire, frozen=True, kw_only=True):
    """The work of a step of B beside one of A, by input shapes. ``factor``: how many times as much;
    ``unit``: ``sample``, ``token`` or ``pixel``; ``count_a``, ``count_b``: how many of these a step has,
    as far as shapes tell (0: unknown).
    """

    factor: float
    unit: str
    count_a: int
    count_b: int


class Unit(Wire, frozen=True, kw_only=True):
    """What recordings without steps are compared by, and how many of them each holds: an item lasts from one begin
    of ``name`` to the next.
    """

    name: str
    count_a: int
    count_b: int


class Cause(Wire, frozen=True, kw_only=True):
    """A part of the change of the step; the ``delta_ns`` of all add up to that of the verdict, and none
    is larger. ``what``: rows of a table, or a category where it is all of it or what rows leave;
    ``category``: the label of its category; ``share``: of the change.
    """

    what: str
    category: str
    delta_ns: int
    share: float


class KindVerdict(Wire, frozen=True, kw_only=True):
    """Steps of another kind that both recordings have: ``changed`` is true only if p is small enough for
    so many kinds; other fields as in ``Verdict``.
    """

    name: str
    sentence: str
    share: float | None
    changed: bool | None
    apart: bool


class Verdict(Wire, frozen=True, kw_only=True):
    """Whether the step became faster. ``changed``: true; false: it is shown that it did not, within the
    margin that ``test`` names; null: neither can be told, and ``needed`` steps of each side would tell.

    ``share``: the change as a share of A's step, the median over all pairs of a step of B and one of A;
    ``low`` to ``high``: its interval, 1 % beyond either end (null: too few steps for one). ``delta_ns``: of the mean
    steps, which the tables add up to. ``test`` says how it was tested, ``p`` its p-value, one-sided (null: of
    several workers). ``apart``: too few steps for that; all after are longer, or all are shorter, than each before by
    more than either side varies, for which ``--fail-on`` asks twice its limit. ``work``: where B does more or less
    work in a step; then all of these are of as much of B as a step of A does (null: the same work, or unknown).
    ``unit``: of recordings without steps, what stands for a step in all of these (null: steps, or the whole).
    ``kinds``: steps of other kinds, each compared for itself. ``sentence``: the first line of the page. ``because``:
    what made most of the change; may be empty.
    """

    sentence: str
    because: str = ""
    delta_ns: int | None = None
    share: float | None = None
    changed: bool | None = None
    low: float | None = None
    high: float | None = None
    needed: int | None = None
    test: str = ""
    p: float | None = None
    work: Work | None = None
    apart: bool = False
    unit: Unit | None = None
    kinds: list[KindVerdict] = msgspec.field(default_factory=list)


class ChangeWhole(Wire, frozen=True, kw_only=True):
    """What the times of one table add up to, per step: of categories the step. ``pooled``: rows
    that stand together in its last one.
    """

    table: ChangeTable
    time_a_ns: int
    time_b_ns: int
    pooled: int


class PeakChange(Wire, frozen=True, kw_only=True):
    """What a device held at the peak of either side, bytes."""

    device: str
    before_bytes: int
    after_bytes: int


class MemoryDiff(Wire, frozen=True, kw_only=True):
    """Of recordings of allocations their peaks. ``verdict``: of the device whose peak grew by the largest
    share; ``rows``: empty where one side is a trace.
    """

    devices: list[PeakChange]
    rows: DiffMemoryTable
    verdict: Verdict
    notes: list[str]


class DiffPayload(Wire, frozen=True, kw_only=True):
    """Route ``/diff``. ``headline``: the answer of the median steps in two sentences. ``notes``: what makes the
    comparison weak (other device, other shapes, cold steps, few steps …).

    ``causes``: what the change is made of, the largest first. ``memory``: where a side holds allocations
    alone; then ``headline``, ``verdict`` and ``notes`` are of the peaks.

    ``device_time``: both sides have device times of operators, and operators and modules are
        compared by them; else by host self time.
    """

    a: DiffSide
    b: DiffSide
    headline: list[str]
    verdict: Verdict
    device_time: bool
    causes: list[Cause]
    changes: DiffTable
    wholes: list[ChangeWhole]
    tree: DiffTreeTable
    tree_pooled: int
    notes: list[str]
    missing: list[Missing]
    memory: MemoryDiff | None = None
