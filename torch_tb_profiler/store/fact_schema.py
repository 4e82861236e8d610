"""The tables of facts, derived once per trace and read by every view instead of its events.

One row per distinct thing and step: any selection of steps is a sum over rows, whatever the number
of events. ``step`` columns are row numbers of ``steps``; −1: outside all steps.
"""

from __future__ import annotations

from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.schema import ROW, TEXT

STEP = "row of steps"

STEPS = TableSpec(
    "steps",
    "Steps in time order. The eight categories add up to end - start, exactly.",
    (
        Column("name", "i4", TEXT, "Display name, e.g. `ProfilerStep#5`."),
        Column("number", "i8", "", "N of ProfilerStep#N; -1 otherwise."),
        Column("start", "i8", "ns", "The later of host_start and the end of the previous step."),
        Column("end", "i8", "ns", "The later of host_end and the end of the device work launched."),
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
            "Cold 1, odd 2, cut off by the recording's end 4, stands for the whole span 8.",
        ),
    ),
)

DEVICES = TableSpec(
    "devices",
    "Accelerators with work in the trace, and their properties.",
    (
        Column("id", "i4", "", "Device id."),
        Column("name", "i4", TEXT, "Product name; -1 unknown."),
        Column("memory", "i8", "bytes", "Memory; -1 unknown."),
        Column("capability", "i4", TEXT, "Compute capability (`9.0`) or architecture; -1 unknown."),
        Column("multiprocessors", "i4", "", "SMs or compute units; -1 unknown."),
        Column("peak_allocated", "i8", "bytes", "Highest `Total Allocated` recorded; -1 unknown."),
    ),
)

DEVICE_STEPS = TableSpec(
    "device_steps",
    "What each accelerator did inside each step's window (start to end).",
    (
        Column("device", "i4", "row of devices", "The accelerator."),
        Column("step", "i4", STEP, "The step."),
        Column("busy", "i8", "ns", "Time with at least one kernel, communication included."),
        Column("sm_integral", "f8", "ns", "Integral of min(sum of blocks per SM, 1); NaN unknown."),
        Column("occupancy_weighted", "f8", "% ns", "Sum of occupancy times duration, clipped."),
        Column("occupancy_time", "i8", "ns", "Sum of durations where the occupancy is known."),
        Column("kernel_time", "i8", "ns", "Sum of kernel durations, clipped to the window."),
        Column("matrix_time", "i8", "ns", "Of it, kernels known to use matrix cores."),
        Column("matrix_unknown_time", "i8", "ns", "Of it, kernels for which this is unknown."),
    ),
)

STACKS = TableSpec(
    "stacks",
    "Call stacks as a tree: each stack is a node, its frames are the path to the root.",
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
    "Calls and times per operator and step (the one whose host window holds the call's begin).",
    (
        Column("operator", "i4", "row of operators", "The operator."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "calls", "Number of calls."),
        Column("device_self", "i8", "ns", "Device time launched by the calls themselves."),
        Column("device_total", "i8", "ns", "Device time launched by the calls and their callees."),
        Column("host_self", "i8", "ns", "Host time less that of called operators."),
        Column("host_total", "i8", "ns", "Host time from begin to end."),
        Column("matrix_self", "i8", "ns", "Of device_self, kernels known to use matrix cores."),
        Column("matrix_total", "i8", "ns", "Of device_total, likewise."),
        Column("matrix_unknown_self", "i8", "ns", "Of device_self, kernels not known either way."),
        Column("matrix_unknown_total", "i8", "ns", "Of device_total, likewise."),
        Column("kernel_self", "i8", "ns", "Of device_self, kernels: the base of the shares."),
        Column("kernel_total", "i8", "ns", "Of device_total, likewise."),
    ),
)

KERNELS = TableSpec(
    "kernels",
    "Distinct (name, operator, launch properties) of kernels.",
    (
        Column("name", "i4", TEXT, "Full name."),
        Column("operator", "i4", TEXT, "Name of the operator that launched it; -1 unknown."),
        Column("reason", "u1", "NoOperator", "Why the operator is unknown; 0 if known."),
        Column("grid", "i4", TEXT, "Grid as JSON text; -1 unknown."),
        Column("block", "i4", TEXT, "Block as JSON text; -1 unknown."),
        Column("registers", "i4", "", "Registers per thread; -1 unknown."),
        Column("shared_memory", "i8", "bytes", "Shared memory of a block; -1 unknown."),
        Column("matrix", "u1", "Knowledge", "Uses matrix cores: 0 no, 1 yes, 2 unknown."),
        Column("matrix_eligible", "u1", "Knowledge", "Whether its operator could use them."),
        Column("communication", "u1", "0 or 1", "Whether it is communication."),
    ),
)

KERNEL_STEPS = TableSpec(
    "kernel_steps",
    "Calls and times per kernel and step (the step that launched it).",
    (
        Column("kernel", "i4", "row of kernels", "The kernel."),
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
    "For every row of spans, in the same order: its place in the call tree, and what caused it.",
    (
        Column("parent", "i4", ROW, "Innermost enclosing host span of the track; -1 none."),
        Column("launch", "i4", ROW, "Of device work: the runtime call behind it; -1 unknown."),
        Column("operator", "i4", ROW, "Of device work and runtime calls: operator; -1 unknown."),
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
