"""A stage of a pipeline waits for the other stages: a bubble.

Formula: ranks that send to and receive from each other are stages of a pipeline. Of each such transfer of a stage the time
before the other end began, with nothing computing beside it. Saving: that, at most: with one micro-batch all but one of the
stages wait at any time, with many only at begin and end. Likely; what a schedule reaches is a part of it.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Rule
from torch_tb_profiler.analysis.what_if.outcomes import Reach

RULE = Rule(
    place=54,
    claim=None,
    verdict="bubble",
    title="This stage waits for other stages of the pipeline",
    action="Fill the bubble of the pipeline",
    fact="{waits} of waiting, {transfer} of transfers",
    sentence="""This stage waits {waits} of each {step} for other stages of the pipeline: a bubble. Without it the {step} is {gain}
    ({share}) shorter. The transfers themselves take {transfer}.""",
    attempt="""Split each batch into more micro-batches, at least four times as many as there are stages; use an interleaved
    schedule (Interleaved1F1B, ZBV), which gives each rank several small stages; balance the layers of the stages.""",
    caveat="Stages do different work: one that works longer is not slow for that alone. Micro-batches that are too small use a device badly.",
    views=("overview", "distributed", "trace"),
    certainty="likely",
    cause="Waiting for other pipeline stages takes {waits} of {the_step}",
    without="Without the bubble",
    links=(
        (
            "Pipeline parallelism",
            "https://docs.pytorch.org/docs/stable/distributed.pipelining.html",
        ),
    ),
    numbers={"waits": ("Bubble", "ns"), "transfer": ("Transfers", "ns")},
    reach=Reach(0.3, 1.0),
)
