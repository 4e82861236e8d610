"""This rank holds all others back in most steps.

Formula, saving and certainty: as for a rank that waits for another (``straggler``).
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.what_if.outcomes import Reach

RULE = Rule(
    place=51,
    claim=None,
    title="This rank holds all others back",
    sentence="""All others wait for {worker}. As fast as they are, it would leave every rank's {step} {gain} ({share})
    shorter; the next slowest rank then sets the pace.""",
    attempt="""Look at what it does longer: give it the same data and layers as the others, take work off it that they
    do not have, load its data sooner. Where the same work takes longer, look at its device and processor: clocks,
    temperature, other programs.""",
    caveat="""Stages of a pipeline that hold different parts of a model differ by design, as far as they cannot be balanced.""",
    views=("overview", "distributed"),
    cause="This rank holds all others back: {gain} of {the_step}",
    without="As fast as the others",
    details=(
        ("why", "{why}."),
        ("unexplained", "The trace does not say what takes longer."),
    ),
    numbers={
        "held": ("Holds the others back by", "ns"),
        "held_steps": ("Steps that it holds back", "count"),
        "of_steps": ("", "count"),
        "extra": ("Of it in the worst step, what takes longest", "ns"),
    },
    reach=Reach(0.6, 1.4),
)
