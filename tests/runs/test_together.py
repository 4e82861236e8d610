"""Which spans of a run were recorded together, and their collectives on one clock."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.builders import loop
from tests.builders.drawn import Event, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.errors import NotReady
from torch_tb_profiler.runs.aligned_run import MOST_WORKERS, align_run, companions, nearest
from torch_tb_profiler.runs.model import Opened, Run, Span, State, Worker
from torch_tb_profiler.sources.places import Place

UNIX_US = 1_700_000_000_000_000


class Kept:
    """A catalogue of traces: (worker, span) → begin in µs after a moment, and begins of its
    collectives after its own.
    """

    def __init__(
        self, *found: tuple[int, str, int, list[int]], waiting: tuple[str, str] = ("", "")
    ) -> None:
        self.asked: list[tuple[str, str]] = []
        self._waiting = waiting
        traces = {
            (f"rank{rank}", span): (rank, begin, collectives)
            for rank, span, begin, collectives in found
        }
        names = sorted({worker for worker, _ in traces})
        begin_of = {
            key: (UNIX_US + begin) * 1000 for key, (_, begin, _) in traces.items() if key != waiting
        }
        workers = []
        for worker in names:
            spans = [
                Span(
                    s,
                    f"{i + 1}",
                    f"run/{worker}.{s}",
                    Place(f"/x/{worker}.{s}"),
                    1,
                    State.WAITING if (worker, s) == waiting else State.READY,
                    begin=begin_of.get((worker, s)),
                    end=begin_of.get((worker, s), 0) + 1_000_000,
                )
                for i, s in enumerate(sorted(s for w, s in traces if w == worker))
            ]
            workers.append(Worker(worker, int(worker[4:]), "file name", len(names), tuple(spans)))
        self.run = Run("run", tuple(workers))
        self._opened = {}
        for (worker, span), (_, begin, collectives) in traces.items():
            found_worker = next(w for w in workers if w.name == worker)
            trace = trace_of(_events(UNIX_US + begin, collectives))
            self._opened[worker, span] = Opened(
                self.run,
                found_worker,
                next(s for s in found_worker.spans if s.name == span),
                trace,
                derive(trace),
            )

    def open(self, run: str, worker: str, span: str) -> Opened:
        assert run == "run"
        self.asked.append((worker, span))
        if (worker, span) == self._waiting:
            raise NotReady("Not yet.")
        return self._opened[worker, span]


def _events(begin: int, collectives: list[int]) -> list[Event]:
    step = loop.span("cpu_op", "step", 1, 1, begin, 1000)
    kernel = {
        **step,
        "cat": "kernel",
        "name": "ncclDevKernel_AllReduce",
        "pid": 0,
        "tid": 7,
        "dur": 10,
        "args": {"Collective name": "allreduce"},
    }
    return [step, *({**kernel, "ts": begin + at} for at in collectives)]


def chosen(catalogue: Kept, worker: str, span: str) -> dict[str, tuple[str, bool]]:
    return {
        c.worker.name: (c.span.name, c.opened is not None)
        for c in companions(catalogue, catalogue.open("run", worker, span))
    }


def test_the_span_at_the_same_place_goes_along() -> None:
    catalogue = Kept((0, "a", 0, []), (0, "b", 5000, []), (1, "a", 3, []), (1, "b", 5003, []))
    assert chosen(catalogue, "rank0", "b") == {"rank0": ("b", True), "rank1": ("b", True)}
    assert ("rank1", "a") not in catalogue.asked


def test_of_chosen_ranks_no_other_is_opened() -> None:
    catalogue = Kept(*((rank, "a", 0, []) for rank in range(5)))
    asked = catalogue.open("run", "rank1", "a")
    catalogue.asked.clear()
    listed = companions(catalogue, asked, frozenset((3, 4, 900)))
    assert [c.worker.name for c in listed] == ["rank1", "rank3", "rank4"]
    assert sorted(set(catalogue.asked)) == [("rank3", "a"), ("rank4", "a")]


def test_the_span_that_overlaps_goes_along_where_places_differ() -> None:
    """Rank 1 has no recording of the first period."""
    catalogue = Kept(
        (0, "a", 0, []),
        (0, "b", 5000, []),
        (1, "b", 5003, []),
        (1, "c", 10_000, []),
        (2, "0", -9000, []),
        (2, "a", 400, []),
        (2, "b", 5100, []),
    )
    assert chosen(catalogue, "rank0", "b") == {
        "rank0": ("b", True),
        "rank1": ("b", True),
        "rank2": ("b", True),
    }
    assert chosen(catalogue, "rank0", "a")["rank2"] == ("a", True)


def test_clocks_may_differ_by_seconds_and_no_more() -> None:
    catalogue = Kept((0, "a", 0, []), (1, "b", 900_000, []), (1, "c", 990_000_000, []))
    assert chosen(catalogue, "rank0", "a")["rank1"] == ("b", True)
    catalogue = Kept((0, "a", 0, []), (1, "b", 900_000_000, []), (1, "c", 990_000_000, []))
    assert list(chosen(catalogue, "rank0", "a")) == ["rank0"]


def test_a_worker_that_is_not_imported_waits() -> None:
    catalogue = Kept(
        (0, "a", 0, [100, 200, 300]),
        (1, "a", 0, [100, 200, 300]),
        (2, "a", 0, [150, 250, 350]),
        waiting=("rank1", "a"),
    )
    asked = catalogue.open("run", "rank0", "a")
    listed = companions(catalogue, asked)
    assert [c.opened is not None for c in listed] == [True, False, True]
    shared = align_run(listed, asked)
    assert shared.place == (0, 2)
    assert [a.offset for a in shared.aligned] == [50_000, 0]


def test_a_trace_that_cannot_be_opened_waits_too() -> None:
    catalogue = Kept((0, "a", 0, []), (1, "a", 0, []), waiting=("rank1", "a"))
    run = replace(
        catalogue.run,
        workers=tuple(
            replace(w, spans=tuple(replace(s, state=State.READY) for s in w.spans))
            for w in catalogue.run.workers
        ),
    )
    asked = replace(catalogue.open("run", "rank0", "a"), run=run)
    assert [c.opened is not None for c in companions(catalogue, asked)] == [True, False]


def test_it_is_made_once_for_the_same_traces() -> None:
    catalogue = Kept((0, "a", 0, [100, 200, 300]), (1, "a", 0, [100, 200, 300]))
    asked = catalogue.open("run", "rank0", "a")
    first, again = (
        align_run(companions(catalogue, asked), asked),
        align_run(companions(catalogue, asked), asked),
    )
    assert first is again
    assert align_run(companions(catalogue, asked)[:1], asked) is not first


@pytest.mark.parametrize(("rank", "first", "last"), [(0, 0, 63), (100, 68, 131), (199, 136, 199)])
def test_the_nearest_ranks_of_many(rank: int, first: int, last: int) -> None:
    span = Span("a", "1", "p", Place("l"), 1, State.READY)
    workers = [Worker(f"rank{i}", i, "file name", 200, (span,)) for i in range(200)]
    found = [w.rank for w in nearest(workers, workers[rank])]
    assert len(found) == MOST_WORKERS
    assert (found[0], found[-1]) == (first, last)
    assert found == sorted(found, key=lambda r: -1 if r is None else r)
    unranked = [replace(w, rank=None) for w in workers]
    assert [w.name for w in nearest(unranked, unranked[rank])] == [f"rank{r}" for r in found]
