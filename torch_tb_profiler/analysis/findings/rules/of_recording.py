"""Facts of the recording, which are no reasons for a slow program: what the profiler itself takes, and how its end looks."""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.edits import host_time_gone
from torch_tb_profiler.analysis.findings.host_time import overhead_records, silent
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Question,
    RuleContext,
    without_time,
)
from torch_tb_profiler.store.roles import Role

QUESTION = Question(__name__)
FRAMES_PER_MS = 50
"""Python frames per millisecond of step time, from which on recording them is no small part of what
the host does.
"""
HOST_SHARE = 0.1
"""Share of the step from which on the device's waiting for the host counts."""


@QUESTION.rule(10, artefact=True)
def profiler_overhead(context: RuleContext) -> Claims:
    """Idle time of the device within records of the profiler's own overhead (``Buffer Flush``,
    ``Activity Buffer Request``, …).

    Change: the host spends no time in them. Certain.
    """
    return overhead_records(context, loading=False)


@QUESTION.rule(20, artefact=True, certainty="likely")
def silent_end(context: RuleContext) -> Claims:
    """The end of the last step after the last operator, call, frame or device work that was recorded.

    Only on traces with device work. Change: that time is gone. Likely.
    """
    time = silent(context)
    row = context.mark_of(-1)
    if not time.length or not len(row):
        return None
    words = {"why": "It is typically the profiler being stopped."}
    return Candidate(row, time.start, time.end, words=words, edit=host_time_gone(time))


@QUESTION.rule(240, artefact=True)
def python_tracing(context: RuleContext) -> Claims:
    """At least 50 recorded Python frames per millisecond of step, on a host alone or where the device
    waits for the host for at least 10 % of the step.
    """
    frames = context.within(context.of_role(Role.PYTHON))
    length = context.windows.length
    if not len(frames) or len(frames) * 1_000_000 < FRAMES_PER_MS * length:
        return None
    if context.has_device and context.gaps.take(context.gaps.for_host).length < HOST_SHARE * length:
        return None
    return without_time({"frames": len(frames) / len(context.steps)})
