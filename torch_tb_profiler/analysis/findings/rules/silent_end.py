"""The end of the last step after the last operator, call, frame or device work that was recorded.

Only on traces with device work. Change: that time is gone. Certain.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, union
from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Case, Rule
from torch_tb_profiler.store.roles import Role

_NO_WORK = (Role.ANNOTATION, Role.PYTHON, Role.PROFILER, Role.DEVICE_ANNOTATION)


def silent(case: Case) -> Intervals:
    """From what was recorded last to the end of the last step."""
    spans, steps = case.trace["spans"], case.facts["steps"]
    none = np.zeros(0, np.int64)
    if not len(case.work.row) or case.is_whole or not steps.n or case.steps[-1] != steps.n - 1:
        return Intervals(none, none)
    end = int(steps["end"][-1])
    role, earlier = spans["role"], spans["start"] < end
    closed = np.flatnonzero(earlier & ~np.isin(role, _NO_WORK))
    # An old version's operators hold its steps, too.
    closed = closed[case.names.step[spans["name"][closed]] < 0]
    begun = np.flatnonzero(earlier & (role == Role.PYTHON))
    finish = np.minimum(spans["start"][closed] + spans["dur"][closed], end)
    last = max(
        int(finish.max(initial=int(steps["start"][-1]))),
        int(spans["start"][begun[-1]]) if len(begun) else 0,
    )
    return union(np.array([last]), np.array([end]))


def _claim(case: Case) -> Candidate | None:
    time = silent(case)
    row = case.mark_of(-1)
    if not time.length or not len(row):
        return None
    return Candidate(row, time.start, time.end, edit=host_time_gone(time))


RULE = Rule(
    place=20,
    claim=_claim,
    title="Nothing was recorded at the end of the last step",
    sentence="""The last step ends with a stretch in which nothing at all was recorded, {gain} per
    {step} ({share}): typically the profiler being stopped.""",
    attempt="Leave the last step out when you compare times.",
    caveat="The program may have slept or waited there.",
    views=("overview", "trace"),
    artefact=True,
    cause="Nothing was recorded for the last {gain} of {the_step}",
)
