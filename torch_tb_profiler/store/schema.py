"""The tables of one imported trace; ``docs/columns.md`` is generated from them.

Times are int64 nanoseconds after the first event of the trace. Columns that only events of one role
have are in side tables keyed by ``span``, so that a Python frame costs no kernel columns.
"""

from __future__ import annotations

from torch_tb_profiler.store.columns import Column, TableSpec

TEXT = "number of a string"
ROW = "row of spans"
BLOCK_CATEGORY = "position in BLOCK_CATEGORIES"

SPANS = TableSpec(
    "spans",
    "Events with a begin and an end, ordered by (start, -dur, position in the file); the row number"
    " is the event's id.",
    (
        Column("start", "i8", "ns", "Begin, after the trace's first event."),
        Column("dur", "i8", "ns", "Duration; 0 if missing (counted as a defect)."),
        Column("name", "i4", TEXT, "Name of the event."),
        Column("category", "i4", TEXT, "Category as written."),
        Column("track", "i4", "row of tracks", "The thread or stream it ran on."),
        Column("role", "u1", "Role", "Its role, from its category."),
        Column("correlation", "i8", "", "Id that links a launch to its device work; -1 none."),
        Column("external", "i8", "", "`External id`; -1 none."),
        Column("ordinal", "i4", "", "Position in traceEvents, from 0."),
    ),
)

OPERATOR_ARGS = TableSpec(
    "operator_args",
    "Arguments of operators and annotations that have any, ordered by span.",
    (
        Column("span", "i4", ROW, "The operator."),
        Column("dims", "i4", TEXT, "`Input Dims` as JSON text without spaces."),
        Column("types", "i4", TEXT, "`Input type` as JSON text."),
        Column("strides", "i4", TEXT, "`Input Strides` as JSON text."),
        Column("concrete", "i4", TEXT, "`Concrete Inputs` as JSON text."),
        Column("stack", "i4", TEXT, "`Call stack` as written by old versions."),
        Column("sequence", "i8", "", "`Sequence number`; -1 none."),
        Column("forward_thread", "i8", "", "`Fwd thread id`; -1 none."),
        Column("hierarchy", "i4", TEXT, "`Module Hierarchy` as JSON text."),
    ),
)

DEVICE_ARGS = TableSpec(
    "device_args",
    "Arguments of kernels, copies and memsets, ordered by span.",
    (
        Column("span", "i4", ROW, "The device event."),
        Column("device", "i4", "", "Device id; -1 unknown."),
        Column("stream", "i8", "", "Stream; -1 unknown."),
        Column("grid", "i4", TEXT, "`grid` as JSON text."),
        Column("block", "i4", TEXT, "`block` as JSON text."),
        Column("registers", "i4", "", "Registers per thread; -1 unknown."),
        Column("shared_memory", "i8", "bytes", "Shared memory of a block; -1 unknown."),
        Column("blocks_per_sm", "f8", "", "`blocks per SM`; NaN unknown."),
        Column("occupancy", "f8", "%", "`est. achieved occupancy %`; NaN unknown."),
        Column("bytes", "i8", "bytes", "Bytes of a copy or memset; -1 unknown."),
    ),
)

PYTHON_ARGS = TableSpec(
    "python_args",
    "Arguments of Python frames, ordered by span.",
    (
        Column("span", "i4", ROW, "The frame."),
        Column("id", "i8", "", "`Python id`; -1 none."),
        Column("parent", "i8", "", "`Python parent id`; -1 none."),
        Column("module", "i8", "", "`Python module id`; -1 not a module's frame."),
    ),
)

COLLECTIVE_ARGS = TableSpec(
    "collective_args",
    "Arguments that a collective's host event or kernel carries, ordered by span.",
    (
        Column("span", "i4", ROW, "The event."),
        Column("collective", "i4", TEXT, "`Collective name`."),
        Column("dtype", "i4", TEXT, "`dtype`."),
        Column("group", "i4", TEXT, "`Process Group Name`."),
        Column("group_size", "i8", "ranks", "`Group size`; -1 unknown."),
        Column("elements_in", "i8", "elements", "`In msg nelems`; -1 unknown."),
        Column("elements_out", "i8", "elements", "`Out msg nelems`; -1 unknown."),
        Column("sequence", "i8", "", "`Seq`; -1 unknown."),
        Column("source", "i4", "rank", "`Src Rank` of a point-to-point transfer; -1 unknown."),
        Column("destination", "i4", "rank", "`Dst Rank` of a point-to-point transfer; -1 unknown."),
    ),
)

COUNTER_ARGS = TableSpec(
    "counter_args",
    "Hardware counters of profiled ranges (role COUNTER_RANGE), one row per range and counter,"
    " ordered by span.",
    (
        Column("span", "i4", ROW, "The range."),
        Column("counter", "i4", TEXT, "Name of the counter as written."),
        Column("value", "f8", "", "Its finite value, in the counter's own unit."),
    ),
)

MEMORY = TableSpec(
    "memory",
    "Allocator records (`[memory]` instants), ordered by time.",
    (
        Column("time", "i8", "ns", "Time."),
        Column("track", "i4", "row of tracks", "The thread."),
        Column("device_type", "i4", "", "c10 device type: 0 CPU, 1 CUDA, ...; -1 unknown."),
        Column("device", "i4", "", "Device id; -1 none."),
        Column("address", "u8", "", "Address; 0 unknown."),
        Column("bytes", "i8", "bytes", "Size; negative: released; 0: only reserved changed."),
        Column("allocated", "i8", "bytes", "Allocated after it; -1 unknown."),
        Column("reserved", "i8", "bytes", "Reserved after it; -1 unknown."),
        Column("frames", "i4", TEXT, "Call stack, one frame a line, innermost first (snapshots)."),
        Column("category", "i1", BLOCK_CATEGORY, "Category (memory timelines); -1 unknown."),
        Column("ordinal", "i4", "", "Position in traceEvents; -1: allocated before the recording."),
    ),
)

FLOWS = TableSpec(
    "flows",
    "Ends of flows (`ph` s, t, f), ordered by time.",
    (
        Column("time", "i8", "ns", "Time."),
        Column("track", "i4", "row of tracks", "The thread or stream."),
        Column("id", "i8", "", "Id that links the ends."),
        Column("category", "i4", TEXT, "Category as written."),
        Column("phase", "u1", "ASCII", "The letter of `ph`."),
        Column("ordinal", "i4", "", "Position in traceEvents."),
    ),
)

INSTANTS = TableSpec(
    "instants",
    "Instants and counter samples (`ph` i, I, R, C) other than memory records, ordered by time.",
    (
        Column("time", "i8", "ns", "Time."),
        Column("track", "i4", "row of tracks", "The thread."),
        Column("name", "i4", TEXT, "Name."),
        Column("category", "i4", TEXT, "Category as written."),
        Column("phase", "u1", "ASCII", "The letter of `ph`."),
        Column("args", "i4", TEXT, "Arguments as JSON text."),
        Column("ordinal", "i4", "", "Position in traceEvents."),
    ),
)

TRACKS = TableSpec(
    "tracks",
    "Threads and streams, one row per distinct (pid, tid).",
    (
        Column("pid", "i4", TEXT, "Process id as text."),
        Column("tid", "i4", TEXT, "Thread or stream id as text."),
        Column("process_name", "i4", TEXT, "From the metadata event."),
        Column("process_label", "i4", TEXT, "From the metadata event, e.g. `GPU 0`."),
        Column("thread_name", "i4", TEXT, "From the metadata event."),
        Column("process_sort", "i8", "", "Sort index; 0 unknown."),
        Column("thread_sort", "i8", "", "Sort index; 0 unknown."),
    ),
)

CHUNKS = TableSpec(
    "chunks",
    "Where events are in the inflated text, to reread one with all its arguments.",
    (
        Column("ordinal", "i4", "", "Position of the first event of the chunk."),
        Column("offset", "i8", "bytes", "First byte of the chunk in the inflated text."),
        Column("size", "i8", "bytes", "Bytes of the chunk."),
    ),
)

MARKS = TableSpec(
    "marks",
    "When defects affect the trace; at most 10,000 rows per defect.",
    (
        Column("defect", "i4", TEXT, "Name of the defect."),
        Column("start", "i8", "ns", "Begin."),
        Column("dur", "i8", "ns", "Length."),
    ),
)

TRACE_TABLES = (
    SPANS,
    OPERATOR_ARGS,
    DEVICE_ARGS,
    PYTHON_ARGS,
    COLLECTIVE_ARGS,
    COUNTER_ARGS,
    MEMORY,
    FLOWS,
    INSTANTS,
    TRACKS,
    CHUNKS,
    MARKS,
)
