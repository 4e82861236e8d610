"""What several kernels reach of their roofs together: the time that each would take at its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.efficiency.rates import HELPS, Rows, Shares
from torch_tb_profiler.analysis.efficiency.together import MOSTLY, SEVERAL, together
from torch_tb_profiler.store.columns import Array

MEMORY, VECTOR, NONE = "memory", "vector fp32", "not modelled"
ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.integers(0, 9000),
        st.sampled_from((MEMORY, VECTOR, "", HELPS)),
        st.floats(0.01, 1.2),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=9,
)


@given(ROWS)
def test_the_share_is_of_the_time_with_a_roof_where_that_is_most(
    drawn: list[tuple[str, int, str, float, int]],
) -> None:
    names, time, roof, share, matrix = map(list, zip(*drawn, strict=True))
    n, none = len(drawn), np.zeros(len(drawn))
    known = [one in (MEMORY, VECTOR) for one in roof]
    of_roof: Array = np.where(known, np.array(share), np.nan)
    zeros, never = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    rows = Rows(
        workload=zeros,
        kernel=np.arange(n),
        calls=np.ones(n, np.int64),
        time=np.array(time),
        flops=none,
        bytes=none,
        matrix=np.array(matrix),
        event=zeros,
        link=never,
        fast=never,
    )
    shares = Shares(
        *(none, [""] * n, [""] * n, none, none, none, none, none, [""] * n),
        [one if told else "" for one, told in zip(roof, known, strict=True)],
        of_roof,
        ["" if told else one or NONE for one, told in zip(roof, known, strict=True)],
    )
    table = together(names, rows, shares)
    assert table["time_ns"].tolist() == sorted(table["time_ns"].tolist(), reverse=True)
    for row, name in enumerate(table["name"]):
        own = [one for one, of in zip(drawn, names, strict=True) if of == name]
        whole = sum(took for _, took, *_ in own)
        roofed = [(took, what, part) for _, took, what, part, _ in own if what in (MEMORY, VECTOR)]
        judged = sum(took for took, *_ in roofed)
        judged += sum(took for _, took, what, *_ in own if what == HELPS)
        assert (table["time_ns"][row], table["calls"][row]) == (whole, len(own))
        assert table["kernels"][row] == len(own)
        if not sum(took for took, *_ in roofed) or judged < MOSTLY * whole:
            assert np.isnan(table["of_roof"][row])
            assert table["roof"][row] is None
            continue
        assert table["of_roof"][row] == pytest.approx(
            sum(took * part for took, _, part in roofed) / judged
        )
        distinct = {what for took, what, _ in roofed if took}
        assert table["roof"][row] in {*distinct, SEVERAL}
        assert table["roof"][row] != SEVERAL or len(distinct) > 1
