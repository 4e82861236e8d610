"""Route ``/runs``: what there is to choose from."""

from __future__ import annotations

from typing import cast

from torch_tb_profiler.views.listing import RunLike, SnapshotLike, SpanLike, WorkerLike
from torch_tb_profiler.views.wire import (
    RankSource,
    RunItem,
    RunsPayload,
    SpanItem,
    SpanState,
    WorkerItem,
)


def runs_payload(snapshot: SnapshotLike) -> RunsPayload:
    """Runs, their workers and spans, in the catalogue's order."""
    return RunsPayload(
        version=snapshot.version,
        scanning=snapshot.scanning,
        logdirs=list(snapshot.logdirs),
        runs=[_run(r) for r in snapshot.runs],
    )


def _run(run: RunLike) -> RunItem:
    return RunItem(
        name=run.name, synthetic=run.synthetic, workers=[_worker(w) for w in run.workers]
    )


def _worker(worker: WorkerLike) -> WorkerItem:
    return WorkerItem(
        name=worker.name,
        rank=worker.rank,
        rank_source=cast("RankSource", worker.rank_source),
        world_size=worker.world_size,
        spans=[_span(s) for s in worker.spans],
    )


def _span(span: SpanLike) -> SpanItem:
    return SpanItem(
        name=span.name,
        label=span.label,
        state=cast("SpanState", state_word(span.state)),
        progress=min(max(span.progress, 0.0), 1.0),
        message=span.message,
        bytes=span.bytes,
    )


def state_word(state: str) -> str:
    """The plain word of a state that may be a member of an enumeration of strings."""
    return str(getattr(state, "value", state))
