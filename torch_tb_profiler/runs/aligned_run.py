"""Which traces of a run were recorded together, one per worker, and their common clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset, align, unix_begin
from torch_tb_profiler.analysis.distributed.collectives import (
    Collectives,
    Matches,
    find_collectives,
    match_collectives,
    match_of,
)
from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.runs.model import Opened, Span, State, Worker

MOST_WORKERS = 64
"""Workers that are put on one clock at once: each is opened, and a screen shows no more."""
MOST_TRIED = 16
"""Spans of a worker that are opened to find the one that was recorded at the same time."""


class Source(Protocol):
    """What opens traces: the catalogue."""

    def open(self, run: str, worker: str, span: str) -> Opened: ...


@dataclass(frozen=True)
class Companion:
    """A worker and its span for a requested trace; ``opened`` is None until that is imported."""

    worker: Worker
    span: Span
    opened: Opened | None


@dataclass(frozen=True)
class AlignedRun:
    """Workers by rank on one clock. ``place``: of each of ``aligned`` and of each rank of
    ``matches``, which of the ``names`` (worker, span) it is.
    """

    names: tuple[tuple[str, str], ...]
    place: tuple[int, ...]
    aligned: tuple[ClockOffset, ...]
    matches: Matches
    span_ns: int


def companions(
    source: Source, asked: Opened, ranks: Collection[int] | None = None
) -> list[Companion]:
    """For each of the ``MOST_WORKERS`` workers of nearest rank, or of those of ``ranks``, the best overlapping span.
    No other worker is opened.
    """
    return [
        companion(source, asked, worker)
        for worker in nearest(chosen_workers(asked, ranks), asked.worker)
    ]


def chosen_workers(asked: Opened, ranks: Collection[int] | None) -> list[Worker]:
    """The asked worker and those beside it that have one of ``ranks``, in their order; None: all."""
    return [
        worker
        for worker in asked.run.beside(asked.worker)
        if ranks is None or worker.name == asked.worker.name or worker.rank in ranks
    ]


def nearest(workers: Sequence[Worker], asked: Worker, most: int = MOST_WORKERS) -> list[Worker]:
    """At most ``most`` workers in their order, the asked one and those beside it."""
    place = next((i for i, worker in enumerate(workers) if worker.name == asked.name), 0)

    def distance(i: int) -> tuple[int, int]:
        rank = workers[i].rank
        by_rank = (
            abs(rank - asked.rank)
            if rank is not None and asked.rank is not None
            else abs(i - place)
        )
        return (0 if i == place else 1, by_rank)

    return [workers[i] for i in sorted(sorted(range(len(workers)), key=distance)[:most])]


def companion(source: Source, asked: Opened, worker: Worker) -> Companion:
    """The span of a worker that overlaps the asked one best, opened."""
    if worker.name == asked.worker.name:
        return Companion(worker, asked.span, asked)
    likely = _same_place(asked, worker)
    best = Companion(worker, likely, _open(source, asked, worker, likely))
    overlap = _overlap(asked, best.opened)
    if overlap is None or overlap > 0 or len(worker.spans) == 1:
        return best
    middle = worker.spans.index(likely)
    tried = sorted(range(len(worker.spans)), key=lambda i: abs(i - middle))[1:MOST_TRIED]
    for other in (worker.spans[i] for i in tried):
        opened = _open(source, asked, worker, other)
        more = _overlap(asked, opened)
        if more is not None and more > overlap:
            best, overlap = Companion(worker, other, opened), more
    return best


def _same_place(asked: Opened, worker: Worker) -> Span:
    """The span of the same name or label, else at the same place among the worker's, else its last."""
    same = [span for span in worker.spans if span.name == asked.span.name]
    same += [span for span in worker.spans if span.label == asked.span.label]
    place = next(
        (i for i, span in enumerate(asked.worker.spans) if span.name == asked.span.name), 0
    )
    return same[0] if same else worker.spans[min(place, len(worker.spans) - 1)]


def _open(source: Source, asked: Opened, worker: Worker, span: Span) -> Opened | None:
    if span.state is not State.READY:
        return None
    try:
        return source.open(asked.run.name, worker.name, span.name)
    except ProfilerError:
        return None


def _overlap(asked: Opened, other: Opened | None) -> int | None:
    """How many ns two recordings share by the clocks of their traces; None if unknown."""
    begins = [unix_begin(opened.trace) if opened is not None else None for opened in (asked, other)]
    if other is None or begins[0] is None or begins[1] is None:
        return None
    ends = [
        begin + _length(opened)
        for begin, opened in zip((begins[0], begins[1]), (asked, other), strict=True)
    ]
    return max(0, min(ends) - max(begins[0], begins[1]))


def align_run(members: Sequence[Companion], asked: Opened) -> AlignedRun:
    """The companions' clocks and shared collectives; only the last result is kept."""
    opened = [(i, c.opened) for i, c in enumerate(members) if c.opened is not None]
    key = tuple(
        (c.worker.name, c.span.name, *(_content(c.opened) if c.opened is not None else ()))
        for c in members
    )
    runs = asked.memoise("aligned", dict[object, AlignedRun])
    earlier = runs.get(key)
    if earlier is not None:
        return earlier
    matches = match_collectives([_collectives(o) for _, o in opened])
    aligned = align([unix_begin(o.trace) for _, o in opened], matches)
    ends = [a.offset + _length(o) for a, (_, o) in zip(aligned, opened, strict=True)]
    names = tuple((c.worker.name, c.span.name) for c in members)
    places = tuple(i for i, _ in opened)
    run = AlignedRun(names, places, tuple(aligned), matches, max(ends, default=0))
    # Workers come one after another while a run is imported: what was aligned for fewer of them is
    # of no use.
    runs.clear()
    runs[key] = run
    return run


def match_in(shared: AlignedRun, asked: Opened, event: int) -> int:
    """Which of ``shared.matches`` an event of the asked trace belongs to; -1 when to none."""
    name = (asked.worker.name, asked.span.name)
    rank = next(rank for rank, place in enumerate(shared.place) if shared.names[place] == name)
    if event >= asked.trace["spans"].n:
        return -1
    return match_of(asked.trace, asked.facts, shared.matches, rank, event)


def _length(opened: Opened) -> int:
    """End of the last event."""
    instants = opened.trace["instants"]["time"]
    return max(int(opened.facts.summary["span_ns"]), int(instants[-1]) if len(instants) else 0)


def _content(opened: Opened) -> tuple[object, ...]:
    """Differs for traces of different content, but for such as nobody writes by accident."""
    trace = opened.trace
    return (
        opened.span.location,
        opened.span.bytes,
        trace.entries,
        trace.origin_ns,
        trace.base_ns,
        len(trace.strings.blob),
    )


def _collectives(opened: Opened) -> Collectives:
    return opened.memoise("collectives", lambda: find_collectives(opened.trace, opened.facts))
