"""The columns of every DataFrame: dtype, unit, meaning. Unknown is missing, never 0: ``<NA>`` in
``Int64`` and ``boolean``, NaN in floats, None or NaN in texts.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.counters.table import COUNTER_SAMPLES, COUNTERS
from torch_tb_profiler.analysis.critical_path.table import CRITICAL_PATH
from torch_tb_profiler.analysis.diff.table import DIFF
from torch_tb_profiler.analysis.distributed.collective_table import COLLECTIVES
from torch_tb_profiler.analysis.efficiency.table import EFFICIENCY
from torch_tb_profiler.analysis.figures.kernels import KERNELS
from torch_tb_profiler.analysis.figures.operators import OPERATORS
from torch_tb_profiler.analysis.figures.step_table import STEPS
from torch_tb_profiler.analysis.memory.table import MEMORY, MEMORY_ALIVE, MEMORY_BLOCKS
from torch_tb_profiler.analysis.module.table import MODULES
from torch_tb_profiler.api.average import KEY_AVERAGES
from torch_tb_profiler.store.columns import Column, TableSpec
from torch_tb_profiler.store.display import DisplaySpec
from torch_tb_profiler.views.findings_table import FINDINGS

C = Column

PLACE = TableSpec(
    "place",
    "The first columns of every frame of several traces.",
    (
        C("run", "category", "", "Name of the run; only where there are several."),
        C("worker", "category", "", "Name of the worker."),
        C("span", "category", "", "Name of the span: one trace file of the worker."),
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
    CRITICAL_PATH,
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
