"""The tables for people: what each column holds. ``readable.py`` computes them."""

from __future__ import annotations

from msgspec.structs import replace

from torch_tb_profiler.store.columns import TableSpec, declared

_CALLS = """
    id        i4  row of spans        The event: what `#id` names on the page and `event` on the command line.
    name      i4  number of a string  Name.
    start     i8  ns                  Begin, after the trace's first event.
    dur       i8  ns                  Duration.
    stop      i8  ns                  End: start + dur.
    process   i4  number of a string  Process id as written.
    thread    i4  number of a string  Thread or stream as written.
    step      i4  row of steps        The step; -1 outside all.
"""


def _spec(text: str, calls: bool = True) -> TableSpec:
    spec = declared(text)
    shared = declared(f"calls: Shared.{_CALLS.rstrip()}").columns if calls else ()
    return replace(spec, columns=(*shared, *spec.columns))


_WORK = """
    operator      i4  number of a string  Name of the operator that launched it; -1 unknown.
    operator_id   i4  row of spans        That call; -1 unknown.
    launch        i4  row of spans        The runtime call that launched it; -1 unknown.
    launch_name   i4  number of a string  Its name; -1 unknown.
    launch_start  i8  ns                  Its begin; -1 unknown.
    launch_dur    i8  ns                  Its duration; -1 unknown.
    device        i4  -                   Device id; -1 unknown.
    stream        i8  -                   Stream; -1 unknown."""


def _work(text: str) -> TableSpec:
    head, _, rest = text.strip().partition("\n")
    spec = _spec(f"{head}{_WORK}\n{rest}")
    columns = tuple(c for c in spec.columns if c.name not in ("process", "thread"))
    return replace(spec, columns=columns)


EVENTS = _spec("""
events: Every event with a begin and an end.
    category     i4  number of a string  Category as written.
    role         u1  Role                Its role, from its category.
    correlation  i8  -                   Id that links a launch to its device work; -1 none.
    thread_name  i4  number of a string  Name of the thread or stream; -1 unknown.
    parent       i4  row of spans        Innermost enclosing host event of the thread; -1 none.
    launch       i4  row of spans        Of device work: the runtime call behind it; -1 unknown.
    operator     i4  row of spans        Of device work and runtime calls: operator; -1 unknown.
""")
KERNELS = _work("""
kernels: Every kernel that ran on a device.
    grid           i4  number of a string  Grid as JSON text; -1 unknown.
    block          i4  number of a string  Block as JSON text; -1 unknown.
    registers      i4  -                   Registers per thread; -1 unknown.
    shared_memory  i8  bytes               Shared memory of a block; -1 unknown.
    blocks_per_sm  f8  -                   Blocks per multiprocessor.
    occupancy      f8  %                   Estimated achieved occupancy.
""")
COPIES = _work("""
copies: Every copy and memset on a device.
    kind   u1  Role   `memcpy` or `memset`.
    bytes  i8  bytes  Its size; -1 unknown.
""")
OPERATORS = _spec("""
operators: Every call of an operator on the host.
    self_dur     i8  ns                  dur less what ran directly inside it on its thread.
    device_self  i8  ns                  Device work that the call itself launched.
    parent       i4  row of spans        Innermost enclosing event of the thread; -1 none.
    shapes       i4  number of a string  Input shapes as JSON text; -1 not recorded.
    dtypes       i4  number of a string  Input types as JSON text; -1 not recorded.
    sequence     i8  -                   `Sequence number`; -1 none.
""")
RUNTIME = _spec("""
runtime: Every call into the runtime or driver of an accelerator.
    operator     i4  number of a string  Name of the operator around it; -1 none.
    operator_id  i4  row of spans        That call; -1 none.
    correlation  i8  -                   Id that links it to its device work; -1 none.
    launched     i8  events              Kernels, copies and memsets that it launched.
""")
ANNOTATIONS = _spec("""
annotations: Every annotated range: `record_function`, NVTX, `ProfilerStep#N`.
    parent     i4  row of spans  Innermost enclosing event of the thread; -1 none.
    on_device  u1  0 or 1        Whether it is the shadow of an annotation on a stream.
""")
FRAMES = _spec("""
frames: Every call of a Python function (`with_stack=True`).
    parent  i4  row of spans  Innermost enclosing event of the thread; -1 none.
""")
STEPS = _spec(
    """
steps: Steps in time order. The eight categories from kernel to other add up to dur, exactly.
    step           i4  row of steps        The step, as other tables name it.
    name           i4  number of a string  Name, e.g. `ProfilerStep#5`.
    number         i8  -                   N of ProfilerStep#N; -1 otherwise.
    start          i8  ns                  Begin.
    dur            i8  ns                  Duration, without `earlier`.
    stop           i8  ns                  End, that of the device work launched in it included.
    earlier        i8  ns                  Work from before the recording, which no figure counts.
    silent         i8  ns                  A start in which launched work waits and nothing was recorded on the devices.
    kernel         i8  ns                  Time with a kernel.
    memcpy         i8  ns                  Of the rest, with a copy.
    memset         i8  ns                  Of the rest, with a memset.
    communication  i8  ns                  Of the rest, with communication.
    runtime        i8  ns                  Of the rest, in a runtime call.
    dataloader     i8  ns                  Of the rest, in the data loader.
    cpu_exec       i8  ns                  Of the rest, in an operator.
    other          i8  ns                  The rest.
    launched       i8  events              Device events launched in it.
    cold           u1  0 or 1              A first step clearly slower by what does not recur.
    odd            u1  0 or 1              An outlier of its kind.
    cut            u1  0 or 1              Only a part of it was recorded.
""",
    calls=False,
)
MEMORY = _spec(
    """
memory: Every allocator record, in time order (`profile_memory=True`).
    time         i8  ns                            When.
    device_type  i4  -                             0 CPU, 1 CUDA or ROCm, ...; -1 unknown.
    device       i4  -                             Device id; -1 none.
    address      u8  -                             Address; 0 unknown.
    bytes        i8  bytes                         Size; negative: released.
    allocated    i8  bytes                         Allocated after it; -1 unknown.
    reserved     i8  bytes                         Reserved after it; -1 unknown.
    category     i1  position in BLOCK_CATEGORIES  Category, where recorded; -1 unknown.
    thread       i4  number of a string            The thread.
""",
    calls=False,
)
ALLOCATIONS = _spec(
    """
allocations: Blocks of memory from their allocation to their release.
    device_type  i4  -                                  0 CPU, 1 CUDA or ROCm, ...; -1 unknown.
    device       i4  -                                  Device id; -1 none.
    bytes        i8  bytes                              Size.
    start        i8  ns                                 When it was allocated; -1 before the recording.
    dur          i8  ns                                 How long it lived; -1 unknown.
    stop         i8  ns                                 When it was released; -1 not within the recording.
    operator     i4  number of a string of the insight  The operator that allocated it; -1 unknown.
    operator_id  i4  row of spans                       That call; -1 unknown.
    line         i4  number of a string of the insight  The user's nearest Python line; -1 unknown.
    category     i1  position in BLOCK_CATEGORIES       Category, where recorded; -1 unknown.
""",
    calls=False,
)
COLLECTIVES = _spec(
    """
collectives: Collectives and point-to-point transfers of this worker.
    id             i4  row of spans                       The kernel; without one, the host call.
    name           i4  number of a string of the insight  `all_reduce`, `all_gather`, `send` ...
    library        i4  number of a string of the insight  `nccl`, `rccl`, `gloo` ...; -1 unknown.
    process_group  i4  number of a string of the insight  Process group; -1 unknown.
    group_size     i4  ranks                              Ranks of the group; -1 unknown.
    dtype          i4  number of a string of the insight  Data type; -1 unknown.
    bytes          i8  bytes                              Message size as nccl-tests defines it; -1 unknown.
    sequence       i8  -                                  Sequence number of the backend; -1 unknown.
    peer           i4  rank                               The other rank of a send or recv; -1 none.
    start          i8  ns                                 Begin.
    dur            i8  ns                                 Duration.
    stop           i8  ns                                 End.
    step           i4  row of steps                       The step; -1 outside all.
    exposed        i8  ns                                 Of it, without computation at the same time.
""",
    calls=False,
)
CRITICAL_PATH = _spec(
    """
critical_path: What the end of each step waited for: the stretches of a step cover it exactly.
    step      i4  row of steps                       The step.
    start     i8  ns                                 Begin.
    dur       i8  ns                                 Duration.
    stop      i8  ns                                 End.
    cause     u1  PathCause                          What it is spent on.
    event     i4  row of spans                       The event; -1 none.
    name      i4  number of a string                 Its name; -1 none.
    operator  i4  number of a string                 Operator at or around it; -1 none.
    line      i4  number of a string                 Nearest Python line; -1 unknown.
    module    i4  number of a string of the insight  Innermost module; -1 none.
""",
    calls=False,
)
ITERATIONS = _spec(
    """
iterations: Iterations of an inference server.
    step                 i4  row of steps        The step.
    name                 i4  number of a string  The annotation.
    phase                u1  index of PHASES     `prefill`, `decode`, `mixed`, `other` or `draft`.
    start                i8  ns                  Begin of the step.
    dur                  i8  ns                  Its duration, without work from before the recording.
    stop                 i8  ns                  Its end.
    context_requests     i8  requests            Requests whose prompt is computed; -1 unknown.
    context_query        i8  tokens              Tokens computed for them; -1 unknown.
    generation_requests  i8  requests            Requests that generate; -1 unknown.
    generation_query     i8  tokens              Tokens computed for them; -1 unknown.
    batch                i8  -                   The batch that the annotation states; -1 unknown.
    host                 i8  ns                  Duration of the annotation.
    scheduler            i8  ns                  Host time since the annotation before it; -1 unknown.
    gap                  i8  ns                  Idle device before its first work; -1 unknown.
""",
    calls=False,
)
COUNTERS = _spec(
    """
counters: Hardware counters of profiled kernels and ranges, a row per range and counter.
    id       i4  row of spans        The range.
    name     i4  number of a string  Name of the range.
    start    i8  ns                  Begin.
    dur      i8  ns                  Duration.
    counter  i4  number of a string  Name of the counter.
    value    f8  -                   Its value, in the counter's own unit.
""",
    calls=False,
)
SAMPLES = _spec(
    """
counter_samples: Samples of counters over time (`ph` C).
    time           i8  ns                  When.
    name           i4  number of a string  Name.
    args           i4  number of a string  Values as JSON text: `args->>'$.key'`.
    process        i4  number of a string  Process id as written.
    process_label  i4  number of a string  Its label, e.g. `GPU 0`; -1 unknown.
""",
    calls=False,
)
