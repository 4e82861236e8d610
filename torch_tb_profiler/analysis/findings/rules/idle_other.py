"""Gaps of 2 % of the steps or more before work that had been launched long before, and before work of which
no launch was recorded: for a reason that the trace does not show, so no saving is promised.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.gaps import pauses
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time


def _claim(context: RuleContext) -> Candidate | None:
    gaps = context.gaps.take(~pauses(context.gaps) & ~context.gaps.for_host)
    if not gaps.length or gaps.length < THRESHOLD * context.windows.length:
        return None
    order = np.argsort(gaps.start - gaps.end, kind="stable")
    numbers = {
        "idle": gaps.length / len(context.steps),
        "gaps": len(gaps.start) / len(context.steps),
        "median_gap": float(np.median(gaps.end - gaps.start)),
    }
    row = gaps.next[order]
    return without_time(numbers, row[row >= 0])


RULE = Rule(
    place=130,
    claim=_claim,
    title="The {device} is idle for a reason that the trace does not show",
    action="Look at other streams and ranks",
    fact="idle for {idle} without a recorded reason",
    sentence="""The {device} is idle for {idle} of the {step} although its next work had been
    launched, or with a launch that was not recorded.""",
    attempt="""Look at the other streams, processes and ranks at these times, and record all
    activities (CPU and the accelerator).""",
    caveat="""The device may have worked on what was not recorded: other processes share it, and
    some events may be missing from the trace.""",
    views=("overview", "trace"),
    numbers={
        "idle": ("Idle time", "ns"),
        "gaps": ("Gaps", "count"),
        "median_gap": ("Median gap", "ns"),
    },
)
