"""Defects that the analysis finds in a trace; they are counted, and marked in time if possible."""

from __future__ import annotations

from torch_tb_profiler.store.defects import Severity, declare

OVERLAP_ON_THREAD = declare(
    "overlap_on_thread",
    Severity.NOTICE,
    "A host event begins inside another one of its thread and ends after it; both are kept, side by"
    " side.",
    "host self time",
    "call stacks",
)
OVERLAP_ON_STREAM = declare(
    "overlap_on_stream",
    Severity.INFO,
    "Device work begins on a stream before the work in front of it ended; both are kept and count"
    " in full.",
)
KERNEL_WITHOUT_LAUNCH = declare(
    "kernel_without_launch",
    Severity.NOTICE,
    "The launch of device work was not recorded, so its operator and step are guessed or unknown.",
    "device time of operators",
)
LAUNCH_WITHOUT_KERNEL = declare(
    "launch_without_kernel",
    Severity.NOTICE,
    "The device work of a launch is missing, or some of it: it was not recorded, or the recording ended before it. What the"
    " device did meanwhile is unknown.",
    "how busy devices are",
    "device time of operators",
    "step-time breakdown",
)
REPEATED_CORRELATION = declare(
    "repeated_correlation",
    Severity.NOTICE,
    "Several launches carry the ids of one piece of device work: their order decides, or the latest"
    " one before it was taken.",
    "device time of operators",
)
UNCLEAR_RANK = declare(
    "unclear_rank",
    Severity.NOTICE,
    "Device work in a file of several ranks may be of more than one of them: it is at no operator and"
    " stands by itself, without a rank.",
    "device time of operators",
    "step-time breakdown",
)
RANGE_MISMATCH = declare(
    "range_mismatch",
    Severity.NOTICE,
    "There are not as many profiled ranges as kernel launches, so which range is of which launch is"
    " not sure.",
    "operators of profiled kernels",
)
CUT_STEP = declare(
    "cut_step",
    Severity.NOTICE,
    "The recording ended before the device work of the last step did; averages leave this step"
    " out.",
    "the last step",
)
WORK_OUTSIDE_STEPS = declare(
    "work_outside_steps",
    Severity.INFO,
    "Device work was launched outside every step; it counts in the totals and in no step.",
)
OTHER_STEPS = declare(
    "steps_of_another_profiler",
    Severity.NOTICE,
    "Several profilers marked steps in one loop. The marks that cover most time are the steps; this"
    " one of another profiler is none.",
)
HIDDEN_STEP = declare(
    "hidden_step",
    Severity.NOTICE,
    "Device work of an earlier step lasted beyond the end of this one, whose time is therefore 0.",
    "times of single steps",
)
