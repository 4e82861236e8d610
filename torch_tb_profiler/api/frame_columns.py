"""The columns of every DataFrame: dtype, unit, meaning. Unknown is missing, never 0: ``<NA>`` in
``Int64`` and ``boolean``, NaN in floats, None or NaN in texts.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.efficiency.table import EFFICIENCY
from torch_tb_profiler.analysis.figures.kernels import KERNELS
from torch_tb_profiler.analysis.figures.operators import OPERATORS
from torch_tb_profiler.analysis.module.table import MODULES
from torch_tb_profiler.api.average import KEY_AVERAGES
from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.display import DisplaySpec
from torch_tb_profiler.store.step_categories import CATEGORIES

C = Column
_CATEGORY_DOCS = dict(
    zip(
        CATEGORIES,
        (
            "Device kernels.",
            "Copies.",
            "Memsets.",
            "Communication that nothing above hides.",
            "Calls into the accelerator's runtime.",
            "Waiting for the next batch.",
            "Host operators.",
            "The rest.",
        ),
        strict=True,
    )
)

PLACE = TableSpec(
    "place",
    "The first columns of every frame of several traces.",
    (
        C("run", "category", "", "Name of the run; only where there are several."),
        C("worker", "category", "", "Name of the worker."),
        C("span", "category", "", "Name of the span: one trace file of the worker."),
    ),
)

STEPS = TableSpec(
    "steps",
    "One row per step. The categories add up to `wall_ns`, exactly; one that was not recorded is"
    " missing.",
    (
        C("step", "int64", "", "Index of the step, from 0, as in `steps=` arguments."),
        C("name", "str", "", "Name, e.g. `ProfilerStep#5`."),
        C("start_ns", "int64", "ns", "Start, after the first event of the trace."),
        C("wall_ns", "int64", "ns", "Duration, including the device work it launched."),
        *(C(f"{name}_ns", "Int64", "ns", doc) for name, doc in _CATEGORY_DOCS.items()),
        C("cold", "bool", "", "A first step clearly slower than the rest."),
        C("odd", "bool", "", "Much slower than the others."),
        C("cut", "bool", "", "Its device work is cut off by the end of the recording."),
    ),
)

COLLECTIVES = TableSpec(
    "collectives",
    "One row per collective or point-to-point transfer of the worker, in time order.",
    (
        C("kind", "str", "", "`all_reduce`, `all_gather`, `send` …"),
        C("library", "str", "", "`nccl`, `rccl`, `gloo` …"),
        C("group", "str", "", "Process group."),
        C("group_size", "Int64", "ranks", "Ranks of the group."),
        C("dtype", "str", "", "Element type."),
        C("bytes", "Int64", "bytes", "Message size as nccl-tests counts it."),
        C("sequence", "Int64", "", "Number that the backend gave it."),
        C("peer", "Int64", "rank", "The other rank of a send or recv."),
        C("start_ns", "int64", "ns", "Start, after the first event of the trace."),
        C("dur_ns", "int64", "ns", "Duration, waiting included."),
        C("exposed_ns", "int64", "ns", "Exposed: the device computed nothing meanwhile."),
        C("step", "Int64", "step", "The step."),
        C("event", "int64", "row of events", "Its kernel, or the host's region or operator."),
        C("host_event", "Int64", "row of events", "The host call that started it."),
        C(
            "match",
            "Int64",
            "",
            "Runs: number of the collective, equal on all workers; missing where unmatched.",
        ),
        C("wait_ns", "Int64", "ns", "Runs: time waiting for the last worker."),
        C("transfer_ns", "Int64", "ns", "Runs: the rest of its duration."),
        C("last_worker", "str", "", "Runs: the worker that came last."),
        C("skewed", "bool", "", "Runs: its waiting is distorted by the profilers' start."),
    ),
)

FINDINGS = TableSpec(
    "findings",
    "One row per finding, the largest first.",
    (
        C("rule", "str", "", "Name of the rule."),
        C("title", "str", "", "Short title."),
        C("sentence", "str", "", "What it is and how much it costs."),
        C(
            "recoverable_ns",
            "Int64",
            "ns",
            "Upper bound per step; missing where it costs no step time.",
        ),
        C("share", "float64", "share", "The same as a share of the step."),
        C("artefact", "bool", "", "Whether the profiler causes it."),
        C("line", "str", "", "Line of the program, `file(line): function`."),
        C("attempt", "str", "", "What to try."),
        C("caveat", "str", "", "When that does not help."),
        C("events", "object", "rows of events", "Tuple of its most expensive events."),
        C("event_workers", "object", "", "Tuple of their workers."),
        C("event_count", "int64", "events", "Number of events that show it."),
    ),
)

COUNTERS = TableSpec(
    "counters",
    "One row per profiled kernel (`cuda_profiler_range`); one further column per counter, by name.",
    (
        C("kernel", "str", "", "Full name."),
        C("short_name", "str", "", "The name without its template arguments."),
        C("op_stack", "object", "", "Tuple of the operators around the launch, outermost first."),
        C("top_op", "str", "", "The outermost operator."),
        C("bottom_op", "str", "", "The innermost operator."),
        C("step", "Int64", "step", "The step of the launch."),
        C("time_ns", "Int64", "ns", "Duration; missing where times were not measured."),
        C("flops", "Int64", "FLOP", "From the instruction counters."),
        C("bytes", "Int64", "bytes", "From the memory counters."),
        C("unit", "str", "", "`matrix` or `vector`: unit of most of its FLOPs."),
        C("precision", "str", "", "Precision of the multiplied elements."),
        C("peak", "float64", "FLOP/s", "Peak rate of that unit and precision."),
        C("launch", "Int64", "row of events", "The launch."),
        C("event", "Int64", "row of events", "The range."),
    ),
)

PYPROF = TableSpec(
    "pyprof",
    "PyProf's table: one row per kernel launch, in time order; defined in `docs/definitions.md`.",
    (
        C("idx", "Int64", "", "Number of the row, from 1."),
        C("seq", "Int64", "", "Sequence number of autograd."),
        C("altseq", "str", "", "Other sequence numbers around the launch, comma-separated."),
        C("tid", "str", "", "Thread of the launch."),
        C("layer", "str", "", "Innermost range `layer:NAME`, else the path of `nn.Module`s."),
        C("trace", "str", "", "Lines of the program, `file:line -> file:line`, outermost first."),
        C("dir", "str", "", "`fprop` or `bprop`."),
        C("sub", "Int64", "", "Earlier kernels of the same call."),
        C("mod", "str", "", "Module of the call: `aten`, `torch.nn.functional` …"),
        C("op", "str", "", "The call."),
        C("kernel", "str", "", "Full name of the kernel."),
        C("params", "str", "", "Its parameters: `M=…,N=…,K=…,type=fp16`."),
        C("sil_ns", "Int64", "ns", "Time on the device."),
        C("tc", "str", "", "Matrix cores: `1` used, `0` not used, `-` nothing to multiply."),
        C("device", "Int64", "", "Device."),
        C("stream", "Int64", "", "Stream."),
        C("grid", "str", "blocks", "Grid, `x,y,z`."),
        C("block", "str", "threads", "Block, `x,y,z`."),
        C("flops", "Int64", "FLOP", "Floating-point operations of this launch."),
        C("bytes", "Int64", "bytes", "Least memory traffic of this launch."),
    ),
)

COUNTER_SAMPLES = TableSpec(
    "counter_samples",
    "One row per sampled counter, device and step.",
    (
        C("counter", "str", "", "Name."),
        C("unit", "str", "", "Its unit."),
        C("device", "str", "", "The device."),
        C("step", "Int64", "step", "The step; missing outside all."),
        C("samples", "int64", "samples", "How many."),
        C("mean", "float64", "see `unit`", "Mean."),
        C("min", "float64", "see `unit`", "Least."),
        C("max", "float64", "see `unit`", "Greatest."),
    ),
)

EVENTS = TableSpec(
    "events",
    "One row per event with a duration, in time order.",
    (
        C("event", "int64", "", "Event id, as on the page and in other frames."),
        C("name", "category", "", "Name."),
        C("category", "category", "", "Category as written."),
        C(
            "role",
            "category",
            "",
            "`operator`, `runtime`, `kernel`, `memcpy`, `annotation`, `python` …",
        ),
        C("start_ns", "int64", "ns", "Start, after the first event of the trace."),
        C("dur_ns", "int64", "ns", "Length."),
        C("process", "category", "", "Process id as written."),
        C("thread", "category", "", "Thread or stream as written."),
        C("device", "Int64", "", "Device of a kernel, copy or memset."),
        C("stream", "Int64", "", "Its stream."),
        C("step", "Int64", "step", "The step."),
        C("parent", "Int64", "row of events", "Innermost host event around it."),
        C("launch", "Int64", "row of events", "The runtime call that launched it."),
        C("operator", "Int64", "row of events", "The operator that launched or contains it."),
        C("correlation", "Int64", "", "Id that ties a launch to its work."),
        C("external_id", "Int64", "", "`External id`."),
        C("sequence", "Int64", "", "`Sequence number` of an operator."),
        C("input_shapes", "category", "", "`Input Dims` of an operator as JSON text."),
        C("input_dtypes", "category", "", "`Input type` of an operator as JSON text."),
    ),
)

MEMORY = TableSpec(
    "memory",
    "The memory curve: one row per allocator record, by device and time.",
    (
        C("device", "category", "", "The device, e.g. `GPU 0`, `CPU`."),
        C("time_ns", "int64", "ns", "When, after the first event of the trace."),
        C("change_bytes", "int64", "bytes", "Allocated (above 0) or released (below 0)."),
        C("allocated_bytes", "int64", "bytes", "Allocated after it."),
        C("reserved_bytes", "Int64", "bytes", "Reserved after it."),
        C("operator", "category", "", "The innermost operator that ran then."),
        C("module", "category", "", "The innermost module around it."),
        C("event", "Int64", "row of events", "That operator's call."),
    ),
)

MEMORY_BLOCKS = TableSpec(
    "memory_blocks",
    "One row per block of memory from its allocation to its release.",
    (
        C("device", "category", "", "The device."),
        C("bytes", "int64", "bytes", "Size."),
        C("allocated_ns", "Int64", "ns", "When it was allocated; missing before the recording."),
        C("released_ns", "Int64", "ns", "When it was released; missing after the recording."),
        C("operator", "category", "", "The operator that allocated it."),
        C("module", "category", "", "The module around that."),
        C("line", "category", "", "Where the program allocated it."),
        C("category", "category", "", "What it is for (memory timelines)."),
        C("event", "Int64", "row of events", "The allocating call."),
        C("release_event", "Int64", "row of events", "The releasing call."),
    ),
)

MEMORY_ALIVE = TableSpec(
    "memory_alive",
    "Blocks alive at a moment, by origin, the largest first.",
    (
        C("device", "str", "", "The device."),
        C("operator", "str", "", "The operator that allocated."),
        C("parent", "str", "", "The operator around it."),
        C("module", "str", "", "The module."),
        C("line", "str", "", "Where the program allocated."),
        C("category", "str", "", "What it is for (memory timelines)."),
        C("bytes", "int64", "bytes", "Together."),
        C("blocks", "Int64", "blocks", "How many."),
        C("largest_bytes", "Int64", "bytes", "The largest."),
        C(
            "oldest_ns",
            "Int64",
            "ns",
            "When the oldest was allocated; missing before the recording.",
        ),
    ),
)

DIFF = TableSpec(
    "diff",
    "What changed from A to B, the largest change of each table first. Times are means per step.",
    (
        C("table", "str", "", "`category`, `operator`, `host`, `kernel`, `runtime` or `module`."),
        C("name", "str", "", "Name."),
        C("name_b", "str", "", "The name in B where it differs."),
        C("status", "str", "", "`same`, `changed`, `new` or `gone`."),
        C("calls_a", "float64", "calls", "Calls per step in A."),
        C("calls_b", "float64", "calls", "Calls per step in B."),
        C("time_a_ns", "Int64", "ns", "Time in A."),
        C("time_b_ns", "Int64", "ns", "Time in B."),
        C("delta_ns", "int64", "ns", "B less A."),
        C("share", "float64", "share", "The difference as a share of the step of A."),
        C("host_a_ns", "Int64", "ns", "Host self time in A, of operators and modules."),
        C("host_b_ns", "Int64", "ns", "The same in B."),
        C("beyond", "boolean", "", "Whether it exceeds step-to-step noise; missing where unknown."),
        C("event_a", "Int64", "row of events", "An example in A."),
        C("event_b", "Int64", "row of events", "An example in B."),
    ),
)

WORKERS = TableSpec(
    "workers",
    "One row per trace that was opened.",
    (
        C("run", "str", "", "Name of the run."),
        C("worker", "str", "", "Name of the worker."),
        C("span", "str", "", "Name of the span."),
        C("rank", "Int64", "rank", "Its rank."),
        C("world_size", "Int64", "ranks", "Ranks of the job."),
        C("events", "int64", "events", "Entries of `traceEvents`."),
        C("steps", "int64", "steps", "Steps."),
        C("mean_step_ns", "float64", "ns", "Mean wall time of complete steps."),
        C("path", "str", "", "The file."),
    ),
)

FRAMES: tuple[TableSpec | DisplaySpec, ...] = (
    STEPS,
    OPERATORS,
    KERNELS,
    MODULES,
    MEMORY,
    MEMORY_BLOCKS,
    MEMORY_ALIVE,
    COLLECTIVES,
    COUNTERS,
    COUNTER_SAMPLES,
    EFFICIENCY,
    PYPROF,
    KEY_AVERAGES,
    FINDINGS,
    DIFF,
    EVENTS,
    WORKERS,
    PLACE,
)
