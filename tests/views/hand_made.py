"""Facts of a small trace, written by hand so that every expected number can be read here.

::

    step        0           1           2 (cold: 0, odd: 2)
    wall      100 µs       60 µs      200 µs
    kernel     40           30          50
    comm.      10            0           0
    other      50           30         150
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import sum_rows
from torch_tb_profiler.analysis.facts.flags import Attribution
from torch_tb_profiler.runs.model import Opened, Run, Span, State, Worker
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import fact_schema, schema
from torch_tb_profiler.store.columns import Table, TableSpec
from torch_tb_profiler.store.defects import TRUNCATED, DefectCounts
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder, StringTable
from torch_tb_profiler.store.summary import (
    EventCounts,
    Summary,
    Workload,
    WorkloadKind,
    Writer,
)

US = 1000
COLD, ODD, CUT = 1, 2, 4
SHAPES = "[[2,3],[3,4]]"
GEMM = "void cutlass::Kernel2<cutlass_80_tensorop_gemm>(Params)"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"


def facts(*, device: bool = True, **summary: Any) -> Facts:
    """The facts; without ``device`` those of the same run on a host alone."""
    texts = StringBuilder()
    tables = {spec.name: spec.empty() for spec in fact_schema.FACT_TABLES}
    tables["steps"] = _steps(texts)
    tables["step_kinds"] = fact_schema.STEP_KINDS.build(
        what=[0, 8], period=[-1, -1], growth=[0, 0], graphs=[0, 0], group=[-1, -1], optimizer=[0, 0]
    )
    frames = texts.intern_all(
        ["train.py(1): main", "model.py(7): forward", "model.py(9): backward"]
    )
    tables["stacks"] = fact_schema.STACKS.build(parent=[-1, 0, 0], frame=frames)
    tables |= _operators(texts, device)
    if device:
        tables |= _device_tables(texts)
    values = Summary(
        step_source="ProfilerStep",
        span_ns=400 * US,
        has_device=device,
        has_shapes=True,
        has_stacks=True,
        vendor="nvidia" if device else "none",
        attribution=_counts(7, 6, 6, 5) if device else _counts(0, 0, 0, 0),
        rank=1,
        world_size=2,
        backend="nccl",
        versions={"CUDA runtime": "12.4"},
        workload=Workload(WorkloadKind.UNKNOWN, "Nothing says."),
        writer=Writer.LOOP,
        communication_backends=("nccl",),
        matrix_eligible_share=0.5,
        touched_ns={TRUNCATED: 36 * US},
    )
    defects = DefectCounts({TRUNCATED: 1})
    return Facts(texts.table(), tables, replace(values, **summary), defects)


def with_steps(facts: Facts, **columns: list[int]) -> Facts:
    """The facts with other columns of steps."""
    steps = facts["steps"].replace(**columns)
    return replace(facts, tables={**facts.tables, "steps": steps})


def _steps(texts: StringBuilder) -> Table:
    zero = [0, 0, 0]
    start, end = np.array([0, 100, 160]) * US, np.array([100, 160, 360]) * US
    return fact_schema.STEPS.build(
        name=texts.intern_all(["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"]),
        number=[1, 2, 3],
        start=start,
        end=end,
        host_start=start,
        host_end=end,
        earlier=np.zeros_like(end),
        unrecorded=np.zeros_like(end),
        silent=np.zeros_like(end),
        kernel=np.array([40, 30, 50]) * US,
        memcpy=zero,
        memset=zero,
        communication=np.array([10, 0, 0]) * US,
        runtime=zero,
        dataloader=zero,
        cpu_exec=zero,
        other=np.array([50, 30, 150]) * US,
        launched=[3, 2, 2],
        flags=[COLD, 0, ODD],
        kind=[1, 0, 0],
    )


def _counts(events: int, kernels: int, launched: int, named: int) -> EventCounts:
    by = {kind.name.lower(): {"events": 0, "ns": 0} for kind in Attribution}
    by["launch"]["events"] = events
    return EventCounts(events, kernels, launched, named, by)


def _operators(texts: StringBuilder, device: bool) -> dict[str, Table]:
    mm, add = texts.intern("aten::mm"), texts.intern("aten::add")
    shapes, none = texts.intern(SHAPES), -1
    operators = fact_schema.OPERATORS.build(
        name=[mm, mm, add],
        dims=[shapes, shapes, none],
        types=[none] * 3,
        stack=[1, 2, none],
        matrix_eligible=[1, 1, 0],
        attribution=[0] * 3,
        within=[0] * 3,
    )
    on = int(device)
    us = np.array([8, 20, 10, 4, 30]) * US
    steps = fact_schema.OPERATOR_STEPS.build(
        operator=[2, 0, 1, 2, 0],
        step=[-1, 0, 0, 0, 1],
        calls=[5, 2, 1, 1, 3],
        device_self=us * on,
        device_total=us * on,
        host_self=us,
        runtime=[0] * 5,
        host_total=us * 2,
        matrix_self=[0, 20 * US * on, 0, 0, 0],
        matrix_total=[0, 20 * US * on, 0, 0, 0],
        matrix_unknown_self=[0] * 5,
        matrix_unknown_total=[0] * 5,
        kernel_self=us * on,
        kernel_total=us * on,
        lacking_self=[0] * 5,
        lacking_total=[0] * 5,
    )
    calls = _calls([[1, 2, 3, 4, 6], [18, 22], [20], [8], [10, 20, 30]])
    return {
        "operators": operators,
        "operator_steps": steps,
        "operator_sums": sum_rows(fact_schema.OPERATOR_SUMS, steps, "operator", operators.n),
        "operator_calls": fact_schema.OPERATOR_CALLS.build(**calls),
    }


def _calls(durations: list[list[int]]) -> dict[str, Any]:
    """Columns of calls: of each row its durations in µs, ascending."""
    return {
        "cell": np.repeat(np.arange(len(durations)), [len(each) for each in durations]),
        "duration": np.concatenate(durations) * US,
    }


def _device_tables(texts: StringBuilder) -> dict[str, Table]:
    none = -1
    kernels = fact_schema.KERNELS.build(
        name=texts.intern_all([GEMM, GEMM, NCCL]),
        operator=[texts.intern("aten::mm"), none, none],
        reason=[0, 3, 1],
        grid=[texts.intern("[8,1,1]"), texts.intern("[4,1,1]"), none],
        block=[texts.intern("[128,1,1]")] * 2 + [none],
        registers=[64, 64, none],
        shared_memory=[1024, 0, none],
        matrix=[1, 1, 0],
        matrix_eligible=[1, 2, 0],
        communication=[0, 0, 1],
    )
    nan = float("nan")
    steps = fact_schema.KERNEL_STEPS.build(
        kernel=[0, 1, 2, 0],
        step=[0, 0, 0, 1],
        calls=[2, 1, 1, 3],
        total=np.array([30, 10, 10, 31]) * US,
        shortest=np.array([14, 10, 10, 9]) * US,
        longest=np.array([16, 10, 10, 11]) * US,
        blocks_weighted=[60.0 * US, nan, 0.0, 0.0],
        blocks_time=[30 * US, 0, 0, 0],
        occupancy_weighted=[30 * US * 50.0, 0.0, 0.0, 0.0],
        occupancy_time=[30 * US, 0, 0, 0],
    )
    devices = fact_schema.DEVICES.build(
        id=[0],
        name=[texts.intern("NVIDIA H100")],
        memory=[80 << 30],
        capability=[texts.intern("9.0")],
        multiprocessors=[132],
        peak_allocated=[none],
    )
    use = fact_schema.DEVICE_STEPS.build(
        device=[0, 0, 0],
        step=[0, 1, 2],
        busy=np.array([50, 30, 50]) * US,
        sm_integral=[25.0 * US, nan, nan],
        occupancy_weighted=[1500.0 * US, 0.0, 0.0],
        occupancy_time=[30 * US, 0, 0],
        kernel_time=np.array([50, 30, 50]) * US,
        matrix_time=[40 * US, 30 * US, 0],
        matrix_unknown_time=[0, 0, 50 * US],
    )
    launches = _calls([[14, 16], [10], [10], [9, 11, 11]])
    calls = fact_schema.KERNEL_CALLS.build(**launches, stack=[1, 2, none, none, 1, 1, 1])
    return {
        "kernels": kernels,
        "kernel_steps": steps,
        "kernel_calls": calls,
        "devices": devices,
        "device_steps": use,
    }


def trace(**header: Any) -> Trace:
    """A trace of no events for those facts: the views read only its counts."""
    specs: tuple[TableSpec, ...] = schema.TRACE_TABLES
    return Trace(
        StringTable.of([]),
        {s.name: s.empty() for s in specs},
        header,
        DefectCounts(),
        entries=99,
        origin_ns=1_700_000_000_123_456_789,
    )


def opened(
    own_facts: Facts | None = None,
    location: str = "/nowhere/w0.pt.trace.json",
    path: str = "run/w0.pt.trace.json",
) -> Opened:
    """The trace as the catalogue opens it."""
    size = 1234 if location.startswith("/nowhere") else 0
    span = Span("1", "1", path, Place(location), size, State.READY, 1.0, events=99, lost=3)
    worker = Worker("w0", 1, "file name", 2, (span,))
    return Opened(
        Run("run", (worker,)),
        worker,
        span,
        trace(),
        own_facts if own_facts is not None else facts(),
    )
