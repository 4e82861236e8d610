"""Launches return only when their kernels have ended, all of them: CUDA_LAUNCH_BLOCKING=1 (HIP_LAUNCH_BLOCKING,
AMD_SERIALIZE_KERNEL) is set, as for finding the call that fails.

Evidence: launches of at least ``MANY`` kernels, of which ``NEARLY`` all end before their call returns; copies and graphs do
not count.
Change: each launch returns when its kernel begins. Certain.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import thread_time_gone
from torch_tb_profiler.analysis.findings.rule import Candidate, Rule, RuleContext

MANY = 20
"""Kernels from which on it is no chance that all of them end first."""
NEARLY = 0.98
"""Share of the kernels that must end before their launch returns: clocks of host and device differ."""


def _claim(context: RuleContext) -> Candidate | None:
    work = context.work
    launched = work.take(work.kernel & (work.launch >= 0))
    launched = launched.take(
        ~context.names.graph_launch[context.trace["spans"]["name"][launched.launch]]
    )
    if len(launched.row) < MANY:
        return None
    called, returned = context.times(launched.launch)
    inside = (launched.start >= called) & (launched.end <= returned)
    if inside.mean() < NEARLY:
        return None
    row, start, end = launched.launch[inside], launched.start[inside], returned[inside]
    return Candidate(
        row,
        start,
        end,
        {
            "launches": context.per_step(row),
            "waited": int((end - start).sum()) / len(context.steps),
        },
        edit=thread_time_gone(context.trace["spans"]["track"][row], start, end),
    )


RULE = Rule(
    place=42,
    claim=_claim,
    title="Each launch waits for its kernel",
    action="Unset CUDA_LAUNCH_BLOCKING",
    fact="{launches} launches per {step} wait for their kernels",
    sentence="""Every launch returns only when its kernel has ended ({launches} launches per {step}, {waited} of
    waiting): CUDA_LAUNCH_BLOCKING is set. Without it the {step} is {gain} ({share}) shorter.""",
    attempt="""Unset CUDA_LAUNCH_BLOCKING (HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL on ROCm): it is for finding the call
    that fails.""",
    caveat="A hunt for an error on the {device} needs it.",
    views=("overview", "kernel"),
    cause="Launches wait for their kernels (CUDA_LAUNCH_BLOCKING): {gain} of {the_step}",
    without="Without CUDA_LAUNCH_BLOCKING",
    links=(("CUDA environment variables", links.DOCS + "cuda_environment_variables.html"),),
    numbers={
        "launches": ("Launches", "count"),
        "waited": ("Time the launches wait", "ns"),
    },
)
