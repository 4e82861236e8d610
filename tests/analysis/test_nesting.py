"""Nesting by pointer jumping against a stack that looks at one span after the other."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.analysis.arrays.nesting import (
    BLOCK,
    _climb,
    climb,
    innermost_at,
    nearest,
    nest,
    nest_rows,
    subtree_totals,
    with_ancestors,
)
from torch_tb_profiler.store.schema import SPANS as SPANS_TABLE

SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 20)), max_size=40)
Spans = list[tuple[int, int, int]]


def ordered(spans: Spans) -> Spans:
    return sorted(spans, key=lambda s: (s[1], -s[2]))


def one_by_one(spans: Spans) -> tuple[list[int], list[bool]]:
    """Innermost earlier span of the track that holds the whole of each, and whether an earlier one
    holds only its begin.
    """
    parents, crossing = [], []
    for i, (track, start, dur) in enumerate(spans):
        earlier = [
            j for j in range(i) if spans[j][0] == track and spans[j][1] + spans[j][2] > start
        ]
        whole = [j for j in earlier if spans[j][1] + spans[j][2] >= start + dur]
        parents.append(max(whole, default=-1))
        inner = [j for j in earlier if j > parents[-1]]
        crossing.append(any(spans[j][1] + spans[j][2] < start + dur for j in inner))
    return parents, crossing


def nested(spans: Spans) -> tuple[list[int], list[bool]]:
    track, start, dur = (np.array([s[k] for s in spans], np.int64) for k in range(3))
    nesting = nest(track.astype(np.int32), start, start + dur)
    return nesting.parent.tolist(), nesting.overlapping.tolist()


@given(SPANS, st.integers(1, 9) | st.just(BLOCK))
def test_any_spans_in_blocks_of_any_size(spans: Spans, block: int) -> None:
    spans = ordered(spans)
    with patch("torch_tb_profiler.analysis.arrays.nesting.BLOCK", block):
        parents, crossing = nested(spans)
    assert (parents, crossing) == one_by_one(spans)


@given(SPANS, st.integers(1, 9))
def test_rows_of_a_table_are_nested_where_they_stand(spans: Spans, block: int) -> None:
    spans = ordered(spans)
    track, start, dur = (np.array([s[k] for s in spans], np.int64) for k in range(3))
    other = np.full(len(spans), -1)
    table = SPANS_TABLE.build(
        start=start,
        dur=dur,
        track=track,
        **dict.fromkeys(("name", "category", "correlation", "external", "ordinal"), other),
        role=track,
    )
    row = np.flatnonzero(np.arange(len(spans)) % 3 > 0).astype(np.int32)
    with patch("torch_tb_profiler.analysis.arrays.nesting.BLOCK", block):
        nesting = nest_rows(table, row)
    assert (nesting.parent.tolist(), nesting.overlapping.tolist()) == one_by_one(
        [spans[i] for i in row.tolist()]
    )


@given(
    st.lists(st.tuples(st.integers(0, 1 << 30), st.booleans()), max_size=40),
    st.booleans(),
)
def test_the_order_of_a_forest_decides_nothing(
    nodes: list[tuple[int, bool]], backwards: bool
) -> None:
    """Parents may stand behind their children."""
    n = len(nodes)
    parent = np.array([above % (i + 1) - 1 for i, (above, _) in enumerate(nodes)], np.int64)
    wanted = np.array([marked for _, marked in nodes], np.bool_)
    if backwards:
        parent, wanted = np.where(parent >= 0, n - 1 - parent, -1)[::-1], wanted[::-1]
    assert nearest(parent, wanted).tolist() == _climb(parent, np.arange(n), wanted).tolist()


def test_more_tracks_than_sixteen_bits_count() -> None:
    spans = [
        (track, time, 4 - 2 * time) for time in (0, 1) for track in (0, 70_000, 70_000 - 65_536)
    ]
    assert nested(spans)[0] == [-1, -1, -1, 0, 1, 2]


def test_climb_stops_at_the_first_wanted_or_at_the_top() -> None:
    parent = np.array([-1, 0, 1, 2, 1])
    wanted = np.array([False, True, False, False, False])
    assert climb(parent, np.array([3, 4, 1, 0, -1]), wanted).tolist() == [1, 1, 1, -1, -1]


@examples(200)
@given(SPANS, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 55)), max_size=20))
def test_around_a_point_is_the_innermost_span_that_is_open(
    spans: Spans, points: list[tuple[int, int]]
) -> None:
    rows = ordered(spans)
    track, start, dur = (np.array([span[k] for span in rows], np.int64) for k in range(3))
    parent = nest(track, start, start + dur).parent
    innermost = innermost_at(
        track,
        start,
        start + dur,
        parent,
        *(np.array([point[k] for point in points], np.int64) for k in range(2)),
    )
    # The last that began of those that are open: of two that begin together the shorter, of two
    # equal ones the second.
    expected = [
        max((i for i, (t, s, d) in enumerate(rows) if t == where and s <= time < s + d), default=-1)
        for where, time in points
    ]
    assert innermost.tolist() == expected


@given(st.lists(st.tuples(st.integers(-1, 30), st.booleans()), max_size=40))
def test_nearest_is_where_climbing_from_everywhere_ends(nodes: list[tuple[int, bool]]) -> None:
    parent = np.array([min(above, i - 1) for i, (above, _) in enumerate(nodes)], np.int64)
    wanted = np.array([is_wanted for _, is_wanted in nodes], np.bool_)
    assert (
        nearest(parent, wanted).tolist() == _climb(parent, np.arange(len(nodes)), wanted).tolist()
    )


@given(st.lists(st.tuples(st.integers(-1, 30), st.booleans()), max_size=40))
def test_ancestors_are_all_that_climbing_meets(nodes: list[tuple[int, bool]]) -> None:
    parent = np.array([min(above, i - 1) for i, (above, _) in enumerate(nodes)], np.int64)
    expected = [False] * len(nodes)
    for i, (_, is_wanted) in enumerate(nodes):
        node = i if is_wanted else -1
        while node >= 0:
            expected[node] = True
            node = int(parent[node])
    assert (
        with_ancestors(parent, np.array([is_wanted for _, is_wanted in nodes], np.bool_)).tolist()
        == expected
    )


@given(st.lists(st.tuples(st.integers(-1, 30), st.integers(-5, 5)), max_size=40))
def test_values_are_carried_up_to_everything_above(nodes: list[tuple[int, int]]) -> None:
    parent = [min(above, i - 1) for i, (above, _) in enumerate(nodes)]
    beneath: list[list[int]] = [[value] for _, value in nodes]
    for i in range(len(nodes) - 1, -1, -1):
        if parent[i] >= 0:
            beneath[parent[i]] += beneath[i]
    values = np.array([value for _, value in nodes], np.int64)
    assert subtree_totals(np.array(parent, np.int32), values).tolist() == [
        sum(all_of) for all_of in beneath
    ]
    assert subtree_totals(np.array(parent, np.int32), values, np.maximum).tolist() == [
        max(all_of) for all_of in beneath
    ]
