"""Rules of a device that is idle though the host was in time."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.ledger import Candidate

SHORT_PAUSE = 20_000
"""ns; a device that pauses longer between works that were launched waits for something."""


def idle_queue(case: Case, taken: Intervals) -> Candidate | None:
    """The device pauses between kernels that were launched in time: each start costs it a little.

    Claims: gaps of at most 20 µs whose next work had been launched when they began. Upper bound:
        fewer, larger kernels leave fewer pauses; one kernel leaves
    none. Wrong when the pause was a wait for another stream, which short gaps do not tell apart.
    """
    return _queued(case, "idle_queue", True)


def idle_other(case: Case, taken: Intervals) -> Candidate | None:
    """The device is idle for a reason that the trace does not show.

    Claims: longer gaps whose next work had been launched, and gaps with an unknown launch. Upper
        bound: nothing but idle time is claimed.
    Wrong when the device worked on what was not recorded.
    """
    return _queued(case, "idle_other", False)


def _queued(case: Case, rule: str, short: bool) -> Candidate | None:
    gaps = case.gaps
    brief = gaps.queued & (gaps.end - gaps.start <= SHORT_PAUSE)
    chosen = gaps.take(brief if short else ~brief & ~gaps.for_host)
    if not len(chosen.start):
        return None
    length = chosen.end - chosen.start
    return Candidate(
        rule,
        chosen.next,
        chosen.start,
        chosen.end,
        {
            "gaps": len(length) / len(case.steps),
            "median_gap": float(np.median(length)),
            "unknown": float((chosen.launch < 0).mean()),
        },
    )
