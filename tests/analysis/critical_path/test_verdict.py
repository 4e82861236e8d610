"""The verdict on the ranks of drawn jobs: always, once, by input, nobody, unknown."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.critical_path.test_ranks import UNIX, fleet_of
from tests.builders.drawn import Event, trace_of
from tests.builders.loop import span
from tests.examples import examples
from torch_tb_profiler.analysis.critical_path.step_groups import run_groups
from torch_tb_profiler.analysis.critical_path.verdict import Verdict, by_chance
from torch_tb_profiler.analysis.critical_path.verdict_texts import verdict_sentences
from torch_tb_profiler.analysis.distributed.slow_links import slow_links
from torch_tb_profiler.runs.fleet import Fleet
from torch_tb_profiler.store.model import Trace

ALL_REDUCE, BETWEEN = 50.0, 30.0
"""µs that the data moves, and of the host after it."""


def entry(
    category: str, name: str, begin: float, length: float, tid: int = 1, **args: Any
) -> Event:
    return span(category, name, 100, tid, begin, length, **args)


def job(
    work: np.ndarray,
    name: str = "aten::mm",
    rows: np.ndarray | None = None,
    world: int | None = None,
    late: tuple[int, float] = (0, 0.0),
    after: np.ndarray | None = None,
    loose: bool = False,
) -> list[Trace]:
    """Ranks without a device: in each step every rank works as long as ``work`` of shape (ranks, steps) says, µs, and then
    meets the others. ``rows``: of its input, of the same shape. ``late``: a rank that begins its first step so much later.
    ``after``: how long each works once it has met them, of the same shape. ``loose``: each begins its next step as soon as it may,
    though others still work.
    """
    ranks, steps = work.shape
    listed: list[list[Event]] = [[] for _ in range(ranks)]
    starts = np.full(ranks, 10.0)
    for step in range(steps):
        starts[late[0]] += late[1] if step == 0 else 0.0
        end = float((starts + work[:, step]).max()) + ALL_REDUCE + 10
        for rank, events in enumerate(listed):
            length, start = float(work[rank, step]), float(starts[rank])
            more: dict[str, Any] = {}
            if rows is not None:
                dims = [[int(rows[rank, step]), 64], [64, 64]]
                more = {"Input Dims": dims, "Input type": ["float"] * 2}
            mark = f"ProfilerStep#{step + 1}"
            then = 0.0 if after is None else float(after[rank, step])
            events.append(entry("user_annotation", mark, start, end + BETWEEN + then - start))
            events.append(entry("cpu_op", name, start + 1, length - 1, **more))
            called = start + length + 2
            told: dict[str, Any] = {
                "Collective name": "allreduce",
                "Process Group Name": "0",
                "Seq": step,
            }
            told["Group size"] = world or ranks
            moves = end - called - 2
            events.append(entry("cpu_op", "c10d::allreduce_", called, 5, **told))
            events.append(entry("user_annotation", "gloo:all_reduce", called + 1, moves, 2, **told))
            events.append(entry("cpu_op", "aten::div_", end, 5 + then))
        starts = np.full(ranks, end + BETWEEN + 2) + (0.0 if after is None else after[:, step])
        if not loose:
            starts[:] = starts.max()
    group = {"pg_name": "0", "ranks": list(range(world or ranks)), "pg_size": world or ranks}
    return [
        trace_of(
            events,
            baseTimeNanoseconds=UNIX,
            distributedInfo={
                "rank": rank,
                "world_size": world or ranks,
                "backend": "gloo",
                "pg_config": [group],
            },
        )
        for rank, events in enumerate(listed)
    ]


def judged(fleet: Fleet) -> Verdict:
    return fleet.verdict


def noise(ranks: int, steps: int, seed: int, base: float = 1000.0) -> np.ndarray:
    return base + np.random.default_rng(seed).uniform(0, 0.01 * base, (ranks, steps))


@examples(3)
@given(
    ranks=st.integers(2, 6),
    steps=st.integers(5, 9),
    share=st.floats(0.3, 2.0),
    seed=st.integers(0, 9),
    data=st.data(),
)
def test_a_rank_that_is_always_slower_is_named(
    ranks: int, steps: int, share: float, seed: int, data: st.DataObject
) -> None:
    slow = data.draw(st.integers(0, ranks - 1))
    work = noise(ranks, steps, seed)
    work[slow] *= 1 + share
    found = judged(fleet_of(*job(work)))
    assert found.kind == "straggler"
    assert found.hold is not None
    assert found.hold.ranks == (slow,)
    # What is saved ends at the next slowest.
    rest = np.delete(work, slow, axis=0).max(axis=0)
    saved = (work[slow] - rest).mean() * 1000
    assert 0.8 * saved <= found.per_step <= 1.1 * saved + 30_000


@examples(3)
@given(second=st.floats(0.3, 0.9), seed=st.integers(0, 9))
def test_the_saving_ends_at_the_next_slowest_rank(second: float, seed: int) -> None:
    work = noise(4, 6, seed)
    work[1] *= 2
    work[3] *= 1 + second
    found = judged(fleet_of(*job(work)))
    if found.hold is None:
        # Two that are as late are half of them.
        assert found.part == (1, 3)
        return
    assert found.hold.ranks == (1,)
    saved = (work[1] - work[3]).mean() * 1000
    assert abs(found.per_step - saved) <= 0.1 * saved + 30_000


@examples(3)
@given(
    ranks=st.integers(2, 5), at=st.integers(1, 7), factor=st.floats(1.5, 4), seed=st.integers(0, 9)
)
def test_a_single_long_step_is_told_apart(ranks: int, at: int, factor: float, seed: int) -> None:
    work = noise(ranks, 8, seed)
    work[ranks - 1, at] *= 1 + factor
    found = judged(fleet_of(*job(work)))
    assert found.kind == "none"
    (once,) = found.once
    assert (once.ranks, once.steps) == ((ranks - 1,), (at,))
    assert at not in found.regular
    longer = work[ranks - 1, at] - np.median(work.max(axis=0))
    assert abs(once.each - longer * 1000) <= 0.1 * longer * 1000


@examples(4)
@given(
    ranks=st.integers(2, 6),
    every=st.integers(2, 4),
    more=st.floats(1.0, 5.0),
    seed=st.integers(0, 9),
    data=st.data(),
)
def test_what_one_rank_does_at_the_end_of_some_steps_holds_these_back(
    ranks: int, every: int, more: float, seed: int, data: st.DataObject
) -> None:
    """The others wait for it in their next step already."""
    rank, steps = data.draw(st.integers(0, ranks - 1)), 3 * every + 2
    busy = np.arange(every - 1, steps - 1, every)
    after = np.zeros((ranks, steps))
    after[rank, busy] = 1000 * more
    fleet = fleet_of(*job(noise(ranks, steps, seed), after=after, loose=True))
    found = judged(fleet)
    assert found.hold is not None
    assert (found.hold.ranks, found.hold.steps) == ((rank,), tuple(busy.tolist()))
    assert np.abs(found.hold.held[busy] - 1_000_000 * more).max() <= 30_000
    assert (found.hold.held <= found.length).all()
    assert found.once == ()
    assert fleet.path is not None
    groups = run_groups(fleet.figures, fleet.path, fleet.open_rank, -1)
    assert np.flatnonzero(groups.odd).tolist() == busy.tolist()


def test_a_straggler_and_a_single_step_are_two_things() -> None:
    work = noise(4, 8, 0)
    work[2] *= 1.4
    work[0, 5] *= 4
    found = judged(fleet_of(*job(work)))
    assert found.hold is not None
    assert found.hold.ranks == (2,)
    assert [(hold.ranks, hold.steps) for hold in found.once] == [((0,), (5,))]
    told = verdict_sentences(found, str, [f"ProfilerStep#{n}" for n in range(1, 9)], 4, 4)
    assert "holds all others back" in told[0]
    assert told[-1].startswith("Once, in step 6, (0,) held all others back by ")


@examples(3)
@given(ranks=st.integers(2, 6), seed=st.integers(0, 99))
def test_equal_ranks_name_nobody(ranks: int, seed: int) -> None:
    found = judged(fleet_of(*job(noise(ranks, 8, seed))))
    assert (found.kind, found.hold, found.once) == ("none", None, ())


@examples(3)
@given(world=st.integers(3, 128), seed=st.integers(0, 9))
def test_from_less_than_the_whole_group_nobody_is_named(world: int, seed: int) -> None:
    work = noise(2, 6, seed)
    work[1] *= 2
    fleet = fleet_of(*job(work, world=world))
    assert fleet.verdict.kind == "unknown"
    told = verdict_sentences(fleet.verdict, str, fleet.figures.steps.names, 2, world)
    assert told == [f"2 of {world} ranks were read: who holds the job back is unknown."]


@examples(3)
@given(seed=st.integers(0, 30))
def test_unequal_inputs_are_told_from_a_slow_rank(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.stack([random.permutation([64, 80, 96, 240]) for _ in range(10)], axis=1)
    work = rows * 10.0
    found = judged(fleet_of(*job(work, rows=rows)))
    assert found.kind == "input"
    assert found.hold is not None
    assert found.hold.why is not None
    assert found.hold.why.of == "elements"
    # Divided among four, 24 of each 240 rows stay where 160 were saved.
    assert found.per_step <= 0.8 * (240 - 80) * 10_000


def test_what_a_slow_rank_is_given_more_is_told() -> None:
    rows = np.full((3, 6), 64)
    rows[1] = 128
    found = judged(fleet_of(*job(rows * 10.0, rows=rows)))
    assert found.kind == "input"
    assert found.hold is not None
    assert found.hold.why is not None
    assert (found.hold.ranks, found.hold.varies) == ((1,), False)
    # A third of what it is given more stays with it when dealt out.
    assert abs(found.per_step - 640_000 * 2 / 3) < 30_000
    why = found.hold.why
    assert (why.of, why.name, why.shape, why.other_shape) == (
        "elements",
        "aten::mm",
        json.dumps([128, 64]),
        json.dumps([64, 64]),
    )


def test_how_often_is_chance() -> None:
    assert by_chance(10, 10, 2) < 0.01
    assert by_chance(6, 10, 2) > 0.5
    assert by_chance(3, 3, 2) > 0.2
    assert by_chance(5, 5, 8) < 0.01


def pairs(moves: list[float], steps: int = 5) -> list[Trace]:
    """Two ranks for each of some times, µs, that the data takes to move between them."""
    found = []
    for number, length in enumerate(moves):
        told: dict[str, Any] = {
            "Collective name": "allreduce",
            "Process Group Name": str(number),
            "Group size": 2,
        }
        told |= {"In msg nelems": 1000, "dtype": "Float"}
        for rank in (2 * number, 2 * number + 1):
            events: list[Event] = []
            for step in range(steps):
                at = 10.0 + 5000.0 * step
                events.append(entry("user_annotation", f"ProfilerStep#{step + 1}", at, 4990))
                events.append(entry("cpu_op", "aten::mm", at + 1, 400))
                events.append(entry("cpu_op", "c10d::allreduce_", at + 402, 5, Seq=step, **told))
                events.append(
                    entry(
                        "user_annotation", "gloo:all_reduce", at + 404, length, 2, Seq=step, **told
                    )
                )
            info = {
                "rank": rank,
                "world_size": 2 * len(moves),
                "backend": "gloo",
                "pg_config": [
                    {"pg_name": str(number), "ranks": [2 * number, 2 * number + 1], "pg_size": 2}
                ],
            }
            found.append(trace_of(events, baseTimeNanoseconds=UNIX, distributedInfo=info))
    return found


@examples(3)
@given(slow=st.integers(0, 3), times=st.floats(2.5, 6))
def test_a_slow_link_is_told_from_others(slow: int, times: float) -> None:
    moves = [500.0] * 4
    moves[slow] *= times
    (link,) = slow_links(fleet_of(*pairs(moves)).figures)
    assert link.ranks == (2 * slow, 2 * slow + 1)
    assert abs(link.times - times) < 0.05
    assert abs(link.lost - 500_000 * (times - 1)) < 5000


def test_links_that_are_alike_are_not_slow() -> None:
    assert slow_links(fleet_of(*pairs([500, 520, 480, 700])).figures) == ()
    # Of two nobody knows which is usual.
    assert slow_links(fleet_of(*pairs([500, 2000])).figures) == ()


@examples(3)
@given(rank=st.integers(0, 2), delay=st.floats(1500, 9000))
def test_a_rank_that_begins_late_is_told(rank: int, delay: float) -> None:
    found = fleet_of(*job(noise(3, 6, 0), late=(rank, delay))).verdict
    assert found.late is not None
    assert found.late[0] == rank
    assert abs(found.late[1] - delay * 1000) < 10_000
    assert found.hold is None


def test_ranks_that_begin_together_are_not_late() -> None:
    assert fleet_of(*job(noise(3, 6, 0))).verdict.late is None
