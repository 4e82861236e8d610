"""The tables of facts, derived once per trace and read by every view instead of its events.

One row per distinct thing and step: any selection of steps is a sum over rows, whatever the number
of events. ``step`` columns are row numbers of ``steps``; −1: outside all steps.
"""

from __future__ import annotations

from torch_tb_profiler.store.columns import TableSpec, declared, summed

STEPS = declared("""
steps: Steps in time order. The eight categories add up to end - start - earlier, exactly.
    name           i4  number of a string  Display name, e.g. `ProfilerStep#5`.
    number         i8  -                   N of ProfilerStep#N; -1 otherwise.
    start          i8  ns                  The later of host_start and the end of the previous step.
    end            i8  ns                  The later of host_end and the end of the device work launched.
    host_start     i8  ns                  Begin of the annotation.
    host_end       i8  ns                  End of the annotation.
    earlier        i8  ns                  Work from before the recording, which no figure counts: earlier_work summed.
    unrecorded     i8  ns                  Time in which what the devices did is unknown: work is missing from the trace.
    silent         i8  ns                  A start in which launched work waits and nothing was recorded on the devices; it counts.
    kernel         i8  ns                  Category 1 of the breakdown.
    memcpy         i8  ns                  Category 2.
    memset         i8  ns                  Category 3.
    communication  i8  ns                  Category 4.
    runtime        i8  ns                  Category 5.
    dataloader     i8  ns                  Category 6.
    cpu_exec       i8  ns                  Category 7.
    other          i8  ns                  Category 8: the rest.
    launched       i8  events              Device events launched in it.
    flags          u1  StepFlag            Cold 1, odd 2, cut off by the recording's end 4, stands for the whole span 8, incomplete 16.
    kind           i4  row of step_kinds   Which of the kinds of steps it is; -1 cut off or incomplete, unknown.
""")

STEP_KINDS = declared("""
step_kinds: Kinds of steps: steps of one launch the same. The kind with most time is the first row, the others follow in the
order of their first step.
    what       u1  StepKind  Unnamed 0, prefill 1, decode 2, mixed 3, training 4, validation 5, micro-batch 6, last micro-batch 7, cold 8.
    period     i8  steps     Where it comes regularly: every so many steps; -1 otherwise.
    growth     f8  ns        By which its steps become longer from one step to the next; 0 if they do not.
    graphs     i8  launches  Graph launches of a step, the median.
    group      i8  steps     Of micro-batches: so many make a training step; -1 unknown, and of other kinds.
    optimizer  i8  ns        Device time, on a host alone host time, of the optimizer in a step, the mean; 0 without one.
""")

EARLIER_WORK = declared("""
earlier_work: When at the begin of a step no device work was recorded though it was waited for.
    step    i4  row of steps  The step.
    start   i8  ns            Begin of the stretch.
    end     i8  ns            End of the stretch.
    silent  u1  0 or 1        0: the host is blocked, so work from before the recording ran, and nothing counts it; 1: unknown.
""")

UNRECORDED_WORK = declared("""
unrecorded_work: Launches that lack device work which they should have, in time order.
    launch    i4  row of spans         The call.
    name      i4  number of a string  Its name.
    of        i4  launches             How many launches have its name.
    expected  i4  events               How much device work it should have; -1 at least one.
    recorded  i4  events               How much it has.
    evidence  u1  Evidence             What tells that: its call 0, other replays of the graph 1, other calls of its name 2.
    start     i8  ns                   From when what the device did is unknown.
    end       i8  ns                   Until when; what was recorded meanwhile is known.
""")

DEVICES = declared("""
devices: Accelerators with work in the trace, and their properties.
    id               i4  -                   Device id.
    name             i4  number of a string  Product name; -1 unknown.
    memory           i8  bytes               Memory; -1 unknown.
    capability       i4  number of a string  Compute capability (`9.0`) or architecture; -1 unknown.
    multiprocessors  i4  -                   SMs or compute units; -1 unknown.
    peak_allocated   i8  bytes               Highest `Total Allocated` recorded; -1 unknown.
""")

DEVICE_STEPS = declared("""
device_steps: What each accelerator did inside each step's window (start to end).
    device               i4  row of devices  The accelerator.
    step                 i4  row of steps    The step.
    busy                 i8  ns              Time with at least one kernel, communication included.
    sm_integral          f8  ns              Integral of min(sum of blocks per SM, 1); NaN unknown.
    occupancy_weighted   f8  % ns            Sum of occupancy times duration, clipped.
    occupancy_time       i8  ns              Sum of durations where the occupancy is known.
    kernel_time          i8  ns              Sum of kernel durations, clipped to the window.
    matrix_time          i8  ns              Of it, kernels known to use matrix cores.
    matrix_unknown_time  i8  ns              Of it, kernels for which this is unknown.
""")

STACKS = declared("""
stacks: Call stacks as a tree: each stack is a node, its frames are the path to the root.
    parent  i4  row of stacks       The caller; -1 for an outermost frame.
    frame   i4  number of a string  `file(line): function`.
""")

OPENED_FRAMES = declared("""
opened_frames: Names of Python frames that were open when the recording began, whose line is the one that began it.
    name   i4  number of a string  `file(line): function`, as written.
    shown  i4  number of a string  `file: function`.
""")

OPERATORS = declared("""
operators: Distinct (name, input shapes, input types, stack, attribution, within) of operators.
    name             i4  number of a string  Name.
    dims             i4  number of a string  Input shapes as JSON text; -1 not recorded.
    types            i4  number of a string  Input types as JSON text; -1 not recorded.
    stack            i4  row of stacks       Call stack; -1 none recorded.
    matrix_eligible  u1  Knowledge           Whether matrix cores could do its work: 0 no, 1 yes, 2 unknown.
    attribution      u1  Attribution         What names its device work: launch 0, capture 1, compiled 2.
    within           u1  Within              Its calls lie within a call of its name 1, name and shapes 2, all of these 3; 0 in none.
""")

OPERATOR_STEPS = declared("""
operator_steps: Calls and times per operator and step (the one whose host window holds the call's
begin).
    operator              i4  row of operators  The operator.
    step                  i4  row of steps      The step; -1 outside all.
    calls                 i8  calls             Number of calls.
    device_self           i8  ns                Device time launched by the calls themselves.
    device_total          i8  ns                Device time launched by the calls and their callees.
    host_self             i8  ns                Host time less that of called operators, regions and runtime calls.
    runtime               i8  ns                Host time of the runtime calls that the calls make themselves.
    host_total            i8  ns                Host time from begin to end.
    matrix_self           i8  ns                Of device_self, kernels known to use matrix cores.
    matrix_total          i8  ns                Of device_total, likewise.
    matrix_unknown_self   i8  ns                Of device_self, kernels not known either way.
    matrix_unknown_total  i8  ns                Of device_total, likewise.
    kernel_self           i8  ns                Of device_self, kernels: the base of the shares.
    kernel_total          i8  ns                Of device_total, likewise.
    lacking_self          i8  launches          Launches that the calls themselves made and that lack device work.
    lacking_total         i8  launches          The same, their callees included.
""")

OPERATOR_SUMS = TableSpec(
    "operator_sums",
    "For every row of operators, in the same order: operator_steps summed inside and outside steps.",
    summed(OPERATOR_STEPS, "operator"),
)

OPERATOR_CALLS = declared("""
operator_calls: Every call on the host, those of a row of operator_steps together, in the order of
its rows.
    cell      i4  row of operator_steps  The operator and the step.
    duration  i8  ns                     Host time from begin to end, ascending per row.
""")

UNNAMED_STEPS = declared("""
unnamed_steps: Device work without an operator, per step and what is known of it instead.
    attribution  u1  Attribution         Capture 1, compiled 2, annotation 3, replay 4, none 5.
    name         i4  number of a string  The region around its launch, else what is missing, in words.
    step         i4  row of steps        The step; -1 outside all.
    events       i8  events              Kernels, copies and memsets.
    device       i8  ns                  Their time.
""")

REPLAYS = declared("""
replays: Launches of graphs that have device work, in time order.
    launch    i4  row of spans           The call.
    graph     i4  row of graph_captures  What it replays; -1 unknown.
    evidence  u1  Evidence               What tells that, or why it is not known.
""")

REPLAYED_WORK = declared("""
replayed_work: Device work of replays, ordered by span.
    span      i4  row of spans              The device event.
    replay    i4  row of replays            Its replay.
    captured  i4  row of captured_launches  The launch that was captured; -1 unknown.
""")

KERNELS = declared("""
kernels: Distinct (name, operator, launch properties) of kernels.
    name             i4  number of a string  Full name.
    operator         i4  number of a string  Name of the operator that launched it; -1 unknown.
    reason           u1  NoOperator          Why the operator is unknown; 0 if known.
    grid             i4  number of a string  Grid as JSON text; -1 unknown.
    block            i4  number of a string  Block as JSON text; -1 unknown.
    registers        i4  -                   Registers per thread; -1 unknown.
    shared_memory    i8  bytes               Shared memory of a block; -1 unknown.
    matrix           u1  Knowledge           Uses matrix cores: 0 no, 1 yes, 2 unknown.
    matrix_eligible  u1  Knowledge           Whether its operator could use them.
    communication    u1  0 or 1              Whether it is communication.
""")

KERNEL_STEPS = declared("""
kernel_steps: Calls and times per kernel and step (the step that launched it).
    kernel              i4  row of kernels  The kernel.
    step                i4  row of steps    The step; -1 outside all.
    calls               i8  calls           Number of launches.
    total               i8  ns              Sum of durations.
    shortest            i8  ns              Shortest.
    longest             i8  ns              Longest.
    blocks_weighted     f8  ns              Sum of blocks per SM times duration, where known.
    blocks_time         i8  ns              Sum of durations where blocks per SM is known.
    occupancy_weighted  f8  % ns            Sum of occupancy times duration, where known.
    occupancy_time      i8  ns              Sum of durations where the occupancy is known.
""")

KERNEL_CALLS = declared("""
kernel_calls: Every launch, those of a row of kernel_steps together, in the order of its rows.
    cell      i4  row of kernel_steps  The kernel and the step.
    duration  i8  ns                   Its time, ascending per row.
    stack     i4  row of stacks        Of the operator that launched it; -1 unknown.
""")

SPAN_LINKS = declared("""
span_links: For every row of spans, in the same order: its place in the call tree, and what caused
it.
    parent    i4  row of spans  Innermost enclosing host span of the track; -1 none.
    launch    i4  row of spans  Of device work: the runtime call behind it; -1 unknown.
    operator  i4  row of spans  Of device work and runtime calls: operator; -1 unknown.
    step      i4  row of steps  The step; -1 outside all.
""")

ITERATIONS = declared("""
iterations: Steps that hold an iteration of an inference server, and what its annotation says. Sums
are over the requests whose prompt is computed (context) and over those that generate.
    step                      i4  row of steps        The step.
    name                      i4  number of a string  The annotation; of several the first.
    phase                     u1  index of PHASES     0 prefill, 1 decode, 2 mixed, 3 other, 4 draft.
    context_requests          i8  requests            Their number; -1 unknown, here and below.
    context_query             i8  tokens              Sum of sq: tokens that were computed.
    context_keys              i8  tokens              Sum of sk: tokens attended to.
    context_query_squares     i8  -                   Sum of sq squared.
    context_query_keys        i8  -                   Sum of sq times sk.
    generation_requests       i8  requests            The same of requests that generate.
    generation_query          i8  tokens              Sum of sq.
    generation_keys           i8  tokens              Sum of sk.
    generation_query_squares  i8  -                   Sum of sq squared.
    generation_query_keys     i8  -                   Sum of sq times sk.
    batch                     i8  -                   The batch that the annotation states.
    draft                     i8  ns                  Duration of the drafts that belong to it.
    host                      i8  ns                  Duration of the annotation, drafts included.
    scheduler                 i8  ns                  Host time from the one before it; -1 for the first.
    gap                       i8  ns                  Idleness of the device before its first work; -1 unknown.
""")

FACT_TABLES = tuple(spec for spec in list(globals().values()) if isinstance(spec, TableSpec))
