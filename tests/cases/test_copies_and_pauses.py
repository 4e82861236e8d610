"""Recordings bound by copies, and devices that pause within a launch of a graph: what their own path says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import NVIDIA, item, launched, made, span
from tests.builders.drawn import trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.units import format_share
from torch_tb_profiler.views.findings.payload import Source, findings_payload


@given(
    copy=st.integers(200, 40_000),
    kernel=st.integers(20, 60_000),
    count=st.integers(6, 24),
    rate=st.floats(0.5, 60),
    kind=st.sampled_from(["Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice", "Memcpy DtoH"]),
    linked=st.booleans(),
)
@examples(30)
def test_copies_that_take_most_of_the_time(
    copy: int, kernel: int, count: int, rate: float, kind: str, linked: bool
) -> None:
    """Copies of so many µs, each followed by a kernel: their share and bytes per second are said, and hidden they save no more
    than the kernels could hide.
    """
    entries, at = [span("cpu_op", "aten::mm", 1, 1)], 100
    for number in range(count):
        size = {"bytes": round(copy * rate * 1000)}
        made_by = {"correlation": number + 1 if linked else 90_000 + number}
        if linked:
            entries.append(span("cuda_runtime", "cudaMemcpyAsync", 4 + 3 * number, 2, **made_by))
        entries.append(span("gpu_memcpy", kind, at, copy, 7, **size, **made_by))
        entries.append(
            span("kernel", "gemm", at + copy + 2, kernel, 7, correlation=95_000 + number)
        )
        at += copy + kernel + 7
    trace = trace_of(entries, **NVIDIA)
    facts = derive(trace)
    answer = findings_payload(Source(trace, facts, build_insight(trace, facts), "w", "1"))
    whole = answer.step_ns or 0
    for one in answer.findings:
        if one.rule == "exposed_copies":
            assert (one.recoverable_ns or 0) <= min(copy, kernel) * count * 1000 * 1.01
    if copy > 1.1 * (kernel + 7):
        assert "Copies" in answer.headline
        share = format_share(copy * count * 1000 / whole).split(".")[0]
        assert f"That is {share}" in answer.detail
        assert "B/s" in answer.detail
    assert "A single kernel" not in answer.headline or copy <= kernel


@given(
    graph=st.sampled_from(["cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch"]),
    kernels=st.integers(10, 60),
    each=st.integers(3, 40),
    pause=st.integers(1, 15),
    iterations=st.integers(2, 6),
)
@examples(20)
def test_pauses_within_a_launch_of_a_graph(
    graph: str, kernels: int, each: int, pause: int, iterations: int
) -> None:
    """All pauses lie within a launch: graphs are no advice, and their sum is that of the gaps of one correlation."""
    entries, at = [], 100
    for number in range(iterations):
        length = kernels * (each + pause) + 40
        name = f"execute_context_0(0)_generation_{kernels}({kernels})"
        entries.append(span("user_annotation", name, at, length))
        entries.append(span("cuda_runtime", graph, at + 2, 8, correlation=number + 1))
        for kernel in range(kernels):
            begin = at + 12 + kernel * (each + pause)
            entries.append(span("kernel", f"k{kernel % 3}", begin, each, 7, correlation=number + 1))
        entries.append(span("cuda_runtime", "cudaStreamSynchronize", at + 11, length - 13))
        at += length + 3
    found = item(made(entries), "idle_queue")
    within = (kernels - 1) * pause * 1000
    assert found["numbers"]["inside"] == within
    assert found["recoverable_ns"] == pytest.approx(within, rel=0.05)
    assert found["certainty"] == "theoretical"
    assert "graphs" not in found["words"]["attempt"].replace("the graph without", "")


def test_pauses_between_launches_are_none_within_one() -> None:
    entries = []
    for number in range(20):
        entries += launched("k", number + 1, 95 + 2 * number, 100 + 7 * number, 5)
    found = item(made(entries), "idle_queue")
    assert "inside" not in found["numbers"]
    assert "attempt" not in found["words"]
