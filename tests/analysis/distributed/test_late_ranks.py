"""Who is late in a step, what it cost, what it ran before; and the bandwidths."""

from __future__ import annotations

import pytest

from tests.analysis.distributed.written_ranks import Call, rank_of, waits_of
from tests.builders.drawn import draw
from torch_tb_profiler.analysis.distributed.bandwidth import ALL, bus_factor, operations
from torch_tb_profiler.analysis.distributed.cause import Arrival, Cause, find_cause
from torch_tb_profiler.analysis.distributed.late_ranks import late_ranks, preceding_match
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.steps import common_steps
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.columns import Table

US = 1000


def three(*starts: tuple[int, int, int]) -> list[Rank]:
    """Three ranks; of each collective the begins, all end 10 after the last; the second and third
    lie in another step.
    """
    return [
        rank_of(
            number,
            [
                Call(
                    "all_reduce", begin[number], max(begin) + 10 - begin[number], step=min(place, 1)
                )
                for place, begin in enumerate(starts)
            ],
            steps=(1, 2),
        )
        for number in range(3)
    ]


def test_the_one_that_costs_the_others_most() -> None:
    ranks = three((0, 5, 20), (100, 130, 110), (200, 200, 290))
    matches, waits = waits_of(ranks)
    first, second = late_ranks(ranks, common_steps(ranks, 9), matches, waits)
    assert (
        first.step,
        first.rank,
        first.caused,
        first.longest,
        first.lead,
        first.collectives,
        first.match,
        first.waiter,
    ) == (0, 2, 35, 20, 15, 1, 0, 0)
    # In the second step rank 1 costs 30 + 20, rank 2 costs 90 + 90.
    assert (
        second.step,
        second.rank,
        second.caused,
        second.longest,
        second.lead,
        second.collectives,
        second.match,
    ) == (1, 2, 180, 90, 90, 1, 2)
    assert second.waiter in (0, 1)


def test_nobody_is_late_where_nobody_waits() -> None:
    ranks = three((0, 0, 0), (100, 100, 100))
    matches, waits = waits_of(ranks)
    assert late_ranks(ranks, common_steps(ranks, 9), matches, waits) == []


def test_the_collective_before() -> None:
    ranks = three((0, 5, 20), (100, 130, 110), (135, 145, 200))
    matches, waits = waits_of(ranks)
    assert preceding_match(matches, waits, ranks, 1, (0, 1)) == 0
    assert preceding_match(matches, waits, ranks, 2, (0, 1)) == 0, (
        "the second one ends at 140, after rank 0 begins the third"
    )
    assert preceding_match(matches, waits, ranks, 0, (0, 1)) == -1


MODULE = {"M": "nn.Module: Linear_0", "line": "model.py(7): forward", "load": "loader.py(3): fetch"}


def side(drawing: str, begin: int) -> Arrival:
    trace = draw(drawing, MODULE)
    facts = derive(trace)
    insight = build_insight(trace, facts)
    collectives: Table = insight["collectives"]
    event = int(collectives["event"][-1])
    return Arrival(
        trace, facts, insight, event, int(facts["span_links"]["launch"][event]), begin * US
    )


FAST = """
main   /M                                          /
main    /line                                     /
main     [aten::mm       ] [nccl:all_reduce      ]
main       <cudaLaunch #1>   <cudaLaunch #2>
gpu 7             {gemm #1 }
gpu 9                             {ncclKernel_AllReduce #2 }
"""


def test_a_slow_kernel_on_the_device() -> None:
    slow = """
main   /M                                          /
main    /line                                     /
main     [aten::mm       ] [nccl:all_reduce      ]
main       <cudaLaunch #1>   <cudaLaunch #2>
gpu 7             {gemm #1                              }
gpu 9                                                    {ncclKernel_AllReduce #2 }
"""
    cause = find_cause(side(slow, 0), side(FAST, 0), 20 * US)
    assert cause == Cause(
        cause.event if cause else -1,
        "gemm",
        29 * US,
        True,
        29 * US,
        "aten::mm",
        "Linear_0",
        "model.py(7): forward",
    )


LATE_LAUNCH = """
loader        /load                      /
main     [aten::mm       ]                          [nccl:all_reduce      ]
main       <cudaLaunch #1>                            <cudaLaunch #2>
gpu 7             {gemm #1 }
gpu 9                                                       {ncclKernel_AllReduce #2 }
"""


def test_another_thread_where_the_launching_one_did_nothing() -> None:
    cause = find_cause(side(LATE_LAUNCH, 0), side(FAST, 0), 20 * US)
    assert cause is not None
    assert (cause.name, cause.extra, cause.on_device, cause.side_extra) == (
        "loader.py(3): fetch",
        28 * US,
        False,
        28 * US,
    )
    assert (cause.operator, cause.line) == (None, "loader.py(3): fetch")


def test_the_launching_thread_comes_before_others() -> None:
    framed = (
        "main   /M                                                                   /"
        + LATE_LAUNCH
    )
    cause = find_cause(side(framed, 0), side(FAST, 0), 20 * US)
    assert cause is not None
    assert (cause.name, cause.module) == ("nn.Module: Linear_0", "Linear_0")


def test_who_waits_for_the_device_is_not_to_blame() -> None:
    """The host waits 29 µs longer because the kernel takes that longer."""
    slow = """
main     [aten::mm       ]<cudaDeviceSynchronize       >[nccl:all_reduce      ]
main       <cudaLaunch #1>                                <cudaLaunch #2>
gpu 7             {gemm #1                              }
gpu 9                                                           {ncclKernel_AllReduce #2 }
"""
    cause = find_cause(side(slow, 0), side(FAST, 0), 20 * US)
    assert cause is not None
    assert (cause.name, cause.on_device, cause.operator) == ("gemm", True, "aten::mm")


def test_who_is_not_late_has_no_cause() -> None:
    assert find_cause(side(FAST, 0), side(FAST, 0), 0) is None


def test_what_came_about_before_has_no_cause() -> None:
    """Some 24 µs later since the common begin, but the other one waited for 60."""
    assert find_cause(side(LATE_LAUNCH, 0), side(FAST, 0), 40 * US) is not None
    assert find_cause(side(LATE_LAUNCH, 0), side(FAST, 0), 60 * US) is None


def test_nothing_recorded() -> None:
    late = draw("gpu 9            {ncclKernel_AllReduce #2 }")
    early = draw("gpu 9 {ncclKernel_AllReduce #2 }\ngpu 7 {gemm #1}")
    sides = []
    for trace in (late, early):
        facts = derive(trace)
        insight = build_insight(trace, facts)
        event = int(insight["collectives"]["event"][0])
        sides.append(Arrival(trace, facts, insight, event, -1, 0))
    assert find_cause(sides[0], sides[1], 11 * US) is None


@pytest.mark.parametrize(
    ("kind", "ranks", "factor"),
    [
        ("all_reduce", 8, 1.75),
        ("all_gather", 4, 0.75),
        ("reduce_scatter", 2, 0.5),
        ("all_to_all", 8, 0.875),
        ("broadcast", 8, 1.0),
        ("broadcast", -1, 1.0),
        ("reduce", 8, 1.0),
        ("send", -1, 1.0),
        ("recv", 2, 1.0),
        ("all_reduce", 1, 0.0),
        ("all_reduce", -1, None),
        ("barrier", 8, None),
        ("dispatch", 8, None),
    ],
)
def test_factors_of_nccl_tests(kind: str, ranks: int, factor: float | None) -> None:
    assert bus_factor(kind, ranks) == factor


def test_bandwidth_without_waiting() -> None:
    """1 MB in 10 µs after waiting: 100 GB/s; of two ranks all_reduce has the factor 1."""
    ranks = [
        rank_of(n, [Call("all_reduce", begin, 40_000 - begin, bytes=10**6, group_size=2)])
        for n, begin in enumerate((0, 30_000))
    ]
    matches, waits = waits_of(ranks)
    rows = {row.rank: row for row in operations(ranks, matches, waits)}
    assert [rows[n].algorithm_bandwidth for n in (0, 1, ALL)] == pytest.approx([1e11] * 3)
    assert rows[ALL].bus_bandwidth == pytest.approx(1e11)
    assert (
        rows[0].waiting,
        rows[0].transfer,
        rows[ALL].waiting,
        rows[ALL].total,
        rows[ALL].calls,
    ) == (30_000, 10_000, 30_000, 50_000, 2)
    assert rows[ALL].split


def test_bandwidth_with_waiting_where_it_is_not_told() -> None:
    alone = [
        rank_of(
            0,
            [
                Call("all_reduce", 0, 40_000, bytes=10**6, group_size=2),
                Call("all_reduce", 50_000, 10_000, bytes=10**6, group_size=2),
            ],
        )
    ]
    matches, waits = waits_of(alone)
    row = operations(alone, matches, waits)[0]
    assert (row.split, row.split_calls) == (False, 0)
    assert row.algorithm_bandwidth == pytest.approx(2e6 / 50e-6)
    unknown = [rank_of(0, [Call("all_reduce", 0, 40_000), Call("broadcast", 0, 0, bytes=8)])]
    matches, waits = waits_of(unknown)
    assert [
        row.algorithm_bandwidth for row in operations(unknown, matches, waits) if row.rank == ALL
    ] == [None, None]
