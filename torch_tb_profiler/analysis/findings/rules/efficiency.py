"""Rules of kernels that are far from what the device's peaks allow."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.efficiency.ideal_times import ideal_times
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate
from torch_tb_profiler.analysis.findings.rules.compute import LONG_KERNEL
from torch_tb_profiler.analysis.findings.workloads import beyond_least, described
from torch_tb_profiler.store.columns import Mask

FAR = 0.3
"""Share of what the peaks allow below which a workload is far from it; good kernels reach 0.6 to
0.8.
"""
MOST = 5
"""Workloads, those that lose most time, that a finding is about."""


def far_from_peak(case: Case, taken: Intervals) -> Candidate | None:
    """Kernels take several times as long as the device's peaks allow for the FLOPs and bytes of
    their operators.

    Claims: of each kernel of at least 20 µs of the five workloads that lose most by it, and that
        reach less than 30 % of what the peaks allow, its time beyond
    that, as far as it ran alone. Upper bound: no kernel is faster than the peaks. Wrong when the
    peaks are out of reach: much of a small or irregular problem is starting, waiting and uneven
    load; the bytes are the least that the operator can move, not what it moved.
    """
    work = case.work.take(
        case.work.kernel
        & ~case.work.communication
        & (case.work.end - case.work.start >= LONG_KERNEL)
    )
    if not len(work.row):
        return None
    least = ideal_times(case.trace, case.insight, work.row, case.peaks)
    dur = work.end - work.start
    known = ~np.isnan(least.time) & (least.workload >= 0)
    if not known.any():
        return None
    work, dur, time, workload = (
        work.take(known),
        dur[known],
        least.time[known],
        least.workload[known],
    )
    first, of = group_rows((workload,))
    lost, length = (np.bincount(of, weights=values) for values in (np.maximum(dur - time, 0), dur))
    far = np.flatnonzero(1 - lost / length < FAR)
    far = far[np.argsort(-lost[far], kind="stable")][:MOST]
    if not len(far):
        return None
    chosen: Mask = np.isin(of, far)
    some = work.take(chosen)
    row, start, end = beyond_least(case, some, time[chosen])
    total = float(length[far].sum())
    return Candidate(
        "far_from_peak",
        row,
        start,
        end,
        {
            "workloads": len(far),
            "reached": (total - float(lost[far].sum())) / total,
            "kernels": len(case.within(some.row)) / len(case.steps),
        },
        {"largest": described(case, int(workload[first[far[0]]]))},
    )
