"""Which traces of a run were recorded together, one per worker, and their common clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import msgspec

from torch_tb_profiler.analysis.distributed.alignment import ClockOffset, align
from torch_tb_profiler.analysis.distributed.collectives import (
    Collectives,
    Matches,
    match_collectives,
    match_of,
)
from torch_tb_profiler.analysis.distributed.communication import find_collectives
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.runs.model import Opened, Span, State, Worker

MOST_WORKERS = 64
"""Workers that are put on one clock at once: each is opened, and a screen shows no more."""


class Source(Protocol):
    """What opens traces: the catalogue."""

    def open(self, run: str, worker: str, span: str) -> Opened: ...


class Companion(msgspec.Struct, frozen=True):
    """A worker and its span for a requested trace; ``opened`` is None until that is imported."""

    worker: Worker
    span: Span
    opened: Opened | None


class AlignedRun(msgspec.Struct, frozen=True):
    """Workers by rank on one clock. ``place``: of each of ``aligned`` and of each rank of
    ``matches``, which of the ``names`` (worker, span) it is.
    """

    names: tuple[tuple[str, str], ...]
    place: tuple[int, ...]
    aligned: tuple[ClockOffset, ...]
    matches: Matches


def companions(
    source: Source, asked: Opened, ranks: Collection[int] | None = None
) -> list[Companion]:
    """The ``MOST_WORKERS`` workers of nearest rank, or of those of ``ranks``, that were recorded together with the asked one.
    No other worker is opened.
    """
    chosen = nearest_spans(chosen_workers(asked, ranks), asked.worker)
    return [Companion(w, s, _open(source, asked, w, s)) for w, s in chosen]


def chosen_workers(asked: Opened, ranks: Collection[int] | None) -> list[tuple[Worker, Span]]:
    """The asked worker and those beside it that have one of ``ranks``, in their order, with their spans; None: all."""
    return [
        (worker, span)
        for worker, span in asked.beside
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


def nearest_spans(
    found: Sequence[tuple[Worker, Span]], asked: Worker, most: int = MOST_WORKERS
) -> list[tuple[Worker, Span]]:
    """At most ``most`` workers with their spans, the asked one and those beside it."""
    span_of = {worker.name: span for worker, span in found}
    return [(w, span_of[w.name]) for w in nearest([w for w, _ in found], asked, most)]


def _open(source: Source, asked: Opened, worker: Worker, span: Span) -> Opened | None:
    if (worker.name, span.name) == (asked.worker.name, asked.span.name):
        return asked
    if span.state is not State.READY:
        return None
    try:
        return source.open(asked.run.name, worker.name, span.name)
    except ProfilerError:
        return None


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
    begins = [unix_begin(o.trace) for _, o in opened]
    matches = match_collectives([_collectives(o) for _, o in opened], begins)
    aligned = align(begins, matches)
    names = tuple((c.worker.name, c.span.name) for c in members)
    places = tuple(i for i, _ in opened)
    run = AlignedRun(names, places, tuple(aligned), matches)
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


def _content(opened: Opened) -> tuple[object, ...]:
    """Differs for traces of different content, but for such as nobody writes by accident."""
    trace = opened.trace
    return (
        opened.span.location,
        opened.facts.summary.part,
        opened.span.bytes,
        trace.entries,
        trace.origin_ns,
        trace.base_ns,
        len(trace.strings.blob),
    )


def _collectives(opened: Opened) -> Collectives:
    return opened.memoise("collectives", lambda: find_collectives(opened.trace, opened.facts))
