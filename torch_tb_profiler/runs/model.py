"""What the catalogue knows, as immutable values: runs, workers, spans, files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from torch_tb_profiler.runs.memo import Memo

if TYPE_CHECKING:
    from torch_tb_profiler.store.insight import Insight
    from torch_tb_profiler.store.model import Facts, Trace
    from torch_tb_profiler.store.rank_index import RankIndex
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


@dataclass(frozen=True)
class Span:
    """One trace file of a worker. ``name`` is unique within the worker and stable over restarts."""

    name: str
    label: str
    path: str
    """Path relative to the logdir, or URL, for people."""
    location: str
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


@dataclass(frozen=True)
class Worker:
    """One process, spans in time order. ``extra``: by their names, its files hold no traces. ``places``: (dimension, place) in
    the job, as its name tells: ``("TP", 1)``.
    """

    name: str
    rank: int | None
    rank_source: str
    world_size: int | None
    spans: tuple[Span, ...]
    extra: bool = False
    places: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Run:
    """A directory that holds traces."""

    name: str
    workers: tuple[Worker, ...]
    synthetic: bool = False

    def beside(self, worker: Worker) -> tuple[Worker, ...]:
        """The workers shown together with one: all with traces; others stand by themselves."""
        return (worker,) if worker.extra else tuple(w for w in self.workers if not w.extra)


@dataclass(frozen=True)
class SeenFile:
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


@dataclass(frozen=True)
class Snapshot:
    """The catalogue at one moment. ``version`` differs between any two snapshots that differ.

    ``scanning``: the first look at the logdirs is not finished, so that no run is no answer yet.
    """

    version: str
    scanning: bool
    logdirs: tuple[str, ...]
    runs: tuple[Run, ...] = ()
    files: tuple[SeenFile, ...] = ()
    notes: tuple[str, ...] = field(default=())


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


@dataclass(frozen=True)
class Opened:
    """An imported trace in its place. ``sidecar``: where it is kept; empty if it is not."""

    run: Run
    worker: Worker
    span: Span
    trace: Trace
    facts: Facts
    memo: Memo = field(default_factory=Memo, repr=False, compare=False)
    sidecar: str = field(default="", repr=False, compare=False)

    @property
    def title(self) -> str:
        """Run, worker and span, for people."""
        return " · ".join(filter(None, (self.run.name, self.worker.name, self.span.name)))

    @property
    def worker_title(self) -> str:
        """The worker, with the span where it has several."""
        several = len(self.worker.spans) > 1
        return f"{self.worker.name} · {self.span.name}" if several else self.worker.name

    def memoise(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of ``make`` for a key, kept (bounded) while the trace is open."""
        return self.memo.get(key, make)


@dataclass(frozen=True)
class OpenedInsight:
    """An opened trace with its insight. ``id``: of the file's content and the program."""

    opened: Opened
    insight: Insight
    id: str


@dataclass(frozen=True)
class OpenedRank:
    """The index of a rank in its place, for which nothing is open. ``id``: of the file's content and the program."""

    worker: Worker
    span: Span
    index: RankIndex
    id: str


@dataclass(frozen=True)
class OpenedTimeline:
    """An opened trace with its timeline. ``id``: of the file's content and the program."""

    opened: Opened
    timeline: Timeline
    id: str
