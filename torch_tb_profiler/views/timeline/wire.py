"""The timeline's part of the wire: what the routes below ``/trace/`` answer as JSON.
``views/timeline/tiles.py`` describes the binary tiles.

*Event* numbers and *lane* numbers are those of one trace (``TimelinePayload.id``); times are ns
after that trace's first event.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from torch_tb_profiler.analysis.module.frame_table import FLAME
from torch_tb_profiler.analysis.timeline.area import AREA
from torch_tb_profiler.analysis.timeline.kinds import ChosenKind, Kind
from torch_tb_profiler.analysis.timeline.search import MATCHES
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Wire

GroupKindName = Literal["python", "calls", "device_annotation", "work", "sync", "instant"]
ChainKind = Literal["python", "module", "annotation", "operator", "launch", "device"]
Direction = Literal["in", "out"]


class TimelineGroup(Wire, frozen=True, kw_only=True):
    """Lanes ``lane`` to ``lane + lanes - 1``: one kind of event of one thread or stream. Groups
    come in the order in which they are shown.

    ``key`` is stable over reloads (for the URL); ``process`` and ``thread`` are texts for people,
    ``process_key`` tells processes apart;
    ``device``: whether it is a stream of an accelerator. ``depth`` and ``sub`` are those of each
        lane; ``sub`` > 0 marks an overlap sub-row.
    """

    key: str
    kind: GroupKindName
    process_key: str
    process: str
    thread: str
    pid: str
    tid: str
    device: bool
    lane: int
    lanes: int
    events: int
    overlapping: int
    depth: list[int]
    sub: list[int]


class CounterSeries(Wire, frozen=True, kw_only=True):
    """A curve of the timeline. ``mean``: draw the mean over time of each bucket (a utilisation)
    instead of its highest value.
    """

    key: str
    name: str
    process_key: str
    unit: str
    mean: bool
    lowest: float
    highest: float


class ArrowKind(Wire, frozen=True, kw_only=True):
    """Arrows of one kind and how many there are."""

    kind: str
    label: str
    total: int


class TimelineStep(Wire, frozen=True, kw_only=True):
    """The boundaries of a step, or of ``steps`` consecutive ones from number ``step`` on: of its
    window, and of the host's annotation alone.
    """

    step: int
    steps: int
    name: str
    start_ns: int
    end_ns: int
    host_start_ns: int
    host_end_ns: int


class TimelineMark(Wire, frozen=True, kw_only=True):
    """A stretch of the trace that a defect touches."""

    defect: str
    start_ns: int
    dur_ns: int


class TimelinePayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/timeline``. ``id`` names this content of the trace; the other routes want it
    back.

    ``work_start_ns`` to ``work_end_ns``: from the first to the last event with a length, the
        profiler's own span aside, and what no figure counts at the begin; what a view is opened on.
    ``origin_ns``: Unix time of the first event where known, as text. ``names``: how many pages of
        ``/trace/names`` there are to ask for.
    ``groups``: at most 2,000, those with the most events; there are ``groups_total``.
    ``device_activity`` and ``host_activity``: busy share of equal parts of the span, 0 to 255, null
    where there is none; for the minimap.
    """

    id: str
    span_ns: int
    work_start_ns: int
    work_end_ns: int
    origin_ns: str
    events: int
    level_max: int
    tile_bits: int
    name_count: int
    name_page: int
    has_modules: bool
    groups: list[TimelineGroup]
    groups_total: int
    counters: list[CounterSeries]
    arrow_kinds: list[ArrowKind]
    steps: list[TimelineStep]
    marks: list[TimelineMark]
    device_activity: list[int] | None
    host_activity: list[int] | None


class NamesPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/names``: names ``first``, ``first + 1`` ... as tiles number them, each cut to
    what a label can hold.
    """

    first: int
    names: list[str]


class CounterCurve(Wire, frozen=True, kw_only=True):
    """One series in equal buckets of the window; null where nothing was sampled yet."""

    lowest: list[float | None]
    highest: list[float | None]
    mean: list[float | None]


class CountersPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/counters``: the asked series, in that order."""

    t0_ns: int
    t1_ns: int
    curves: list[CounterCurve]


class EventRef(Wire, frozen=True, kw_only=True):
    """An event in short. ``look``: a number of ``Look`` in store/timeline_schema.py."""

    event: int
    lane: int
    name: str
    look: int
    start_ns: int
    dur_ns: int


class ChainLink(Wire, frozen=True, kw_only=True):
    """One link of the way from a Python line to the device."""

    kind: ChainKind
    ref: EventRef


class EventArrow(Wire, frozen=True, kw_only=True):
    """An arrow of the event and what is at its other end."""

    kind: str
    label: str
    direction: Direction
    other: EventRef


class Siblings(Wire, frozen=True, kw_only=True):
    """The events of the same name and look. ``rank``: 1 is the slowest."""

    calls: int
    rank: int
    total_ns: int
    mean_ns: int
    shortest_ns: int
    longest_ns: int
    slowest: EventRef
    fastest: EventRef
    previous: EventRef | None
    next: EventRef | None


class Argument(Wire, frozen=True, kw_only=True):
    """An argument as text."""

    name: str
    value: str


class EventPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/event``: everything about one event.

    ``chain``: outermost first, the event itself included. ``launched``: device work that it or what
        it called launched, the longest first,
    at most 50 of ``launched_total``. ``launch_delay_ns``: begin of the launch to begin of the
    device work; ``queue_ns``: the part of it, after the launch call's end, in which the stream was
    busy with earlier work. ``operator_name`` and ``kernel_name``: what to look for in the Operator
    and Kernel views. ``arguments`` are those that the import kept; ``/trace/event/args`` reads all
    of them from the file again. ``captured``: of replayed work what its graph captured, and why that
    is known or not.
    """

    ref: EventRef
    category: str
    process: str
    thread: str
    overlapping: bool
    step: str | None
    parent: EventRef | None
    children: int
    first_child: EventRef | None
    previous: EventRef | None
    next: EventRef | None
    chain: list[ChainLink]
    launched: list[EventRef]
    launched_total: int
    launched_ns: int
    launch_delay_ns: int | None
    queue_ns: int | None
    siblings: Siblings
    arrows: list[EventArrow]
    arrows_total: int
    arguments: list[Argument]
    captured: list[Argument]
    stack: list[str]
    operator_name: str | None
    kernel_name: str | None


class EventArgsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/event/args``: the event's arguments as they stand in the file; ``text`` is its
    whole JSON text.
    """

    arguments: list[Argument]
    text: str


class ArrowsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/arrows``: arrows of some kinds that touch a window, columns; thinned evenly
    where ``total`` is more than was asked for.
    """

    total: int
    kind: list[str]
    source: list[int]
    target: list[int]
    source_lane: list[int]
    target_lane: list[int]
    source_ns: list[int]
    target_ns: list[int]


class SearchKind(Wire, frozen=True, kw_only=True):
    """How many events of a kind a search finds."""

    kind: Kind
    count: int


class SearchPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/search``: of the ``total`` hits of ``kind`` ``names`` by total time, at most 500 of ``names_total``.
    ``kinds``: those with hits.
    """

    total: int
    kind: ChosenKind
    kinds: list[SearchKind]
    names: Annotated[dict[str, Any], table_of(MATCHES)]
    names_total: int


class HeatPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/search/heat``: hits that begin in each equal bucket of the window."""

    counts: list[int]


class NextHitPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/search/next``: the hit after or before an event or time, going round at the
    end. ``index`` counts from 0.
    """

    hit: EventRef | None
    index: int


class AreaGroup(Wire, frozen=True, kw_only=True):
    """Busy time of a group of lanes within the window: the union over its chosen lanes."""

    key: str
    busy_ns: int
    events: int


class AreaOverlap(Wire, frozen=True, kw_only=True):
    """Device time of the window (all streams of the chosen lanes): the four add up to it."""

    computation_ns: int
    overlap_ns: int
    communication_ns: int
    idle_ns: int


class AreaKind(Wire, frozen=True, kw_only=True):
    """Events of a kind within the window; ``self_ns``: their self times, the time that its threads
    or streams were busy with them.
    """

    kind: Kind
    names: int
    events: int
    self_ns: int


class AreaPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/area``. ``rows`` of ``kind`` by total time; ``pooled``: how many more names
    there are. ``overlap``: null without device lanes.
    """

    t0_ns: int
    t1_ns: int
    kinds: list[AreaKind]
    kind: ChosenKind
    rows: Annotated[dict[str, Any], table_of(AREA)]
    pooled: int
    groups: list[AreaGroup]
    overlap: AreaOverlap | None


class AreaFlamePayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/area/flame``. ``rows``: null where the window has more than ``most_events``
    events. ``pooled`` frames have less than 1/10,000 of the time and no row of their own.
    """

    rows: Annotated[dict[str, Any], table_of(FLAME)] | None
    pooled: int
    most_events: int


class AlignedWorker(Wire, frozen=True, kw_only=True):
    """A worker on the run's common clock. ``offset_ns``: add it to the worker's own times; 0 for
    the worker whose trace begins first.

    ``ready``: its trace is imported. ``method``: ``collectives``, ``clock`` (Unix time of the trace
        only), or ``none``; ``error_ns``: median distance of
    the ends of its matched collectives from their median over the ranks, null without enough of
    them; ``matched``: how many there are.
    """

    worker: str
    span: str
    rank: int | None
    ready: bool
    offset_ns: int
    method: Literal["collectives", "clock", "none"]
    error_ns: int | None
    matched: int


class AlignmentPayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/alignment``: the spans of a run that were recorded together with the asked
    one, by rank.

    At most 64 of the ``workers_chosen`` of ``workers_total`` workers, those with the nearest ranks.
    """

    workers: list[AlignedWorker]
    workers_chosen: int
    workers_total: int


class CollectivePeer(Wire, frozen=True, kw_only=True):
    """A collective on another worker; ``start_ns`` is that worker's own time. ``lane`` is -1 while
    that worker's timeline was never looked at.
    """

    worker: str
    span: str
    ref: EventRef


class CollectivePayload(Wire, frozen=True, kw_only=True):
    """Route ``/trace/collective``: one collective on all workers of the run, the asked one
    included; none when the event is no collective, or none that another worker shares.
    """

    peers: list[CollectivePeer]
