"""A job's step lasts from the start of a step to the start of the next, whenever its ranks began and marked their steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import Client

from tests.analysis.distributed.written_ranks import rank_of
from tests.builders.drawn import trace_of
from tests.builders.loop import BASE_NS, Event, launched, process, span
from tests.examples import examples
from tests.runs.written_run import WrittenRun
from tests.web.served import body
from torch_tb_profiler.analysis.distributed.steps import common_steps, job_steps
from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.critical_path.ranks_wire import RanksPathPayload
from torch_tb_profiler.web.application import Application

MS = 1_000_000
MOVES_US, GAP_US = 300, 2
"""What an all-reduce moves for, and what lies between two marks."""


@dataclass(frozen=True)
class Marked:
    """A rank. early_us: how long before its work it marks a step. first, last: numbers of its steps. gemm_us: its work."""

    early_us: int
    first: int
    last: int
    gemm_us: int


@dataclass(frozen=True)
class Job:
    """A job whose steps take ``step_us``."""

    ranks: tuple[Marked, ...]
    step_us: int

    @property
    def common(self) -> range:
        """The numbers of the steps that all ranks recorded."""
        return range(max(r.first for r in self.ranks), min(r.last for r in self.ranks) + 1)


def marked(job: Job, number: int) -> list[Event]:
    """What a rank records: all begin their work together and leave the all-reduce together."""
    rank, slowest = job.ranks[number], max(r.gemm_us for r in job.ranks)
    found = process(100, "python", "CPU") + process(0, "python", "GPU 0")
    for step in range(rank.first, rank.last + 1):
        at = 1_000_000 + step * job.step_us
        mark = job.step_us - GAP_US
        name = f"ProfilerStep#{step}"
        found.append(span("user_annotation", name, 100, 100, at - rank.early_us, mark))
        begins, arrives = at + 20, at + 20 + rank.gemm_us
        found += launched("aten::mm", "gemm_kernel", at, 10, begins, rank.gemm_us, 2 * step + 1)
        lasts = slowest - rank.gemm_us + MOVES_US
        name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
        moved = launched("c10d::allreduce_", name, at + 11, 5, arrives, lasts, 2 * step + 2)
        told = {"Collective name": "allreduce", "Process Group Name": "0", "dtype": "Float"}
        size = {"Group size": len(job.ranks), "In msg nelems": 1024, "Out msg nelems": 1024}
        kernel = next(event for event in moved if event.get("cat") == "kernel")
        kernel["args"] |= told | size
        found += moved
        waits = span(
            "cuda_runtime", "cudaDeviceSynchronize", 100, 100, at + 17, arrives + lasts - at
        )
        found.append(waits)
    return found


def run_of(job: Job) -> WrittenRun:
    members = list(range(len(job.ranks)))
    traces = {}
    for number in members:
        info = {"rank": number, "world_size": len(members), "backend": "nccl"}
        info |= {"pg_config": [{"pg_name": "0", "ranks": members, "pg_size": len(members)}]}
        events = marked(job, number)
        traces[f"rank{number}"] = trace_of(
            events, baseTimeNanoseconds=BASE_NS, distributedInfo=info
        )
    return WrittenRun(traces)


def fleet_of(job: Job) -> Fleet:
    run = run_of(job)
    return Fleets(run).of(run.open("run", "rank0", "1"))


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Two to eight ranks that began and ended within three steps of each other, one of them slower than the others."""
    step = draw(st.integers(6_000, 40_000))
    usual = draw(st.integers(500, step // 4))
    ranks = [
        Marked(
            draw(st.integers(0, step // 3)), draw(st.integers(0, 3)), draw(st.integers(7, 9)), usual
        )
        for _ in range(draw(st.integers(2, 8)))
    ]
    slow = draw(st.integers(0, len(ranks) - 1))
    ranks[slow] = replace(ranks[slow], gemm_us=usual + draw(st.integers(step // 10 + 1, step // 4)))
    return Job(tuple(ranks), step)


def checked(job: Job) -> Fleet:
    """The steps of a job that all ranks recorded take as long as its steps, and no others have a path."""
    fleet = fleet_of(job)
    path = fleet.path
    assert path is not None
    length = path.stop - path.begin
    numbers = [int(name.partition("#")[2]) for name in fleet.figures.steps.names]
    assert [n for n, ns in zip(numbers, length, strict=True) if ns] == list(job.common)
    known = np.flatnonzero(length)
    assert length[known] == pytest.approx(job.step_us * 1000, abs=GAP_US * 1000)
    assert (path.begin[known][1:] == path.stop[known][:-1]).all()
    return fleet


@given(jobs())
@examples(30)
def test_whoever_is_late_is_told_of_the_steps_of_the_job(job: Job) -> None:
    verdict = checked(job).verdict
    assert verdict.usual == pytest.approx(job.step_us * 1000, abs=GAP_US * 1000)
    slow = max(range(len(job.ranks)), key=lambda rank: job.ranks[rank].gemm_us)
    usual = min(rank.gemm_us for rank in job.ranks)
    assert verdict.hold is not None
    assert verdict.hold.ranks == (slow,)
    assert verdict.per_step == pytest.approx((job.ranks[slow].gemm_us - usual) * 1000, rel=0.02)


def test_marks_four_milliseconds_apart_make_no_step_longer() -> None:
    verdict = checked(Job((Marked(4_000, 0, 5, 2_000), Marked(0, 0, 5, 4_000)), 10_000)).verdict
    assert (round(verdict.per_step), round(verdict.usual)) == (2 * MS, 10 * MS)


def test_of_ranks_that_recorded_no_step_together_nobody_is_named() -> None:
    fleet = fleet_of(Job((Marked(0, 0, 2, 1_000), Marked(0, 3, 5, 2_000)), 10_000))
    assert fleet.verdict.kind == "unknown"


def test_steps_that_not_all_ranks_recorded_are_said_to_have_no_path() -> None:
    run = run_of(Job((Marked(0, 0, 3, 1_000), Marked(500, 1, 4, 2_000)), 10_000))
    client = Client(Application(run, Settings()))  # type: ignore[arg-type]
    answer = client.get("/critical_path/ranks?run=run&worker=rank0&span=1")
    found = msgspec.json.decode(body(answer), type=RanksPathPayload)
    assert (found.steps, found.subject.steps, found.subject.ranks) == (3, "1-3", "rank0 and rank1")
    assert found.notes[1:] == [
        "Not all ranks recorded 2 of 5 steps: there is no path through all of them there."
    ]


def test_before_steps_that_were_not_recorded_a_step_ends_with_its_own_end() -> None:
    ranks = [rank_of(rank, [], steps=[1, 2, 9]) for rank in (0, 1)]
    own = [(rank, np.array([0, 10, 80]), np.array([10, 20, 90])) for rank in (0, 1)]
    begin, end, _ = job_steps(ranks, common_steps(ranks, 100), own)
    assert (end - begin).tolist() == [10, 10, 10]


def test_time_between_two_steps_belongs_to_the_one_before() -> None:
    ranks = [rank_of(rank, [], steps=[1, 2]) for rank in (0, 1)]
    own = [(0, np.array([0, 15]), np.array([10, 25])), (1, np.array([2, 14]), np.array([12, 24]))]
    begin, end, last = job_steps(ranks, common_steps(ranks, 100), own)
    assert (begin.tolist(), end.tolist(), last.tolist()) == ([2, 15], [15, 25], [0, 0])
