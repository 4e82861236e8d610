"""The strip that draws the path of a step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.critical_path.table import stretches


def test_segments_that_are_centuries_apart() -> None:
    """Sums of two such times are more than 64 bits hold, and the edges more than a float does."""
    start = np.array([0, 1_000_000_000_000_000, 5_999_999_999_998_000_000])
    end = np.append(start[1:], 5_999_999_999_998_001_000)
    key = np.array([1, 0, 0], np.uint8)
    edges, most, place, same = stretches(start, end, key, (0, int(end[-1])))
    assert (edges[0], edges[-1]) == (0, end[-1])
    assert most.tolist() == [0]
    assert place.tolist() == [0, 0, 0]
    assert same.tolist() == [False, True, True]
