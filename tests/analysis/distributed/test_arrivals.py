"""Who comes last, by how much before the next-latest, and who is to blame for it: in drawn jobs, against what was drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.analysis.critical_path.test_ranks import UNIX, fleet_of, group, stages
from tests.analysis.critical_path.test_verdict import entry, job
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.critical_path.verdict_texts import verdict_sentences
from torch_tb_profiler.analysis.distributed.arrivals import arrivals_of
from torch_tb_profiler.store.model import Trace

RANKS, STEPS = st.integers(2, 6), st.integers(4, 8)


@examples(5)
@given(ranks=RANKS, steps=STEPS, seed=st.integers(0, 999))
def test_the_others_wait_for_the_last_beyond_the_next_latest(
    ranks: int, steps: int, seed: int
) -> None:
    work = np.random.default_rng(seed).integers(400, 4000, (ranks, steps)).astype(float)
    came = arrivals_of(fleet_of(*job(work)).figures)
    order = np.sort(work, axis=0)
    for rank in range(ranks):
        first = work.argmax(axis=0) == rank
        expected = np.where(first, order[-1] - order[-2], 0) * 1000
        assert np.abs(came.held(np.array([rank])) - expected).max() <= 2
    # What of it two share costs nothing: the next-latest of the others counts.
    assert (came.held(np.arange(ranks)) == 0).all()


@examples(5)
@given(ranks=RANKS, steps=STEPS, seed=st.integers(0, 999))
def test_no_wait_is_longer_than_its_step(ranks: int, steps: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    work, after = (random.exponential(2000, (ranks, steps)) + 50 for _ in range(2))
    came = arrivals_of(fleet_of(*job(work, after=after, loose=True)).figures)
    begin, stop, _ = came.figures.job_steps()
    for rank in range(ranks):
        assert (came.held(np.array([rank])) <= stop - begin).all()


@examples(5)
@given(
    ranks=st.integers(3, 6),
    steps=st.integers(5, 8),
    late=st.floats(0.3, 2.0),
    noise=st.floats(0.5, 3.0),
    seed=st.integers(0, 999),
    data=st.data(),
)
def test_a_rank_that_comes_last_is_named_whatever_is_on_the_path(
    ranks: int, steps: int, late: float, noise: float, seed: int, data: st.DataObject
) -> None:
    """Work after the collective, on any other rank, puts that one on the path to the end of the step."""
    slow = data.draw(st.integers(0, ranks - 1))
    random = np.random.default_rng(seed)
    work = random.uniform(950, 1050, (ranks, steps))
    work[slow] += 1000 * late
    after = np.zeros((ranks, steps))
    others = np.delete(np.arange(ranks), slow)
    after[random.choice(others, steps), np.arange(steps)] = 1000 * noise
    fleet = fleet_of(*job(work, after=after))
    found = fleet.verdict
    assert found.kind == "straggler"
    assert found.hold is not None
    assert (found.hold.ranks, len(found.hold.steps)) == ((slow,), steps)
    beyond = (work[slow] - np.delete(work, slow, axis=0).max(axis=0)) * 1000
    assert np.abs(found.hold.held - beyond).max() <= 2
    told = verdict_sentences(found, str, fleet.figures.steps.names, ranks, ranks)
    assert told[1].startswith(f"It comes last to the collectives in {steps} of {steps} steps")


def test_a_rank_that_is_last_in_most_steps_is_named_though_not_in_all() -> None:
    work = np.full((4, 8), 1000.0)
    work[2] = 2000
    work[1, 5] = 2600
    found = fleet_of(*job(work)).verdict
    assert found.hold is not None
    assert found.hold.ranks == (2,)
    assert sorted(found.hold.steps) == [0, 1, 2, 3, 4, 6, 7]


def test_half_of_the_ranks_are_no_stragglers() -> None:
    work = np.full((4, 6), 1000.0)
    work[2:] = 2000
    assert fleet_of(*job(work)).verdict.hold is None


MESH = {"tp0": (0, 1), "tp1": (2, 3), "dp0": (0, 2), "dp1": (1, 3)}


def mesh(slow: int, longer: float, steps: int = 4) -> list[Trace]:
    """Four ranks that work 500 µs, one longer; then the two of each first group meet, then those of each second one."""
    found = []
    for rank in range(4):
        events: list[Event] = []
        for step in range(steps):
            at = 10.0 + 10_000 * step
            work = 500 + (longer if rank == slow else 0)
            begins = {"tp": at + work, "dp": 0.0}
            mine = {name[:2]: name for name, members in MESH.items() if rank in members}
            tied = at + 500 + (longer if slow in MESH[mine["tp"]] else 0) + 50
            begins["dp"], all_there = tied + 20, at + 500 + longer + 50 + 20
            events.append(entry("user_annotation", f"ProfilerStep#{step + 1}", at, 9_990))
            events.append(entry("cpu_op", "aten::mm", at + 1, work - 2))
            for kind, end in (("tp", tied), ("dp", all_there + 50)):
                told: dict[str, Any] = {
                    "Collective name": "allreduce",
                    "Process Group Name": mine[kind],
                    "Group size": 2,
                    "Seq": step,
                }
                begin = begins[kind]
                events.append(entry("cpu_op", "c10d::allreduce_", begin, end - begin, **told))
                events.append(
                    entry(
                        "user_annotation", "gloo:all_reduce", begin + 1, end - begin - 2, 2, **told
                    )
                )
        info = {"rank": rank, "world_size": 4, "backend": "gloo"}
        groups = [group(name, *members) for name, members in MESH.items() if rank in members]
        found.append(
            trace_of(
                events, baseTimeNanoseconds=UNIX, distributedInfo={**info, "pg_config": groups}
            )
        )
    return found


@examples(4)
@given(slow=st.integers(0, 3), longer=st.floats(300, 4000))
def test_who_waited_for_another_before_is_not_to_blame(slow: int, longer: float) -> None:
    """The partner of the slow rank comes last to its second group, too, but only as it had waited."""
    fleet = fleet_of(*mesh(slow, longer))
    assert {blame.rank for blame in fleet.blames} == {slow}
    assert fleet.verdict.hold is not None
    assert fleet.verdict.hold.ranks == (slow,)


def by_turns(work: NDArray[np.float64]) -> list[Trace]:
    """Ranks that meet several times in a step. ``work``: µs before each meeting, of shape (ranks, steps, meetings)."""
    ranks, steps, meetings = work.shape
    found = []
    for rank in range(ranks):
        events: list[Event] = []
        at = 10.0
        for step in range(steps):
            begin, sequence = at, step * meetings
            for number in range(meetings):
                own, all_there = work[rank, step, number], at + work[:, step, number].max()
                told: dict[str, Any] = {"Collective name": "allreduce"}
                told |= {"Process Group Name": "0", "Group size": ranks, "Seq": sequence + number}
                events.append(entry("cpu_op", "aten::mm", at, own - 1))
                waits = all_there + 50 - at - own
                events.append(entry("cpu_op", "c10d::allreduce_", at + own, waits, **told))
                inner = at + own + 1, waits - 2
                events.append(entry("user_annotation", "gloo:all_reduce", *inner, 2, **told))
                at = all_there + 60
            events.append(entry("user_annotation", f"ProfilerStep#{step}", begin, at - begin - 1))
        info: dict[str, Any] = {"rank": rank, "world_size": ranks, "backend": "gloo"}
        info |= {"pg_config": [group("0", *range(ranks))]}
        found.append(trace_of(events, baseTimeNanoseconds=UNIX, distributedInfo=info))
    return found


@examples(6)
@given(
    ranks=st.integers(2, 5),
    meetings=st.integers(2, 8),
    steps=st.integers(3, 6),
    seed=st.integers(0, 999),
)
def test_ranks_that_take_turns_in_a_step_hold_nobody_back_but_wait(
    ranks: int, meetings: int, steps: int, seed: int
) -> None:
    """Each of them is last at its meetings, and in all they do the same work: what one waits it would not if they met once."""
    random = np.random.default_rng(seed)
    work = random.uniform(400, 420, (ranks, steps, meetings * ranks))
    for number in range(meetings * ranks):
        work[number % ranks, :, number] += 2000
    fleet = fleet_of(*by_turns(work))
    assert fleet.verdict.hold is None
    waits = (work.max(axis=0) - work).sum(axis=2).min(axis=0) * 1000
    assert [wait.rank for wait in fleet.verdict.turns] == list(range(ranks))
    for wait in fleet.verdict.turns:
        assert np.abs(wait.time - waits).max() <= 3 * meetings * ranks
        assert wait.meetings == pytest.approx((ranks - 1) * meetings, abs=meetings)


def test_of_ranks_that_meet_once_none_waits_by_turns() -> None:
    work = np.random.default_rng(0).uniform(400, 4000, (3, 5, 1))
    assert fleet_of(*by_turns(work)).verdict.turns == ()


def test_stages_of_a_pipeline_wait_in_a_bubble_and_none_is_late() -> None:
    fleet = fleet_of(*stages())
    found, figures = fleet.verdict, fleet.figures
    assert (found.hold, found.once, fleet.blames) == (None, (), ())
    assert [stage.rank for stage in found.stages][:1] == [0]
    # What a page shows of ranks that are late says the same.
    assert figures.waiting["late"].max() == 0
    matches, waits = figures.matched.matches, figures.waits
    for stage in found.stages:
        own = waits.wait[matches.of_rank(stage.rank)]
        assert 0 < stage.time.sum() <= own[own > 0].sum()
    told = verdict_sentences(found, str, figures.steps.names, 3, 3)
    assert told[0].startswith("The stages of the pipeline wait for each other, ")
    assert "a bubble" in told[0]
