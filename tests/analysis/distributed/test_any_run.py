"""What must hold for every run, however its ranks disagree: other counts, numbers missing, equal
names, ranks without a clock or without anything.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.distributed.written_ranks import UNIX, Call, rank_of
from tests.examples import examples
from torch_tb_profiler.analysis.distributed.bandwidth import ALL
from torch_tb_profiler.analysis.distributed.rank import Rank
from torch_tb_profiler.analysis.distributed.run import run_figures

CALL = st.builds(
    Call,
    kind=st.sampled_from(["all_reduce", "broadcast", "barrier", "dispatch"]),
    start=st.integers(0, 300),
    dur=st.integers(0, 60),
    bytes=st.sampled_from([-1, 0, 8, 16]),
    dtype=st.sampled_from(["", "Float"]),
    group=st.sampled_from(["", "1"]),
    group_size=st.sampled_from([-1, 2, 4]),
    members=st.sampled_from([(), (0, 1)]),
    sequence=st.sampled_from([-1, -1, 1, 2, 3]),
    step=st.integers(-1, 1),
)


@st.composite
def a_rank(draw: st.DrawFn) -> Rank:
    calls = sorted(draw(st.lists(CALL, max_size=6)), key=lambda call: call.start)
    return rank_of(
        draw(st.integers(0, 3)),
        calls,
        draw(st.sampled_from([None, UNIX, UNIX + 50])),
        steps=(1, 2),
        names=draw(st.sampled_from([(), ("a", "a")])),
    )


@examples(120)
@given(st.lists(a_rank(), max_size=4))
def test_time_is_neither_lost_nor_made(ranks: list[Rank]) -> None:
    figures = run_figures(ranks)
    parts = [figures.waiting[name] for name in ("waiting", "transfer", "unsplit", "late")]
    assert all((part >= 0).all() for part in parts)
    for number, rank in enumerate(ranks):
        for step in range(2):
            place = figures.steps.place[number][step]
            inside = np.flatnonzero(rank.step == step)
            moments = {t for i in inside.tolist() for t in range(rank.start[i], rank.end[i])}
            assert sum(int(part[number, place]) for part in parts[:3]) == len(moments)
    matches, waits = figures.matched.matches, figures.waits
    rows, every = matches.by_rank(matches.row), matches.by_rank(waits.wait)
    assert ((rows >= 0).sum(axis=0) >= 2).all()
    for own in rows:
        assert len(set(own[own >= 0].tolist())) == (own >= 0).sum(), "a collective is matched once"
    for match in range(rows.shape[1]):
        assert rows[waits.last[match], match] >= 0
        told = [
            (number, int(every[number, match]))
            for number in range(len(ranks))
            if every[number, match] >= 0
        ]
        assert all(
            wait
            <= ranks[number].end[rows[number, match]] - ranks[number].start[rows[number, match]]
            for number, wait in told
        )
        assert dict(told).get(int(waits.last[match]), 0) == 0, "the last one waits for nobody"
    single = [row for row in figures.operations if row.rank != ALL]
    for row in (row for row in figures.operations if row.rank == ALL):
        same = [one for one in single if one.sort == row.sort]
        assert (row.calls, row.total, row.waiting + row.transfer) == (
            sum(one.calls for one in same),
            sum(one.total for one in same),
            sum(one.waiting + one.transfer for one in same),
        )
    assert sum(row.calls for row in single) == sum(len(rank) for rank in ranks)


@examples(50)
@given(st.lists(a_rank(), min_size=2, max_size=4), st.permutations(range(4)))
def test_the_order_of_the_ranks_does_not_matter(ranks: list[Rank], order: list[int]) -> None:
    order = [place for place in order if place < len(ranks)]
    one, other = run_figures(ranks), run_figures([ranks[place] for place in order])
    assert len(one.matched.matches) == len(other.matched.matches)
    assert sorted(
        (u.kind, u.group, sorted(u.counts.values())) for u in one.matched.unmatched
    ) == sorted((u.kind, u.group, sorted(u.counts.values())) for u in other.matched.unmatched)
