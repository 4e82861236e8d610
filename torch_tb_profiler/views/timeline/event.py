"""Route ``/trace/event``: everything about one event."""

from __future__ import annotations

from torch_tb_profiler.analysis.timeline.detail import (
    Memoise,
    PeerRank,
    Peers,
    event_detail,
    is_event,
)
from torch_tb_profiler.errors import NotFound
from torch_tb_profiler.store.columns import Array
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.views.timeline.capture_arguments import (
    LONGEST_NAME,
    captured_arguments,
    captured_operator,
)
from torch_tb_profiler.views.timeline.event_arguments import kept_arguments
from torch_tb_profiler.views.timeline.payload import process_text
from torch_tb_profiler.views.timeline.wire import (
    ChainLink,
    EventArrow,
    EventPayload,
    EventRef,
    Siblings,
)
from torch_tb_profiler.views.words.texts import cut


class Refs:
    """References to events of one trace."""

    def __init__(self, trace: Trace, timeline: Timeline) -> None:
        self._trace, self._timeline = trace, timeline

    def __call__(self, event: int) -> EventRef:
        """The reference to an event for which ``is_event`` holds."""
        trace, places = self._trace, self._timeline["places"]
        spans, instants = trace["spans"], trace["instants"]
        text = int(self._timeline["names"]["text"][places["name"][event]])
        # Instants before the first span are drawn at its start.
        start, dur = (
            (int(spans["start"][event]), int(spans["dur"][event]))
            if event < spans.n
            else (max(0, int(instants["time"][event - spans.n])), 0)
        )
        return EventRef(
            event=event,
            lane=int(places["lane"][event]),
            name=cut(trace.strings[text], LONGEST_NAME),
            look=int(places["look"][event]),
            start_ns=start,
            dur_ns=dur,
        )

    def of_known(self, event: int) -> EventRef | None:
        """The reference to an event; None for -1."""
        return self(event) if event >= 0 else None


def expect_event(trace: Trace, timeline: Timeline, event: int) -> None:
    """Check that an event is drawn.

    Raises:
        NotFound: there is no such event, or it is a sample of a counter.
    """
    if not is_event(trace, timeline, event):
        text = f"There is no event {event} on the timeline."
        raise NotFound(text, "Take the numbers from the timeline.")


def event_payload(
    trace: Trace,
    facts: Facts,
    timeline: Timeline,
    event: int,
    memoise: Memoise,
) -> EventPayload:
    """Everything about one event.

    Raises:
        NotFound: there is no such event on the timeline.
    """
    expect_event(trace, timeline, event)
    detail = event_detail(trace, facts, timeline, event, memoise)
    ref, around, kinds = Refs(trace, timeline), detail.around, timeline.about["arrow_kinds"]
    at = trace, facts, event
    is_span = event < trace["spans"].n
    table = trace["spans" if is_span else "instants"]
    row = event if is_span else event - trace["spans"].n
    on_device = is_span and int(table["role"][row]) in DEVICE_ROLES
    step = int(facts["steps"]["name"][detail.step]) if detail.step >= 0 else -1
    process, thread = track_text(trace, facts, int(table["track"][row]), on_device)
    return EventPayload(
        ref=ref(event),
        category=cut(trace.strings[int(table["category"][row])], LONGEST_NAME),
        process=process,
        thread=thread,
        overlapping=bool(timeline["lanes"]["sub"][timeline["places"]["lane"][event]] > 0),
        step=cut(facts.strings[step], LONGEST_NAME) or None,
        parent=ref.of_known(around.parent),
        children=around.children,
        first_child=ref.of_known(around.first_child),
        previous=ref.of_known(around.previous),
        next=ref.of_known(around.next),
        chain=[ChainLink(kind=link.kind, ref=ref(link.row)) for link in detail.way.links],
        launched=[ref(row) for row in detail.launched.first],
        launched_total=detail.launched.total,
        launched_ns=detail.launched.time,
        launch_delay_ns=detail.delay,
        queue_ns=detail.queue,
        siblings=_siblings(detail.peers, detail.peer_rank, ref),
        arrows=[
            EventArrow(
                kind=kinds[arrow.kind]["kind"],
                label=kinds[arrow.kind]["label"],
                direction="out" if arrow.outgoing else "in",
                other=ref(arrow.other),
            )
            for arrow in detail.arrows
        ],
        arrows_total=detail.arrows_total,
        arguments=kept_arguments(*at),
        captured=captured_arguments(*at),
        stack=[cut(frame, LONGEST_NAME) for frame in detail.stack],
        operator_name=captured_operator(*at)
        or _listed(trace, facts["operators"]["name"], detail.operator),
        kernel_name=_listed(trace, facts["kernels"]["name"], detail.kernel),
    )


def _siblings(peers: Peers, rank: PeerRank, ref: Refs) -> Siblings:
    calls = len(peers.events)
    return Siblings(
        calls=calls,
        rank=rank.rank,
        total_ns=peers.total,
        mean_ns=(peers.total + calls // 2) // calls,
        shortest_ns=peers.shortest,
        longest_ns=peers.longest,
        slowest=ref(peers.slowest),
        fastest=ref(peers.fastest),
        previous=ref.of_known(rank.previous),
        next=ref.of_known(rank.next),
    )


def track_text(trace: Trace, facts: Facts, track: int, on_device: bool) -> tuple[str, str]:
    """Process and thread for people: the names that the trace gives, else their numbers."""
    tracks, strings = trace["tracks"], trace.strings
    thread, pid, tid = (strings[int(tracks[c][track])] for c in ("thread_name", "pid", "tid"))
    process = process_text(trace, facts, track, on_device) or pid
    return cut(process, LONGEST_NAME), cut(thread or tid, LONGEST_NAME)


def _listed(trace: Trace, names: Array, row: int) -> str | None:
    """The name of a span if a view lists it, for a link there."""
    number = int(trace["spans"]["name"][row]) if row >= 0 else -1
    return trace.strings[number] if number >= 0 and bool((names == number).any()) else None
