"""Who lies far above the other ranks."""

from __future__ import annotations

import numpy as np
import pytest

from torch_tb_profiler.analysis.distributed.spread import far_above


@pytest.mark.parametrize(
    ("values", "step", "far"),
    [
        # Equal but for one: the deviation is 0, so 1 % of the step decides.
        ([100, 100, 100, 100.9], 100, []),
        ([100, 100, 100, 101.1], 100, [3]),
        # What is far among itself is measured by its own deviation: 2, limit 5 · 1.4826 · 2.
        ([98, 100, 102, 104, 100, 96, 114], 100, []),
        ([98, 100, 102, 104, 100, 96, 116], 100, [6]),
        # Times are judged by the step, not by their own median.
        ([1, 1, 1, 1.9], 100, []),
        ([1, 1, 1, 2.1], 100, [3]),
        # The farthest first, none below; unknown ranks do not count, and three are too few.
        ([100, 100, 100, 100, 100, np.nan, 130, 60, 160], 100, [8, 6]),
        ([100, 100, 200, np.nan], 100, []),
        ([np.nan] * 4, 100, []),
    ],
)
def test_who_stands_out(values: list[float], step: float, far: list[int]) -> None:
    assert far_above(np.array(values), step) == far
