"""The curve in few points: no extreme is lost, whatever the window."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.memory.recorded import insight
from tests.examples import examples
from torch_tb_profiler.analysis.memory.window import blocks_in, curve_in
from torch_tb_profiler.store.insight import Insight

US = 1000


def staircase(sizes: list[int], gaps: list[int]) -> Insight:
    total, time, lines = 10_000, 0, []
    for size, gap in zip(sizes, gaps, strict=False):
        time, total = time + gap, total + size
        lines.append(f"main {time} gpu0 - {size:+d} {total} {2 * total}")
    return insight("\n".join(lines))


def test_a_window_begins_with_what_holds_there() -> None:
    found = staircase([1, 2, 4], [10, 10, 10])
    curve = curve_in(found, 0, (15 * US, 25 * US), 100)
    assert (curve.time.tolist(), curve.allocated.tolist(), curve.reserved.tolist()) == (
        [15 * US, 20 * US],
        [10_001, 10_003],
        [20_002, 20_006],
    )
    assert (curve.peak, curve.peak_time, curve.thinned) == (10_003, 20 * US, False)
    before = curve_in(found, 0, (0, 5 * US), 100)
    assert (
        before.time.tolist(),
        before.allocated.tolist(),
        before.reserved.tolist(),
        before.peak_time,
    ) == ([0], [10_000], [-1], 0)
    behind = curve_in(found, 0, (90 * US, 95 * US), 100)
    assert (behind.time.tolist(), behind.allocated.tolist(), behind.peak) == (
        [90 * US],
        [10_007],
        10_007,
    )


@examples(100)
@given(
    st.lists(st.integers(-100, 100), min_size=20, max_size=80),
    st.lists(st.integers(0, 9), min_size=80, max_size=80),
    st.data(),
)
def test_thinning_keeps_the_extremes_at_their_times(
    sizes: list[int], gaps: list[int], data: st.DataObject
) -> None:
    found = staircase(sizes, gaps)
    table = found["memory_curve"]
    end = int(table["time"][-1]) + 1
    low = data.draw(st.integers(0, end - 1))
    high = data.draw(st.integers(low + 1, end + US))
    points = data.draw(st.integers(8, 60))
    curve = curve_in(found, 0, (low, high), points)
    inside = (table["time"] >= low) & (table["time"] < high)
    held = (
        int(table["allocated"][np.flatnonzero(table["time"] < low)[-1]])
        if (table["time"] < low).any()
        else 10_000
    )
    values = np.concatenate(([held], table["allocated"][inside]))
    assert len(curve.time) <= 2 * max(points // 2, 4) + 1 or not curve.thinned
    assert (curve.peak, int(curve.allocated.max()), int(curve.allocated.min())) == (
        int(values.max()),
        int(values.max()),
        int(values.min()),
    )
    assert (np.diff(curve.time) >= 0).all()
    assert curve.allocated[-1] == values[-1]
    assert curve.thinned == (len(curve.time) < len(values))
    known = curve.reserved >= 0
    assert (curve.reserved[known] == 2 * curve.allocated[known]).all()
    places = {(int(t), int(a)) for t, a in zip(table["time"], table["allocated"], strict=True)}
    assert set(zip(curve.time[1:].tolist(), curve.allocated[1:].tolist(), strict=True)) <= places
    assert (curve.peak_time, curve.peak) in places or curve.peak_time == low


def test_blocks_of_a_window_are_those_that_begin_or_end_in_it_the_largest_first() -> None:
    memory = insight("""
        main  0 gpu0 a +1
        main 10 gpu0 b +2
        main 20 gpu0 c +4
        main 30 gpu0 a -1
        main 40 gpu0 b -2
        main 50 gpu0 p -8
    """)
    size = memory["allocations"]["bytes"]

    def listed(window: tuple[int, int] | None) -> list[int]:
        values: list[int] = size[blocks_in(memory, 0, window)].tolist()
        return values

    assert listed(None) == [8, 4, 2, 1]
    assert listed((10 * US, 40 * US)) == [4, 2, 1]
    assert listed((11 * US, 20 * US)) == []
    assert listed((50 * US, 51 * US)) == [8]
