"""Segments of host threads by block and by period, against each of them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.critical_path import host as host_module
from torch_tb_profiler.analysis.critical_path.host import HostSegments
from torch_tb_profiler.analysis.what_if.replay import Durations, take_away

_LENGTHS = st.lists(st.lists(st.integers(1, 9), max_size=12), min_size=1, max_size=3)
_PERIODS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=5)


def _segments(lengths: list[list[int]]) -> HostSegments:
    bounded = ([5 * track, *own] if own else [] for track, own in enumerate(lengths))
    edges = [np.cumsum(np.array(own, np.int64)) for own in bounded]
    bounds = np.cumsum([0, *map(len, edges)])
    nothing = np.zeros(max(int(bounds[-1]) - 1, 0), np.int32)
    return HostSegments(np.concatenate(edges), nothing, nothing.astype(np.uint8), bounds)


@given(_LENGTHS, st.data())
def test_periods_are_the_union_of_the_chosen_segments(
    lengths: list[list[int]], data: st.DataObject
) -> None:
    host = _segments(lengths)
    n = len(host.start)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
    found = host.periods(chosen)
    for track in range(len(lengths)):
        mine = chosen & (host.track == track)
        whole = union(host.start[mine], host.end[mine])
        assert (track in found) == bool(mine.any())
        if track in found:
            assert found[track].start.tolist() == whole.start.tolist()
            assert found[track].end.tolist() == whole.end.tolist()


@given(_LENGTHS, _PERIODS, st.integers(1, 4))
def test_time_is_taken_from_each_segment_whatever_the_block(
    lengths: list[list[int]], periods: list[tuple[int, int]], block: int
) -> None:
    host = _segments(lengths)
    begin = np.array([first for first, _ in periods], np.int64)
    gone = union(begin, begin + np.array([length for _, length in periods], np.int64))
    none = np.zeros(0)
    time = np.asarray(host.lengths).astype(np.int64)
    own = host.track >= 0
    assert time[own].tolist() == [length for thread in lengths for length in thread]
    assert host.lengths.take(np.flatnonzero(own)).tolist() == time[own].tolist()
    parts = [host.lengths[begin : begin + block] for begin in range(0, len(own), block)]
    assert np.concatenate([none, *parts]).tolist() == time.tolist()
    left = Durations(time.astype(np.float64), none, none, none, none, none > 0, none)
    whole, host_module._BLOCK = host_module._BLOCK, block
    try:
        take_away(left, host, host.on_all(gone))
    finally:
        host_module._BLOCK = whole
    taken = measure(gone, host.start, host.end)
    assert left.segment.tolist() == np.where(own, time - taken, 0).tolist()
