"""At least 50 recorded Python frames per millisecond of step, on a host alone or where the device
waits for the host for at least 10 % of the step.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext, without_time
from torch_tb_profiler.store.roles import Role

FRAMES_PER_MS = 50
"""Python frames per millisecond of step time, from which on recording them is no small part of what
the host does.
"""
HOST_SHARE = 0.1
"""Share of the step from which on the device's waiting for the host counts."""


def _claim(context: RuleContext) -> Candidate | None:
    frames = context.within(context.of_role(Role.PYTHON))
    length = context.windows.length
    if not len(frames) or len(frames) * 1_000_000 < FRAMES_PER_MS * length:
        return None
    if context.has_device and context.gaps.take(context.gaps.for_host).length < HOST_SHARE * length:
        return None
    return without_time({"frames": len(frames) / len(context.steps)})


RULE = Rule(
    place=240,
    claim=_claim,
    title="Recording Python frames slows the host",
    action="Compare with a recording without stacks",
    fact="{frames} Python frames per {step}",
    sentence="""{frames} Python frames were recorded per {step}. Each costs the host time that an
    unrecorded run does not spend; the trace does not say how much.""",
    attempt="""Record once more without call stacks and compare the {step} time before you work on
    the host.""",
    caveat="Without it, source lines are not known.",
    views=("overview", "module"),
    numbers={"frames": ("Python frames", "count")},
    artefact=True,
)
