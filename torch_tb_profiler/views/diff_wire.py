"""Wire types of the Diff view. Units as in ``wire.py``; times are means per selected step. A is the baseline, B what is compared with it."""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.views.wire import Missing, StepItem, Wire

ChangeStatus = Literal["same", "changed", "new", "gone"]
ChangeTable = Literal["category", "operator", "kernel", "module"]


class DiffSide(Wire, frozen=True, kw_only=True):
    """One side: which trace and steps, and its step times. ``spread_ns``: standard deviation over the steps; null with fewer than two."""

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
    """Whether the step became faster. ``beyond``: more than step-to-step noise (null: cannot be told). ``test`` says how it was tested, ``p`` its p-value.

    ``low_ns`` to ``high_ns``: 95 % interval of the change. ``sentence``: the first line of the page.
    """

    sentence: str
    delta_ns: int | None
    share: float | None
    beyond: bool | None
    test: str
    p: float | None
    low_ns: int | None
    high_ns: int | None


class ChangeColumns(Wire, frozen=True, kw_only=True):
    """What changed, the largest contribution first; one entry per row, of all tables. Times per step; of an absent side null.

    ``time_a_ns``, ``time_b_ns``: of categories their wall time; of kernels the sum of durations; of operators the device self time, or host self time where
    the trace has no device; of modules the device total, else the host total. ``host_*``: host self time of operators and modules. ``share``: of the step
    time of A. ``beyond``: by the same test as the step's, corrected for the number of rows (null: cannot be told). ``event_*``: an example.
    """

    table: list[ChangeTable]
    name: list[str]
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


class DiffTreeColumns(Wire, frozen=True, kw_only=True):
    """Both call trees matched on their structure, parents before children. ``kind``: ``module``, ``annotation``, ``operator`` or ``kernels``."""

    parent: list[int]
    kind: list[str]
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
    """Route ``/diff``. ``notes``: what makes the comparison weak (other device, other shapes, cold steps, few steps …)."""

    a: DiffSide
    b: DiffSide
    verdict: Verdict
    changes: ChangeColumns
    pooled: int
    tree: DiffTreeColumns
    tree_pooled: int
    notes: list[str]
    missing: list[Missing]


DIFF_PAYLOADS: tuple[type[Wire], ...] = (DiffPayload,)
