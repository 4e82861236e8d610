"""Time in which the device runs communication and nothing else; on a host alone, in which a
collective is in progress and no thread runs an operator.

Change: communication runs wholly beside computation, and no step is shorter than its communication;
of collectives that the path does not hold, the host's time beside them is gone. Likely.
Where all workers of the run are known, waiting for another rank is taken from it: only transfer can be hidden.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import shared, subtract, union
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.group_advice import FOR_DATA, by_group
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext
from torch_tb_profiler.store.insight_schema import PathCause


def _claim(context: RuleContext) -> Candidate | None:
    spans = context.trace["spans"]
    if context.has_device:
        talking = context.work.take(context.work.communication)
        row, (piece, start, end) = talking.row, context.alone(talking)
    else:
        row = context.insight["collectives"]["event"].astype(np.int64)
        alone = subtract(context.when(row), context.when(context.operators))
        number, start, end = shared(*context.times(row), alone)
        piece = row[number]
    total = int(spans["dur"][context.within(row)].sum()) / len(context.steps)
    numbers = {"collectives": context.per_step(row), "total": total}
    if context.has_device or (context.scene.work_causes == PathCause.COMMUNICATION).any():
        return Candidate(piece, start, end, numbers, by_group(context), change="overlap")
    edit = host_time_gone(union(start, end))
    return Candidate(piece, start, end, numbers, by_group(context), edit=edit)


RULE = Rule(
    place=60,
    claim=_claim,
    title="Communication is not hidden behind computation",
    action="Hide communication behind computation",
    fact="{collectives} collectives per {step}, {total} in total",
    sentence="""Hidden behind computation, communication would leave the {step} {gain} ({share})
    shorter; its collectives ({collectives} per {step}) take {total} in total.""",
    attempt=FOR_DATA,
    caveat="""Only transfer can be hidden: while a collective waits for the slowest rank nothing helps but to make that one faster.
    Accumulation changes the effective batch size.""",
    words=("attempt",),
    details=(
        ("groups", "By group, what they wait for others included: {groups}."),
        (
            "waiting",
            "The {waiting} that this rank waits for others in them are not among it: these cannot be hidden.",
        ),
    ),
    views=("overview", "distributed", "trace"),
    certainty="likely",
    of_waits=True,
    cause="Communication takes {path} of {the_step}",
    causes=(PathCause.COMMUNICATION,),
    without="With communication hidden",
    links=(
        ("Communication hooks", links.DOCS + "ddp_comm_hooks.html"),
        ("DistributedDataParallel", links.DOCS + "notes/ddp.html"),
    ),
    host_sentence="""Hidden behind computation, communication would leave the {step} {gain} ({share})
    shorter; the collectives ({collectives} per {step}) take {total} in total.""",
    numbers={
        "collectives": ("Collectives", "count"),
        "total": ("Their time", "ns"),
        "waiting": ("Of it, waiting for other ranks", "ns"),
    },
)
