"""Routes ``/trace/alignment`` and ``/trace/collective``."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset
from torch_tb_profiler.analysis.distributed.collectives import Matches
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.store.timeline_schema import Look
from torch_tb_profiler.views.timeline.capture_arguments import LONGEST_NAME
from torch_tb_profiler.views.timeline.event import Refs
from torch_tb_profiler.views.timeline.wire import (
    AlignedWorker,
    CollectivePayload,
    CollectivePeer,
    EventRef,
)
from torch_tb_profiler.views.words.texts import cut


class PeerTrace(msgspec.Struct, frozen=True):
    """A worker's trace in which a collective may be; ``timeline`` is None if it was never made."""

    worker: str
    span: str
    trace: Trace
    timeline: Timeline | None


def aligned_worker(
    worker: str, span: str, rank: int | None, aligned: ClockOffset | None
) -> AlignedWorker:
    """A worker of the alignment; ``aligned`` is None while its trace is not imported."""
    clock = aligned or ClockOffset(0, "none", None, 0)
    return AlignedWorker(
        worker=worker,
        span=span,
        rank=rank,
        ready=aligned is not None,
        offset_ns=clock.offset,
        method=clock.method,
        error_ns=clock.error,
        matched=clock.matched,
    )


def collective_payload(
    matches: Matches, match: int, peers: Sequence[PeerTrace | None]
) -> CollectivePayload:
    """One match on all participating ranks. ``peers``: the trace of each rank of ``matches``, None
    where it is closed.
    """
    entries = matches.of_match(match)
    listed = [
        CollectivePeer(worker=peer.worker, span=peer.span, ref=_ref(peer, row))
        for rank, row in zip(
            matches.rank[entries].tolist(), matches.row[entries].tolist(), strict=True
        )
        if (peer := peers[rank]) is not None
    ]
    return CollectivePayload(peers=listed)


def _ref(peer: PeerTrace, row: int) -> EventRef:
    if peer.timeline is not None:
        return Refs(peer.trace, peer.timeline)(row)
    spans = peer.trace["spans"]
    return EventRef(
        event=row,
        lane=-1,
        name=cut(peer.trace.strings[int(spans["name"][row])], LONGEST_NAME),
        look=Look.COMMUNICATION,
        start_ns=int(spans["start"][row]),
        dur_ns=int(spans["dur"][row]),
    )


NO_COLLECTIVE = CollectivePayload(peers=[])
