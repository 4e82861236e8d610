"""Another rank holds this one and all others back in most steps.

Formula: the verdict on the ranks of the run (``critical_path/verdict.py``): the same rank comes last to the collectives of
most steps, more often or later than chance would have it. Saving: what the others waited for it beyond the next-latest,
which then sets the pace. Certain where more work, longer kernels or waiting for data show it, else
likely; theoretical where the ranks share the processors of one machine, which may let another run first next time.
All workers of the run are read for it; of more than 2,048 those with the nearest ranks.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import late_ranks
from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=52,
    claim=None,
    verdict="other",
    title="This rank waits for {worker}",
    action="Make {worker} as fast as the others",
    fact="{slow}",
    sentence="""If {worker} were as fast as the others, every rank would take {gain} ({share}) less per {step}; the next
    slowest rank then sets the pace.""",
    attempt=late_ranks.ATTEMPT,
    caveat=late_ranks.CAVEAT,
    views=("overview", "distributed"),
    cause="{worker} holds all others back: {gain} of {the_step}",
    without="With {worker} as fast as the others",
    details=late_ranks.DETAILS,
    numbers=late_ranks.NUMBERS,
    reach=late_ranks.REACH,
)
