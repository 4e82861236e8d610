"""Idle time of the device within regions of gloo: its data travels through host memory.

Change: the host does not stand still for them while the device is idle. Likely.
"""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.arrays.intervals import union
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext

_GLOO = re.compile(r"gloo:(?!:)")


def _claim(context: RuleContext) -> Candidate | None:
    if not context.has_device:
        return None
    row = context.rows_named(context.collectives, _GLOO.match)
    piece, start, end = context.idle_in(row, context.gaps)
    return Candidate(
        piece,
        start,
        end,
        {"collectives": context.per_step(row)},
        edit=host_time_gone(union(start, end)),
    )


RULE = Rule(
    place=50,
    claim=_claim,
    title="Collectives of the {device} go through host memory",
    action="Use the {device}'s own communication backend",
    fact="gloo moves {collectives} collectives per {step}",
    sentence="""The {device} is idle while gloo moves data ({collectives} collectives per {step});
    without that the {step} is {gain} ({share}) shorter.""",
    attempt="""Use the accelerator's own backend in init_process_group (nccl, on ROCm its RCCL;
    xccl, hccl).""",
    caveat="""Where processes share one device, or exchange only small host values, gloo may be on
    purpose.""",
    views=("overview", "distributed"),
    certainty="likely",
    cause="Collectives through host memory take {gain} of {the_step}",
    without="With collectives on the {device}",
    links=(("Which backend to use", links.DOCS + "distributed.html#which-backend-to-use"),),
    numbers={"collectives": ("Collectives", "count")},
)
