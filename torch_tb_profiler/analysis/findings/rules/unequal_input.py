"""Ranks are given unequal inputs: whichever is given most holds all others back.

Formula: the verdict on the ranks of the run (``critical_path/verdict.py``): always the same rank, or in each step that
whose operators have most elements as inputs, holds the others back more often than chance would have it, and it is
given more: larger inputs of the same operators (recorded shapes), or more calls of an operator that the others call, too.
Saving: what it takes longer, divided among all. Likely.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.what_if.outcomes import Reach

RULE = Rule(
    place=53,
    claim=None,
    verdict="input",
    title="Ranks are given unequal inputs",
    action="Give all ranks equal inputs",
    fact="{worker} is given most",
    sentence="""The rank that is given most ({worker}) holds all others back, in {which_steps}; with
    equal inputs every rank would take {gain} ({share}) less per {step}.""",
    attempt="""Balance what the ranks are given in each {step}: sort or bucket samples by length and deal them out by
    tokens instead of by number (a batch sampler), or pad and pack to equal lengths; with experts, a balancing loss or a
    capacity for each.""",
    caveat="Batches by length change the order of the samples.",
    views=("overview", "distributed"),
    certainty="likely",
    cause="Unequal inputs of the ranks cost {gain} of {the_step}",
    without="With equal inputs",
    links=(("Samplers", links.DOCS + "data.html#data-loading-order-and-sampler"),),
    details=(("why", "{why}."),),
    numbers={
        "held": ("Held back by the largest", "ns"),
        "held_steps": ("Steps", "count"),
        "of_steps": ("", "count"),
    },
    reach=Reach(0.4, 1.4),
)
