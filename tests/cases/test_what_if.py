"""Paths and predictions where stamps overlap, the device is behind, the host waits, or a thread idles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import trace_of
from tests.builders.loop import span
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.critical_path.walk import Walk
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.store.columns import StepRow
from torch_tb_profiler.store.insight_schema import PathCause

Event = dict[str, Any]
HOST, GPU = 1, 0
MS = 1000.0


class Job:
    """Events of one host thread and one device, µs."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._ids = count(1)

    def step(self, number: int, begin: float, length: float) -> None:
        self.events.append(
            span("user_annotation", f"ProfilerStep#{number}", HOST, HOST, begin, length)
        )

    def call(
        self,
        called: float,
        begin: float,
        length: float,
        taken: float = 3,
        kind: str = "kernel",
        stream: int = 7,
    ) -> None:
        """A call and the work that it launches."""
        number = next(self._ids)
        copies = kind != "kernel"
        name = "cudaMemcpyAsync" if copies else "cudaLaunchKernel"
        args = {"correlation": number, "External id": number}
        self.events += [
            span(
                "cpu_op", "aten::copy_" if copies else "aten::mm", HOST, HOST, called - 1, taken + 2
            ),
            span("cuda_runtime", name, HOST, HOST, called, taken, **args),
            span(
                kind,
                "Memcpy DtoH (Device -> Pageable)" if copies else "gemm",
                GPU,
                stream,
                begin,
                length,
                device=0,
                stream=stream,
                **args,
            ),
        ]

    def simulation(self) -> Simulation:
        trace = trace_of(self.events)
        facts = derive(trace)
        return Simulation(trace, facts, build_insight(trace, facts))


def lengths(simulation: Simulation, change: str | None = None) -> list[float]:
    """Of each step, ms."""
    chosen = edits([read_change(change)]) if change else []
    found = simulation.lengths(simulation.changed(chosen))
    return [round(float(value) / 1e6, 6) for value in found]


def walls(simulation: Simulation) -> list[float]:
    table = simulation.scene.facts["steps"]
    return [round(float(value) / 1e6, 6) for value in table["end"] - table["start"]]


def on_path(simulation: Simulation) -> np.ndarray[Any, np.dtype[np.float64]]:
    """By ``PathCause``, ms over all steps."""
    scene = simulation.scene
    walk = Walk(scene.trace, scene.facts, gather(scene.trace, scene.facts))
    total = np.zeros(len(PathCause))
    for row in range(scene.facts["steps"].n):
        start, end, cause, _ = walk.path(StepRow(row))
        np.add.at(total, cause.astype(int), (end - start) / 1e6)
    return total


@given(
    st.lists(st.floats(-20, 20), min_size=11, max_size=11),
    st.floats(0.2, 3),
    st.sampled_from([0.1, 0.5, 0.9]),
)
def test_stamps_that_overlap_change_no_prediction(
    apart: list[float], each: float, factor: float
) -> None:
    """Three steps of four kernels, each of which begins so many µs after the one before had ended."""
    found = []
    for gaps in (apart, [max(gap, 0.0) for gap in apart]):
        job, begin = Job(), 400.0
        for number in range(3):
            job.step(number, 100 + 60 * number, 50)
            for call in range(4):
                job.call(104 + 60 * number + 10 * call, begin, each * MS)
                gap = gaps[(4 * number + call) % len(gaps)]
                begin += round(each * MS + gap, 3)
        found.append(job.simulation())
    for simulation in found:
        assert lengths(simulation) == walls(simulation)
    overlapping, clear = (
        np.array(lengths(one, f"scale:kernel=*,factor={factor}")) for one in found
    )
    # What the stamps overlap by is work of the kernel before.
    most = sum(max(-gap, 0) for gap in apart) * 2 / MS
    assert overlapping.sum() == pytest.approx(clear.sum(), abs=most + 1e-6)


@given(st.integers(1, 12), st.floats(0.5, 2), st.sampled_from([0.25, 0.5, 0.75]))
def test_a_backlog_of_the_device_keeps_its_time(behind: int, each: float, factor: float) -> None:
    """The device is so many kernels behind when the first step begins; steps have four kernels."""
    job, begin = Job(), 100.0
    for call in range(behind):
        job.call(12 + 6 * call, begin, each * MS)
        begin += each * MS
    for number in range(3):
        job.step(number, 100 + 60 * number, 50)
        for call in range(4):
            job.call(104 + 60 * number + 10 * call, begin, each * MS)
            begin += each * MS
    simulation = job.simulation()
    assert lengths(simulation) == walls(simulation)
    changed = lengths(simulation, f"scale:kernel=*,factor={factor}")
    saved = [before - after for before, after in zip(walls(simulation), changed, strict=True)]
    assert saved == pytest.approx([4 * each * (1 - factor)] * 3, abs=0.01)


@given(st.floats(1, 50), st.sampled_from([0.1, 0.5, 1.5, 3.0]))
def test_host_work_before_the_first_step_is_of_no_step(load: float, factor: float) -> None:
    job, begin = Job(), 100.0
    job.call(12, begin, (load + 12) * MS)
    job.events.append(span("user_annotation", "load", HOST, HOST, 40, load * MS))
    begin += (load + 12) * MS + 1
    for number in range(3):
        at = 40 + load * MS + 60 + 100 * number
        job.step(number, at, 60)
        job.call(at + 10, begin, 4 * MS)
        begin += 4 * MS + 1
    simulation = job.simulation()
    assert lengths(simulation) == walls(simulation)
    assert lengths(simulation, f"host:factor={factor}") == pytest.approx(walls(simulation), abs=0.1)


@given(st.floats(0.1, 60), st.sampled_from([7, 20]))
def test_a_copy_that_blocks_waits_for_the_kernels(after: float, stream: int) -> None:
    """It begins so long after the last kernel has ended, on the same stream or on another."""
    job = Job()
    for number in range(3):
        at = 100 + 22_000 * number
        job.step(number, at, 21_500)
        for call in range(20):
            job.call(at + 3 + 8 * call, at + 20 + 1000 * call, 1000)
        end = at + 20 + 20_000
        job.call(
            at + 300,
            end + after,
            2,
            taken=end - at - 300 + after + 10,
            kind="gpu_memcpy",
            stream=stream,
        )
    simulation = job.simulation()
    assert lengths(simulation) == walls(simulation)
    path = on_path(simulation)
    assert path[PathCause.KERNEL] == pytest.approx(60.0, abs=0.01)
    assert path[PathCause.SYNCHRONIZATION] < 0.3


@given(st.lists(st.floats(0.01, 60), min_size=3, max_size=3))
def test_a_late_begin_without_a_reason_stays_as_late(late: Sequence[float]) -> None:
    job = Job()
    for number, delay in enumerate(late):
        at = 100 + 70_000.0 * number
        job.step(number, at, 69_000)
        job.call(at + 10, at + 10 + delay * MS, 1000)
        job.events.append(
            span("cuda_runtime", "cudaDeviceSynchronize", HOST, HOST, at + 30, delay * MS + 1000)
        )
        job.call(at + delay * MS + 1100, at + delay * MS + 1109, 1000)
    simulation = job.simulation()
    assert lengths(simulation) == pytest.approx(walls(simulation), rel=0.001)


WAITS = (
    "threading.py(320): wait",
    "queue.py(171): get",
    "<built-in method recv_into of _socket.socket object at 0x7f>",
    "selectors.py(403): select",
    "<built-in method poll of select.epoll object at 0x7f>",
    "<built-in function sleep>",
    "torch/utils/data/_utils/pin_memory.py(18): _pin_memory_loop",
    "multiprocessing/connection.py(429): _recv_bytes",
)


@given(st.lists(st.sampled_from(WAITS), min_size=1, max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_threads_that_wait_hold_nothing(names: list[str], begin: float, end: float) -> None:
    def recording() -> Job:
        job = Job()
        for call in range(10):
            job.call(100 + 50 * call, 110 + 500 * call, 450)
        job.events.append(span("cuda_runtime", "cudaDeviceSynchronize", HOST, HOST, 650, 4500))
        return job

    alone, beside = recording(), recording()
    low, high = sorted((begin, end))
    for thread, name in enumerate(names):
        at, until = 100 + 5000 * low, 100 + 5000 * high
        beside.events += [
            span("python_function", "threading.py(1012): run", HOST, 50 + thread, at, until - at),
            span("python_function", name, HOST, 50 + thread, at, until - at),
        ]
    one, other = alone.simulation(), beside.simulation()
    for change in (None, "scale:kernel=*,factor=0.5", "host:factor=0.5"):
        assert lengths(one, change) == lengths(other, change)
    assert on_path(one).tolist() == on_path(other).tolist()


@given(st.integers(1, 20))
def test_the_program_runs_on_the_thread_of_its_loop(launches: int) -> None:
    """Autograd's thread launches more, the loop's thread loads data."""
    job = Job()
    loads = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    job.events.append(span("user_annotation", loads, HOST, HOST, 100, 60))
    job.call(200, 210, 10)
    engine = "autograd::engine::evaluate_function: MmBackward0"
    job.events.append(span("cpu_op", engine, HOST, 9, 300, 100 * launches))
    trace = trace_of(job.events)
    main = gather(trace, derive(trace)).main
    assert int(trace["tracks"]["tid"][main]) == int(
        trace["tracks"]["tid"][trace["spans"]["track"][0]]
    )
