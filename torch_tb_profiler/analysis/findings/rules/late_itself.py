"""This rank holds all others back in most steps.

Formula, saving and certainty: as for a rank that waits for another (``straggler``).
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import late_ranks
from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=51,
    claim=None,
    verdict="itself",
    title="This rank holds all others back",
    action="Make {worker} as fast as the others",
    fact="{slow}",
    sentence="""All others wait for {worker}. As fast as they are, it would leave every rank's {step} {gain} ({share})
    shorter; the next slowest rank then sets the pace.""",
    attempt=late_ranks.ATTEMPT,
    caveat=late_ranks.CAVEAT,
    views=("overview", "distributed"),
    cause="{worker} holds all others back: {gain} of {the_step}",
    without="With {worker} as fast as the others",
    details=late_ranks.DETAILS,
    numbers=late_ranks.NUMBERS,
    reach=late_ranks.REACH,
)
