"""Step-time breakdown: every nanosecond of a step belongs to exactly one of eight categories."""

from __future__ import annotations

from torch_tb_profiler.analysis.selection import Selection, complete
from torch_tb_profiler.store.trace import Facts

CATEGORIES = ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other")
"""In order of priority: time that could be laid at several belongs to the first."""


def average(facts: Facts, selection: Selection) -> dict[str, float] | None:
    """Arithmetic mean in ns over the selected steps, steps that the recording cut off left out: ``wall`` and the ``CATEGORIES``.

    None without a step.
    """
    steps = complete(facts, selection)
    if not len(steps):
        return None
    table = facts["steps"]
    mean = {key: float(table[key][steps].mean()) for key in CATEGORIES}
    return {"wall": float((table["end"][steps] - table["start"][steps]).mean()), **mean}
