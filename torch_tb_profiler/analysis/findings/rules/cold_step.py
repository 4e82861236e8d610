"""The first step where it is marked cold: it is clearly longer, by what does not recur. What of it is known to compile, and to
load or allocate from the driver, is told with its time; where neither is recorded, nothing is said of why. All findings leave
it out, and it claims no time.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.step_work import SETUP_CALLS
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time
from torch_tb_profiler.store.roles import Role


def _claim(context: RuleContext) -> Candidate | None:
    table = context.facts["steps"]
    cold = np.flatnonzero(table["flags"] & StepFlag.COLD)
    if not len(cold) or cold[0] in context.steps:
        return None
    wall, first = step_lengths(table), int(cold[0])
    window = int(table["host_start"][first]), int(table["host_end"][first])
    parts = {
        "compiling": context.compilations.row,
        "setting_up": context.rows_named(context.of_role(Role.RUNTIME), SETUP_CALLS.match),
    }
    found = without_time(
        {
            "wall": int(wall[first]),
            "others": float(np.median(wall[of_one_kind(context.facts, context.steps)])),
        },
        context.mark_of(first),
    )
    for key, row in parts.items():
        time = int(measure(context.when(row), *(np.array([edge]) for edge in window))[0])
        if time >= _TOLD * int(wall[first]):
            found.numbers[key] = time
    return found


_TOLD = 0.02
"""Share of the step from which on a part of it is told."""


RULE = Rule(
    place=230,
    claim=_claim,
    title="The first step is cold",
    action="Warm up for longer before recording",
    fact="the first {step} takes {wall}, the others {others}",
    sentence="""The first recorded step takes {wall}, the others typically {others}. It is left out
    of all findings.""",
    attempt="Let the schedule warm up for more steps: schedule(wait=1, warmup=2, active=3).",
    caveat="A program that runs only once, such as a short job, pays for its first step.",
    views=("overview",),
    links=(("Profiler schedule", links.DOCS + "profiler.html#torch.profiler.schedule"),),
    details=(
        ("compiling", "Compiling takes {compiling} of it."),
        (
            "setting_up",
            "Calls that load kernels or allocate memory from the driver take {setting_up} of it.",
        ),
    ),
    numbers={
        "wall": ("First step", "ns"),
        "others": ("Median of the others", "ns"),
        "compiling": ("Compiling", "ns"),
        "setting_up": ("Loading and allocating", "ns"),
    },
    artefact=True,
)
