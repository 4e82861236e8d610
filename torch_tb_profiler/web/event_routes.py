"""The routes of single events: one event, its text in the file, the workers of a run on one clock,
one collective on all of them.
"""

from __future__ import annotations

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.aligned_run import Companion, align_run, companions, match_in
from torch_tb_profiler.runs.event_text import EventTexts
from torch_tb_profiler.runs.model import Opened, OpenedTimeline
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.alignment import (
    NO_COLLECTIVE,
    PeerTrace,
    WorkerPlace,
    alignment_payload,
    collective_payload,
)
from torch_tb_profiler.views.event import event_payload, expect_event
from torch_tb_profiler.views.event_arguments import args_payload
from torch_tb_profiler.views.timeline_wire import CollectivePayload
from torch_tb_profiler.web import parameters, replies
from torch_tb_profiler.web.replies import Handler
from torch_tb_profiler.web.timeline_host import Timelines, event_number, immutable, opened_timeline


def handlers(timelines: Timelines, settings: Settings) -> dict[str, Handler]:
    """Path → handler."""
    texts = EventTexts(settings)

    def event(request: Request) -> Response:
        found, number = _event(timelines, request)
        opened = found.opened
        return immutable(
            request,
            event_payload(opened.trace, opened.facts, found.timeline, number, opened.memoise),
        )

    def event_args(request: Request) -> Response:
        found, number = _event(timelines, request)
        return immutable(request, args_payload(texts.read(found.opened, number)))

    def alignment(request: Request) -> Response:
        run, worker, span = (
            parameters.text(request.args, name) for name in ("run", "worker", "span")
        )
        opened = timelines.open(run, worker, span)
        listed = companions(timelines, opened)
        shared = align_run(listed, opened)
        aligned = dict(zip(shared.place, shared.aligned, strict=True))
        places = [
            WorkerPlace(c.worker.name, c.span.name, c.worker.rank, aligned.get(i))
            for i, c in enumerate(listed)
        ]
        return replies.send(
            request,
            replies.encode(
                alignment_payload(places, shared.span_ns, len(opened.run.beside(opened.worker)))
            ),
        )

    def collective(request: Request) -> Response:
        found, number = _event(timelines, request)
        # Other workers may still come, and get timelines, so this is never kept for good.
        return replies.send(request, replies.encode(_collective(timelines, found.opened, number)))

    return {
        "/trace/event": event,
        "/trace/event/args": event_args,
        "/trace/alignment": alignment,
        "/trace/collective": collective,
    }


def _event(timelines: Timelines, request: Request) -> tuple[OpenedTimeline, int]:
    """The asked timeline and event.

    Raises:
        BadRequest: ``event`` is missing or no number.
        NotFound: there is no such event.
    """
    number = event_number(request.args, "event")
    found = opened_timeline(timelines, request)
    expect_event(found.opened.trace, found.timeline, number)
    return found, number


def _collective(timelines: Timelines, opened: Opened, event: int) -> CollectivePayload:
    listed = companions(timelines, opened)
    shared = align_run(listed, opened)
    match = match_in(shared, opened, event)
    if match < 0:
        return NO_COLLECTIVE
    return collective_payload(
        shared.matches,
        match,
        [_peer(timelines, opened.run.name, listed[place]) for place in shared.place],
    )


def _peer(timelines: Timelines, run: str, companion: Companion) -> PeerTrace | None:
    """The worker's trace, with the timeline if it was made before: a click must not start sixty
    others.
    """
    opened, name = companion.opened, (companion.worker.name, companion.span.name)
    if opened is None:
        return None
    made = timelines.made_timeline(run, *name)
    if made is None or made.opened.trace.tables["spans"].n != opened.trace.tables["spans"].n:
        return PeerTrace(*name, opened.trace, None)
    return PeerTrace(*name, made.opened.trace, made.timeline)
