"""Longer gaps between works that had been launched, and gaps before work of which no launch was
recorded.

Upper bound: nothing but idle time is claimed.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.findings.rules.idle_queue import idle_for, pauses

RULE = Rule(
    place=130,
    claim=lambda case, taken: idle_for(
        case, case.gaps.take(~pauses(case.gaps) & ~case.gaps.for_host)
    ),
    title="The {device} is idle for a reason that the trace does not show",
    sentence="""The {device} is idle for up to {gain} of the {step} ({share}) although its next work
    had been launched, or with a launch that was not recorded.""",
    attempt="""Look at the other streams, processes and ranks at these times, and record all
    activities (CPU and the accelerator).""",
    caveat="""The device may have worked on what was not recorded: other processes share it, and
    some events may be missing from the trace.""",
    views=("overview", "trace"),
    numbers={"gaps": ("Gaps", "count"), "median_gap": ("Median gap", "ns")},
)
