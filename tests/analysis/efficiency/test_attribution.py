"""Shares of a call's work at its kernels, against sums done by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.arrays.nesting import subtree_totals
from torch_tb_profiler.analysis.efficiency.attribution import (
    Pieces,
    attributed_amounts,
    bounded_sums,
    counted_calls,
    lost_calls,
    main_pieces,
)

PIECES = st.lists(
    st.tuples(
        st.integers(-1, 5), st.integers(0, 3), st.integers(0, 1 << 40), st.booleans(), st.booleans()
    ),
    min_size=1,
    max_size=40,
)


def _pieces(drawn: list[tuple[int, int, int, bool, bool]]) -> Pieces:
    call, name, dur, kernel, multiplies = (np.array(column) for column in zip(*drawn, strict=True))
    call = call.astype(np.int64)
    # Calls 0 to 2 are of workload 0, the others of workload 1.
    return Pieces(
        call,
        np.where(call < 0, -1, call // 3),
        name,
        dur.astype(np.int64),
        kernel,
        kernel & multiplies,
        np.zeros(len(call), np.bool_),
    )


@given(PIECES, st.integers(0, 1 << 60), st.integers(-1, 1 << 60))
def test_every_call_does_its_work_exactly_once(
    drawn: list[tuple[int, int, int, bool, bool]], first: int, second: int
) -> None:
    pieces = _pieces(drawn)
    amount = np.array([first, second], np.int64)
    amounts = attributed_amounts(pieces, main_pieces(pieces), amount)
    for call in set(pieces.call.tolist()) - {-1}:
        mine = pieces.call == call
        whole = int(amount[call // 3])
        assert amounts[mine].sum() == whole if whole >= 0 else (amounts[mine] == -1).all()
        assert whole < 0 or (amounts[mine] >= 0).all()
    assert (amounts[pieces.call < 0] == -1).all()


@given(PIECES)
def test_what_multiplies_does_the_work(drawn: list[tuple[int, int, int, bool, bool]]) -> None:
    pieces = _pieces(drawn)
    main = main_pieces(pieces)
    for call in set(pieces.call.tolist()) - {-1}:
        mine = pieces.call == call
        assert main[mine].any()
        if pieces.multiplies[mine].any():
            assert (main[mine] == pieces.multiplies[mine]).all()
        elif pieces.kernel[mine].any():
            assert pieces.kernel[mine & main].all()


@given(PIECES)
def test_a_call_whose_work_cannot_have_been_its_own_is_lost(
    drawn: list[tuple[int, int, int, bool, bool]],
) -> None:
    call, able, wanted = (
        np.array(column)
        for column in zip(*((piece[0], piece[3], piece[4]) for piece in drawn), strict=True)
    )
    expected = sorted(
        {
            c
            for c, _, w in zip(call, able, wanted, strict=True)
            if c >= 0 and w and not any(able[(call == c) & wanted])
        }
    )
    assert lost_calls(call, able, wanted).tolist() == expected


def _forest(draw: st.DrawFn) -> tuple[list[int], list[bool], list[int]]:
    size = draw(st.integers(1, 15))
    above = [draw(st.integers(-1, i - 1)) for i in range(size)]
    return (
        above,
        [draw(st.booleans()) for _ in range(size)],
        draw(st.lists(st.integers(-1, size - 1), max_size=20)),
    )


@given(st.composite(_forest)())
def test_the_counted_call_against_a_walk(case: tuple[list[int], list[bool], list[int]]) -> None:
    above, modelled, launcher = case

    def way(node: int) -> list[int]:
        return [node, *way(above[node])] if node >= 0 else []

    owner = [next((n for n in way(node) if modelled[n]), -1) for node in launcher]
    expected = [
        node if own < 0 else [n for n in way(own) if n in owner][-1]
        for node, own in zip(launcher, owner, strict=True)
    ]
    calls = counted_calls(
        np.array(above, np.int32), np.array(modelled), np.array(launcher, np.int64)
    )
    assert calls.tolist() == expected
    # No counted call that is modelled is around another one: nothing is counted twice.
    counted = np.zeros(len(above), np.int64)
    counted[[n for n in set(expected) if n >= 0 and modelled[n]]] = 1
    assert (subtree_totals(np.array(above, np.int64), counted)[counted == 1] == 1).all()


def test_sums_that_do_not_fit_are_not_told() -> None:
    group = np.array([0, 0, 1, 1, 2])
    assert bounded_sums(group, 3, np.array([3, 4, 5, -1, 1 << 61])).tolist() == [7, -1, 1 << 61]
    assert bounded_sums(np.array([0, 0, 0]), 1, np.array([1 << 61, 1 << 61, 1 << 61])).tolist() == [
        -1
    ]
