"""Rows as bits against a list of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from torch_tb_profiler.analysis.timeline import search
from torch_tb_profiler.analysis.timeline.search import RowSet


@examples(200)
@given(mask=st.lists(st.booleans(), max_size=80), data=st.data())
def test_counts_and_members(mask: list[bool], data: st.DataObject) -> None:
    members = [row for row, is_member in enumerate(mask) if is_member]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "BLOCK", 16)
        found = RowSet(np.array(mask, np.bool_))
        assert found.n == len(members)
        assert [found.member(index) for index in range(found.n)] == members
        rows = data.draw(st.lists(st.integers(0, len(mask)), max_size=10))
        assert found.below(np.array(rows, np.int64)).tolist() == [
            sum(m < row for m in members) for row in rows
        ]
        most = data.draw(st.integers(0, 90))
        assert found.first(most).tolist() == members[:most]


def test_blocks_of_their_real_size() -> None:
    mask = np.zeros(3 * search.BLOCK + 5, np.bool_)
    members = [0, search.BLOCK - 1, search.BLOCK, 3 * search.BLOCK + 4]
    mask[members] = True
    found = RowSet(mask)
    assert [found.member(index) for index in range(4)] == members
    assert found.below(np.array([len(mask), search.BLOCK, 0])).tolist() == [4, 2, 0]
    assert found.nbytes < len(mask) / 4
