"""A rank holds all others back in single steps only.

Formula: the verdict on the ranks of the run (``critical_path/verdict.py``): a few steps are far longer than the usual
one, and one rank's work explains it. Saving: of such a step what it takes longer than the median step; it is not averaged over
the others, and these steps are left out of the other findings.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import late_ranks
from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=206,
    claim=None,
    verdict="once",
    title="In single steps, {worker} held all others back",
    action="Find what held {worker} up",
    fact="{slow}",
    sentence="""{worker} held all others back by {held}: that is not what every {step} takes, and such a {step} is
    left out of the other findings.""",
    attempt="""Look at what it did then. What happens once (a stall of the storage, a checkpoint, another program on its machine)
    recurs or not: a longer recording tells.""",
    caveat=late_ranks.CAVEAT,
    views=("overview", "distributed"),
    certainty="certain",
    cause="{worker} {holds} all others back: {held} of {the_step}",
    without="With {worker} as fast as the others",
    details=(("when", "It was {when}."), ("why", "{why}.")),
    numbers={"held": ("Held back by, in such a step", "ns"), "held_steps": ("Such steps", "count")},
)
