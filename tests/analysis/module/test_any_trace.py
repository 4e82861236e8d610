"""Traces of anything have paths: spans that overlap, arrows that lead nowhere, numbers that mean
nothing.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.figures import everything
from tests.analysis.module.trees import insight_of
from tests.analysis.test_any_trace import ARROW, EVENT
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.device_causes import device_rows
from torch_tb_profiler.views.work.flame import flame_file, flame_payload
from torch_tb_profiler.views.work.module import module_payload, module_tree
from torch_tb_profiler.views.work.module_wire import FlameTree

TREES: tuple[FlameTree, ...] = ("module", "line")
NAME = st.sampled_from(
    [
        "nn.Module: A_0",
        "nn.Module: B_0",
        "nn.Module: ",
        "[pl][module]x.Linear: a.b",
        "[pl][module]",
        "[pl][profile]run",
        "aten::mm",
        "cudaLaunchKernel",
        "autograd::engine::evaluate_function: MmBackward0",
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
        "MmBackward0",
        "",
    ]
)
NUMBERS = st.fixed_dictionaries(
    {},
    optional={
        "Sequence number": st.sampled_from([-1, 0, 1, 2, 1 << 62]),
        "Fwd thread id": st.integers(-1, 2),
        "correlation": st.integers(0, 3),
        "Module Hierarchy": st.sampled_from(
            ["A(B)::forward", "", "::", "TOP(X)::f.a(Y)::f", 7, None]
        ),
    },
)
CALL = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.sampled_from(
            ["cpu_op", "cpu_op", "python_function", "user_annotation", "cuda_runtime"]
        ),
        "name": NAME,
        "pid": st.just(0),
        "tid": st.integers(0, 1),
        "ts": st.integers(0, 60),
        "dur": st.integers(0, 40),
        "args": NUMBERS,
    }
)
RECORD = st.builds(
    lambda ts, size: {
        "ph": "i",
        "name": "[memory]",
        "cat": "cpu_instant_event",
        "pid": 0,
        "tid": 0,
        "ts": ts,
        "args": {"Device Type": 1, "Bytes": size},
    },
    st.integers(0, 60),
    st.integers(-9, 9),
)


@examples(150)
@given(st.lists(st.one_of(CALL, CALL, CALL, EVENT, ARROW, RECORD), max_size=25))
def test_nothing_is_lost_and_nothing_breaks(listed: list[dict[str, Any]]) -> None:
    trace = trace_of(listed)
    facts = derive(trace)
    insight = insight_of(trace, facts)
    paths, table, of = insight["paths"], insight["path_steps"], insight["span_paths"]["path"]
    device = int(trace["spans"]["dur"][device_rows(trace)].sum())
    assert int(table["device_self"].sum()) == device
    assert (of >= -1).all()
    assert (of < paths.n).all()
    assert all(
        (table[key] >= 0).all()
        for key in (
            "calls",
            "host_total",
            "host_self",
            "runtime",
            "device_self",
            "launched",
            "allocated",
        )
    )
    every = everything(facts)
    payload = module_payload(facts, insight, module_tree(insight), every)
    totals = payload.totals
    assert (
        totals.module_device_ns + totals.outside_device_ns + totals.unattributed_device_ns == device
    )
    assert totals.module_host_ns + totals.outside_host_ns == int(
        (table["host_self"] + table["runtime"]).sum()
    )
    for tree in TREES:
        assert flame_payload(facts, insight, every, tree).unattributed_device_ns <= device
        lines = b"".join(flame_file(facts, insight, every, tree, "device", "folded")).splitlines()
        assert sum(int(line.rpartition(b" ")[2]) for line in lines) == device
