"""Counters of kernels by name, against a plain loop over the ranges, and beside the kernels' own figures."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import trace_of
from tests.builders.loop import span
from tests.examples import examples
from torch_tb_profiler.analysis.counters.by_kernel import measured_kernels, with_counters
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.kernels import kernel_rows
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.store.model import Trace

COUNTERS = ("dram__bytes_read.sum", "sm__cycles_active.avg")
RANGE = st.tuples(
    st.sampled_from(["gemm", "relu", "add"]),
    st.none() | st.integers(0, 1 << 40),
    st.none() | st.floats(0, 1e6),
)


def ranges(listed: list[tuple[str, int | None, float | None]], *, kernels: bool = False) -> Trace:
    """A launch and a measured range each, some counters of which are missing; with ``kernels`` the work as well."""
    found = []
    for number, (name, *values) in enumerate(listed):
        args = {
            key: value for key, value in zip(COUNTERS, values, strict=True) if value is not None
        }
        begin = 10 + 10 * number
        launch = span("cuda_runtime", "cudaLaunchKernel", 100, 1, begin, 2)
        measured = span("cuda_profiler_range", name, 0, 9, begin, 5 + number % 3)
        found += [launch | {"args": {"correlation": number}}, measured | {"args": args}]
        if kernels:
            work = span("kernel", name, 0, 7, begin + 3, 4)
            found.append(work | {"args": {"correlation": number, "device": 0, "stream": 7}})
    return trace_of([span("cpu_op", "aten::mm", 100, 1, 0, 5), *found])


@examples(40)
@given(st.lists(RANGE, min_size=2, max_size=12))
def test_means_are_those_of_a_plain_loop(
    listed: list[tuple[str, int | None, float | None]],
) -> None:
    trace = ranges(listed)
    facts = derive(trace)
    found = measured_kernels(trace, facts, select(facts))
    calls: dict[str, int] = defaultdict(int)
    wanted: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, *values in listed:
        calls[name] += 1
        for counter, value in zip(COUNTERS, values, strict=True):
            if value is not None:
                wanted[name, counter].append(value)
    assert dict(zip(found.names, found.calls.tolist(), strict=True)) == dict(calls)
    assert list(found.calls) == sorted(found.calls, reverse=True)
    assert set(found.counters) == {counter for _, counter in wanted}
    for counter, means in zip(found.counters, found.means.tolist(), strict=True):
        for name, mean in zip(found.names, means, strict=True):
            own = wanted[name, counter]
            assert math.isnan(mean) if not own else mean == pytest.approx(np.mean(own))


def test_kernels_have_a_column_per_counter() -> None:
    trace = ranges([("gemm", 10, 0.5), ("relu", None, 0.25), ("gemm", 30, None)], kernels=True)
    facts = derive(trace)
    rows = kernel_rows(facts, select(facts), "name")
    table = with_counters(rows, measured_kernels(trace, facts, select(facts)))
    assert table.texts("name") == ["gemm", "relu"]
    assert table["total_ns"].tolist() == [8000, 4000]
    assert table[COUNTERS[0]].tolist()[0] == 20
    assert math.isnan(table[COUNTERS[0]].tolist()[1])
    assert table[COUNTERS[1]].tolist() == [0.5, 0.25]
