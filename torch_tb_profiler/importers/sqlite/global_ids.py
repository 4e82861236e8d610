"""``globalTid`` and ``globalPid`` of Nsight Systems: machine << 48 | process << 24 | thread."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.importers.sqlite.database import MISSING
from torch_tb_profiler.store.columns import Ints

_LOW24 = (1 << 24) - 1


def process_of(global_id: Ints) -> Ints:
    """The process of each id; ``MISSING`` stays."""
    return np.where(global_id == MISSING, MISSING, (global_id >> 24) & _LOW24)


def thread_of(global_id: Ints) -> Ints:
    """The thread of each id; ``MISSING`` if it is 0, which means the whole process."""
    thread = global_id & _LOW24
    return np.where((global_id == MISSING) | (thread == 0), MISSING, thread)
