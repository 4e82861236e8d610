"""What the catalogue knows, as immutable values: runs, workers, spans, files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

import msgspec

from torch_tb_profiler.runs.jobs import MOST_SKEW_NS, UNDECIDED
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.units import format_date

if TYPE_CHECKING:
    from torch_tb_profiler.store.insight import Insight
    from torch_tb_profiler.store.model import Facts, RankIndex, Trace
    from torch_tb_profiler.store.timeline import Timeline

T = TypeVar("T")


class State(str, Enum):
    """The life of a file: rejected, or waiting → (growing) → importing → ready or failed."""

    WAITING = "waiting"
    GROWING = "growing"
    IMPORTING = "importing"
    READY = "ready"
    FAILED = "failed"
    REJECTED = "rejected"


class Span(msgspec.Struct, frozen=True):
    """One trace file of a worker. ``name`` is unique within the worker and stable over restarts."""

    name: str
    label: str
    path: str
    """Path relative to the logdir, or URL, for people."""
    location: Place
    """What ``sources`` opens; never shown when it lies outside the logdir."""
    bytes: int
    state: State
    progress: float = 0.0
    message: str = ""
    events: int | None = None
    lost: int | None = None
    stamp: tuple[int | None, str] = (None, "")
    """Time of the last change and what else the place tells: differs for another content of the
    same size.
    """
    moment: str = ""
    """What its name tells of the recording: equal names were recorded together."""
    begin: int | None = None
    end: int | None = None
    """Unix time of the first and of the last event, ns; None until it is imported, and where it is unknown."""


class Worker(msgspec.Struct, frozen=True):
    """One process, spans in time order. ``extra``: by their names, its files hold no traces. ``places``: (dimension, place) in
    the job, as its name tells: ``("TP", 1)``. ``job``: number of its job within the run, see ``runs/jobs.py``.
    """

    name: str
    rank: int | None
    rank_source: str
    world_size: int | None
    spans: tuple[Span, ...]
    extra: bool = False
    places: tuple[tuple[str, int], ...] = ()
    job: int = 0


class Run(msgspec.Struct, frozen=True):
    """A directory that holds traces. ``remarks``: what its files contradict or leave open about whose recordings they are.
    ``kind``: of its work, as ``WorkloadKind``; empty where that is not known yet, or at all.
    """

    name: str
    workers: tuple[Worker, ...]
    synthetic: bool = False
    remarks: tuple[str, ...] = ()
    kind: str = ""

    @property
    def recorded(self) -> str | None:
        """The date of its first recording, UTC; None unknown."""
        begins = [span.begin for worker in self.workers for span in worker.spans if span.begin]
        return format_date(min(begins)) if begins else None

    @property
    def provisional(self) -> bool:
        """Whether files are not imported yet that may change whose recordings the others are."""
        return any(
            span.state is not State.FAILED
            for worker in self.workers
            if worker.job == UNDECIDED
            for span in worker.spans
        )

    def beside(self, worker: Worker, span: Span) -> tuple[tuple[Worker, Span], ...]:
        """The workers of the same job, each with its span that was recorded together with the given one, which is among them.
        What is not imported may belong to any job.
        """
        if worker.extra:
            return ((worker, span),)
        found = []
        for other in self.workers:
            if other.name == worker.name:
                found.append((worker, span))
            elif other.extra or not (
                worker.job == other.job or UNDECIDED in (worker.job, other.job)
            ):
                continue
            elif (same := _recorded_with(worker.spans, span, other.spans)) is not None:
                found.append((other, same))
        return tuple(found)


def _recorded_with(own: Sequence[Span], asked: Span, others: Sequence[Span]) -> Span | None:
    """The span of another worker that was recorded together with one of ``own``; None if there is none.

    It overlaps in time, or its name says the same of the recording. Where the times are not known the place among the spans
    decides; where clocks differ a little, who is nearest.
    """
    named = [span for span in others if span.moment and span.moment == asked.moment]
    timed = [span for span in others if span.begin is not None]
    if asked.begin is not None and timed:
        nearest = max(timed, key=lambda span: _shared_ns(asked, span))
        back = max(own, key=lambda span: _shared_ns(span, nearest))
        if back.name == asked.name and _shared_ns(asked, nearest) > -MOST_SKEW_NS:
            return nearest
    if named:
        return named[0]
    if asked.begin is not None and len(timed) == len(others):
        return None
    untimed = others if asked.begin is None else [s for s in others if s.begin is None]
    same = [span for span in untimed if asked.label in (span.label, span.name)]
    place = next((i for i, span in enumerate(own) if span.name == asked.name), 0)
    return same[0] if same else untimed[min(place, len(untimed) - 1)]


def _shared_ns(a: Span, b: Span) -> int:
    """How long two recordings overlap; negative: how far apart they are. Far where it is not known."""
    if a.begin is None or a.end is None or b.begin is None or b.end is None:
        return -(1 << 62)
    return min(a.end, b.end) - max(a.begin, b.begin)


class SeenFile(msgspec.Struct, frozen=True):
    """A file of the logdir and what became of it."""

    path: str
    run: str
    worker: str
    span: str
    state: State
    reason: str
    bytes: int
    events: int | None = None
    lost: int | None = None


class Snapshot(msgspec.Struct, frozen=True):
    """The catalogue at one moment. ``version`` differs between any two snapshots that differ.

    ``scanning``: the first look at the logdirs is not finished, so that no run is no answer yet.
    """

    version: str
    scanning: bool
    logdirs: tuple[str, ...]
    runs: tuple[Run, ...] = ()
    files: tuple[SeenFile, ...] = ()
    notes: tuple[str, ...] = ()


def snapshot_of(
    scanning: bool,
    logdirs: tuple[str, ...],
    runs: tuple[Run, ...],
    files: tuple[SeenFile, ...],
    notes: tuple[str, ...],
) -> Snapshot:
    """A snapshot with the version that its content has."""
    content = repr((scanning, logdirs, runs, files, notes)).encode("utf-8", "surrogatepass")
    version = hashlib.sha256(content).hexdigest()[:16]
    return Snapshot(version, scanning, logdirs, runs, files, notes)


class Opened(msgspec.Struct, frozen=True, eq=False):
    """An imported trace in its place. ``sidecar``: where it is kept; empty if it is not."""

    run: Run
    worker: Worker
    span: Span
    trace: Trace
    facts: Facts
    memo: Memo = msgspec.field(default_factory=Memo)
    sidecar: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Names of run, worker and span, by which a catalogue opens it."""
        return self.run.name, self.worker.name, self.span.name

    @property
    def title(self) -> str:
        """Run, worker and span, for people."""
        return " · ".join(filter(None, self.key))

    @property
    def beside(self) -> tuple[tuple[Worker, Span], ...]:
        """The workers and spans that were recorded together with it, itself among them."""
        return self.run.beside(self.worker, self.span)

    @property
    def worker_title(self) -> str:
        """The worker, with the span where it has several."""
        several = len(self.worker.spans) > 1
        return f"{self.worker.name} · {self.span.name}" if several else self.worker.name

    def memoise(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of ``make`` for a key, kept (bounded) while the trace is open."""
        return self.memo.get(key, make)


class OpenedInsight(msgspec.Struct, frozen=True):
    """An opened trace with its insight. ``id``: of the file's content and the program."""

    opened: Opened
    insight: Insight
    id: str


class OpenedRank(msgspec.Struct, frozen=True):
    """The index of a rank in its place, for which nothing is open. ``id``: of the file's content and the program."""

    worker: Worker
    span: Span
    index: RankIndex
    id: str


class OpenedTimeline(msgspec.Struct, frozen=True):
    """An opened trace with its timeline. ``id``: of the file's content and the program."""

    opened: Opened
    timeline: Timeline
    id: str
