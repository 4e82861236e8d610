"""Process groups: who belongs to them, what they move, how near the link that is, and who sends how much to whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from tests.analysis.distributed.written_ranks import Call, rank_of
from torch_tb_profiler.analysis.distributed.collectives import ProcessGroup
from torch_tb_profiler.analysis.distributed.group_table import compact, group_table
from torch_tb_profiler.analysis.distributed.groups import (
    GroupKey,
    RankNode,
    pair_share,
    process_groups,
    traffic,
)
from torch_tb_profiler.analysis.distributed.rank import TRANSFER, Device, Rank
from torch_tb_profiler.analysis.distributed.run import run_figures
from torch_tb_profiler.store.display import DisplayTable

H100 = "NVIDIA H100 80GB HBM3"


def reduce_in(group: str, size: int, moved: int, start: int = 0, dur: int = 100) -> Call:
    return Call("all_reduce", start, dur, bytes=moved, dtype="f", group=group, group_size=size)


def listed(*groups: tuple[str, tuple[int, ...]]) -> tuple[ProcessGroup, ...]:
    return tuple(
        ProcessGroup(name, ranks, f"mesh_{name}", "cuda:nccl", len(ranks)) for name, ranks in groups
    )


def grid(device: str = H100) -> list[Rank]:
    """Four ranks: ``tp`` of (0, 1) and of (2, 3), ``dp`` of all; 800 bytes in 100 ns and 4,000 in 400 ns."""
    ranks = []
    for number in range(4):
        pair = (0, 1) if number < 2 else (2, 3)
        calls = [reduce_in("tp", 2, 800), reduce_in("dp", 4, 4000, 200, 400)]
        ranks.append(
            replace(
                rank_of(number, calls),
                groups=listed(("tp", pair), ("dp", (0, 1, 2, 3))),
                devices=(Device(0, device, 85_000_000_000, "9.0", "nvidia"),),
            )
        )
    return ranks


def places(*nodes: str) -> list[RankNode]:
    return [RankNode(number, node) for number, node in enumerate(nodes)]


def table(ranks: Sequence[Rank], where: Sequence[RankNode]) -> DisplayTable:
    return group_table(process_groups(run_figures(ranks)), where, ranks)


def rows(found: DisplayTable, *names: str) -> list[tuple[object, ...]]:
    return list(zip(*(found[name] for name in names), strict=True))


def test_groups_of_one_name_and_other_members_are_not_one() -> None:
    found = process_groups(run_figures(grid()))
    assert list(found) == [
        GroupKey("dp", (0, 1, 2, 3)),
        GroupKey("tp", (0, 1)),
        GroupKey("tp", (2, 3)),
    ]
    assert [sums.recorded for sums in found.values()] == [[0, 1, 2, 3], [0, 1], [2, 3]]


def test_times_and_bytes_are_those_of_a_rank() -> None:
    found = table(grid(), places("a", "a", "b", "b"))
    assert rows(
        found, "group", "description", "ranks", "group_size", "calls", "bytes", "total_ns"
    ) == [
        ("dp", "mesh_dp", "0-3", 4, 1, 4000, 400),
        ("tp", "mesh_tp", "0-1", 2, 1, 800, 100),
        ("tp", "mesh_tp", "2-3", 2, 1, 800, 100),
    ]


def test_bus_bandwidth_stands_beside_the_link_of_a_group_within_a_node() -> None:
    """800 bytes · 2 (2 − 1) / 2 in 100 ns are 8 GB/s; NVLink 4 sends 450."""
    found = table(grid(), places("a", "a", "b", "b"))
    assert rows(found, "reach", "nodes", "link", "link_bandwidth") == [
        ("across nodes", 2, None, None),
        ("within a node", 1, "NVLink 4", 450e9),
        ("within a node", 1, "NVLink 4", 450e9),
    ]
    assert found["bus_bandwidth"][1] == pytest.approx(8e9)
    assert found["link_share"][1] == pytest.approx(8 / 450)
    assert found["bus_bandwidth"][0] == pytest.approx(4000 * 1.5 / 400e-9)


@pytest.mark.parametrize(
    ("nodes", "reach"),
    [
        (("", "", "", ""), None),
        (("a", "a", "a", ""), None),
        (("a", "b", "", ""), "across nodes"),
        (("a", "a", "a", "a"), "within a node"),
    ],
)
def test_where_a_group_reaches_is_known_or_not(nodes: tuple[str, ...], reach: str | None) -> None:
    assert table(grid(), places(*nodes))["reach"][0] == reach


def test_a_group_with_a_member_that_was_not_recorded_is_not_known_to_stay_on_a_node() -> None:
    ranks = grid()[:3]
    found = table(ranks, places("a", "a", "a"))
    assert rows(found, "ranks", "recorded", "reach", "link") == [
        ("0-3", 3, None, None),
        ("0-1", 2, "within a node", "NVLink 4"),
        ("2-3", 1, None, None),
    ]


@pytest.mark.parametrize("device", ["", "NVIDIA H100 PCIe", "Something Else"])
def test_a_device_that_does_not_tell_its_link_has_none(device: str) -> None:
    assert table(grid(device), places("a", "a", "a", "a"))["link"] == [None] * 3


def test_one_message_of_unknown_size_makes_the_sum_unknown_and_a_barrier_does_not() -> None:
    barrier = Call("barrier", 300, 10, group="g", group_size=2)
    unknown = Call("all_gather", 500, 10, group="g", group_size=2)
    for calls, moved in (
        ([reduce_in("g", 2, 8), barrier], 8),
        ([reduce_in("g", 2, 8), unknown], None),
    ):
        ranks = [rank_of(number, calls) for number in range(2)]
        assert table(ranks, places("", ""))["bytes"] == [moved]


def test_each_member_sends_every_other_one_its_part() -> None:
    """dp: 2 · 4,000 / 4 to each; tp: 2 · 800 / 2 to the other."""
    found = traffic(grid(), places("a", "a", "b", "b"))
    assert found.sent.tolist() == [
        [0, 2800, 2000, 2000],
        [2800, 0, 2000, 2000],
        [2000, 2000, 0, 2800],
        [2000, 2000, 2800, 0],
    ]
    assert found.left_out == 0


@pytest.mark.parametrize(
    ("kind", "per_rank"),
    [
        ("all_reduce", 2 * 3 / 4),
        ("all_gather", 3 / 4),
        ("reduce_scatter", 3 / 4),
        ("all_to_all", 3 / 4),
        ("broadcast", 3 / 4),
        ("gather", 3 / 16),
    ],
)
def test_all_parts_together_are_what_nccl_tests_counts(kind: str, per_rank: float) -> None:
    share = pair_share(kind, 4)
    assert share is not None
    assert 3 * share == pytest.approx(per_rank)


def test_what_cannot_be_shared_out_has_no_part() -> None:
    assert pair_share("all_reduce", 1) is None
    assert pair_share("all_reduce", -1) is None
    assert pair_share("dispatch", 4) is None


def test_a_transfer_counts_once_from_its_sender_to_its_receiver() -> None:
    label = f"{TRANSFER} 0 to 2"
    send = Call("send", 0, 10, bytes=64, group="pp", label=label)
    receive = Call("recv", 5, 10, bytes=64, group="pp", label=label)
    ranks = [rank_of(0, [send, send]), rank_of(1, []), rank_of(2, [receive, receive])]
    found = traffic(ranks, places("", "", ""))
    assert found.sent[0].tolist() == [0, 0, 128]
    assert (found.sent.sum(), found.left_out) == (128, 0)


def test_calls_of_unknown_size_or_members_are_left_out_and_counted() -> None:
    calls = [
        reduce_in("nobody knows", 4, 8),
        Call("all_reduce", 200, 10, group="dp", group_size=2),
        Call("send", 300, 10, bytes=8, group="dp"),
        Call("barrier", 400, 10, group="dp", group_size=2),
    ]
    ranks = [replace(rank_of(n, calls), groups=listed(("dp", (0, 1)))) for n in range(2)]
    found = traffic(ranks, places("", ""))
    assert (found.sent.sum(), found.left_out) == (0, 6)


def test_a_member_that_was_not_recorded_takes_its_part_away() -> None:
    found = traffic(grid()[:2], places("", ""))
    assert found.sent.tolist() == [[0, 2800], [2800, 0]]


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ((), ""),
        ((4,), "4"),
        ((0, 1, 2, 3), "0-3"),
        ((0, 8, 16, 24), "0-24 step 8"),
        ((0, 3), "0, 3"),
        ((0, 1, 5, 8, 9), "0-1, 5, 8-9"),
    ],
)
def test_members_are_told_shortly(ranks: tuple[int, ...], text: str) -> None:
    assert compact(ranks) == text


def test_members_without_order_are_cut() -> None:
    assert len(compact(tuple(int(n) for n in np.cumsum(1 + np.arange(500) % 7)))) == 200


def test_a_run_without_collectives_has_no_groups() -> None:
    ranks = [rank_of(0, []), rank_of(1, [])]
    assert process_groups(run_figures(ranks)) == {}
    assert traffic(ranks, places("", "")).sent.tolist() == [[0, 0], [0, 0]]
