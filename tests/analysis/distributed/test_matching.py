"""Which collectives of several ranks are one, and why others are not."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.analysis.distributed.written_ranks import UNIX, Call, rank_of
from tests.builders.listed import trace_listed
from tests.examples import examples
from torch_tb_profiler.analysis.distributed import matching
from torch_tb_profiler.analysis.distributed.matching import RunMatches, match_ranks
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.rank import rank_of as rank_from
from torch_tb_profiler.analysis.distributed.rank_index import build_index
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight


def places(found: RunMatches) -> list[list[int]]:
    return [list(column) for column in found.matches.by_rank(found.matches.row).T.tolist()]


def test_sequence_numbers_bear_a_late_begin() -> None:
    one = rank_of(
        0, [Call("all_reduce", at, 5, sequence=n) for n, at in ((1, 0), (2, 10), (3, 20))]
    )
    late = rank_of(1, [Call("all_reduce", at, 5, sequence=n) for n, at in ((2, 10), (3, 20))])
    run_matches = match_ranks([one, late])
    assert places(run_matches) == [[1, 0], [2, 1]]
    assert [(u.kind, u.counts, u.reason) for u in run_matches.unmatched] == [
        ("allreduce", {0: 3, 1: 2}, "counts")
    ]


def test_without_clocks_places_count_only_where_the_numbers_agree() -> None:
    two, three = ([Call("all_reduce", 10 * n, 5) for n in range(count)] for count in (2, 3))
    run_matches = match_ranks([rank_of(i, own, None) for i, own in enumerate((two, two, three))])
    assert places(run_matches) == [[0, 0, -1], [1, 1, -1]]
    assert [(u.counts, u.reason) for u in run_matches.unmatched] == [({0: 2, 1: 2, 2: 3}, "counts")]


def test_by_the_clocks_those_match_that_overlap() -> None:
    two, three = ([Call("all_reduce", 10 * n, 5) for n in range(count)] for count in (2, 3))
    run_matches = match_ranks([rank_of(0, two), rank_of(1, two), rank_of(2, three)])
    assert places(run_matches) == [[0, 0, 0], [1, 1, 1]]
    late = rank_of(1, three, UNIX + 10)
    assert places(match_ranks([rank_of(0, three), late])) == [[1, 0], [2, 1]]
    alone = [Call("all_reduce", at, 5) for at in (0, 20)]
    assert places(match_ranks([rank_of(0, three), rank_of(1, alone)])) == [[0, 0], [2, 1]]


def test_what_only_the_order_matches_is_counted() -> None:
    calls = [Call("all_reduce", at, 5) for at in (0, 20)]
    numbered = [Call("all_reduce", at, 5, sequence=at) for at in (0, 20)]
    for own, begin, likely in (
        (calls, UNIX, 0),
        (calls, UNIX + 10**6, 2),
        (calls, None, 2),
        (numbered, UNIX + 10**6, 0),
    ):
        found = match_ranks([rank_of(0, own), rank_of(1, own, begin)])
        assert (len(found.matches), found.likely) == (2, likely)


@examples(100)
@given(
    st.lists(st.integers(1, 50), min_size=3, max_size=30),
    st.lists(st.sets(st.integers(0, 29)), min_size=2, max_size=5),
    st.lists(st.integers(-2, 2), min_size=5, max_size=5),
)
def test_whatever_ranks_did_not_record_no_two_that_are_apart_match(
    gaps: list[int], missing: list[set[int]], skews: list[int]
) -> None:
    """Each lasts 10 ns; gaps between them are longer than what clocks differ by. Where a rank has less than half of what the
    rank with most recorded meanwhile, its clock could as well be another.
    """
    begins = [sum(gaps[: i + 1]) + 20 * i for i in range(len(gaps))]
    kept = [[i for i in range(len(begins)) if i not in lost] for lost in missing]
    most = max(kept, key=len)
    for own in kept:
        meanwhile = [i for i in own if most and most[0] <= i <= most[-1]]
        assume(2 * len(set(own) & set(most)) >= max(1, len(meanwhile)))
    ranks = [
        rank_of(r, [Call("all_reduce", begins[i], 10) for i in own], UNIX + skews[r])
        for r, own in enumerate(kept)
    ]
    for row in places(match_ranks(ranks)):
        assert len({kept[rank][i] for rank, i in enumerate(row) if i >= 0}) == 1


def test_other_bytes_or_another_type_are_another_collective() -> None:
    for other in (
        Call("all_reduce", 0, 5, bytes=9, sequence=1),
        Call("all_reduce", 0, 5, bytes=8, dtype="Half", sequence=1),
    ):
        run_matches = match_ranks(
            [
                rank_of(0, [Call("all_reduce", 0, 5, bytes=8, dtype="Float", sequence=1)]),
                rank_of(1, [other]),
            ]
        )
        assert (places(run_matches), run_matches.unmatched[0].reason) == ([], "arguments")


def test_one_that_does_not_fit_spoils_places_but_not_numbers() -> None:
    def pair(sequences: tuple[int, int]) -> list[Rank]:
        calls = [
            [
                Call("all_reduce", 10 * i, 5, bytes=size, sequence=sequences[i])
                for i, size in enumerate(sizes)
            ]
            for sizes in ((8, 16), (8, 32))
        ]
        return [rank_of(number, own) for number, own in enumerate(calls)]

    assert places(match_ranks(pair((-1, -1)))) == []
    assert places(match_ranks(pair((1, 2)))) == [[0, 0]]


def test_unknown_bytes_agree_with_all_and_gathers_may_differ() -> None:
    assert places(
        match_ranks(
            [
                rank_of(0, [Call("all_reduce", 0, 5, bytes=8)]),
                rank_of(1, [Call("all_reduce", 0, 5)]),
            ]
        )
    ) == [[0, 0]]
    assert places(
        match_ranks([rank_of(n, [Call("all_to_all", 0, 5, bytes=8 + n)]) for n in (0, 1)])
    ) == [[0, 0]]


def test_groups_of_one_name() -> None:
    """Ranks 0 and 1 are a group "1", ranks 2 and 3 another one of that name."""

    def ranks(members: dict[int, tuple[int, ...]]) -> list[Rank]:
        return [
            rank_of(
                n, [Call("all_reduce", 0, 5, group="1", group_size=2, members=members.get(n, ()))]
            )
            for n in range(4)
        ]

    assert places(match_ranks(ranks({0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}))) == [
        [0, 0, -1, -1],
        [-1, -1, 0, 0],
    ]
    run_matches = match_ranks(ranks({}))
    assert (places(run_matches), run_matches.unmatched[0].reason) == ([], "group")


def test_a_rank_alone() -> None:
    run_matches = match_ranks([rank_of(0, [Call("barrier", 0, 5)]), rank_of(1, [])])
    assert [(u.kind, u.counts, u.reason) for u in run_matches.unmatched] == [
        ("barrier", {0: 1}, "alone")
    ]
    assert match_ranks([rank_of(0, [Call("barrier", 0, 5)])]).unmatched == ()
    assert places(match_ranks([])) == []


def test_beyond_the_limit_nothing_is_matched(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [Call("all_reduce", 10 * n, 5, sequence=n) for n in range(5)]
    monkeypatch.setattr(matching, "MOST_CELLS", 6)
    run_matches = match_ranks([rank_of(0, calls), rank_of(1, calls)])
    assert (len(places(run_matches)), run_matches.cut) == (3, 4)


def test_a_send_and_its_receive_are_one() -> None:
    def worker(number: int, kind: str) -> Rank:
        moved = {
            "Collective name": kind,
            "In msg nelems": 4,
            "dtype": "Float",
            "Process Group Name": "0",
            "Group size": 4,
            "Src Rank": 0,
            "Dst Rank": 1,
        }
        trace = trace_listed(
            f"gpu 0:7 kernel ncclDevKernel_SendRecv@{10 + number}+9 {json.dumps(moved)}"
        )
        facts = derive(trace)
        return rank_from(build_index(trace, facts, build_insight(trace, facts)), number)

    run_matches = match_ranks([worker(0, "send"), worker(1, "recv")])
    assert places(run_matches) == [[0, 0]]
    assert run_matches.matches.labels[0].kind == "transfer 0 to 1"
    assert places(match_ranks([worker(0, "send"), worker(1, "send")])) == []
