"""Rules of memory: they cost no step time."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate

NEAR = 0.9
"""Share of the device's memory from which on it is nearly full."""


def memory_near_capacity(case: Case, taken: Intervals) -> Candidate | None:
    """The allocator's peak comes close to the device's memory. Claims no time."""
    devices, memory = case.facts["devices"], case.insight["memory_devices"]
    found: list[tuple[float, dict[str, float]]] = []
    for row in range(devices.n):
        number, size, peak = (int(devices[key][row]) for key in ("id", "memory", "peak_allocated"))
        mine = np.flatnonzero((memory["id"] == number) & (memory["type"] > 0))
        if len(mine):
            peak = max(
                peak, int(memory["peak"][mine].max()), int(memory["peak_reserved"][mine].max())
            )
        if size > 0 and peak > NEAR * size:
            found.append(
                (peak / size, {"number": number, "peak": peak, "memory": size, "full": peak / size})
            )
    if not found:
        return None
    nothing = np.zeros(0, np.int64)
    return Candidate(
        "memory_near_capacity",
        nothing,
        nothing,
        nothing,
        max(found, key=lambda entry: entry[0])[1],
        costs=False,
    )
