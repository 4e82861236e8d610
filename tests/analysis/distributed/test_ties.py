"""Which ranks may be compared, and when somebody may be named."""

from __future__ import annotations

from tests.analysis.distributed.written_ranks import Call, rank_of
from torch_tb_profiler.analysis.distributed.run import run_figures


def reduced(group: str, at: int = 0, size: int = 2) -> Call:
    return Call("all_reduce", at, 5, group=group, group_size=size)


def test_matches_tie_ranks_through_others() -> None:
    ranks = [
        rank_of(0, [reduced("a")]),
        rank_of(1, [reduced("a"), reduced("b", 10)]),
        rank_of(2, [reduced("b", 10)]),
        rank_of(3, [reduced("c", 20)]),
    ]
    figures = run_figures(ranks)
    assert figures.tied.tolist() == [True, True, True, False]
    assert figures.whole


def test_nothing_matched_ties_nobody() -> None:
    figures = run_figures([rank_of(0, [reduced("a")]), rank_of(1, [reduced("b")])])
    assert not figures.tied.any()
    assert not figures.whole
    assert not run_figures([]).whole


def test_a_member_that_was_not_recorded_may_be_the_cause() -> None:
    pair = [rank_of(rank, [reduced("a", size=128)]) for rank in (0, 1)]
    assert run_figures(pair).tied.all()
    assert not run_figures(pair).whole
