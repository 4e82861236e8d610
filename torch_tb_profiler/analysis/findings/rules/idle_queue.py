"""Gaps of at most 20 µs between works of which the second had been launched when the first ended.

Upper bound: fewer, larger kernels leave fewer pauses; one kernel leaves none.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.gaps import Gaps
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule
from torch_tb_profiler.store.columns import Mask

SHORT_PAUSE = 20_000
"""ns; a device that pauses longer between works that were launched waits for something."""


def pauses(gaps: Gaps) -> Mask:
    """Which gaps are short and had their next work launched."""
    return np.asarray(gaps.queued & (gaps.end - gaps.start <= SHORT_PAUSE))


def idle_for(case: Case, gaps: Gaps) -> Candidate | None:
    """Claims some gaps whole."""
    if not len(gaps.start):
        return None
    return Candidate(
        gaps.next,
        gaps.start,
        gaps.end,
        {
            "gaps": len(gaps.start) / len(case.steps),
            "median_gap": float(np.median(gaps.end - gaps.start)),
        },
    )


RULE = Rule(
    place=120,
    claim=lambda case, taken: idle_for(case, case.gaps.take(pauses(case.gaps))),
    title="The {device} pauses between kernels",
    sentence="""The {device} pauses {gaps} times per {step} between kernels that were launched in
    time, typically for {median_gap}: up to {gain} ({share}).""",
    attempt="""Fewer, larger kernels: torch.compile, fused operators, a larger batch. Device graphs
    shorten the pauses.""",
    caveat="Such a pause may be a wait for another stream.",
    views=("overview", "kernel", "trace"),
    links=(links.COMPILE,),
    numbers={"gaps": ("Gaps", "count"), "median_gap": ("Median gap", "ns")},
)
