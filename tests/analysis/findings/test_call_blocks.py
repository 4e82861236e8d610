"""Steps whose calls are alike are looked at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.reasons.calls import blocks

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=30)


@given(ROWS)
def test_each_position_is_in_the_block_of_its_label_and_blocks_are_alike_where_all_columns_are(
    rows: list[tuple[int, int, bool]],
) -> None:
    label, kind, flag = (np.array([row[at] for row in rows], np.int64) for at in range(3))
    looked = iter(range(len(rows)))
    found = [
        (place.tolist(), number)
        for place, number in blocks(label, [kind, flag != 0], lambda place: next(looked))
    ]
    by_label = {
        one: [at for at, row in enumerate(rows) if row[0] == one]
        for one in sorted(set(label.tolist()))
    }
    assert [place for place, _ in found] == list(by_label.values())
    contents = [[rows[at][1:] for at in place] for place, _ in found]
    for content, (_, number) in zip(contents, found, strict=True):
        same = [other for own, (_, other) in zip(contents, found, strict=True) if own == content]
        assert set(same) == {number}
        assert sum(other == number for _, other in found) == len(same)
