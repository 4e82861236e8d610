"""Launches whose device work is missing from the trace: what the device did is unknown, whoever speaks of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.findings.cases import span
from tests.builders.drawn import Event, trace_of
from tests.builders.npu import Npu
from tests.examples import examples
from torch_tb_profiler.analysis.facts.defects import LAUNCH_WITHOUT_KERNEL
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.facts.unrecorded_work import LEAST_UNKNOWN, Evidence, unknown_share
from torch_tb_profiler.analysis.figures.devices import device_use
from torch_tb_profiler.analysis.figures.iterations import iteration_table
from torch_tb_profiler.analysis.figures.selection import complete, select
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.what_if.changes import PRESETS, read_changes
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.analysis.what_if.table import edits
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.views.findings.payload import Source, findings_payload
from torch_tb_profiler.views.findings.wire import FindingsPayload
from torch_tb_profiler.views.overview.payload import RankInJob, overview_payload
from torch_tb_profiler.views.wire import to_json

VENDORS = {
    "cuda": ("cudaGraphLaunch", "cudaLaunchKernel", "cudaStreamSynchronize"),
    "driver": ("cuGraphLaunch", "cuLaunchKernelEx", "cuStreamSynchronize"),
    "hip": ("hipGraphLaunch", "hipModuleLaunchKernel", "hipStreamSynchronize"),
    "xpu": ("xpuGraphLaunch", "urEnqueueKernelLaunch", "urQueueFinish"),
}
MARKS = ("execute_context_0(0)_generation_{1}({1})", "ProfilerStep#{0}")
ABSURD = re.compile(r"\b0\s(?:kernels|ns or less)|last 0\sns|busy 0\s%|busy for 0\sns")


@dataclass(frozen=True)
class Loop:
    """Iterations that launch one graph of ``kernels`` kernels and a kernel of their own, then wait for both, µs."""

    vendor: str
    mark: str
    batch: int
    kernels: int
    each: int
    recorded: tuple[int, ...]
    """Of each iteration how many kernels of its graph are in the trace."""
    host: int
    own_recorded: bool = True

    @property
    def device(self) -> int:
        """How long the device works in an iteration."""
        return self.kernels * (self.each + 1) + 6

    def events(self) -> list[Event]:
        graph, direct, wait = VENDORS[self.vendor]
        found, at = [], 500
        for number, recorded in enumerate(self.recorded):
            name = self.mark.format(number, self.batch)
            begin, ids = at, 10 * number + 1
            found.append(span("user_annotation", name, begin, 2 * self.host + self.device + 20))
            at += self.host
            found.append(span("cuda_runtime", graph, at, 6, correlation=ids))
            work = at + 8
            for kernel in range(self.kernels):
                if kernel < recorded:
                    args = {"correlation": ids}
                    found.append(span("kernel", f"k{kernel}", work, self.each, 7, **args))
                work += self.each + 1
            found.append(span("cuda_runtime", direct, at + 7, 4, correlation=ids + 1))
            if self.own_recorded:
                found.append(span("kernel", "sample", work, 4, 7, correlation=ids + 1))
            found.append(span("cuda_runtime", wait, at + 12, work + 6 - at - 12))
            at = work + 6 + self.host
            at = max(at, begin + 2 * self.host + self.device + 20) + 3
        return found


@st.composite
def loops(draw: st.DrawFn) -> Loop:
    kernels = draw(st.integers(1, 6))
    whole = draw(st.booleans())
    count = draw(st.integers(4, 9))
    some = st.integers(0, kernels) if whole else st.sampled_from((0, kernels))
    return Loop(
        vendor=draw(st.sampled_from(sorted(VENDORS))),
        mark=draw(st.sampled_from(MARKS)),
        batch=draw(st.integers(1, 64)),
        kernels=kernels,
        each=draw(st.integers(3, 900)),
        recorded=tuple(draw(st.lists(some, min_size=count, max_size=count))),
        host=draw(st.integers(5, 400)),
    )


@dataclass(frozen=True)
class Read:
    trace: Trace
    facts: Facts
    insight: Insight

    @property
    def findings(self) -> FindingsPayload:
        return findings_payload(Source(self.trace, self.facts, self.insight, "w", "1"))

    @property
    def texts(self) -> str:
        """Everything that the first page and the findings say."""
        everything = select(self.facts, None)
        overview = overview_payload(self.facts, everything, RankInJob(1, None, "", None))
        return " ".join((to_json(overview).decode(), to_json(self.findings).decode()))

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """By the name of a call how many launches lack work, of how many."""
        table = self.facts["unrecorded_work"]
        pairs = list(zip(table["name"].tolist(), table["of"].tolist(), strict=True))
        return {self.facts.strings[name]: (pairs.count((name, of)), of) for name, of in pairs}

    def unknown(self) -> float:
        return unknown_share(self.facts, np.arange(self.facts["steps"].n))


def read(events: list[Event], **header: Any) -> Read:
    trace = trace_of(events, **header)
    facts = derive(trace)
    return Read(trace, facts, build_insight(trace, facts))


@given(loops())
@examples(30)
def test_what_a_launch_lacks_is_counted_and_the_device_unknown_there(loop: Loop) -> None:
    found = read(loop.events())
    table, steps = found.facts["unrecorded_work"], found.facts["steps"]
    correlation = found.trace["spans"]["correlation"][table["launch"]]
    none = [10 * n + 1 for n, recorded in enumerate(loop.recorded) if not recorded]
    some = [10 * n + 1 for n, recorded in enumerate(loop.recorded) if recorded < loop.kernels]
    # Of each launch without any work that is certain; of one with less than other replays of its graph where these agree.
    assert set(none) <= set(correlation.tolist()) <= set(some)
    assert found.facts.defects[LAUNCH_WITHOUT_KERNEL] == table.n
    assert (table["recorded"] < np.where(table["expected"] < 0, 1, table["expected"])).all()
    lacking = np.isin([10 * n + 1 for n in range(len(loop.recorded))], correlation)
    assert (steps["unrecorded"][~lacking] == 0).all()
    assert (
        steps["unrecorded"][[n in none for n in (10 * np.arange(steps.n) + 1).tolist()]] > 0
    ).all()
    busy, wall = found.facts["device_steps"]["busy"], steps["end"] - steps["start"]
    assert ((busy < 0) == (steps["unrecorded"] > LEAST_UNKNOWN * wall)).all()


@given(loops())
@examples(20)
def test_nothing_that_needs_the_device_is_certain_or_printed_as_nothing(loop: Loop) -> None:
    found = read(loop.events())
    assert not ABSURD.search(found.texts)
    everything = select(found.facts, None)
    # A step of which more than half is unrecorded speaks for none.
    if unknown_share(found.facts, complete(found.facts, everything)) <= LEAST_UNKNOWN:
        return
    [use] = device_use(found.facts, everything)
    assert (use.utilization, use.sm_efficiency, use.matrix_share) == (None, None, None)
    assert "is unknown" in found.texts
    assert not any(item.certainty == "certain" for item in found.findings.findings)


@given(loops())
@examples(20)
def test_no_change_shortens_the_time_in_which_the_device_is_unknown(loop: Loop) -> None:
    found = read(loop.events())
    unknown = found.facts["steps"]["unrecorded"]
    simulation = Simulation(found.trace, found.facts, found.insight)
    for change in (*PRESETS, "graphs", "host:factor=0"):
        left = simulation.step_lengths(change, edits(read_changes(change)))
        if left is not None and unknown.any():
            assert left.sum() >= unknown.sum() - 1_000 * len(left)


@pytest.mark.parametrize("vendor", sorted(VENDORS))
def test_all_replays_without_kernels(vendor: str) -> None:
    """A decode of 10 ms: a graph launch without kernels, a sampler kernel and a wait of most of it."""
    loop = Loop(vendor, MARKS[0], 32, 10, 890, (0,) * 8, 100)
    found = read(loop.events())
    assert found.counts == {VENDORS[vendor][0]: (8, 8)}
    assert set(found.facts["unrecorded_work"]["evidence"].tolist()) == {Evidence.CALL}
    answer = found.findings
    assert "tokens per second" in answer.headline
    assert f"8 of 8 launches by “{VENDORS[vendor][0]}” lack device work." in answer.detail
    assert [item.rule for item in answer.findings if item.certainty == "certain"] == []
    assert "host_synchronisation" not in {item.rule for item in answer.findings}
    assert answer.missing[0].key == "device_work"
    path = found.insight["critical_path"]
    time = np.bincount(path["cause"], weights=path["end"] - path["start"], minlength=20)
    assert time[PathCause.NOT_RECORDED] > 0.9 * loop.device * 8000
    iterations = iteration_table(found.facts, select(found.facts, None))
    assert (iterations["device_ns"] < 0).all()


def test_other_replays_of_a_graph_tell_what_one_lacks() -> None:
    loop = Loop("hip", MARKS[0], 4, 5, 100, (5, 5, 0, 5, 2, 5, 5, 5), 50)
    table = read(loop.events()).facts["unrecorded_work"]
    assert table["expected"].tolist() == [5, 5]
    assert table["recorded"].tolist() == [0, 2]
    assert set(table["evidence"].tolist()) == {Evidence.REPLAYS}


def test_replays_of_unequal_graphs_are_whole() -> None:
    """Prefill and decode alternate: each has its own graph, so less work is no lack."""
    loop = Loop("cuda", MARKS[0], 4, 6, 100, (6, 3) * 5, 50)
    assert read(loop.events()).facts["unrecorded_work"].n == 0


@pytest.mark.parametrize(
    "call",
    ["urEnqueueKernelLaunchWithArgsExp", "zeCommandListAppendLaunchKernel", "musaLaunchKernel"],
)
@pytest.mark.parametrize("copies", [0, 1])
def test_enqueues_without_a_kernel(call: str, copies: int) -> None:
    """Two kernels are enqueued before each copy; the copies alone are recorded."""
    events = []
    for n in range(30):
        at = 1000 + 380 * n
        for k in range(2):
            events.append(span("cpu_op", "aten::mm", at + 60 * k, 50))
            events.append(span("cuda_runtime", call, at + 60 * k + 5, 8, correlation=3 * n + k + 1))
        link = {"correlation": 3 * n + 3}
        events.append(span("cuda_runtime", "urEnqueueUSMMemcpy", at + 130, 6, **link))
        events.append(span("gpu_memcpy", "Memcpy M2D", at + 142, 3 + copies, 7, **link))
    found = read(events)
    assert found.counts == {call: (60, 60)}
    assert found.unknown() > 0.9
    answer = found.findings
    assert re.fullmatch("What the GPU did in .+ is unknown.", answer.headline)
    assert f"60 of 60 launches by “{call}” lack device work." in answer.detail
    assert answer.findings == []
    assert not ABSURD.search(found.texts)


def test_a_call_of_the_driver_within_one_of_the_runtime_is_one_launch() -> None:
    events = [
        span("cuda_runtime", "urEnqueueKernelLaunch", 10, 20, correlation=1),
        span("cuda_driver", "zeCommandListAppendLaunchKernel", 12, 10, correlation=2),
        span("kernel", "k", 40, 100, 7, correlation=2),
    ]
    assert read(events).facts["unrecorded_work"].n == 0


def test_kernels_whose_ids_were_not_written_may_be_those_of_the_launches() -> None:
    events = []
    for n in range(5):
        events.append(span("cuda_runtime", "cudaLaunchKernel", 10 + 100 * n, 5, correlation=n + 1))
        events.append(span("kernel", "k", 30 + 100 * n, 50, 7))
    assert read(events).facts["unrecorded_work"].n == 0


def test_a_launch_of_an_npu_without_its_task() -> None:
    events = Npu(tie="connection", steps=4).events()
    lost = next(event for event in events if event["name"] == "MatMulV2")
    kept = [event for event in events if event is not lost]
    whole, found = (read(part, profiler="torch_npu") for part in (events, kept))
    assert whole.facts["unrecorded_work"].n == 0
    assert found.counts == {"Node@launch": (1, 4)}
