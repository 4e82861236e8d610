"""What could not be judged, and why."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, unknown_share
from torch_tb_profiler.analysis.figures.missing_data import unplaced
from torch_tb_profiler.analysis.findings.candidate import THRESHOLD
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.summary import Writer

UNSURE: dict[str, str] = {
    "nothing": """The trace holds nothing of the program: no operator, device work, frame or region. To record them:
    torch_tb_profiler.record("./log/run"), or torch.profiler.profile with activities=[ProfilerActivity.CPU,
    ProfilerActivity.CUDA] (or .XPU, .MTIA), around what the program does.""",
    "sums": """The file holds sums of stacks and no times: gaps, waiting and steps are unknown, and
    nothing was judged.""",
    "no_steps": """The recording has no steps and is judged as a whole, so what happened once
    (loading, compiling) counts in full.""",
    "edges": """Before the first and after the last work of the {device} nothing was judged: what it
    waited for there lies outside the recording.""",
    "one_step": "Only one step was recorded: whether it is like the others is unknown.",
    "no_device": "Only the host was recorded and judged.",
    "unplaced": """No event is known as work of an accelerator, but the role of {unplaced} is
    unknown: only the host was judged. TORCH_TB_PROFILER_CATEGORIES tells it.""",
    "device_lost": """The trace has calls of the accelerator's runtime but no accelerator work: how
    long the accelerator was idle is unknown.""",
    "device_profiled": """The recording measured hardware counters and no kernel's time: how long
    the accelerator was idle is unknown, and replaying kernels for their counters slows the
    host.""",
    "unrecorded": """{unrecorded} What the {device} did meanwhile is unknown, so no saving that rests on it is certain.""",
    "no_launches": """Most work of the {device} has no launch in the trace: what it waited for is
    unknown.""",
    "no_host": """The trace holds no host operators: what the host did while the {device} waited is
    unknown.""",
    "no_stacks": "Call stacks were not recorded (with_stack): source lines are unknown.",
    "no_stacks_in_file": "The file has no call stacks: source lines are unknown.",
    "no_memory_in_file": """The file has no allocations: how full the memory of the {device} is, is
    unknown.""",
    "no_memory": """Allocations were not recorded (profile_memory): how full the memory of the
    {device} is, is unknown.""",
    "device_unknown": """The trace does not name the {device}: matrix cores and memory were not
    judged.""",
    "other_ranks": """Whether a collective moves data or waits for a slower rank, only all workers
    together can tell: see the Distributed view.""",
    "first_look": """First look: other ranks of the run are still being read, and what this one waits for may change the
    answer.""",
    "cut": "A step was cut off by the end of the recording and left out.",
}
"""Key → sentence; in braces the vendor's words."""


def unsure(context: RuleContext) -> list[str]:
    """Keys of what the trace cannot say."""
    summary, work, facts = context.facts.summary, context.work, context.facts
    device, calls = context.has_device, bool((context.spans["role"] == Role.RUNTIME).any())
    unplaced_role = not device and unplaced(facts) is not None
    host_alone = not device and not unplaced_role
    foreign = summary.writer == Writer.OTHER
    no_memory = not summary.has_memory and device
    named = context.device < 0 or facts.strings[int(facts["devices"]["name"][context.device])]
    cut = bool(np.any(facts["steps"]["flags"] & StepFlag.CUT))
    absent = {
        "nothing": not context.scene.has_program,
        "sums": summary.sums,
        "no_steps": context.is_whole and not summary.sums,
        "edges": context.judged.length < (1 - THRESHOLD) * context.windows.length,
        "one_step": len(context.steps) == 1 and not context.is_whole,
        "unplaced": unplaced_role,
        "no_device": host_alone and not calls,
        "device_lost": host_alone and calls and not summary.profiled_ranges,
        "device_profiled": not device and summary.profiled_ranges > 0,
        "unrecorded": unknown_share(facts, context.steps) > LEAST_UNKNOWN,
        "no_launches": device and float((work.launch >= 0).mean()) < 0.5,
        "no_host": device and not len(context.operators),
        "no_stacks": not summary.has_stacks and not foreign,
        "no_stacks_in_file": not summary.has_stacks and foreign,
        "no_memory": no_memory and not foreign,
        "no_memory_in_file": no_memory and foreign,
        "device_unknown": not named,
        "other_ranks": bool(len(context.collectives)) or bool(work.communication.any()),
        "cut": bool(summary.attribution.kernels) and cut,
    }
    told = ("nothing", "no_steps") if absent["nothing"] else tuple(absent)
    return [key for key in told if absent[key]]
