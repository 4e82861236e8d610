"""The routes of single events, of the workers on one clock, and of one collective on all workers."""

from __future__ import annotations

from typing import Annotated

from torch_tb_profiler.runs.aligned_run import (
    Companion,
    align_run,
    chosen_workers,
    companions,
    match_in,
)
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.model import Opened, OpenedTimeline
from torch_tb_profiler.views.critical_path.payload import (
    EventPathPayload,
    PathOverlayPayload,
    event_path_payload,
    path_overlay_payload,
)
from torch_tb_profiler.views.timeline import wire as timeline_wire
from torch_tb_profiler.views.timeline.alignment import (
    NO_COLLECTIVE,
    PeerTrace,
    aligned_worker,
    collective_payload,
)
from torch_tb_profiler.views.timeline.event import event_payload, expect_event
from torch_tb_profiler.views.timeline.event_arguments import args_payload
from torch_tb_profiler.web.parameters import Ranges, Whole, Window
from torch_tb_profiler.web.route import route

Asked = Annotated[int, Whole("The event.")]


@route("/trace/event")
def event(timeline: OpenedTimeline, event: Asked) -> timeline_wire.EventPayload:
    """The event, its neighbours on the lane and in the call tree, the path from the Python line to the
    device, its rank among events of its name, arrows and call stack. Other events come in short.
    """
    opened = _expect(timeline, event)
    return event_payload(opened.trace, opened.facts, timeline.timeline, event, opened.memoise)


@route("/trace/event/args")
def event_args(
    timeline: OpenedTimeline, texts: EventTexts, event: Asked
) -> timeline_wire.EventArgsPayload:
    """The arguments as they are in the file, which is read again up to the event. Texts are cut at a
    million characters, values at 65,536. One file is read at a time: after 5 s of waiting the answer
    is 202. A missing file is 502, a changed one 409.
    """
    return args_payload(texts.read(_expect(timeline, event), event))


# Whether it lies on the path is known to the insight, which another version may make anew.
@route("/trace/event/path", kept=False)
def event_path(timeline: OpenedTimeline, catalogue: Catalogue, event: Asked) -> EventPathPayload:
    """How much of the event is on the critical path. While the analysis is made the answer is 202."""
    opened = _expect(timeline, event)
    insight = catalogue.insight(*opened.key)
    return event_path_payload(opened.trace, opened.facts, insight.insight, event)


@route("/trace/path", kept=False)
def path(
    timeline: OpenedTimeline,
    catalogue: Catalogue,
    window: Window,
    n: Annotated[int, Whole("Pixels of the window: what is closer is drawn as one.", 1, 8192)],
    cap: Annotated[int, Whole("At most so many segments.", 1, 5000)] = 4000,
    arrows: Annotated[int, Whole("At most so many arrows, thinned evenly.", 0, 2000)] = 400,
) -> PathOverlayPayload:
    """The critical path on the lanes of a window. While the analysis is made the answer is 202."""
    opened = timeline.opened
    insight = catalogue.insight(*opened.key)
    return path_overlay_payload(
        opened.trace, timeline.timeline, insight.insight, window, n, (cap, arrows)
    )


RANKS = Ranges(
    "Only the workers of these ranks, and the requested one. Default: all; of more than 64 the nearest ranks.",
    highest=65_535,
)
ChosenRanks = Annotated[list[int] | None, RANKS]


@route("/trace/alignment", kept=False)
def alignment(
    opened: Opened, catalogue: Catalogue, ranks: ChosenRanks = None
) -> timeline_wire.AlignmentPayload:
    """The workers of the run on one clock: add ``offset_ns`` to a worker's times. ``ready`` is false
    while its trace is not imported.
    """
    wanted = None if ranks is None else frozenset(ranks)
    listed = companions(catalogue, opened, wanted)
    shared = align_run(listed, opened)
    aligned = dict(zip(shared.place, shared.aligned, strict=True))
    return timeline_wire.AlignmentPayload(
        workers=[
            aligned_worker(c.worker.name, c.span.name, c.worker.rank, aligned.get(i))
            for i, c in enumerate(listed)
        ],
        workers_chosen=len(chosen_workers(opened, wanted)),
        workers_total=len(opened.beside),
    )


# Other workers may still be imported.
@route("/trace/collective", kept=False)
def collective(
    timeline: OpenedTimeline, catalogue: Catalogue, event: Asked, ranks: ChosenRanks = None
) -> timeline_wire.CollectivePayload:
    """The calls of all workers in the same collective as an event, for arrows across ranks. ``lane``
    is -1 for workers without a timeline; this request does not make one.
    """
    opened = _expect(timeline, event)
    listed = companions(catalogue, opened, None if ranks is None else frozenset(ranks))
    shared = align_run(listed, opened)
    match = match_in(shared, opened, event)
    if match < 0:
        return NO_COLLECTIVE
    peers = [_peer(catalogue, opened.run.name, listed[number]) for number in shared.place]
    return collective_payload(shared.matches, match, peers)


def _expect(timeline: OpenedTimeline, event: int) -> Opened:
    """The trace of an event.

    Raises:
        NotFound: there is no such event.
    """
    expect_event(timeline.opened.trace, timeline.timeline, event)
    return timeline.opened


def _peer(catalogue: Catalogue, run: str, companion: Companion) -> PeerTrace | None:
    """The worker's trace, with its timeline only if it exists: a click must not make sixty."""
    opened, name = companion.opened, (companion.worker.name, companion.span.name)
    if opened is None:
        return None
    known = catalogue.made_timeline(run, *name)
    if known is None or known.opened.trace.tables["spans"].n != opened.trace.tables["spans"].n:
        return PeerTrace(*name, opened.trace, None)
    return PeerTrace(*name, known.opened.trace, known.timeline)
