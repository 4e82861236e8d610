"""Bandwidths of operations, with waiting and without."""

from __future__ import annotations

import pytest

from tests.analysis.distributed.written_ranks import Call, rank_of, waits_of
from torch_tb_profiler.analysis.distributed.bandwidth import ALL, bus_factor, operations


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
