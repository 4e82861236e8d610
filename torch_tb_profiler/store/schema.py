"""The tables of one imported trace; ``docs/columns.md`` is generated from them.

Times are int64 nanoseconds after the first event of the trace. Columns that only events of one role
have are in side tables keyed by ``span``, so that a Python frame costs no kernel columns.
"""

from __future__ import annotations

from enum import IntEnum

from torch_tb_profiler.store.columns import TableSpec, declared


class BlockState(IntEnum):
    """States of blocks; stored as uint8 in ``segment_blocks.state``."""

    FREE = 0
    ALLOCATED = 1
    PENDING = 2
    """Released by the program; a stream may still use it."""


TEXT = "number of a string"
"""The unit of columns that hold texts."""

SPANS = declared("""
spans: Events with a begin and an end, ordered by (start, -dur, position in the file); the row
number is the event's id.
    start        i8  ns                  Begin, after the trace's first event.
    dur          i8  ns                  Duration; 0 if missing (counted as a defect).
    name         i4  number of a string  Name of the event.
    category     i4  number of a string  Category as written.
    track        i4  row of tracks       The thread or stream it ran on.
    role         u1  Role                Its role, from its category.
    correlation  i8  -                   Id that links a launch to its device work; -1 none.
    external     i8  -                   `External id`; -1 none.
    ordinal      i4  -                   Position in traceEvents, from 0.
""")

OPERATOR_ARGS = declared("""
operator_args: Arguments of operators and annotations that have any, ordered by span.
    span            i4  row of spans        The operator.
    dims            i4  number of a string  `Input Dims` as JSON text without spaces.
    types           i4  number of a string  `Input type` as JSON text.
    strides         i4  number of a string  `Input Strides` as JSON text.
    concrete        i4  number of a string  `Concrete Inputs` as JSON text.
    stack           i4  number of a string  `Call stack` as written by old versions.
    sequence        i8  -                   `Sequence number`; -1 none.
    forward_thread  i8  -                   `Fwd thread id`; -1 none.
    hierarchy       i4  number of a string  `Module Hierarchy` as JSON text.
""")

DEVICE_ARGS = declared("""
device_args: Arguments of kernels, copies and memsets, ordered by span.
    span           i4  row of spans        The device event.
    device         i4  -                   Device id; -1 unknown.
    stream         i8  -                   Stream; -1 unknown.
    grid           i4  number of a string  `grid` as JSON text.
    block          i4  number of a string  `block` as JSON text.
    registers      i4  -                   Registers per thread; -1 unknown.
    shared_memory  i8  bytes               Shared memory of a block; -1 unknown.
    blocks_per_sm  f8  -                   `blocks per SM`; NaN unknown.
    occupancy      f8  %                   `est. achieved occupancy %`; NaN unknown.
    bytes          i8  bytes               Bytes of a copy or memset; -1 unknown.
""")

LAUNCH_ARGS = declared("""
launch_args: Arguments of runtime calls that name the kernel that they launch, ordered by span.
    span    i4  row of spans        The call.
    kernel  i4  number of a string  Name of the kernel.
""")

NODE_ARGS = declared("""
node_args: Annotations of the graph nodes that device work replays, ordered by span.
    span        i4  row of spans        The device event.
    annotation  i4  number of a string  `module_fqn`, else `name`, else `annotation`, as written.
""")

PYTHON_ARGS = declared("""
python_args: Arguments of Python frames, ordered by span.
    span    i4  row of spans  The frame.
    id      i4  -             `Python id`; -1 none.
    parent  i4  -             `Python parent id`; -1 none.
    module  i4  -             `Python module id`; -1 not a module's frame.
""")

COLLECTIVE_ARGS = declared("""
collective_args: Arguments that a collective's host event or kernel carries, ordered by span.
    span          i4  row of spans        The event.
    collective    i4  number of a string  `Collective name`.
    dtype         i4  number of a string  `dtype`.
    group         i4  number of a string  `Process Group Name`.
    group_size    i8  ranks               `Group size`; -1 unknown.
    elements_in   i8  elements            `In msg nelems`; -1 unknown.
    elements_out  i8  elements            `Out msg nelems`; -1 unknown.
    sequence      i8  -                   `Seq`; -1 unknown.
    source        i4  rank                `Src Rank` of a point-to-point transfer; -1 unknown.
    destination   i4  rank                `Dst Rank` of a point-to-point transfer; -1 unknown.
""")

SYNC_ARGS = declared("""
sync_args: Waits of streams for events (role SYNC), ordered by span.
    span         i4  row of spans  The record.
    device       i4  -             Device id; -1 unknown.
    stream       i8  -             The stream that waits; -1 unknown.
    wait_stream  i8  -             `wait_on_stream`: the stream that it waits for; -1 unknown or none.
    wait_record  i8  -             `wait_on_cuda_event_record_corr_id`: correlation of the call that recorded the event there; -1 none.
""")

COUNTER_ARGS = declared("""
counter_args: Hardware counters of profiled ranges (role COUNTER_RANGE), one row per range and
counter, ordered by span.
    span     i4  row of spans        The range.
    counter  i4  number of a string  Name of the counter as written.
    value    f8  -                   Its finite value, in the counter's own unit.
""")

MEMORY = declared("""
memory: Allocator records (`[memory]` instants), ordered by time.
    time         i8  ns                            Time.
    track        i4  row of tracks                 The thread.
    device_type  i4  -                             c10 device type: 0 CPU, 1 CUDA, ...; -1 unknown.
    device       i4  -                             Device id; -1 none.
    address      u8  -                             Address, of a segment where only reserved changed; 0 unknown.
    bytes        i8  bytes                         Size; negative: released; 0: only reserved changed.
    allocated    i8  bytes                         Allocated after it; -1 unknown.
    reserved     i8  bytes                         Reserved after it; -1 unknown.
    frames       i4  number of a string            Call stack, one frame a line, innermost first (snapshots).
    category     i1  position in BLOCK_CATEGORIES  Category as recorded; -1 unknown.
    ordinal      i4  -                             Position in traceEvents; -1: allocated before the recording.
""")

SEGMENTS = declared("""
segments: Memory that the allocator of a snapshot held when it was written, by (device, address).
    device      i4  -                   Device id.
    address     u8  -                   Address.
    bytes       i8  bytes               Size.
    stream      i8  -                   Stream; -1 unknown.
    pool        i4  number of a string  Private pool as written, e.g. `0, 1`; -1 the default pool, or unknown.
    kind        i4  number of a string  Type as written, `large` or `small`; -1 unknown.
    expandable  u1  0 or 1              Whether it can grow.
""")

SEGMENT_BLOCKS = declared("""
segment_blocks: What these segments are divided into, by (segment, address).
    segment    i4  row of segments     The segment.
    address    u8  -                   Address.
    bytes      i8  bytes               Size as the allocator rounds it.
    requested  i8  bytes               Size that was asked for; -1 unknown.
    state      u1  BlockState          Free, allocated, or released and still in use.
    frames     i4  number of a string  Call stack of the allocation, innermost first; -1 none.
""")

FLOWS = declared("""
flows: Ends of flows (`ph` s, t, f), ordered by time.
    time      i8  ns                  Time.
    track     i4  row of tracks       The thread or stream.
    id        i8  -                   Id that links the ends.
    category  i4  number of a string  Category as written.
    phase     u1  ASCII               The letter of `ph`.
    ordinal   i4  -                   Position in traceEvents.
""")

INSTANTS = declared("""
instants: Instants and counter samples (`ph` i, I, R, C) other than memory records, ordered by time.
    time      i8  ns                  Time.
    track     i4  row of tracks       The thread.
    name      i4  number of a string  Name.
    category  i4  number of a string  Category as written.
    phase     u1  ASCII               The letter of `ph`.
    args      i4  number of a string  Arguments as JSON text.
    ordinal   i4  -                   Position in traceEvents.
""")

TRACKS = declared("""
tracks: Threads and streams, one row per distinct (pid, tid).
    pid            i4  number of a string  Process id as text.
    tid            i4  number of a string  Thread or stream id as text.
    process_name   i4  number of a string  From the metadata event.
    process_label  i4  number of a string  From the metadata event, e.g. `GPU 0`.
    thread_name    i4  number of a string  From the metadata event.
    process_sort   i8  -                   Sort index; 0 unknown.
    thread_sort    i8  -                   Sort index; 0 unknown.
""")

CHUNKS = declared("""
chunks: Where events are in the inflated text, to reread one with all its arguments.
    ordinal  i4  -      Position of the first event of the chunk.
    offset   i8  bytes  First byte of the chunk in the inflated text.
    size     i8  bytes  Bytes of the chunk.
""")

MARKS = declared("""
marks: When defects affect the trace; at most 10,000 rows per defect.
    defect  i4  number of a string  Name of the defect.
    start   i8  ns                  Begin.
    dur     i8  ns                  Length.
""")

GRAPH_CAPTURES = declared("""
graph_captures: Captures of graphs, in this trace or in a recording beside it, in time order of each
recording.
    file      i4  number of a string  The recording beside the trace; -1 this trace.
    batch     i8  -                   Batch size that was captured; -1 unknown.
    mode      i4  number of a string  Mode as written, e.g. `FULL` or `PIECEWISE`; -1 unknown.
""")

CAPTURED_LAUNCHES = declared("""
captured_launches: Launches that became nodes of graphs, ordered by graph and time.
    graph       i4  row of graph_captures  The capture.
    call        i4  row of captured_calls  The innermost call around it; -1 none.
    kernel      i4  number of a string     Name of the kernel; -1 unknown.
    role        u1  Role                   Kernel, copy or memset.
    event       i4  row of spans           The call, if it is in this trace; -1 otherwise.
    annotation  i4  number of a string     Annotation of the nodes that it stands for, see `node_args`; -1 none.
""")

CAPTURED_CALLS = declared("""
captured_calls: Host calls within captures around their launches, callers first.
    parent    i4  row of captured_calls  The enclosing call; -1 none.
    name      i4  number of a string     Name.
    role      u1  Role                   Operator, annotation or Python frame.
    dims      i4  number of a string     `Input Dims` as JSON text; -1 not recorded.
    types     i4  number of a string     `Input type` as JSON text.
    strides   i4  number of a string     `Input Strides` as JSON text.
    concrete  i4  number of a string     `Concrete Inputs` as JSON text.
""")

TRACE_TABLES = tuple(spec for spec in list(globals().values()) if isinstance(spec, TableSpec))
