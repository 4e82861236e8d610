"""The recordings that stand beside an opened one, and what is told of each, kept by its content.

::

    asked recording ─▶ one of each run, of the same worker ─▶ insight of each, a few at a time ─▶ figures
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Generic, Protocol, TypeVar

import msgspec

from torch_tb_profiler.errors import ProfilerError
from torch_tb_profiler.runs.aligned_run import nearest
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import Opened, OpenedInsight, Run, Snapshot, Span, State, Worker

T = TypeVar("T")

MOST_ROWS = 256
"""Runs that are looked at together, those listed nearest to the asked one."""
MOST_WORKERS = 64
"""Workers of each run, where all are looked at."""
MOST_AHEAD = 8
"""Insights that are awaited at a time, so that other requests need not wait for all of them."""
MOST_SECONDS = 0.5
"""Time that one answer spends on figures that are not known yet; the next one goes on."""
MOST_KEPT = 16_384


class Source(Protocol):
    """What lists recordings and opens their insights: the catalogue."""

    def snapshot(self) -> Snapshot: ...
    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float: ...


class Recorded(msgspec.Struct, Generic[T], frozen=True):
    """A recording; ``told`` is None until it is ready, ``message`` why it never will be."""

    run: str
    worker: Worker
    span: Span
    told: T | None
    message: str = ""


class Experiments:
    """What is told of recordings, made once from the insight of each. No insight stays open for it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kept = Memo(MOST_KEPT, weighed=False)

    def beside(
        self, asked: Opened, make: Callable[[OpenedInsight], T], every_worker: bool
    ) -> tuple[list[list[Recorded[T]]], int]:
        """The rows, the asked one among them and each with its workers, and how many there are in all."""
        rows = list(_rows(self._source.snapshot().runs, asked, every_worker))
        own = next((i for i, row in enumerate(rows) if _holds(row, asked)), 0)
        first = max(0, min(own - MOST_ROWS // 2, len(rows) - MOST_ROWS))
        shown = rows[first : first + MOST_ROWS]
        # The asked one is told first: the others are compared with it.
        order = sorted(range(len(shown)), key=lambda i: (i != own - first, i))
        told: dict[int, list[Recorded[T]]] = {}
        awaited, begin = 0, monotonic()
        for place in order:
            told[place] = []
            for run, worker, span in shown[place]:
                ask = awaited < MOST_AHEAD and monotonic() - begin < MOST_SECONDS
                found = self._recorded(run, worker, span, make, ask)
                awaited += found.told is None and not found.message
                told[place].append(found)
        return [told[place] for place in range(len(shown))], len(rows)

    def _recorded(
        self, run: str, worker: Worker, span: Span, make: Callable[[OpenedInsight], T], ask: bool
    ) -> Recorded[T]:
        key = (run, worker.name, span.name)
        made_of, told = self._kept.kept(key) or (None, None)
        if made_of == span:
            return Recorded(run, worker, span, told)
        if span.state is State.FAILED:
            return Recorded(run, worker, span, None, span.message or "It could not be imported.")
        if not ask:
            return Recorded(run, worker, span, None)
        try:
            answer = self._source.ask_insight(*key)
        except ProfilerError as error:
            return Recorded(run, worker, span, None, error.message)
        if not isinstance(answer, OpenedInsight):
            return Recorded(run, worker, span, None)
        told = make(answer)
        # Asking may have been what made the catalogue see that a trace is ready.
        self._kept.put(key, (answer.opened.span, told))
        return Recorded(run, worker, span, told)


_Row = list[tuple[str, Worker, Span]]


def _rows(runs: Sequence[Run], asked: Opened, every_worker: bool) -> Iterator[_Row]:
    """A row per run, of the worker that goes with the asked one or of all; of a single run one per recording."""
    usable = [run for run in runs if _comparable(run, asked)]
    if len(usable) <= 1 and not every_worker:
        for run in usable:
            workers = _comparable(run, asked)
            for worker in nearest(workers, asked.worker, MOST_ROWS):
                yield from ([(run.name, worker, span)] for span in worker.spans)
        return
    for run in usable:
        workers = _comparable(run, asked)
        own = asked.worker if run.name == asked.run.name else _like(workers, asked.worker)
        near = nearest(workers, own, MOST_WORKERS) if every_worker else [own]
        yield [(run.name, worker, _span(run, worker, asked)) for worker in near]


def _comparable(run: Run, asked: Opened) -> list[Worker]:
    """Workers with traces, and the asked one even if it has only a snapshot or stacks."""
    own = asked.worker.name if run.name == asked.run.name else None
    return [w for w in run.workers if w.spans and (not w.extra or w.name == own)]


def _like(workers: Sequence[Worker], own: Worker) -> Worker:
    """The worker of the same name, else of the same rank, else the first."""
    named = (w for w in workers if w.name == own.name)
    ranked = (w for w in workers if w.rank is not None and w.rank == own.rank)
    return next(named, None) or next(ranked, None) or workers[0]


def _span(run: Run, worker: Worker, asked: Opened) -> Span:
    """The last recording that did not fail; of the asked worker the asked one."""
    if (run.name, worker.name) == (asked.run.name, asked.worker.name):
        return next((s for s in worker.spans if s.name == asked.span.name), asked.span)
    usable = [span for span in worker.spans if span.state is not State.FAILED]
    return (usable or worker.spans)[-1]


def _holds(row: _Row, asked: Opened) -> bool:
    own = asked.key
    return any((run, worker.name, span.name) == own for run, worker, span in row)
