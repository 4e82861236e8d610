"""The tables of a trace's insight: the basis of findings and of Memory, Module, Distributed, Diff.

Times are int64 nanoseconds after the first event of the trace.
"""

from __future__ import annotations

from enum import IntEnum

from torch_tb_profiler.store.columns import TableSpec, declared, summed


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
    WAITING = 13
    """In a collective or transfer before the last rank has begun: told only where other ranks are known."""


class RangeKind(IntEnum):
    """Where a range is recorded."""

    HOST = 0
    """``record_function``, NVTX; the device's part follows from what was launched inside."""
    DEVICE = 1
    """On a device stream alone (``gpu_user_annotation``)."""


PATHS = declared("""
paths: The call trees of all threads and steps merged: one row per distinct sequence of names from
an outermost call, parents before children.
    parent    i4  row of paths                       Its caller; for a backward function the module of its forward, for a module recomputed
                                                     in the backward pass the caller of its forward; -1 outermost.
    kind      u1  PathKind                           0 module, 1 annotation, 2 operator.
    name      i4  number of a string of the insight  Name; modules without `nn.Module: `, e.g. `Linear_0`.
    backward  u1  0 or 1                             Whether it ran in the backward pass.
    event     i4  row of spans                       Its longest call, as an example.
    first     i8  ns                                 Begin of its first call.
""")

PATH_STEPS = declared("""
path_steps: Calls and times per path and step. Path -1 holds the device time that no path launched.
    path          i4  row of paths  The path; -1 none.
    step          i4  row of steps  The step; -1 outside all.
    calls         i8  calls         Number of calls.
    host_total    i8  ns            Host time from begin to end.
    host_self     i8  ns            Of it, outside nested calls and runtime calls.
    runtime       i8  ns            Of it, in runtime calls of its own.
    device_self   i8  ns            Device time launched by the call itself.
    device_total  i8  ns            The same with its callees and their backward.
    launched      i8  events        Device events launched by the call itself.
    increase      i8  bytes         Allocated less released by the call itself on all accelerators; without any such record, on the CPU.
    allocated     i8  bytes         Allocated by the call itself, likewise.
""")

PATH_SUMS = TableSpec(
    "path_sums",
    "For every row of paths, in the same order: the sums of path_steps inside and outside steps.",
    summed(PATH_STEPS, "path"),
)

MODULE_STEPS = declared("""
module_steps: path_steps summed over the paths of each module, nested modules excluded, per step.
    module       i4  row of paths  The module's path; -1 outside all modules.
    step         i4  row of steps  The step; -1 outside all.
    calls        i8  calls         Calls of the module itself; 0 outside all.
    host         i8  ns            Sum of host_self and runtime.
    device_self  i8  ns            Sum of device_self.
""")

NAME_STEPS = declared("""
name_steps: Operators per name and step: operator_steps summed over shapes, types and stacks.
    name         i4  number of a string  Name; a string of the trace.
    step         i4  row of steps        The step, as in operator_steps; -1 outside all.
    calls        i8  calls               Number of calls.
    device_self  i8  ns                  Device time launched by the calls themselves.
    host_self    i8  ns                  Host time less that of called operators, regions and runtime calls.
    runtime      i8  ns                  Host time of the runtime calls that the calls make themselves.
""")

SPAN_PATHS = declared("""
span_paths: For every row of spans, in the same order: its path.
    path  i4  row of paths  Its own for modules, annotations and operators; the enclosing one (of the launch) for runtime calls, device work
                            and other Python frames; -1 none.
""")

BACKWARD_FUNCTIONS = declared("""
backward_functions: Calls of the backward pass that differentiate one forward operator, in the order of spans.
    span     i4  row of spans  The engine's call of the function; or a collective in one that is of many operators.
    forward  i4  row of spans  The forward operator; -1 unknown, or of many.
""")

LINES = declared("""
lines: Python frames around launches outside operators, as a tree like stacks, parents first.
    parent  i4  row of lines        The caller; -1 for an outermost frame.
    frame   i4  number of a string  `file(line): function`; a string of the trace.
""")

LINE_STEPS = declared("""
line_steps: Device work launched outside operators, per line and step.
    line      i4  row of lines  The innermost frame around the launch.
    step      i4  row of steps  The step, as in path_steps; -1 outside all.
    device    i8  ns            Sum of durations.
    launched  i8  events        How many.
""")

WORK = declared("""
work: Device work (kernels, copies, memsets) per launching path and name, over all steps.
    path   i4  row of paths        The path that launched it; -1 none.
    name   i4  number of a string  Full name; a string of the trace.
    calls  i8  events              How many.
    total  i8  ns                  Sum of durations.
""")

WORK_STEPS = declared("""
work_steps: The same per step.
    work   i4  row of work   The work.
    step   i4  row of steps  The step that launched it; -1 outside all.
    calls  i8  events        How many.
    total  i8  ns            Sum of durations.
    event  i4  row of spans  The longest.
""")

WORK_NAME_STEPS = declared("""
work_name_steps: Device work per name and step.
    name   i4  number of a string  Full name; a string of the trace.
    step   i4  row of steps        The step, as in work_steps; -1 outside all.
    calls  i8  events              How many.
    total  i8  ns                  Sum of durations.
    most   i8  ns                  Of it, the largest part that one path launched.
    event  i4  row of spans        The longest launched by that path.
""")

RUNTIME_STEPS = declared("""
runtime_steps: Calls into the accelerator's runtime or driver per name and step.
    name   i4  number of a string  Name; a string of the trace.
    step   i4  row of steps        The step in whose host window it began; -1 outside all.
    calls  i8  calls               How many.
    total  i8  ns                  Sum of durations.
    event  i4  row of spans        The longest.
""")

MEMORY_DEVICES = declared("""
memory_devices: Devices that the allocator records name, the CPU last.
    type           i4  -        c10 device type: 0 CPU, 1 CUDA, ...; -1 unknown.
    id             i4  -        Device id; -1 none.
    records        i8  records  Allocator records.
    begin          i8  bytes    Allocated before the first record; if no record states a total, the least that the releases imply.
    end            i8  bytes    Allocated after the last record: begin + all increments.
    peak           i8  bytes    Highest allocated.
    peak_time      i8  ns       First time of the peak.
    peak_reserved  i8  bytes    Highest reserved; -1 unknown.
    stated         i8  records  Records that state a total.
    mismatched     i8  records  Of them, not the previous total plus the bytes.
""")

MEMORY_CURVE = declared("""
memory_curve: Every allocator record with the totals after it, ordered by (device, time); in front, of what was there before, the state before the first.
    device     i4  row of memory_devices         The device.
    time       i8  ns                            Time.
    bytes      i8  bytes                         Size; negative for a release.
    allocated  i8  bytes                         Allocated after it: as stated, else the running sum.
    reserved   i8  bytes                         Reserved after it; -1 unknown.
    node       i4  row of memory_nodes           Innermost operator then on its thread; -1 none.
    path       i4  row of paths                  That operator's path, or the enclosing module's; -1 unknown.
    category   i1  position in BLOCK_CATEGORIES  Category of its block; -1 unknown.
""")

MEMORY_NODES = declared("""
memory_nodes: Operator calls that allocated or released, and those enclosing them; by (depth,
event).
    parent     i4  row of memory_nodes                The enclosing operator; -1 none.
    depth      i4  operators                          Number of enclosing operators.
    outermost  u1  0 or 1                             Whether none of them has its name.
    event      i4  row of spans                       The call.
    name       i4  number of a string of the insight  Name of the operator.
    path       i4  row of paths                       Its path; -1 none.
    stack      i4  row of stacks of the facts         Its call stack; -1 none.
""")

ALLOCATIONS = declared("""
allocations: Blocks of memory, from their allocation to their release, ordered by (device, begin).
    device       i4  row of memory_devices              The device.
    bytes        i8  bytes                              Size.
    begin        i8  ns                                 When it was allocated; -1 before the recording.
    end          i8  ns                                 When it was released; -1 not within the recording.
    node         i4  row of memory_nodes                The operator that allocated it; -1 none or earlier.
    released_by  i4  row of memory_nodes                The operator that released it; -1 unknown.
    path         i4  row of paths                       That operator's path, or the enclosing module's; -1 unknown.
    record       i4  row of memory_curve                Its allocation, or the earliest possible one if lost; -1 before the recording.
    release      i4  row of memory_curve                Its release, or the record that implies it; -1 not within the recording.
    line         i4  number of a string of the insight  The user's nearest Python frame, or any; -1 unknown.
    frames       i4  number of a string of the insight  Call stack, innermost first (snapshots); -1 none.
    category     i1  position in BLOCK_CATEGORIES       Category, recorded or inferred; -1 unknown.
    rule         i1  position in CATEGORY_RULES         The rule that infers it; -1 recorded or unknown.
    address      u8  -                                  Address.
""")

COLLECTIVES = declared("""
collectives: Collectives and point-to-point transfers of this worker, ordered by start.
    event       i4  row of spans                       The device kernel; without one, the host region or operator.
    host        i4  row of spans                       The host call that started it; -1 unknown.
    kind        i4  number of a string of the insight  `all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `broadcast`, `reduce`,
                                                       `gather`, `scatter`, `barrier`, `send`, `recv`, or the name as written.
    library     i4  number of a string of the insight  `nccl`, `rccl`, `gloo`, `mpi`, `hccl` ...; -1 unknown.
    group       i4  number of a string of the insight  Process group; -1 unknown.
    group_size  i4  ranks                              Ranks of the group; -1 unknown.
    dtype       i4  number of a string of the insight  Data type; -1 unknown.
    bytes       i8  bytes                              Message size as nccl-tests defines it: all ranks for all_gather and reduce_scatter,
                                                       else one; -1 unknown.
    sequence    i8  -                                  Sequence number of the backend; -1 unknown.
    peer        i4  rank                               The other rank of a send or recv; -1 unknown or none.
    start       i8  ns                                 Begin on this worker.
    end         i8  ns                                 End on this worker.
    step        i4  row of steps                       The step; -1 outside all.
    exposed     i8  ns                                 Of it, without computation on the device; without a device, without host operators.
""")

COMMUNICATION_STEPS = declared("""
communication_steps: Overlap of communication and computation per step; the four add up to end -
start exactly.
    step           i4  row of steps  The step.
    computation    i8  ns            Computation alone.
    overlap        i8  ns            Both at once.
    communication  i8  ns            Communication alone: exposed.
    other          i8  ns            Neither.
""")

WORKLOADS = declared("""
workloads: Distinct (name, input shapes, types, strides, concrete inputs, step) of operator calls that
launched device work, directly or through callees, or have a performance model; without any device
work, of all others outside modelled calls as well.
    name        i4  number of a string of the insight  Name of the operator.
    dims        i4  number of a string of the insight  Input shapes as JSON text; -1 not recorded.
    types       i4  number of a string of the insight  Input types as JSON text; -1 not recorded.
    strides     i4  number of a string of the insight  Input strides as JSON text; -1 not recorded.
    concrete    i4  number of a string of the insight  Concrete inputs as JSON text; -1 not recorded.
    step        i4  number of a string of the insight  Annotation of the server's step, if its model asks for it; -1 none.
    family      i4  number of a string of the insight  Family of its performance model; -1 not modelled.
    flops       i8  FLOP                               Of one call; -1 not modelled.
    bytes       i8  bytes                              Least memory traffic of one call; -1 unknown.
    unit        i4  number of a string of the insight  `matrix` or `vector`; -1 no arithmetic, or not modelled.
    precision   i4  number of a string of the insight  `fp64`, `fp32`, `fp16`, `bf16` ...; -1 unknown.
    parameters  i4  number of a string of the insight  E.g. `M=788, N=768, K=768`; -1 not modelled.
""")

WORKLOAD_STEPS = declared("""
workload_steps: Calls and times per workload and step (the one whose host window holds the call's
begin). Sums use the counted calls, so that all work counts once: those to which device work is
attributed (see workload_kernels); without any device work, those outside modelled calls.
    workload      i4  row of workloads  The workload.
    step          i4  row of steps      The step; -1 outside all.
    calls         i8  calls             Number of calls.
    device_self   i8  ns                Device time launched by the calls themselves.
    device_total  i8  ns                Device time launched by the calls and their callees.
    host_total    i8  ns                Host time from begin to end.
    counted       i8  calls             Of the calls, those that are counted.
    counted_time  i8  ns                Device time attributed to the counted calls; without any device work their host time, self time if
                                        not modelled.
    event         i4  row of spans      Longest counted call, else the one with the most host time.
""")

WORKLOAD_KERNELS = declared("""
workload_kernels: Device work by the workload to which it is attributed, and the step that launched
it: the outermost enclosing modelled call that launches work with no other modelled call in between;
without a modelled call, the launching operator.
    workload  i4  row of workloads                   The workload; -1 no operator.
    kernel    i4  number of a string of the insight  Full name of the kernel, copy or memset.
    step      i4  row of steps                       The step; -1 outside all.
    calls     i8  launches                           Number of launches.
    total     i8  ns                                 Sum of durations.
    flops     i8  FLOP                               FLOPs of all these launches: a call's work belongs to its main kernels; -1 unknown, 0
                                                     for kernels that prepare or finish.
    bytes     i8  bytes                              Likewise; -1 unknown.
    fast      u1  0 or 1                             Whether any of them is a Winograd or FFT convolution, which needs fewer FLOPs.
    matrix    u1  Knowledge                          Whether it uses matrix cores.
    event     i4  row of spans                       The longest launch.
""")

COUNTER_STEPS = declared("""
counter_steps: Counter samples (`ph` C) per series and step.
    counter   i4  number of a string of the insight  Name of the event, and the key of its value if any.
    device    i4  number of a string of the insight  Its device or process, e.g. `GPU 0`.
    step      i4  row of steps                       The step in which the sample begins; -1 outside all.
    samples   i8  samples                            How many.
    total     f8  -                                  Their sum.
    least     f8  -                                  The smallest.
    greatest  f8  -                                  The largest.
""")

DEVICE_WORKLOADS = declared("""
device_workloads: For every kernel, copy and memset, in the order of spans: the workload it is
attributed to.
    workload  i4  row of workloads  The workload; -1 no operator.
""")

CRITICAL_PATH = declared("""
critical_path: What the end of each step waited for, back to its begin, in time order: the stretches
of a step cover it without hole or overlap.
    step   i4  row of steps  The step.
    start  i8  ns            Begin.
    end    i8  ns            End.
    cause  u1  PathCause     What it is spent on.
    event  i4  row of spans  The event, of a launch the work launched; -1 none.
    group  i4  row of critical_path_steps  The sum that it is part of.
""")

CRITICAL_PATH_STEPS = declared("""
critical_path_steps: Sums of the critical path by step, cause, event, source line, operator, module and
track.
    step      i4  row of steps                       The step.
    cause     u1  PathCause                          What it is spent on.
    name      i4  number of a string                 Name of the event; -1 none.
    line      i4  number of a string                 Nearest Python line, the user's if there is one; -1 unknown.
    operator  i4  number of a string                 Operator at or around it; -1 none.
    module    i4  number of a string of the insight  Innermost module around it or its launch; -1 none.
    track     i4  row of tracks                      Its thread or stream; -1 none.
    time      i8  ns                                 Time on the path.
    segments  i8  segments                           How many.
    event     i4  row of spans                       The longest; -1 none.
""")

STEP_WORK = declared("""
step_work: What the device and the host did in each step, on the critical path or not, without communication and
waiting, and what of the path are launch latency and nothing recorded: what ranks are compared by.
    step   i4  row of steps        The step.
    cause  u1  PathCause           What it is.
    name   i4  number of a string  The operator, or the device work without one; -1 other work, and what takes too little to be told apart.
    time   i8  ns                  Sum of durations on the device; on the host, time in which nothing beneath ran.
""")

FINDING_STEPS = declared("""
finding_steps: What the change of each finding would save in each step, simulated; steps without are left out.
    finding  i4  position in `found`  The finding; -1, -2, -3: of all certain ones together, of all certain and likely ones, of all.
    step     i4  row of steps         The step.
    saved    i8  ns                   Its wall time less the predicted one.
    acted    i8  ns                   What the change acts on of its critical path; of several together what they save.
""")

WHAT_IF_STEPS = declared("""
what_if_steps: How long each step would be with each usual change, simulated.
    change  i4  number of a string of the insight  The change as the command line takes it; -1 none: the replay of the trace.
    step    i4  row of steps                       The step.
    time    i8  ns                                 Its simulated length.
""")

SLACK = declared("""
slack: How much later threads and streams could come to certain moments without moving the end of any
step, ordered by (track, time).
    track  i4  row of tracks  The thread or stream.
    time   i8  ns             When it came there.
    slack  i8  ns             How much later it could; -1 nothing recorded depends on it.
""")

RANGES = declared("""
ranges: Distinct names of annotations; those that are steps are left out.
    name   i4  number of a string  Name; a string of the trace.
    kind   u1  RangeKind           0 on the host, 1 on device streams alone.
    event  i4  row of spans        Its longest call, as an example.
""")

RANGE_STEPS = declared("""
range_steps: Calls and times per range and step, in the order of steps. Calls within a call of their name only count as calls.
    range     i4  row of ranges  The range; -1 everything, in a range or not.
    step      i4  row of steps   The step: that holds the begin of the call, the stretch of host time, or the launch; -1 outside all.
    calls     i8  calls          Number of calls.
    host      i8  ns             Host time from begin to end; that of a call which lasts longer than the step is split.
    device    i8  ns             From the begin of the first to the end of the last device work that a call launched in the step.
    busy      i8  ns             Of it, while such work ran.
    launched  i8  events         Device events launched inside; 0 on device streams alone.
    path      i8  ns             Time on the critical path of events inside, and of work launched inside.
""")

INSIGHT_TABLES = tuple(spec for spec in list(globals().values()) if isinstance(spec, TableSpec))
