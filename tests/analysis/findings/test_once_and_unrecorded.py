"""What happened once and what was not recorded: the same answer with marks of steps and without, first where it is the largest."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import Findings, looked_at, of_some_program, rules, span, steps
from tests.builders.drawn import Event, trace_of
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits

VENDORS = (("cuda_runtime", "cuda"), ("cuda_driver", "cu"), ("hip_runtime", "hip"))
PACE = 60
"""µs from one launch to the next."""
NAMES = ("mul", "sub", "sqrt", "clamp", "log")


def small_launches(
    count: int,
    vendor: tuple[str, str],
    quiet: dict[int, float] | None = None,
    takes: dict[int, float] | None = None,
) -> tuple[list[Event], float]:
    """Operators that launch a kernel of 25 µs each, and when they end, µs. quiet: after which of them nothing is recorded for
    how long; takes: how long the launch of some takes.
    """
    entries: list[Event] = []
    time, (category, prefix) = 20.0, vendor
    for number in range(count):
        call = 5.0 + (takes or {}).get(number, 0.0)
        name = f"new_{number}" if number in (takes or {}) else NAMES[number % len(NAMES)]
        entries += [
            span("cpu_op", f"aten::{name}", time, 9 + call),
            span(category, f"{prefix}LaunchKernel", time + 3, call, correlation=number + 1),
            span("kernel", f"{name}_kernel", time + 4 + call, 25, 7, correlation=number + 1),
        ]
        time += PACE + call - 5 + (quiet or {}).get(number, 0.0)
    return entries, time


def _marked(entries: list[Event], end: float, marks: bool) -> Findings:
    return looked_at(trace_of([*entries, *(steps((0, end)) if marks else ())]))


@examples(12)
@given(
    st.integers(20, 120),
    st.floats(0.05, 0.95),
    st.floats(1.5, 400),
    st.sampled_from(VENDORS),
)
def test_a_stretch_without_a_record(
    count: int, place: float, milliseconds: float, vendor: tuple[str, str]
) -> None:
    after = int(place * (count - 1))
    entries, end = small_launches(count, vendor, {after: milliseconds * 1000})
    answers = []
    for marks in (False, True):
        found = _marked(entries, end, marks)
        one = next(item for item in found["found"] if item["rule"] == "idle_host")
        assert one["numbers"]["stretches"] == 1
        assert one["numbers"]["longest"] == pytest.approx(milliseconds * 1e6, abs=60_000)
        assert one["recoverable_ns"] == pytest.approx(milliseconds * 1e6, abs=60_000)
        assert one["certainty"] == "likely"
        names = (NAMES[number % len(NAMES)] for number in (after, after + 1))
        assert one["words"]["why"].endswith("after aten::{}, before aten::{}".format(*names))
        if milliseconds * 1000 > 2 * count * PACE:
            assert found["found"][0]["rule"] == "idle_host"
        answers.append((one["words"], one["numbers"]))
    assert answers[0] == answers[1]


@examples(12)
@given(st.integers(10, 60), st.floats(0, 0.95), st.floats(3, 2000), st.sampled_from(VENDORS))
def test_a_first_launch_that_loads_its_module(
    count: int, place: float, milliseconds: float, vendor: tuple[str, str]
) -> None:
    entries, end = small_launches(count, vendor, takes={int(place * count): milliseconds * 1000})
    for marks in (False, True):
        trace = trace_of([*entries, *(steps((0, end)) if marks else ())])
        facts = of_some_program(derive(trace))
        insight = build_insight(trace, facts)
        found = looked_at(trace)
        one = next(item for item in found["found"] if item["rule"] == "kernel_loading")
        assert one["recoverable_ns"] == pytest.approx(milliseconds * 1e6, abs=60_000)
        assert (one["certainty"], one["change"]) == ("likely", "kernels-loaded")
        if milliseconds * 1000 > 2 * count * PACE:
            assert found["found"][0] == one
        simulation = Simulation(trace, facts, insight)
        changed = simulation.changed(edits([read_change("kernels-loaded")]))
        saved = simulation.replayed - simulation.lengths(changed)
        assert saved.sum() == one["recoverable_ns"]


def test_several_first_launches_load_modules() -> None:
    takes = {0: 400_000.0, 3: 400_000.0, 8: 400_000.0}
    entries, end = small_launches(20, VENDORS[0], takes=takes)
    for marks in (False, True):
        found = _marked(entries, end, marks)
        assert found["found"][0]["rule"] == "kernel_loading"
        assert found["found"][0]["recoverable_ns"] == pytest.approx(1.2e9, rel=0.001)


@examples(8)
@given(st.integers(3, 6), st.floats(1.1, 6), st.sampled_from(VENDORS))
def test_every_step_ends_without_a_record(
    count: int, milliseconds: float, vendor: tuple[str, str]
) -> None:
    entries: list[Event] = []
    time, quiet, number = 0.0, milliseconds * 1000, 0
    category, prefix = vendor
    bounds = []
    for _ in range(count):
        begin = time
        for kernel in range(8):
            number += 1
            called = begin + 10 + 14 * kernel
            entries += [
                span("cpu_op", f"aten::op{kernel}", called, 12),
                span(category, f"{prefix}LaunchKernel", called + 3, 5, correlation=number),
                span("kernel", f"k{kernel}", begin + 30 + 500 * kernel, 490, 7, correlation=number),
            ]
        entries += [
            span("cpu_op", "aten::item", begin + 200, 3850),
            span(category, f"{prefix}StreamSynchronize", begin + 201, 3840),
        ]
        time = begin + 4050 + quiet
        bounds.append((begin, time))
    found = looked_at(trace_of([*entries, *steps(*bounds)]))
    assert "silent_end" not in rules(found)
    assert "host_synchronisation" not in rules(found)
    one = found["found"][0]
    assert (one["rule"], len(one["hit"])) == ("idle_host", count)
    assert one["recoverable_ns"] == pytest.approx(quiet * 1000, abs=60_000)
    assert "after aten::item" in one["words"]["why"]


PROFILERS = [
    span("cuda_runtime", "cudaGetDeviceCount", 4000, 450),
    span("hip_runtime", "hipGetDeviceProperties", 4470, 1300),
    span("cuda_runtime", "cudaStreamIsCapturing", 5790, 5),
    span("cuda_runtime", "cudaDeviceSynchronize", 16_800, 28),
    span("python_function", "torch/profiler/profiler.py(650): stop", 16_000, 900),
    span("overhead", "Buffer Flush", 16_500, 200, 9),
]


@examples(12)
@given(st.lists(st.sampled_from(PROFILERS), min_size=1, unique_by=id), st.booleans())
def test_nothing_of_the_program(entries: list[Event], marks: bool) -> None:
    found = _marked(entries, 20_000, marks)
    assert "nothing" in found["unsure"]
    assert not found["found"]
    assert not found["totals"]


@pytest.mark.parametrize(
    "own",
    [
        span("cpu_op", "aten::mm", 6000, 100),
        span("user_annotation", "load", 6000, 100),
        span("python_function", "train.py(10): main", 6000, 100),
        span("cuda_runtime", "cudaLaunchKernel", 6000, 5, correlation=3),
        span("kernel", "gemm", 6000, 5, 7),
    ],
    ids=lambda entry: entry["cat"],
)
def test_something_of_the_program(own: dict[str, Any]) -> None:
    assert "nothing" not in _marked([*PROFILERS, own], 20_000, False)["unsure"]
