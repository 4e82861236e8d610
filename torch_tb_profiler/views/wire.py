"""Every type that goes over the wire as JSON, declared once; ``fe/src/api/types.gen.ts`` is
generated from this file.

Times are integer nanoseconds, sizes integer bytes, shares fractions of 1, unknown is ``null``.
Large tables are columns: arrays of one length, so that the page can sort index arrays without an
object per row. ``Knowledge``: 0 no, 1 yes, 2 unknown.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.figures.callers import CALLERS
from torch_tb_profiler.analysis.figures.kernels import KERNELS
from torch_tb_profiler.analysis.figures.kernels import KernelGroup as KernelGroup
from torch_tb_profiler.analysis.figures.operators import OPERATORS
from torch_tb_profiler.analysis.figures.operators import OperatorGroup as OperatorGroup
from torch_tb_profiler.analysis.figures.step_table import STEPS
from torch_tb_profiler.store.display import display_spec
from torch_tb_profiler.views.display_wire import table_of

FILES = display_spec("""
files: One row per file that was seen: what became of it, and why.
    path    code   File         term=diagnosis_path width=360
    state   text   State        term=diagnosis_state width=140
    reason  text   Why          term=diagnosis_reason width=440
    bytes   bytes  Size         term=diagnosis_bytes
    events  count  Events       term=events optional
    lost    count  Events lost  term=diagnosis_lost optional
    run     text   Run          term=run width=160 hidden
    worker  text   Worker       term=worker width=160 hidden
    span    text   Span         term=span hidden
""")


CallersTable = Annotated[dict[str, Any], table_of(CALLERS)]
OperatorsTable = Annotated[dict[str, Any], table_of(OPERATORS)]
FilesTable = Annotated[dict[str, Any], table_of(FILES)]
StepsTable = Annotated[dict[str, Any], table_of(STEPS)]
KernelsTable = Annotated[dict[str, Any], table_of(KERNELS)]


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the wire types."""


def to_json(value: Any) -> bytes:
    """Wire types, numpy columns and plain values as JSON; NaN and infinities become null.

    Raises:
        TypeError: a value of another type, an integer beyond 64 bits, or text that is not valid Unicode.
    """
    import orjson

    return orjson.dumps(value, _plain, orjson.OPT_SERIALIZE_NUMPY)


def _plain(value: Any) -> Any:
    if isinstance(value, Wire):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if isinstance(value, np.ndarray):
        # Columns that the encoder cannot walk in place.
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON form")


SpanState = Literal["waiting", "growing", "importing", "ready", "failed"]
RankSource = Literal["distributedInfo", "file name", "order"]
FileState = Literal["ready", "waiting", "growing", "importing", "failed", "rejected"]


class ErrorBody(Wire, frozen=True, kw_only=True):
    """What went wrong; ``progress`` (0 to 1) only with code ``not_ready``."""

    code: str
    message: str
    hint: str
    progress: float | None = None


class ErrorPayload(Wire, frozen=True, kw_only=True):
    """The one error shape of every route."""

    error: ErrorBody


class SpanItem(Wire, frozen=True, kw_only=True):
    """One trace file of a worker. ``name`` goes into URLs, ``label`` onto the page."""

    name: str
    label: str
    state: SpanState
    progress: float
    message: str
    bytes: int


class WorkerItem(Wire, frozen=True, kw_only=True):
    """One process of a run, its spans in time order. ``job``: workers of one number are ranks of one job; -1: not known yet,
    as its files are not imported.
    """

    name: str
    rank: int | None
    world_size: int | None
    job: int
    spans: list[SpanItem]


class RunItem(Wire, frozen=True, kw_only=True):
    """A directory that holds traces. ``synthetic``: its traces say that a program made them up.
    ``kind``: ``training``, ``inference``, ``serving`` …, empty where unknown; ``recorded``: the date, UTC, null unknown.
    """

    name: str
    synthetic: bool
    kind: str
    recorded: str | None
    workers: list[WorkerItem]


class RunsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/runs``. ``version`` changes whenever anything below it does."""

    version: str
    scanning: bool
    logdirs: list[str]
    runs: list[RunItem]


class ClusterItem(Wire, frozen=True, kw_only=True):
    """The Dask cluster that imports and analyses, and what the server had it do. What is unknown
    while the scheduler cannot be reached is null.

    ``workers``: those with the server's version, ``others`` those without; ``threads`` and ``memory``
        (bytes) of the former together. ``dashboard``: URL of Dask's own page. ``waiting``,
        ``running``, ``done``, ``failed``: tasks, the last two since the server started.
    """

    address: str
    connected: bool
    workers: int | None
    others: int | None
    threads: int | None
    memory: int | None
    dashboard: str | None
    waiting: int
    running: int
    done: int
    failed: int


class LiveJob(Wire, frozen=True, kw_only=True):
    """A running job that records when it is asked to: the folder of its traces, the ranks that listen, and the
    command that asks them.
    """

    folder: str
    ranks: list[int]
    command: str


class DiagnosisPayload(Wire, frozen=True, kw_only=True):
    """Route ``/diagnosis``: the places that were scanned, the files found there, and what became of each;
    ``cluster`` is null where processes of the server's machine do the work. ``live``: jobs that listen.
    """

    logdirs: list[str]
    notes: list[str]
    cluster: ClusterItem | None
    live: list[LiveJob]
    files: FilesTable


class Definition(Wire, frozen=True, kw_only=True):
    """What a label means, in one sentence; ``docs/definitions.md`` says more."""

    key: str
    label: str
    text: str


CellKind = Literal[
    "text",
    "code",
    "time",
    "delta",
    "bytes",
    "share",
    "count",
    "number",
    "knowledge",
    "FLOP",
    "FLOP/s",
    "B/s",
]


class DeclaredColumn(Wire, frozen=True, kw_only=True):
    """A column of a table as the page shows it. ``label`` may hold the vendor's words: ``{device}``. ``term``: key of its definition, or empty;
    ``width``: CSS pixels, null for that of its kind; ``bar``: its part of the largest value is drawn.
    """

    key: str
    label: str
    kind: CellKind
    term: str
    width: int | None
    bar: bool
    hidden: bool


class DeclaredTable(Wire, frozen=True, kw_only=True):
    """The columns of a table that the page shows."""

    name: str
    columns: list[DeclaredColumn]


class DefinitionsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/definitions``: what the page shows when the pointer hovers over a label, and the columns of its tables."""

    definitions: list[Definition]
    tables: list[DeclaredTable]


class Subject(Wire, frozen=True, kw_only=True):
    """What figures about time are of: all of a reply, unless its own stands beside one. Two figures of one name and one subject
    are equal. ``job``: the run; ``recording``: the span; ``ranks``: the workers; ``steps``: their numbers, ``0-3,5``, in the
    trace, of several ranks in the job; ``kind``: the kinds of these, empty unknown. Of a recording without steps the last two
    are empty.
    """

    job: str = ""
    recording: str = ""
    ranks: str = ""
    steps: str = ""
    kind: str = ""


class Vocabulary(Wire, frozen=True, kw_only=True):
    """The vendor's words, e.g. ``GPU``/``SM``/``Tensor Cores`` or ``accelerator``/``compute
    unit``/``matrix cores``.
    """

    device: str
    multiprocessor: str
    matrix_cores: str


class Missing(Wire, frozen=True, kw_only=True):
    """Something a view cannot show, why, and the ``profile(...)`` call that records it; ``key`` tells
    it from others, whatever it is called.
    """

    key: str
    what: str
    why: str
    call: str


class Categories(Wire, frozen=True, kw_only=True):
    """The eight categories of the step-time breakdown, ns; ``null`` where not recorded."""

    kernel: int | None
    memcpy: int | None
    memset: int | None
    communication: int | None
    runtime: int | None
    dataloader: int | None
    cpu_exec: int | None
    other: int | None


class StepsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/steps``: what the step selector offers, and what there is to look at. ``median`` is the step of median length
    among all that are neither cold, odd nor cut off, where there are such, −1 without one; ``iterations`` is how many of an
    inference server there are; ``missing``: what of steps, device work, memory records, host operators and hardware counters
    was not recorded.
    """

    subject: Subject
    steps: StepsTable
    median: int
    iterations: int
    missing: list[Missing]


class Average(Wire, frozen=True, kw_only=True):
    """Arithmetic mean over the selected steps, ns (rounded)."""

    steps: int
    wall_ns: int
    categories_ns: Categories


class Fact(Wire, frozen=True, kw_only=True):
    """A line of the configuration list."""

    label: str
    value: str
    hint: str


class DeviceSummary(Wire, frozen=True, kw_only=True):
    """An accelerator over the selected steps; shares are fractions, ``null`` is unknown with the
    reason in ``unknown``. ``title`` names it, ``details`` say what it is.
    """

    id: int
    title: str
    details: str
    utilization: float | None
    sm_efficiency: float | None
    occupancy: float | None
    matrix_core_share: float | None
    unknown: list[str]


class Sentence(Wire, frozen=True, kw_only=True):
    """A sentence about figures; ``key`` says what it is about."""

    key: Literal["busy", "time", "kinds", "odd", "loss"]
    text: str


class Number(Wire, frozen=True, kw_only=True):
    """A figure that a text rests on; ``unit`` is ``ns``, ``bytes``, ``share``, ``count`` or empty."""

    label: str
    value: float
    unit: str


class Link(Wire, frozen=True, kw_only=True):
    """A link to documentation outside."""

    text: str
    url: str


class DefectItem(Wire, frozen=True, kw_only=True):
    """A counted defect of the trace, how much step time it touches (``null``: not located in time),
    what it makes doubtful.
    """

    name: str
    severity: str
    sentence: str
    count: int
    touched_ns: int | None
    touched_share: float | None
    doubtful: list[str]


class KindOfSteps(Wire, frozen=True, kw_only=True):
    """A kind of steps, by what they launch: how many are neither cold nor cut off, and how long the median one of those that are not odd is."""

    name: str
    steps: int
    median_ns: int


class OverviewPayload(Wire, frozen=True, kw_only=True):
    """Route ``/overview``. ``recording``: figures of the steps of ``subject``, and what the recording holds, as texts. ``first_look``: how long
    a step takes, until it is known why; empty without a step. ``kinds``: those of all steps, the one with most time first; empty where there is but one.
    """

    subject: Subject
    configuration: list[Fact]
    recording: list[Fact]
    vocabulary: Vocabulary
    headline: list[Sentence]
    first_look: str
    step_source: str
    steps: StepsTable
    kinds: list[KindOfSteps]
    average: Average | None
    devices: list[DeviceSummary]
    health: list[DefectItem]
    notes: list[str]
    missing: list[Missing]


class FrameTree(Wire, frozen=True, kw_only=True):
    """Call stacks: a stack is a row here, its caller is ``parent`` (−1: outermost)."""

    parent: list[int]
    frame: list[str]


class OperatorPayload(Wire, frozen=True, kw_only=True):
    """Route ``/operator``. ``pooled`` rows beyond the limit stand together in the last row, named
    ``other``. ``stacks``: grouped by stack, each row's stack in ``frames``; else empty. ``sentences``: what takes
    most, and which steps the sums are of.
    """

    group: OperatorGroup
    sentences: list[str]
    has_device: bool
    vocabulary: Vocabulary
    rows: OperatorsTable
    frames: FrameTree
    stacks: list[int | None]
    pooled: int
    missing: list[Missing]


class CallersPayload(Wire, frozen=True, kw_only=True):
    """Route ``/callers``: who calls an operator or a kernel, as a tree whose rows come before their
    own callers, the most expensive first.
    """

    rows: CallersTable
    missing: list[Missing]


class Attribution(Wire, frozen=True, kw_only=True):
    """How many of the kernels of the trace have an operator on the host."""

    kernels: int
    with_operator: int


class NoOperatorReason(Wire, frozen=True, kw_only=True):
    """Why the operators of some kernels are not known, by the key in the column ``no_operator``."""

    key: str
    text: str


class CounterInfo(Wire, frozen=True, kw_only=True):
    """A counter: its own name, a readable one, its unit (``bytes``, ``instructions``, ``share`` …;
    empty: not known).
    """

    name: str
    label: str
    unit: str


class MeasuredCounters(Wire, frozen=True, kw_only=True):
    """Hardware counters of kernels: ``values[c][i]`` is the mean of counter c over the ``calls[i]`` launches of the kernel
    ``name[i]`` that were measured; null: not measured.
    """

    name: list[str]
    short_name: list[str]
    calls: list[int]
    counters: list[CounterInfo]
    values: list[list[float | None]]


class KernelPayload(Wire, frozen=True, kw_only=True):
    """Route ``/kernel``. ``sentences``: what takes most, and which steps the sums are of. ``measured``: of kernels by name, empty without counters."""

    group: KernelGroup
    sentences: list[str]
    vocabulary: Vocabulary
    rows: KernelsTable
    measured: MeasuredCounters
    reasons: list[NoOperatorReason]
    pooled: int
    attribution: Attribution
    missing: list[Missing]


class TracePayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace``: the header of the Trace page. ``origin_ns`` is text because it exceeds what
    JavaScript counts exactly.
    """

    file: str
    bytes: int
    events: int
    span_ns: int
    origin_ns: str
    perfetto_url: str
    steps: StepsTable
