"""What ranks are given: inputs, and no parameters or tables."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.critical_path.test_ranks import UNIX, fleet_of
from tests.analysis.critical_path.test_verdict import entry, job
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.critical_path.rank_workloads import elements_of, inputs_of


@pytest.mark.parametrize(
    ("name", "dims", "types", "elements"),
    [
        ("aten::embedding", [[64_000_000, 8], [4096]], ["float", "long int"], 4096),
        (
            "fbgemm::split_embedding_codegen_lookup",
            [[64_000], [8], [40]],
            ["float", "int", "long"],
            48,
        ),
        ("aten::index_select", [[1000, 64], [], [7]], ["c10::Half", "Scalar", "c10::Long"], 7),
        ("aten::mm", [[8, 4], [4, 2]], ["float", "float"], 40),
        ("aten::_fused_adagrad_", [[1 << 20]], ["float"], -1),
        ("aten::_foreach_add_", [[1 << 20]], ["float"], -1),
        ("aten::embedding", [[64, 8], [4]], ["float"], 516),
    ],
)
def test_the_inputs_of_a_call(
    name: str, dims: list[list[int]], types: list[str], elements: float
) -> None:
    given = inputs_of(name, json.dumps(dims), json.dumps(types))
    assert elements_of(given) == elements


@examples(4)
@given(
    rows=st.lists(st.integers(1_000, 1 << 26), min_size=3, max_size=4, unique=True),
    name=st.sampled_from(["aten::embedding", "fbgemm::dense_lookup", "torchrec::table_gather"]),
    seed=st.integers(0, 99),
)
def test_tables_of_unequal_size_are_no_unequal_input(rows: list[int], name: str, seed: int) -> None:
    """Each rank looks up as much, in tables of other sizes; who is late changes."""
    work = np.random.default_rng(seed).uniform(900, 1100, (len(rows), 8))
    traces = job(work)
    made = []
    for rank, (trace, table) in enumerate(zip(traces, rows, strict=True)):
        events: list[Event] = []
        for step in range(8):
            start = int(trace["spans"]["start"].min())
            told: dict[str, Any] = {
                "Input Dims": [[table, 16], [512]],
                "Input type": ["float", "long int"],
            }
            begin = float(start) / 1000 + 10 + 3000 * step
            events.append(entry("user_annotation", f"ProfilerStep#{step}", begin, 2990))
            events.append(entry("cpu_op", name, begin + 1, float(work[rank, step]), **told))
            args: dict[str, Any] = {
                "Collective name": "allreduce",
                "Process Group Name": "0",
                "Seq": step,
            }
            called = begin + float(work[rank, step]) + 2
            args["Group size"] = len(rows)
            end = begin + 1300
            events.append(entry("cpu_op", "c10d::allreduce_", called, end - called, **args))
            events.append(
                entry("user_annotation", "gloo:all_reduce", called + 1, end - called - 2, 2, **args)
            )
        info = {"rank": rank, "world_size": len(rows), "backend": "gloo"}
        made.append(trace_of(events, baseTimeNanoseconds=UNIX, distributedInfo=info))
    found = fleet_of(*made).verdict
    assert found.uneven is None
    assert found.kind != "input"
