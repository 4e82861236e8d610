"""Facts of the recording, which are no reasons for a slow program: what the profiler itself takes, and how its end looks."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import measure
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.step_work import SETUP_CALLS
from torch_tb_profiler.analysis.figures.step_kinds import of_one_kind
from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Pieces,
    Question,
    RuleContext,
    without_time,
)
from torch_tb_profiler.store.columns import unique_values
from torch_tb_profiler.store.roles import Role

QUESTION = Question(__name__)
FRAMES_PER_MS = 50
"""Python frames per millisecond of step time, from which on recording them is no small part of what
the host does.
"""
_TOLD = 0.02
"""Share of the cold step from which on a part of it is told."""
HOST_SHARE = 0.1
"""Share of the step from which on the device's waiting for the host counts."""


@QUESTION.rule(10, artefact=True)
def profiler_overhead(context: RuleContext) -> Claims:
    """Idle time of the device within records of the profiler's own overhead (``Buffer Flush``,
    ``Activity Buffer Request``, …).

    Change: the host spends no time in them. Certain.
    """
    row = context.overhead(loading=False)
    if not len(row):
        return None
    idle = context.idle_in(row, context.gaps)
    records = {"records": context.per_step(unique_values(idle.row))}
    return Candidate(idle, records, change="no-overhead")


@QUESTION.rule(20, artefact=True, certainty="likely")
def silent_end(context: RuleContext) -> Claims:
    """The end of the last step after the last operator, call, frame or device work that was recorded.

    Only on traces with device work. Change: that time is gone. Likely.
    """
    time = context.silent_end
    row = context.mark_of(-1)
    if not time.length or not len(row):
        return None
    words = {"why": "It is typically the profiler being stopped."}
    return Candidate(Pieces(row, time.start, time.end), words=words, edit=host_time_gone(time))


@QUESTION.rule(240, artefact=True)
def python_tracing(context: RuleContext) -> Claims:
    """At least 50 recorded Python frames per millisecond of step, on a host alone or where the device
    waits for the host for at least 10 % of the step.
    """
    frames = context.within(context.of_role(Role.PYTHON))
    length = context.windows.length
    if not len(frames) or len(frames) * 1_000_000 < FRAMES_PER_MS * length:
        return None
    if context.has_device and context.gaps.take(context.gaps.for_host).total < HOST_SHARE * length:
        return None
    return without_time({"frames": len(frames) / len(context.steps)})


@QUESTION.rule(230, artefact=True)
def cold_step(context: RuleContext) -> Claims:
    """The first step where it is marked cold: it is clearly longer, by what does not recur. What of it is known to compile, and to
    load or allocate from the driver, is told with its time; where neither is recorded, nothing is said of why. All findings leave
    it out, and it claims no time.
    """
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
