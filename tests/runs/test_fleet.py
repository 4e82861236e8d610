"""All workers of a run together: what is ready, what is kept, what is left out."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.builders.drawn import Event, trace_of
from tests.builders.loop import span
from tests.runs.written_run import WrittenRun
from torch_tb_profiler.analysis.critical_path import ranks
from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.store.model import Trace

UNIX_US = 1_700_000_000_000_000


def reached(*begins: int, late: int = 0) -> Trace:
    """A rank that reaches a collective at each of these µs; each ends ``late`` + 20 µs after."""
    op: Event = span("cpu_op", "aten::mm", 1, 1, UNIX_US, 5)
    kernel = {
        **op,
        "cat": "kernel",
        "name": "ncclDevKernel_AllReduce_Sum_f32",
        "pid": 0,
        "tid": 7,
        "args": {"Collective name": "allreduce"},
    }
    return trace_of(
        [op, *({**kernel, "ts": UNIX_US + begin, "dur": 20 + late} for begin in begins)]
    )


def run_of(*traces: Trace) -> WrittenRun:
    return WrittenRun({f"rank{rank}": trace for rank, trace in enumerate(traces)})


def test_all_ranks_and_who_is_late() -> None:
    run = run_of(
        reached(100, 200, 300, late=30), reached(130, 230, 330), reached(100, 200, 300, late=30)
    )
    found = Fleets(run).of(run.open("run", "rank1", "1"))
    assert (len(found.place), found.complete, found.progress, found.workers_total, found.place) == (
        3,
        True,
        1.0,
        3,
        (0, 1, 2),
    )
    assert found.path is not None
    assert [found.names[blame.rank] for blame in found.blames] == [("rank1", "1")]


def test_a_missing_rank_is_waited_for_and_a_broken_one_is_not() -> None:
    run = run_of(*(reached(100, 200, 300) for _ in range(4)))
    run.waiting, run.failing = {"rank1"}, {"rank2"}
    fleets = Fleets(run)
    found = fleets.of(run.open("run", "rank0", "1"))
    assert [member.state for member in found.members] == ["ready", "waiting", "failed", "ready"]
    assert (len(found.place), found.place, found.complete) == (2, (0, 3), False)
    assert found.progress == round((3 + 0.125) / 4, 3)
    run.waiting = set()
    again = fleets.of(run.open("run", "rank0", "1"))
    assert (len(again.place), again.complete, again.progress) == (3, True, 1.0)


def test_one_of_many_that_is_awaited_is_not_rounded_away() -> None:
    run = run_of(reached(100, 200), reached(100, 200))
    found = Fleets(run).of(run.open("run", "rank0", "1"))
    ready = found.members[0]
    awaited = replace(ready, state="waiting", progress=0.995)
    assert replace(found, members=(*[ready] * 1023, awaited)).progress == 0.999
    assert replace(found, members=(ready,) * 1024).progress == 1.0


def test_a_complete_fleet_is_kept_until_the_catalogue_changes() -> None:
    run = run_of(reached(100, 200), reached(100, 200))
    fleets = Fleets(run)
    found = fleets.of(run.open("run", "rank0", "1"))
    asked = list(run.asked)
    assert {*asked} == {"rank0", "rank1"}
    assert fleets.of(run.open("run", "rank0", "1")) is found
    assert fleets.already_read(run.open("run", "rank0", "1")) is found
    run.change()
    assert fleets.already_read(run.open("run", "rank0", "1")) is None
    other = fleets.of(run.open("run", "rank0", "1"))
    assert other is not found
    assert other.id == found.id, "so that what was answered for it is used again, not kept twice"
    assert other.figures is found.figures, (
        "the content is the same, so that nothing is counted again"
    )
    assert run.asked == asked, "nor opened"


def test_a_file_that_was_written_anew_is_read_anew() -> None:
    run = run_of(reached(100, 200), reached(100, 200))
    fleets = Fleets(run)
    found = fleets.of(run.open("run", "rank0", "1"))
    run.change("rank1")
    other = fleets.of(run.open("run", "rank0", "1"))
    assert [member.id for member in other.members] == [
        "content of rank0",
        "content of rank1 of version 1",
    ]
    assert other.figures is not found.figures
    assert other.id != found.id


def test_who_is_ready_is_not_asked_again_while_others_are_awaited() -> None:
    run = run_of(*(reached(100, 200) for _ in range(3)))
    run.waiting = {"rank2"}
    fleets = Fleets(run)
    for _ in range(3):
        assert fleets.of(run.open("run", "rank0", "1")).place == (0, 1)
    assert [run.asked.count(f"rank{n}") for n in range(3)] == [1, 1, 3]


def test_of_several_spans_the_one_recorded_meanwhile() -> None:
    run = run_of(reached(100, 200), reached(100, 200))
    worker = run.run.workers[1]
    later = replace(worker.spans[0], name="2")
    run.run = replace(
        run.run, workers=(run.run.workers[0], replace(worker, spans=(worker.spans[0], later)))
    )
    asked = replace(run.open("run", "rank0", "1"), run=run.run)
    assert [member.span.name for member in Fleets(run).of(asked).members] == ["1", "1"]


def test_of_ranks_that_are_opened_too_often_the_path_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranks, "MOST_OPENED", 0)
    run = run_of(reached(100, 200, 300, late=30), reached(130, 230, 330))
    found = Fleets(run).of(run.open("run", "rank0", "1"))
    assert found.path is not None
    assert len(found.path.step) == 0
    # Who comes last is known without it, but not by what.
    assert {(blame.rank, blame.parts) for blame in found.blames} <= {(1, ())}


def test_one_worker_is_a_fleet() -> None:
    run = run_of(reached(100, 200))
    found = Fleets(run).of(run.open("run", "rank0", "1"))
    assert (len(found.place), len(found.blames), len(found.figures.matched.matches)) == (1, 0, 0)
