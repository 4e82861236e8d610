"""The tables of facts that are derived from a trace once, and that every view reads instead of its
events.

They are small (one row per distinct thing and step), live in the sidecar beside the trace's own
tables, and make a warm start independent of the number of events. Any selection of steps is a sum
over rows. ``step`` columns are row numbers of ``steps``; −1 holds what lies in no step.
"""

from __future__ import annotations

from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.schema import ROW, TEXT

STEP = "row of steps"

STEPS = TableSpec(
    "steps",
    "Steps in time order. The eight categories add up to end - start, exactly.",
    (
        Column("name", "i4", TEXT, "What the page calls it, e.g. `ProfilerStep#5`."),
        Column("number", "i8", "", "N of ProfilerStep#N; -1 otherwise."),
        Column(
            "start",
            "i8",
            "ns",
            "Begin: the host's begin or, if later, the end of the previous step.",
        ),
        Column(
            "end",
            "i8",
            "ns",
            "End: the host's end or, if later, the end of the device work launched in it.",
        ),
        Column("host_start", "i8", "ns", "Begin of the annotation."),
        Column("host_end", "i8", "ns", "End of the annotation."),
        Column("kernel", "i8", "ns", "Category 1 of the breakdown."),
        Column("memcpy", "i8", "ns", "Category 2."),
        Column("memset", "i8", "ns", "Category 3."),
        Column("communication", "i8", "ns", "Category 4."),
        Column("runtime", "i8", "ns", "Category 5."),
        Column("dataloader", "i8", "ns", "Category 6."),
        Column("cpu_exec", "i8", "ns", "Category 7."),
        Column("other", "i8", "ns", "Category 8: the rest."),
        Column("launched", "i8", "events", "Device events launched in it."),
        Column(
            "flags",
            "u1",
            "StepFlag",
            "cold 1, odd 2, cut off by the end of the recording 4, stands for the whole span 8.",
        ),
    ),
)

DEVICES = TableSpec(
    "devices",
    "Accelerators that did work in the trace, and their properties.",
    (
        Column("id", "i4", "", "Device id."),
        Column("name", "i4", TEXT, "Product name; -1 unknown."),
        Column("memory", "i8", "bytes", "Memory; -1 unknown."),
        Column(
            "capability", "i4", TEXT, "Compute capability, e.g. `9.0`, or architecture; -1 unknown."
        ),
        Column("multiprocessors", "i4", "", "SMs or compute units; -1 unknown."),
        Column(
            "peak_allocated",
            "i8",
            "bytes",
            "Highest `Total Allocated` of the memory records; -1 unknown.",
        ),
    ),
)

DEVICE_STEPS = TableSpec(
    "device_steps",
    "What each accelerator did inside each step's window (start to end).",
    (
        Column("device", "i4", "row of devices", "The accelerator."),
        Column("step", "i4", STEP, "The step."),
        Column("busy", "i8", "ns", "Time with at least one kernel, communication included."),
        Column(
            "sm_integral",
            "f8",
            "ns",
            "Integral of min(sum of blocks per SM, 1); NaN when no kernel of the step says.",
        ),
        Column(
            "occupancy_weighted",
            "f8",
            "% ns",
            "Sum of occupancy times duration, kernels clipped to the window.",
        ),
        Column(
            "occupancy_time", "i8", "ns", "Sum of durations of the kernels with a known occupancy."
        ),
        Column("kernel_time", "i8", "ns", "Sum of kernel durations, clipped."),
        Column("matrix_time", "i8", "ns", "Of it, kernels known to use matrix cores."),
        Column("matrix_unknown_time", "i8", "ns", "Of it, kernels of which it is not known."),
    ),
)

STACKS = TableSpec(
    "stacks",
    "Call stacks as a tree: a stack is a node, its frames are the way to the root, innermost"
    " first.",
    (
        Column("parent", "i4", "row of stacks", "The caller; -1 for an outermost frame."),
        Column("frame", "i4", TEXT, "`file(line): function`."),
    ),
)

OPERATORS = TableSpec(
    "operators",
    "Distinct (name, input shapes, input types, stack) of operators.",
    (
        Column("name", "i4", TEXT, "Name."),
        Column("dims", "i4", TEXT, "Input shapes as JSON text; -1 not recorded."),
        Column("types", "i4", TEXT, "Input types as JSON text; -1 not recorded."),
        Column("stack", "i4", "row of stacks", "Call stack; -1 none recorded."),
        Column(
            "matrix_eligible",
            "u1",
            "Knowledge",
            "Whether matrix cores could do its work: 0 no, 1 yes, 2 unknown.",
        ),
    ),
)

OPERATOR_STEPS = TableSpec(
    "operator_steps",
    "Calls and times per operator and step (the step whose host window holds the begin of the"
    " call).",
    (
        Column("operator", "i4", "row of operators", "Which."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "calls", "Number of calls."),
        Column("device_self", "i8", "ns", "Device time launched by the calls themselves."),
        Column(
            "device_total", "i8", "ns", "Device time launched by the calls and what they called."
        ),
        Column("host_self", "i8", "ns", "Host time less that of called operators."),
        Column("host_total", "i8", "ns", "Host time from begin to end."),
        Column("matrix_self", "i8", "ns", "Of device_self, kernels known to use matrix cores."),
        Column("matrix_total", "i8", "ns", "Of device_total, likewise."),
        Column(
            "matrix_unknown_self", "i8", "ns", "Of device_self, kernels of which it is not known."
        ),
        Column("matrix_unknown_total", "i8", "ns", "Of device_total, likewise."),
        Column(
            "kernel_self",
            "i8",
            "ns",
            "Of device_self, kernels (not copies or memsets): the base of the shares.",
        ),
        Column("kernel_total", "i8", "ns", "Of device_total, likewise."),
    ),
)

KERNELS = TableSpec(
    "kernels",
    "Distinct (name, operator, launch properties) of kernels.",
    (
        Column("name", "i4", TEXT, "Full name."),
        Column("operator", "i4", TEXT, "Name of the operator that launched it; -1 unknown."),
        Column("reason", "u1", "NoOperator", "Why the operator is not known; 0 when it is."),
        Column("grid", "i4", TEXT, "Grid as JSON text; -1 unknown."),
        Column("block", "i4", TEXT, "Block as JSON text; -1 unknown."),
        Column("registers", "i4", "", "Registers per thread; -1 unknown."),
        Column("shared_memory", "i8", "bytes", "Shared memory of a block; -1 unknown."),
        Column(
            "matrix", "u1", "Knowledge", "Whether it uses matrix cores: 0 no, 1 yes, 2 unknown."
        ),
        Column("matrix_eligible", "u1", "Knowledge", "Whether its operator could."),
        Column("communication", "u1", "0 or 1", "Whether it is communication."),
    ),
)

KERNEL_STEPS = TableSpec(
    "kernel_steps",
    "Calls and times per kernel and step (the step that launched it).",
    (
        Column("kernel", "i4", "row of kernels", "Which."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "calls", "Number of launches."),
        Column("total", "i8", "ns", "Sum of durations."),
        Column("shortest", "i8", "ns", "Shortest."),
        Column("longest", "i8", "ns", "Longest."),
        Column("blocks_weighted", "f8", "ns", "Sum of blocks per SM times duration, where known."),
        Column("blocks_time", "i8", "ns", "Sum of durations where blocks per SM is known."),
        Column("occupancy_weighted", "f8", "% ns", "Sum of occupancy times duration, where known."),
        Column("occupancy_time", "i8", "ns", "Sum of durations where the occupancy is known."),
    ),
)

SPAN_LINKS = TableSpec(
    "span_links",
    "For every row of spans, in the same order: where it stands in the call tree and what"
    " caused it.",
    (
        Column(
            "parent",
            "i4",
            ROW,
            "Innermost enclosing host span of the same track; -1 none or not a host span.",
        ),
        Column(
            "launch", "i4", ROW, "For device work: the runtime call that launched it; -1 unknown."
        ),
        Column(
            "operator",
            "i4",
            ROW,
            "For device work and runtime calls: the innermost enclosing operator; -1 unknown.",
        ),
        Column("step", "i4", STEP, "The step; -1 outside all."),
    ),
)

FACT_TABLES = (
    STEPS,
    DEVICES,
    DEVICE_STEPS,
    STACKS,
    OPERATORS,
    OPERATOR_STEPS,
    KERNELS,
    KERNEL_STEPS,
    SPAN_LINKS,
)
