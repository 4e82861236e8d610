"""Traces of anything have a kernel table, and a slow reading of the calls around each launch finds
the same pass and sequence numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.analysis.module.test_any_trace import CALL
from tests.analysis.pyprof.rows import rows_of
from tests.analysis.test_any_trace import ARROW, EVENT
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.host_names import EVALUATE
from torch_tb_profiler.analysis.module.nodes import host_nodes
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

KERNEL = st.fixed_dictionaries(
    {
        "ph": st.just("X"),
        "cat": st.just("kernel"),
        "name": st.sampled_from(["gemm", "sgemm", "relu", ""]),
        "pid": st.just(7),
        "tid": st.just(7),
        "ts": st.integers(0, 60),
        "dur": st.integers(0, 40),
        "args": st.fixed_dictionaries(
            {},
            optional={
                "correlation": st.integers(0, 3),
                "grid": st.sampled_from([[1, 2, 3], [], "x", None]),
                "block": st.just([64, 1, 1]),
                "device": st.integers(-1, 2),
            },
        ),
    }
)


FAR_APART = [
    {"ph": "X", "cat": "cpu_op", "name": "nn.Module: A_0", "pid": 0, "tid": 0, "ts": 0, "dur": 1},
    *(
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 0, "tid": 0, "ts": 0, "dur": 0}
        | {"args": {"Sequence number": number}}
        for name, number in (
            ("nn.Module: A_0", 1 << 62),
            ("autograd::engine::evaluate_function: MmBackward0", 0),
        )
    ),
]


@examples(200)
@given(st.lists(st.one_of(CALL, CALL, CALL, EVENT, ARROW, KERNEL, KERNEL), max_size=25))
@example(FAR_APART)
def test_nothing_breaks_and_slow_reading_agrees(listed: list[dict[str, Any]]) -> None:
    trace = trace_of(listed)
    facts = derive(trace)
    rows = rows_of(trace, facts)
    kernel = np.flatnonzero(trace["spans"]["role"] == Role.KERNEL)
    assert [row["sil"] for row in rows] == trace["spans"]["dur"][kernel].tolist()
    for row, span in zip(rows, kernel.tolist(), strict=True):
        around = calls_around(trace, facts, span)
        marked = [
            i
            for i, (name, _, thread) in enumerate(around)
            if name.startswith(EVALUATE) or thread > 0
        ]
        if marked:
            assert row["dir"] == "bprop"
        elif row["dir"] == "bprop":
            # On old traces what stands between functions on their thread.
            assert around[-1][1] < 0
        numbers = [number for _, number, _ in around if number >= 0]
        told = ([] if row["seq"] is None else [row["seq"]]) + (
            [] if row["altseq"] is None else [int(n) for n in str(row["altseq"]).split(",")]
        )
        assert set(told) == set(numbers)
        assert row["seq"] is None or row["dir"] == "bprop" or row["seq"] == numbers[0]


def calls_around(trace: Trace, facts: Facts, span: int) -> list[tuple[str, int, int]]:
    """(name, sequence number, forward thread) of the calls around a kernel's launch, innermost
    first.
    """
    links, arguments = facts["span_links"], trace["operator_args"]
    nodes = host_nodes(trace, facts, call_tree(trace))
    at = max(int(links["operator"][span]), -1)
    at = at if at >= 0 else int(links["launch"][span])
    node = int(nodes.around[at]) if at >= 0 else -1
    found = []
    while node >= 0:
        row = int(nodes.row[node])
        place = np.flatnonzero(arguments["span"] == row)
        numbers = (
            (int(arguments["sequence"][place[0]]), int(arguments["forward_thread"][place[0]]))
            if len(place)
            else (-1, -1)
        )
        found.append((trace.strings[int(trace["spans"]["name"][row])], *numbers))
        node = int(nodes.parent[node])
    return found
