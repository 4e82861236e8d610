"""The first step where it is marked cold: it loads, compiles, allocates or tunes, and nothing of that
recurs. All findings leave it out, and it claims no time.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule, without_time


def _claim(case: Case) -> Candidate | None:
    table = case.facts["steps"]
    cold = np.flatnonzero(table["flags"] & StepFlag.COLD)
    if not len(cold) or cold[0] in case.steps:
        return None
    wall = step_lengths(table)
    return without_time(
        {"wall": int(wall[cold[0]]), "others": float(np.median(wall[case.steps]))},
        case.mark_of(int(cold[0])),
    )


RULE = Rule(
    place=230,
    claim=_claim,
    title="The first step is cold",
    sentence="""The first recorded step takes {wall}, the others typically {others}. It is left out
    of all findings.""",
    attempt="Let the schedule warm up for more steps: schedule(wait=1, warmup=2, active=3).",
    caveat="A program that runs only once, such as a short job, pays for its first step.",
    views=("overview",),
    links=(("Profiler schedule", links.DOCS + "profiler.html#torch.profiler.schedule"),),
    numbers={"wall": ("First step", "ns"), "others": ("Median of the others", "ns")},
    artefact=True,
)
