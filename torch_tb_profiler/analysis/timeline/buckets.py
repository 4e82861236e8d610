"""A time window in equal parts."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.store.columns import Ints


def edges(begin: int, end: int, parts: int) -> Ints:
    """The edges of ``parts`` equal parts of [begin, end), int64 ns of shape (parts + 1,)."""
    return np.array([begin + (end - begin) * part // parts for part in range(parts + 1)], np.int64)
