"""Waiting and transferring: by hand, and against a slow way to say the same."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.distributed.written_ranks import UNIX, Call, rank_of, waits_of
from tests.examples import examples
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.steps import (
    common_steps,
    own_waits,
    split,
    waiting_shares,
)


def shifted(begins: tuple[int, int], second: int) -> tuple[list[Rank], list[int]]:
    """Two ranks in step on the true clock that reach a collective each 1,000 ns, once rank 1's
    recording began as late as rank 0 reached the first.
    """
    first, last = begins
    rank0 = [
        Call("all_reduce", 1000 * (n + 1), 50 + (last - first if n == 0 else second), sequence=n)
        for n in range(6)
    ]
    rank1 = [
        Call(
            "all_reduce",
            1000 * (n + 1) + (0 if n == 0 else second - (last - first)),
            50,
            sequence=n,
        )
        for n in range(6)
    ]
    return [rank_of(0, rank0), rank_of(1, rank1)], [first, last]


def test_the_profilers_start_is_left_out() -> None:
    ranks, offsets = shifted((0, 500), 20)
    matches, waits = waits_of(ranks, offsets)
    assert matches.by_rank(waits.wait)[0].tolist() == [500, 20, 20, 20, 20, 20]
    assert waits.spoiled.tolist() == [True] + [False] * 5
    shares = waiting_shares(ranks, common_steps(ranks, 9), matches, waits, ~waits.spoiled)
    assert shares["waiting"].tolist() == [[100], [0]]
    assert shares["unsplit"].tolist() == [[550], [50]]
    assert shares["late"].tolist() == [[0], [100]]


def test_a_straggler_is_no_profilers_start() -> None:
    for begins, second in (((0, 0), 500), ((0, 500), 480), ((0, 20), 20)):
        ranks, offsets = shifted(begins, second)
        _, waits = waits_of(ranks, offsets)
        assert not waits.spoiled.any(), (begins, second)


def test_who_waits_before_the_other_recording_begins() -> None:
    ranks, offsets = shifted((0, 5000), 2000)
    _, waits = waits_of(ranks, offsets)
    assert waits.spoiled.tolist()[0]


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60)), min_size=2, max_size=5)


@examples(200)
@given(
    st.lists(SPANS.filter(lambda spans: len(spans) == 3), min_size=1, max_size=4),
    st.sampled_from(["all_reduce", "broadcast"]),
    st.booleans(),
)
def test_against_a_loop(collectives: list[list[tuple[int, int]]], kind: str, clocked: bool) -> None:
    ranks = [
        rank_of(
            number,
            [
                Call(kind, 1000 * place + spans[number][0], spans[number][1], sequence=place)
                for place, spans in enumerate(collectives)
            ],
            UNIX if clocked else None,
        )
        for number in range(3)
    ]
    matches, waits = waits_of(ranks)
    assert len(matches) == len(collectives)
    rows, waited, late = map(matches.by_rank, (matches.row, waits.wait, waits.late))
    for match in range(len(collectives)):
        place = int(rows[0, match])
        spans = collectives[place]
        latest, shortest = max(start for start, _ in spans), min(dur for _, dur in spans)
        gone = [start + dur < latest for start, dur in spans]
        by_arrival = clocked and not (kind == "all_reduce" and any(gone))
        if by_arrival:
            expected = [
                -1 if left else latest - start if latest - start < dur else dur
                for (start, dur), left in zip(spans, gone, strict=True)
            ]
        else:
            expected = [dur - shortest for _, dur in spans]
        assert waited[:, match].tolist() == expected
        comes = [start if by_arrival else -dur for start, dur in spans]
        assert late[:, match].tolist() == [at - min(comes) for at in comes]
        assert waits.last[match] == comes.index(max(comes))
        assert waits.arrival_rule[match] == by_arrival


@examples(200)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 20), st.integers(-1, 20), st.integers(-1, 2)),
        max_size=8,
    )
)
def test_moments_are_counted_once(calls: list[tuple[int, int, int, int]]) -> None:
    start, dur, wait, group = (np.array([call[i] for call in calls], np.int64) for i in range(4))
    wait = np.minimum(wait, dur)
    parts = split(start, start + dur, wait, group, 3)
    for number in range(3):
        inside = [i for i in range(len(calls)) if group[i] == number]
        every = {t for i in inside for t in range(start[i], start[i] + dur[i])}
        told = {t for i in inside if wait[i] >= 0 for t in range(start[i], start[i] + dur[i])}
        moving = {
            t for i in inside if wait[i] >= 0 for t in range(start[i] + wait[i], start[i] + dur[i])
        }
        assert (parts.transfer[number], parts.waiting[number], parts.unsplit[number]) == (
            len(moving),
            len(told - moving),
            len(every - told),
        )
        assert parts.total[number] == len(every)


def test_waits_of_a_ranks_own_collectives() -> None:
    ranks = [
        rank_of(0, [Call("barrier", 0, 1), Call("all_reduce", 10, 20)]),
        rank_of(1, [Call("all_reduce", 15, 15)]),
    ]
    matches, waits = waits_of(ranks)
    assert own_waits(0, 2, matches, waits).tolist() == [-1, 5]


def test_steps_by_number_by_name_and_by_place() -> None:
    numbered = [rank_of(0, [], steps=(5, 6)), rank_of(1, [], steps=(6, 7))]
    steps = common_steps(numbered, 9)
    assert (steps.names, [place.tolist() for place in steps.place]) == (
        ("ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"),
        [[0, 1], [1, 2]],
    )
    assert [place.tolist() for place in common_steps(numbered, 2).place] == [[0, 1], [1, -1]]
    assert common_steps(numbered, 2).cut == 1
    named = [rank_of(0, [], names=("a", "b")), rank_of(1, [], names=("b", "c"))]
    assert [place.tolist() for place in common_steps(named, 9).place] == [[0, 1], [1, 2]]
    alike = [rank_of(0, [], names=("request", "request")), rank_of(1, [], names=("request",))]
    assert (
        common_steps(alike, 9).names,
        [place.tolist() for place in common_steps(alike, 9).place],
    ) == (("request", "request"), [[0, 1], [0]])


def test_times_too_far_apart_to_lie_side_by_side() -> None:
    far = 1 << 61
    start, group = np.array([0, far, 5]), np.array([0, 1, 2])
    parts = split(start, start + 10, np.array([4, -1, 0]), group, 3)
    assert (parts.waiting.tolist(), parts.transfer.tolist(), parts.unsplit.tolist()) == (
        [4, 0, 0],
        [6, 0, 10],
        [0, 10, 0],
    )


def test_a_rank_with_a_number_twice() -> None:
    twice = [rank_of(0, [], steps=(5, 5)), rank_of(1, [], steps=(5, 6))]
    assert [place.tolist() for place in common_steps(twice, 9).place] == [[0, 1], [0, 1]]
