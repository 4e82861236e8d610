"""A run of traces that a test wrote down, as the catalogue would give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec.structs import replace

from tests.analysis.figures import opened
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.errors import ImportFailed, ProfilerError
from torch_tb_profiler.runs.model import (
    Opened,
    OpenedInsight,
    OpenedRank,
    Run,
    Snapshot,
    Span,
    State,
    Worker,
)
from torch_tb_profiler.runs.rank_indexes import opened_rank
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace

FIRST = "1"


class WrittenRun:
    """Run "run" of one span "1" per worker. ``waiting``: workers whose insight is not made yet;
    ``failing``: those whose insight cannot be made.
    """

    def __init__(
        self,
        traces: Mapping[str, Trace | tuple[Trace, Facts]],
        ranks: Mapping[str, int] | None = None,
    ) -> None:
        self.waiting: set[str] = set()
        self.failing: set[str] = set()
        self.asked: list[str] = []
        self.version = 0
        self.contents = {name: name for name in traces}
        span = Span(FIRST, FIRST, "run/x", Place("/x"), 1, State.READY)
        workers = tuple(
            Worker(name, (ranks or {}).get(name, place), "file name", len(traces), (span,))
            for place, name in enumerate(traces)
        )
        self.run = Run("run", workers)
        self._opened = {}
        self._insights: dict[str, Insight] = {}
        for worker, given in zip(workers, traces.values(), strict=True):
            trace, facts = given if isinstance(given, tuple) else (given, derive(given))
            self._opened[worker.name] = Opened(self.run, worker, span, trace, facts)

    def change(self, *rewritten: str) -> None:
        """Something of the catalogue changed: it gives new values. ``rewritten``: workers whose
        file has the same size and another content.
        """
        self.version += 1
        workers = tuple(
            replace(w, spans=(replace(w.spans[0], stamp=(self.version, "")),))
            if w.name in rewritten
            else w
            for w in self.run.workers
        )
        self.run = Run(self.run.name, workers)
        for worker in workers:
            opened = self._opened[worker.name]
            self._opened[worker.name] = Opened(
                self.run, worker, worker.spans[0], opened.trace, opened.facts, opened.memo
            )
        self.contents |= {name: f"{name} of version {self.version}" for name in rewritten}

    def snapshot(self) -> Snapshot:
        return Snapshot("v1", False, ("logs",), (self.run,))

    def open(self, run: str, worker: str, span: str) -> Opened:
        assert (run, span) == ("run", FIRST)
        return self._opened[worker]

    def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        opened = self.open(run, worker, span)
        if worker not in self._insights:
            self._insights[worker] = build_insight(opened.trace, opened.facts)
        return OpenedInsight(opened, self._insights[worker], f"content of {self.contents[worker]}")

    def ask_ranks(
        self, run: str, names: Sequence[tuple[str, str]]
    ) -> list[OpenedRank | float | ProfilerError]:
        return [self._ask_rank(run, *name) for name in names]

    def _ask_rank(self, run: str, worker: str, span: str) -> OpenedRank | float | ProfilerError:
        try:
            found = self.ask_insight(run, worker, span)
        except ProfilerError as error:
            return error
        if isinstance(found, float):
            return found
        return opened_rank(found)

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float:
        self.asked.append(worker)
        if worker in self.failing:
            raise ImportFailed("The insight could not be made: it is too large.")
        return 0.25 if worker in self.waiting else self.insight(run, worker, span)


@lru_cache(maxsize=2)
def sample(folder: str) -> WrittenRun:
    """A run of the traces in a folder."""
    return WrittenRun(
        {
            path.name.split(".")[0]: opened(path)
            for path in sorted(Path(folder).glob("*.pt.trace.json.gz"))
        }
    )
