"""Collectives are matched across ranks, and put the ranks on one clock."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import opened
from tests.analysis.timeline.charts import event
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.distributed.alignment import (
    LEAST_MATCHES,
    ClockOffset,
    align,
    correct,
)
from torch_tb_profiler.analysis.distributed.collectives import (
    Collectives,
    Label,
    kind_of,
    match_collectives,
    match_of,
)
from torch_tb_profiler.analysis.distributed.communication import find_collectives
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.header import unix_begin
from torch_tb_profiler.store.model import Facts, Trace

Rank = tuple[Trace, Facts]
UNIX_US = 1_700_000_000_000_000
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def rank_of(events: list[Event], **header: object) -> Rank:
    trace = trace_of(events, **header)
    return trace, derive(trace)


def kernel(ts: float, dur: float, name: str = NCCL, **args: object) -> Event:
    return {**event("kernel", 7, ts, dur, name), "args": {"device": 0, "stream": 7, **args}}


def reduce(ts: float, seq: int | None = None, group: str = "0", kind: str = "allreduce") -> Event:
    more: dict[str, Any] = {} if seq is None else {"Seq": seq}
    return {
        **kernel(ts, 10),
        "args": {"Collective name": kind, "Process Group Name": group, **more},
    }


def found(rank: Rank) -> Collectives:
    return find_collectives(*rank)


def aligned(ranks: list[Rank]) -> list[ClockOffset]:
    return align(
        [unix_begin(trace) for trace, _ in ranks],
        match_collectives([found(rank) for rank in ranks]),
    )


def kinds(one: Collectives) -> list[str]:
    return [one.labels[label].kind for label in one.label.tolist()]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("all_reduce", "allreduce"),
        ("allreduce_", "allreduce"),
        ("_all_gather_base", "allgather"),
        ("_allgather_base_", "allgather"),
        ("allgather_into_tensor_coalesced", "allgather"),
        ("reduce_scatter_tensor", "reducescatter"),
        ("all_to_allv", "alltoall"),
        ("alltoall_base_", "alltoall"),
        ("broadcast", "broadcast"),
        ("barrier", "barrier"),
        (NCCL, "allreduce"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16", "reducescatter"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", ""),
        ("send", ""),
        ("recv", ""),
        ("wait", ""),
        ("", ""),
        ("coalesced", ""),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_kernel_tells_its_own_collective() -> None:
    one = found(
        rank_of([reduce(10, 4), reduce(30, 5, "g", "reduce_scatter"), kernel(50, 5, "gemm")])
    )
    assert (kinds(one), [label.group for label in one.labels], one.sequence.tolist()) == (
        ["allreduce", "reducescatter"],
        ["0", "g"],
        [4, 5],
    )
    assert one.end.tolist() == [10_000, 30_000]


def test_what_a_kernel_does_not_say_the_calls_around_its_launch_do() -> None:
    params = {"Collective name": "_allgather_base", "Process Group Name": "3", "Seq": 8}
    one = found(
        rank_of(
            [
                {**event("cpu_op", 1, 0, 100, "record_param_comms"), "args": params},
                event("user_annotation", 1, 5, 80, "nccl:_all_gather_base"),
                {**event("cuda_runtime", 1, 10, 5, "cudaLaunchKernel"), "args": {"correlation": 9}},
                kernel(
                    50, 20, "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", correlation=9
                ),
            ]
        )
    )
    assert (one.labels, one.sequence.tolist()) == ((Label("3", (), "allgather"),), [8])


def test_host_regions_stand_in_where_there_is_no_kernel() -> None:
    one = found(
        rank_of(
            [
                event("cpu_op", 1, 0, 10, "c10d::allreduce_"),
                event("user_annotation", 2, 3, 40, "gloo:all_reduce"),
            ]
        )
    )
    assert (kinds(one), one.end.tolist()) == (["allreduce"], [43_000])
    one = found(rank_of([event("cpu_op", 1, 0, 10, "c10d::allreduce_")]))
    assert (kinds(one), one.end.tolist()) == (["allreduce"], [10_000])


def test_sends_and_receives_are_none() -> None:
    events = [
        reduce(10, kind="send"),
        kernel(50, 5, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t"),
    ]
    assert len(found(rank_of(events)).row) == 0


def test_a_group_is_its_ranks_too() -> None:
    groups = [{"pg_name": "0", "ranks": [1, 0]}, {"pg_name": "1", "ranks": "all"}, 7]
    one = found(rank_of([reduce(10), reduce(30, group="1")], distributedInfo={"pg_config": groups}))
    assert [label.ranks for label in one.labels] == [(0, 1), ()]
    other = found(
        rank_of([reduce(10)], distributedInfo={"pg_config": [{"pg_name": "0", "ranks": [2, 3]}]})
    )
    assert len(match_collectives([one, other])) == 0


def test_matching_by_sequence() -> None:
    """Rank 1 began to record one collective later, and rank 2 missed one."""
    ranks = [
        found(rank_of([reduce(100 + 20 * seq, seq) for seq in chosen]))
        for chosen in ((4, 5, 6, 7), (5, 6, 7, 8), (4, 7))
    ]
    matches = match_collectives(ranks)
    assert matches.number.tolist() == [4, 5, 6, 7]
    rows = matches.by_rank(matches.row)
    assert (rows >= 0).tolist() == [
        [True] * 4,
        [False, True, True, True],
        [True, False, False, True],
    ]
    for rank, one in enumerate(ranks):
        for match in range(4):
            if rows[rank, match] >= 0:
                assert (
                    one.sequence[one.row.tolist().index(rows[rank, match])] == matches.number[match]
                )


def test_matching_by_place_needs_the_same_number() -> None:
    both = [reduce(10), reduce(30), reduce(50, kind="broadcast")]
    matches = match_collectives(
        [found(rank_of(events)) for events in (both, both, [both[0], both[2]])]
    )
    assert [matches.labels[label].kind for label in matches.label.tolist()] == [
        "allreduce",
        "allreduce",
        "broadcast",
    ]
    assert (matches.by_rank(matches.row) >= 0).tolist() == [
        [True] * 3,
        [True] * 3,
        [False, False, True],
    ]


def test_a_sequence_that_occurs_twice_is_matched_by_place_in_it() -> None:
    matches = match_collectives(
        [found(rank_of([reduce(10, 4), reduce(30, 4), reduce(50, 5)])) for _ in range(2)]
    )
    assert matches.by_rank(matches.row).tolist() == [[0, 1, 2], [0, 1, 2]]


def test_nothing_to_match() -> None:
    none = found(rank_of([event("cpu_op", 1, 0, 1)]))
    for ranks in ([], [none], [none, none], [none, found(rank_of([reduce(10)]))]):
        matches = match_collectives(ranks)
        assert (matches.ranks, len(matches), len(matches.row)) == (len(ranks), 0, 0)
        assert [a.matched for a in align([None] * len(ranks), matches)] == [0] * len(ranks)


def test_which_match_an_event_belongs_to() -> None:
    launch = {**event("cuda_runtime", 1, 10, 5, "cudaLaunchKernel"), "args": {"correlation": 9}}
    second = {**event("cuda_runtime", 1, 60, 5, "cudaLaunchKernel"), "args": {"correlation": 10}}
    around = [
        event("cpu_op", 1, 0, 90, "both"),
        event("cpu_op", 1, 5, 20, "c10d::allreduce_"),
        event("cpu_op", 3, 5, 20, "elsewhere"),
    ]
    trace, facts = rank_of(
        [*around, launch, second, kernel(50, 20, correlation=9), kernel(80, 20, correlation=10)]
    )
    matches = match_collectives([find_collectives(trace, facts)] * 2)
    names = trace.strings.many(trace["spans"]["name"])
    answers = {
        name: match_of(trace, facts, matches, 1, names.index(name))
        for name in ("both", "c10d::allreduce_", "elsewhere", "cudaLaunchKernel", NCCL)
    }
    assert answers == {
        "both": -1,
        "c10d::allreduce_": 0,
        "elsewhere": -1,
        "cudaLaunchKernel": 0,
        NCCL: 0,
    }


def test_ranks_whose_clocks_say_nothing_are_found_by_their_collectives() -> None:
    """Rank 1's trace begins 300 µs after rank 0's."""
    ranks = [
        rank_of([event("cpu_op", 1, 50, 5), *(reduce(begin + 1000 + 50 * i, i) for i in range(4))])
        for begin in (0, -300)
    ]
    assert aligned(ranks) == [
        ClockOffset(0, "collectives", 0, 4),
        ClockOffset(300_000, "collectives", 0, 4),
    ]


def test_without_collectives_the_clock_counts_and_without_a_clock_nothing() -> None:
    ranks = [rank_of([event("cpu_op", 1, UNIX_US + late, 5)]) for late in (30, 0)]
    assert aligned(ranks) == [
        ClockOffset(30_000, "clock", None, 0),
        ClockOffset(0, "clock", None, 0),
    ]
    ranks = [rank_of([event("cpu_op", 1, late, 5)]) for late in (30, 0)]
    assert aligned(ranks) == [ClockOffset(0, "none", None, 0)] * 2
    assert aligned([rank_of([event("cpu_op", 1, UNIX_US, 5)])]) == [ClockOffset(0, "none", None, 0)]


def test_base_time_is_part_of_the_clock() -> None:
    base = 1_700_000_000_000_000_000
    ranks = [rank_of([event("cpu_op", 1, late, 5)], baseTimeNanoseconds=base) for late in (30, 0)]
    assert [a.offset for a in aligned(ranks)] == [30_000, 0]


def test_too_few_collectives_move_nobody() -> None:
    ranks = [
        rank_of(
            [
                event("cpu_op", 1, UNIX_US, 5),
                *(reduce(UNIX_US + late + 50 * i, i) for i in range(LEAST_MATCHES - 1)),
            ]
        )
        for late in (100, 900)
    ]
    assert [(a.offset, a.method, a.error, a.matched) for a in aligned(ranks)] == [
        (0, "clock", None, LEAST_MATCHES - 1)
    ] * 2


def test_a_correction_smaller_than_what_it_leaves_is_not_made() -> None:
    """Collectives that end far apart, once earlier here and once there: the clocks are better."""
    late = [[0, 400, 0, 410, 0, 390], [400, 0, 390, 0, 410, 0]]
    ranks = [
        rank_of(
            [
                event("cpu_op", 1, UNIX_US, 5),
                *(reduce(UNIX_US + 1000 * (i + 1) + more, i) for i, more in enumerate(of_rank)),
            ]
        )
        for of_rank in late
    ]
    assert [(a.offset, a.method, a.matched) for a in aligned(ranks)] == [(0, "clock", 6)] * 2
    assert all(a.error is not None and a.error > 190_000 for a in aligned(ranks))


def test_kinds_that_somebody_may_leave_early_correct_only_where_there_is_nothing_else() -> None:
    def rank(early: int) -> Rank:
        sent = [reduce(UNIX_US + 1000 + 50 * i - early, i, kind="broadcast") for i in range(9)]
        return rank_of(
            [
                event("cpu_op", 1, UNIX_US, 5),
                *sent,
                *(reduce(UNIX_US + 5000 + 50 * i, 100 + i) for i in range(4)),
            ]
        )

    assert [a.offset for a in aligned([rank(0), rank(500)])] == [0, 0]


def test_processes_of_one_machine_keep_their_clock(samples: Path) -> None:
    ranks = [opened(path) for path in sorted((samples / "ddp_gloo").glob("*.gz"))]
    begins = [begin for trace, _ in ranks if (begin := unix_begin(trace)) is not None]
    answers = aligned(ranks)
    assert [a.offset for a in answers] == [begin - min(begins) for begin in begins]
    assert all(a.method == "clock" and a.matched == 12 and a.error is not None for a in answers)


def test_public_runs(real_traces: Path) -> None:
    ranks = [opened(path) for path in sorted((real_traces / "ddp128_sampled").glob("*.gz"))]
    assert sorted(set(kinds(found(ranks[0])))) == ["allgather", "allreduce", "alltoall"]
    assert [a.matched for a in aligned(ranks)] == [10, 10]
    nccl = found(opened(next((real_traces / "a100_nccl").glob("*.gz"))))
    assert {kind: kinds(nccl).count(kind) for kind in kinds(nccl)} == {
        "broadcast": 6,
        "allreduce": 15,
    }
    assert {label.ranks for label in nccl.labels} == {(0, 1)}


@lru_cache(maxsize=1)
def noise() -> np.random.Generator:
    return np.random.default_rng(3)


@examples(40)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=12), st.integers(5, 60))
def test_any_skews_are_found_among_overlapping_groups(skews: list[int], count: int) -> None:
    """Half of the collectives are of all ranks, the others of neighbours; ends differ by up to 100
    ns.
    """
    begin = np.cumsum(noise().integers(10**5, 10**6, count)).astype(np.float64)
    ends = (
        begin[None, :]
        + np.array(skews, np.float64)[:, None]
        + noise().uniform(-100, 100, (len(skews), count))
    )
    for column in range(0, count, 2):
        first = column % len(skews)
        member = np.isin(np.arange(len(skews)), [first, (first + 1) % len(skews)])
        ends[~member, column] = np.nan
    correction, error = correct(ends)
    told = np.isfinite(correction)
    assert told.all() == bool((np.isfinite(ends).sum(axis=1) >= LEAST_MATCHES).all())
    placed = (np.array(skews) + correction)[told]
    assert placed.max() - placed.min() <= 2_000
    assert (error[told] <= 1_000).all()
