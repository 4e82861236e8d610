"""Traces of anything have facts, and the facts hold together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.critical_path.test_build import covers
from tests.analysis.figures import everything
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.analysis.figures.operators import frames, operator_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.figures.step_table import average
from torch_tb_profiler.analysis.findings.step_findings import findings_of
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.store.categories import CATEGORIES
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.views.overview.payload import health_items

CATEGORY = st.sampled_from(
    [
        "cpu_op",
        "user_annotation",
        "cuda_runtime",
        "kernel",
        "gpu_memcpy",
        "gpu_memset",
        "python_function",
        "gpu_user_annotation",
        "cuda_sync",
        "overhead",
        "new",
    ]
)
NAME = st.sampled_from(
    [
        "aten::mm",
        "aten::linear",
        "ProfilerStep#1",
        "ProfilerStep#2",
        "ProfilerStep#3",
        "cudaLaunchKernel",
        "cudaGraphLaunch",
        "request",
        "nccl:all_reduce",
        "c10d::allreduce_",
        "enumerate(DataLoader)#_Iter.__next__",
        "sm90_xmma_gemm",
        "ncclDevKernel_AllReduce",
        "a.py(1): f",
        "Optimizer.step#SGD.step",
        "",
    ]
)
ARGS = st.fixed_dictionaries(
    {},
    optional={
        "correlation": st.integers(-1, 3),
        "External id": st.integers(-1, 4),
        "device": st.integers(-1, 1),
        "stream": st.integers(0, 2),
        "blocks per SM": st.sampled_from([0.0, 0.4, 3.0]),
        "est. achieved occupancy %": st.integers(0, 100),
        "Call stack": st.sampled_from(["", "f;g", "g", ";"]),
        "Sequence number": st.integers(-1, 2),
        "Fwd thread id": st.integers(0, 1),
        "Input Dims": st.sampled_from([[], [[2, 3]]]),
        "Collective name": st.just("x"),
    },
)
EVENT = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": CATEGORY,
        "name": NAME,
        "pid": st.integers(0, 1),
        "tid": st.integers(0, 1),
        "ts": st.integers(0, 60),
        "dur": st.integers(0, 40),
        "args": ARGS,
    }
)
ARROW = st.fixed_dictionaries(
    {
        "ph": st.sampled_from("sf"),
        "cat": st.sampled_from(["ac2g", "fwdbwd"]),
        "id": st.integers(1, 3),
        "pid": st.integers(0, 1),
        "tid": st.integers(0, 1),
        "ts": st.integers(0, 60),
        "name": st.just("ac2g"),
    }
)


def hold_together(trace: Trace, facts: Facts) -> None:
    """Laws of every trace, drawn or recorded: parts of steps add up to them, each piece of device work counts once, sums of
    the steps are no more than the whole, and shares are shares.
    """
    spans, table, every = trace["spans"], facts["steps"], everything(facts)
    assert np.array_equal(sum(table[key] for key in CATEGORIES), step_lengths(table))
    assert all((table[key] >= 0).all() for key in CATEGORIES)
    assert (table["end"][:-1] <= table["start"][1:]).all()
    kernel = spans["role"] == Role.KERNEL
    counted = (int(kernel.sum()), int(spans["dur"][kernel].sum()))
    for group in ("name", "properties"):
        kernels = kernel_rows(facts, every, group)
        assert (int(kernels["calls"].sum()), int(kernels["total_ns"].sum())) == counted
    assert facts.summary.attribution.kernels == counted[0]
    operators = operator_rows(facts, every, "stack")
    work = (spans["role"] >= Role.KERNEL) & (spans["role"] <= Role.MEMSET)
    # Unknown, -1, of operators where no device work was followed back to one.
    device_self = np.maximum(operators["device_self_ns"], 0)
    assert int(device_self.sum()) == int(spans["dur"][work].sum())
    for column in (
        operators["host_self_ns"],
        operators["host_total_ns"] - operators["host_self_ns"],
        operators["device_total_ns"] - operators["device_self_ns"],
    ):
        assert (column >= 0).all()
    for use in device_use(facts, every):
        for share in (
            use.utilization,
            use.sm_efficiency,
            use.occupancy,
            use.matrix_share,
            use.matrix_unknown_share,
        ):
            assert share is None or 0.0 <= share <= 1.0 + 1e-9
    for group_share in (operators["matrix_self_share"], operators["matrix_total_share"]):
        assert ((group_share >= 0) & (group_share <= 1) | np.isnan(group_share)).all()
    parts = [kernel_rows(facts, select(facts, i, i), "name") for i in range(table.n)]
    in_steps = sum(int(rows["total_ns"].sum()) for rows in parts)
    assert in_steps == int(kernel_rows(facts, select(facts), "name")["total_ns"].sum())
    outside = int(facts["kernel_steps"]["total"][facts["kernel_steps"]["step"] < 0].sum())
    assert select(facts).whole or in_steps + outside == counted[1]
    assert all(item.touched_ns is None or item.touched_ns >= 0 for item in health_items(facts))


@examples(150)
@given(st.lists(st.one_of(EVENT, EVENT, EVENT, ARROW), max_size=25))
def test_facts_hold_together(listed: list[dict[str, Any]]) -> None:
    trace = trace_of(listed)
    facts = derive(trace)
    hold_together(trace, facts)
    every = everything(facts)
    operators = operator_rows(facts, every, "stack")
    assert all(
        isinstance(text, str)
        for stack in operators["stack"]
        for text in facts.strings.many(frames(facts, int(stack)))
    )
    parts = [operator_rows(facts, select(facts, i, i), "name") for i in range(facts["steps"].n)]
    assert sum(int(rows["calls"].sum()) for rows in parts) <= int(operators["calls"].sum())
    average(facts, every)
    insight = build_insight(trace, facts)
    covers(facts, insight["critical_path"])
    simulation = Simulation(trace, facts, insight)
    steps = np.arange(facts["steps"].n)
    replayed, _ = simulation.predict([], steps)
    half = [read_change(f"scale:kind={kind},factor=0.5") for kind in ("kernel", "operator")]
    changed, path = simulation.predict(edits(half), steps)
    assert (changed.predicted <= replayed.predicted + 1).all()
    assert np.isfinite(path).all()
    built = findings_of(facts, insight)
    for item in (*built["found"], *built["totals"]):
        assert 0 <= (item["recoverable_ns"] or 0) <= (built["step_ns"] or 0)
    absent(facts)


def test_a_trace_of_nothing() -> None:
    facts = derive(trace_of([]))
    assert facts["steps"].n == 0
    assert average(facts, select(facts)) is None
    assert absent(facts) == ("device", "shapes", "stack", "steps", "memory", "host", "script")
    with pytest.raises(IndexError, match="does not exist"):
        select(facts, 0)
