"""Idle time of the device within regions of gloo: its data travels through host memory.

Upper bound: collectives on the device cannot save more than the device idled for these.
"""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Intervals, Rule

_GLOO = re.compile(r"gloo:(?!:)")


def _claim(case: Case, taken: Intervals) -> Candidate | None:
    if not len(case.work.row):
        return None
    row = case.collectives[case.named(case.collectives, _GLOO.match)]
    return Candidate(*case.idle_in(row, case.gaps), {"collectives": case.per_step(row)})


RULE = Rule(
    place=50,
    claim=_claim,
    title="Collectives of the {device} go through host memory",
    sentence="""The {device} is idle for up to {gain} of the {step} ({share}) while gloo moves data
    ({collectives} collectives per {step}).""",
    attempt="""Use the accelerator's own backend in init_process_group (nccl, on ROCm its RCCL;
    xccl, hccl).""",
    caveat="""Where processes share one device, or exchange only small host values, gloo may be on
    purpose.""",
    views=("overview", "distributed"),
    links=(("Which backend to use", links.DOCS + "distributed.html#which-backend-to-use"),),
    numbers={"collectives": ("Collectives", "count")},
)
