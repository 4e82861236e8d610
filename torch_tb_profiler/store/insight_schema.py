"""The tables of a trace's insight: the basis of findings and of Memory, Module, Distributed, Diff.

Times are int64 nanoseconds after the first event of the trace.
"""

from __future__ import annotations

from enum import IntEnum

from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.fact_schema import STEP
from torch_tb_profiler.store.schema import BLOCK_CATEGORY, ROW, TEXT

OWN_TEXT = "number of a string of the insight"
PATH = "row of paths"
MEMORY_DEVICE = "row of memory_devices"
MEMORY_NODE = "row of memory_nodes"


class PathKind(IntEnum):
    """What the last call of a path is."""

    MODULE = 0
    ANNOTATION = 1
    OPERATOR = 2


class PathCause(IntEnum):
    """What a stretch of the critical path is spent on."""

    NOT_RECORDED = 0
    KERNEL = 1
    MEMCPY = 2
    MEMSET = 3
    COMMUNICATION = 4
    LAUNCH = 5
    """From the return of a launch until its work begins, or between two pieces of work of a stream."""
    OPERATOR = 6
    PYTHON = 7
    RUNTIME = 8
    SYNCHRONIZATION = 9
    """In a blocking call after the work that it waited for has ended, or that waited for nothing recorded."""
    DATALOADER = 10
    ANNOTATION = 11
    """Host code inside an annotation of which nothing else was recorded."""
    BEFORE_RECORDING = 12
    """The device was busy with work launched before the recording began."""


_WORK_SUMS = (
    Column("calls", "i8", "events", "How many."),
    Column("total", "i8", "ns", "Sum of durations."),
)


def _summed(steps: TableSpec, group: str) -> tuple[Column, ...]:
    """The columns of a table per step that can be summed over steps; ``group``: its key column."""
    return tuple(column for column in steps.columns if column.name not in (group, "step"))


PATHS = TableSpec(
    "paths",
    "The call trees of all threads and steps merged: one row per distinct sequence of names from an"
    " outermost call, parents before children.",
    (
        Column(
            "parent",
            "i4",
            PATH,
            "Its caller; for a backward function the module of its forward, for a module recomputed"
            " in the backward pass the caller of its forward; -1 outermost.",
        ),
        Column("kind", "u1", "PathKind", "0 module, 1 annotation, 2 operator."),
        Column("name", "i4", OWN_TEXT, "Name; modules without `nn.Module: `, e.g. `Linear_0`."),
        Column("backward", "u1", "0 or 1", "Whether it ran in the backward pass."),
        Column("event", "i4", ROW, "Its longest call, as an example."),
        Column("first", "i8", "ns", "Begin of its first call."),
    ),
)

PATH_STEPS = TableSpec(
    "path_steps",
    "Calls and times per path and step. Path -1 holds the device time that no path launched.",
    (
        Column("path", "i4", PATH, "The path; -1 none."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "calls", "Number of calls."),
        Column("host_total", "i8", "ns", "Host time from begin to end."),
        Column("host_self", "i8", "ns", "Of it, outside nested calls and runtime calls."),
        Column("runtime", "i8", "ns", "Of it, in runtime calls of its own."),
        Column("device_self", "i8", "ns", "Device time launched by the call itself."),
        Column("device_total", "i8", "ns", "The same with its callees and their backward."),
        Column("launched", "i8", "events", "Device events launched by the call itself."),
        Column(
            "increase",
            "i8",
            "bytes",
            "Allocated less released by the call itself on all accelerators; without any such"
            " record, on the CPU.",
        ),
        Column("allocated", "i8", "bytes", "Allocated by the call itself, likewise."),
    ),
)

PATH_SUMS = TableSpec(
    "path_sums",
    "For every row of paths, in the same order: the sums of path_steps inside and outside steps.",
    _summed(PATH_STEPS, "path"),
)

MODULE_STEPS = TableSpec(
    "module_steps",
    "path_steps summed over the paths of each module, nested modules excluded, per step.",
    (
        Column("module", "i4", PATH, "The module's path; -1 outside all modules."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "calls", "Calls of the module itself; 0 outside all."),
        Column("host", "i8", "ns", "Sum of host_self and runtime."),
        Column("device_self", "i8", "ns", "Sum of device_self."),
    ),
)

NAME_STEPS = TableSpec(
    "name_steps",
    "Operators per name and step: operator_steps summed over shapes, types and stacks.",
    (
        Column("name", "i4", TEXT, "Name; a string of the trace."),
        Column("step", "i4", STEP, "The step, as in operator_steps; -1 outside all."),
        Column("calls", "i8", "calls", "Number of calls."),
        Column("device_self", "i8", "ns", "Device time launched by the calls themselves."),
        Column("host_self", "i8", "ns", "Host time less that of called operators."),
    ),
)

OPERATOR_SUMS = TableSpec(
    "operator_sums",
    "For every row of operators, in the same order: operator_steps summed inside and outside steps.",
    _summed(NAME_STEPS, "name"),
)

SPAN_PATHS = TableSpec(
    "span_paths",
    "For every row of spans, in the same order: its path.",
    (
        Column(
            "path",
            "i4",
            PATH,
            "Its own for modules, annotations and operators; the enclosing one (of the launch) for"
            " runtime calls, device work and other Python frames; -1 none.",
        ),
    ),
)

LINES = TableSpec(
    "lines",
    "Python frames around launches outside operators, as a tree like stacks, parents first.",
    (
        Column("parent", "i4", "row of lines", "The caller; -1 for an outermost frame."),
        Column("frame", "i4", TEXT, "`file(line): function`; a string of the trace."),
    ),
)

LINE_STEPS = TableSpec(
    "line_steps",
    "Device work launched outside operators, per line and step.",
    (
        Column("line", "i4", "row of lines", "The innermost frame around the launch."),
        Column("step", "i4", STEP, "The step, as in path_steps; -1 outside all."),
        Column("device", "i8", "ns", "Sum of durations."),
        Column("launched", "i8", "events", "How many."),
    ),
)

WORK = TableSpec(
    "work",
    "Device work (kernels, copies, memsets) per launching path and name, over all steps.",
    (
        Column("path", "i4", PATH, "The path that launched it; -1 none."),
        Column("name", "i4", TEXT, "Full name; a string of the trace."),
        *_WORK_SUMS,
    ),
)

WORK_STEPS = TableSpec(
    "work_steps",
    "The same per step.",
    (
        Column("work", "i4", "row of work", "The work."),
        Column("step", "i4", STEP, "The step that launched it; -1 outside all."),
        *_WORK_SUMS,
        Column("event", "i4", ROW, "The longest."),
    ),
)

WORK_NAME_STEPS = TableSpec(
    "work_name_steps",
    "Device work per name and step.",
    (
        Column("name", "i4", TEXT, "Full name; a string of the trace."),
        Column("step", "i4", STEP, "The step, as in work_steps; -1 outside all."),
        *_WORK_SUMS,
        Column("most", "i8", "ns", "Of it, the largest part that one path launched."),
        Column("event", "i4", ROW, "The longest launched by that path."),
    ),
)

RUNTIME_STEPS = TableSpec(
    "runtime_steps",
    "Calls into the accelerator's runtime or driver per name and step.",
    (
        Column("name", "i4", TEXT, "Name; a string of the trace."),
        Column("step", "i4", STEP, "The step in whose host window it began; -1 outside all."),
        Column("calls", "i8", "calls", "How many."),
        Column("total", "i8", "ns", "Sum of durations."),
        Column("event", "i4", ROW, "The longest."),
    ),
)

MEMORY_DEVICES = TableSpec(
    "memory_devices",
    "Devices that the allocator records name, the CPU last.",
    (
        Column("type", "i4", "", "c10 device type: 0 CPU, 1 CUDA, ...; -1 unknown."),
        Column("id", "i4", "", "Device id; -1 none."),
        Column("records", "i8", "records", "Allocator records."),
        Column(
            "begin",
            "i8",
            "bytes",
            "Allocated before the first record; if no record states a total, the least that the"
            " releases imply.",
        ),
        Column("end", "i8", "bytes", "Allocated after the last record: begin + all increments."),
        Column("peak", "i8", "bytes", "Highest allocated."),
        Column("peak_time", "i8", "ns", "First time of the peak."),
        Column("peak_reserved", "i8", "bytes", "Highest reserved; -1 unknown."),
        Column("stated", "i8", "records", "Records that state a total."),
        Column("mismatched", "i8", "records", "Of them, not the previous total plus the bytes."),
    ),
)

MEMORY_CURVE = TableSpec(
    "memory_curve",
    "Every allocator record with the totals after it, ordered by (device, time).",
    (
        Column("device", "i4", MEMORY_DEVICE, "The device."),
        Column("time", "i8", "ns", "Time."),
        Column("bytes", "i8", "bytes", "Size; negative for a release."),
        Column("allocated", "i8", "bytes", "Allocated after it: as stated, else the running sum."),
        Column("reserved", "i8", "bytes", "Reserved after it; -1 unknown."),
        Column("node", "i4", MEMORY_NODE, "Innermost operator then on its thread; -1 none."),
        Column("path", "i4", PATH, "That operator's path, or the enclosing module's; -1 unknown."),
        Column("category", "i1", BLOCK_CATEGORY, "Category as recorded; -1 unknown."),
    ),
)

MEMORY_NODES = TableSpec(
    "memory_nodes",
    "Operator calls that allocated or released, and those enclosing them; by (depth, event).",
    (
        Column("parent", "i4", MEMORY_NODE, "The enclosing operator; -1 none."),
        Column("depth", "i4", "operators", "Number of enclosing operators."),
        Column("outermost", "u1", "0 or 1", "Whether none of them has its name."),
        Column("event", "i4", ROW, "The call."),
        Column("name", "i4", OWN_TEXT, "Name of the operator."),
        Column("path", "i4", PATH, "Its path; -1 none."),
        Column("stack", "i4", "row of stacks of the facts", "Its call stack; -1 none."),
    ),
)

ALLOCATIONS = TableSpec(
    "allocations",
    "Blocks of memory, from their allocation to their release, ordered by (device, begin).",
    (
        Column("device", "i4", MEMORY_DEVICE, "The device."),
        Column("bytes", "i8", "bytes", "Size."),
        Column("begin", "i8", "ns", "When it was allocated; -1 before the recording."),
        Column("end", "i8", "ns", "When it was released; -1 not within the recording."),
        Column("node", "i4", MEMORY_NODE, "The operator that allocated it; -1 none or earlier."),
        Column("released_by", "i4", MEMORY_NODE, "The operator that released it; -1 unknown."),
        Column("path", "i4", PATH, "That operator's path, or the enclosing module's; -1 unknown."),
        Column(
            "record",
            "i4",
            "row of memory_curve",
            "Its allocation, or the earliest possible one if lost; -1 before the recording.",
        ),
        Column(
            "release",
            "i4",
            "row of memory_curve",
            "Its release, or the record that implies it; -1 not within the recording.",
        ),
        Column("line", "i4", OWN_TEXT, "The user's nearest Python frame, or any; -1 unknown."),
        Column("frames", "i4", OWN_TEXT, "Call stack, innermost first (snapshots); -1 none."),
        Column("category", "i1", BLOCK_CATEGORY, "Category as recorded; -1 unknown."),
    ),
)

COLLECTIVES = TableSpec(
    "collectives",
    "Collectives and point-to-point transfers of this worker, ordered by start.",
    (
        Column("event", "i4", ROW, "The device kernel; without one, the host region or operator."),
        Column("host", "i4", ROW, "The host call that started it; -1 unknown."),
        Column(
            "kind",
            "i4",
            OWN_TEXT,
            "`all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `broadcast`, `reduce`,"
            " `gather`, `scatter`, `barrier`, `send`, `recv`, or the name as written.",
        ),
        Column("library", "i4", OWN_TEXT, "`nccl`, `rccl`, `gloo`, `mpi`, `hccl` ...; -1 unknown."),
        Column("group", "i4", OWN_TEXT, "Process group; -1 unknown."),
        Column("group_size", "i4", "ranks", "Ranks of the group; -1 unknown."),
        Column("dtype", "i4", OWN_TEXT, "Data type; -1 unknown."),
        Column(
            "bytes",
            "i8",
            "bytes",
            "Message size as nccl-tests defines it: all ranks for all_gather and reduce_scatter,"
            " else one; -1 unknown.",
        ),
        Column("sequence", "i8", "", "Sequence number of the backend; -1 unknown."),
        Column("peer", "i4", "rank", "The other rank of a send or recv; -1 unknown or none."),
        Column("start", "i8", "ns", "Begin on this worker."),
        Column("end", "i8", "ns", "End on this worker."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column(
            "exposed",
            "i8",
            "ns",
            "Of it, without computation on the device; without a device, without host operators.",
        ),
    ),
)

COMMUNICATION_STEPS = TableSpec(
    "communication_steps",
    "Overlap of communication and computation per step; the four add up to end - start exactly.",
    (
        Column("step", "i4", STEP, "The step."),
        Column("computation", "i8", "ns", "Computation alone."),
        Column("overlap", "i8", "ns", "Both at once."),
        Column("communication", "i8", "ns", "Communication alone: exposed."),
        Column("other", "i8", "ns", "Neither."),
    ),
)

WORKLOADS = TableSpec(
    "workloads",
    "Distinct (name, input shapes, types, strides, concrete inputs) of operator calls that launched"
    " device work, directly or through callees, or have a performance model; without any device"
    " work, of all others outside modelled calls as well.",
    (
        Column("name", "i4", OWN_TEXT, "Name of the operator."),
        Column("dims", "i4", OWN_TEXT, "Input shapes as JSON text; -1 not recorded."),
        Column("types", "i4", OWN_TEXT, "Input types as JSON text; -1 not recorded."),
        Column("strides", "i4", OWN_TEXT, "Input strides as JSON text; -1 not recorded."),
        Column("concrete", "i4", OWN_TEXT, "Concrete inputs as JSON text; -1 not recorded."),
        Column("family", "i4", OWN_TEXT, "Family of its performance model; -1 not modelled."),
        Column("flops", "i8", "FLOP", "Of one call; -1 not modelled."),
        Column("bytes", "i8", "bytes", "Least memory traffic of one call; -1 unknown."),
        Column("unit", "i4", OWN_TEXT, "`matrix` or `vector`; -1 no arithmetic, or not modelled."),
        Column("precision", "i4", OWN_TEXT, "`fp64`, `fp32`, `fp16`, `bf16` ...; -1 unknown."),
        Column("parameters", "i4", OWN_TEXT, "E.g. `M=788, N=768, K=768`; -1 not modelled."),
    ),
)

WORKLOAD_STEPS = TableSpec(
    "workload_steps",
    "Calls and times per workload and step (the one whose host window holds the call's begin). Sums"
    " use the counted calls, so that all work counts once: those to which device work is attributed"
    " (see workload_kernels); without any device work, those outside modelled calls.",
    (
        Column("workload", "i4", "row of workloads", "The workload."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "calls", "Number of calls."),
        Column("device_self", "i8", "ns", "Device time launched by the calls themselves."),
        Column("device_total", "i8", "ns", "Device time launched by the calls and their callees."),
        Column("host_total", "i8", "ns", "Host time from begin to end."),
        Column("counted", "i8", "calls", "Of the calls, those that are counted."),
        Column(
            "counted_time",
            "i8",
            "ns",
            "Device time attributed to the counted calls; without any device work their host time,"
            " self time if not modelled.",
        ),
        Column("event", "i4", ROW, "Longest counted call, else the one with the most host time."),
    ),
)

WORKLOAD_KERNELS = TableSpec(
    "workload_kernels",
    "Device work by the workload to which it is attributed, and the step that launched it: the"
    " outermost enclosing modelled call that launches work with no other modelled call in between;"
    " without a modelled call, the launching operator.",
    (
        Column("workload", "i4", "row of workloads", "The workload; -1 no operator."),
        Column("kernel", "i4", OWN_TEXT, "Full name of the kernel, copy or memset."),
        Column("step", "i4", STEP, "The step; -1 outside all."),
        Column("calls", "i8", "launches", "Number of launches."),
        Column("total", "i8", "ns", "Sum of durations."),
        Column(
            "flops",
            "i8",
            "FLOP",
            "FLOPs of all these launches: a call's work belongs to its main kernels; -1 unknown, 0"
            " for kernels that prepare or finish.",
        ),
        Column("bytes", "i8", "bytes", "Likewise; -1 unknown."),
        Column(
            "fast",
            "u1",
            "0 or 1",
            "Whether any of them is a Winograd or FFT convolution, which needs fewer FLOPs.",
        ),
        Column("matrix", "u1", "Knowledge", "Whether it uses matrix cores."),
        Column("event", "i4", ROW, "The longest launch."),
    ),
)

COUNTER_STEPS = TableSpec(
    "counter_steps",
    "Counter samples (`ph` C) per series and step.",
    (
        Column("counter", "i4", OWN_TEXT, "Name of the event, and the key of its value if any."),
        Column("device", "i4", OWN_TEXT, "Its device or process, e.g. `GPU 0`."),
        Column("step", "i4", STEP, "The step in which the sample begins; -1 outside all."),
        Column("samples", "i8", "samples", "How many."),
        Column("total", "f8", "", "Their sum."),
        Column("least", "f8", "", "The smallest."),
        Column("greatest", "f8", "", "The largest."),
    ),
)

DEVICE_WORKLOADS = TableSpec(
    "device_workloads",
    "For every kernel, copy and memset, in the order of spans: the workload it is attributed to.",
    (Column("workload", "i4", "row of workloads", "The workload; -1 no operator."),),
)

CRITICAL_PATH = TableSpec(
    "critical_path",
    "What the end of each step waited for, back to its begin, in time order: the stretches of a step"
    " cover it without hole or overlap.",
    (
        Column("step", "i4", STEP, "The step."),
        Column("start", "i8", "ns", "Begin."),
        Column("end", "i8", "ns", "End."),
        Column("cause", "u1", "PathCause", "What it is spent on."),
        Column("event", "i4", ROW, "The event, of a launch the work launched; -1 none."),
    ),
)

INSIGHT_TABLES = (
    PATHS,
    PATH_STEPS,
    PATH_SUMS,
    SPAN_PATHS,
    LINES,
    LINE_STEPS,
    WORK,
    WORK_STEPS,
    WORK_NAME_STEPS,
    RUNTIME_STEPS,
    NAME_STEPS,
    OPERATOR_SUMS,
    MODULE_STEPS,
    MEMORY_DEVICES,
    MEMORY_CURVE,
    MEMORY_NODES,
    ALLOCATIONS,
    COLLECTIVES,
    COMMUNICATION_STEPS,
    WORKLOADS,
    WORKLOAD_STEPS,
    WORKLOAD_KERNELS,
    DEVICE_WORKLOADS,
    COUNTER_STEPS,
    CRITICAL_PATH,
)
