"""Databases of several processes: whose each event is, which are workers, and what ties them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.builders.nsight import NsightFile, global_id
from tests.builders.nvprof import NvprofFile
from tests.builders.rocprofv3 import Call, results, rocpd, three_launches
from tests.builders.several_processes import Job, add_nsight, write_nsight, write_rocpd
from tests.examples import examples
from torch_tb_profiler.analysis.facts import defects
from torch_tb_profiler.analysis.facts.rank_parts import UNRANKED
from torch_tb_profiler.runs.import_job import read_parts
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

pytestmark = pytest.mark.slow

JOBS = st.builds(
    Job,
    ranks=st.integers(2, 5),
    first_pid=st.integers(100, 90_000),
    begin=st.integers(10_000, 10**12),
    count=st.integers(3, 12),
    work=st.integers(50_000, 500_000),
    late=st.integers(0, 90_000),
    transfer=st.integers(60_000, 500_000),
)
WRITERS: dict[str, Callable[..., None]] = {
    "report.sqlite": write_nsight,
    "results.db": write_rocpd,
}


def parts(path: Path) -> list[tuple[Trace, Facts]]:
    """Each worker of a file."""
    return list(read_parts(Place(str(path)), Settings()))


def names(path: Path) -> list[str]:
    return [facts.summary.part for _, facts in parts(path)]


def launched(trace: Trace, facts: Facts) -> int:
    """Pieces of device work with their launch."""
    work = trace["spans"]["role"] == Role.KERNEL
    return int((facts["span_links"]["launch"][work] >= 0).sum())


def jobs(path: Path) -> list[list[str]]:
    """The workers by job, without those of no process."""
    traces = load_all(str(path), Settings.from_environment(use_cache=False))
    [run] = {one.run.name: one.run for one in traces if isinstance(one, Opened)}.values()
    found: dict[int, list[str]] = {}
    for worker in run.workers:
        if not worker.extra:
            found.setdefault(worker.job, []).append(worker.name)
    return sorted(found.values())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.sqlite"


@examples(12)
@given(st.sampled_from(sorted(WRITERS)), st.lists(JOBS, min_size=1, max_size=2), st.booleans())
def test_each_process_with_device_work_has_its_own_events_alone(
    name: str, drawn: list[Job], same_device: bool
) -> None:
    drawn = [
        Job(
            job.ranks,
            job.first_pid + 100_000 * i,
            job.begin,
            job.count,
            job.work,
            job.late,
            job.transfer,
            0 if same_device else 8 * i,
        )
        for i, job in enumerate(drawn)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        WRITERS[name](path, *drawn)
        found = parts(path)
    told = [(job, rank) for job in drawn for rank in range(job.ranks)]
    assert len(found) == len(told)
    for (job, rank), (trace, facts) in zip(told, found, strict=True):
        assert (
            facts.summary.part.endswith(f"pid {job.first_pid + rank}")
            or "(pid" in facts.summary.part
        )
        spans = trace["spans"]
        kernels = spans["role"] == Role.KERNEL
        assert spans.n == 4 * job.count
        begins = trace.origin_ns + spans["start"][kernels]
        assert begins.tolist() == [begin for _, begin, *_ in job.pieces(rank)]
        assert launched(trace, facts) == int(kernels.sum())
        assert set(trace["device_args"]["device"].tolist()) == {
            job.device + rank + (name == "results.db")
        }
        assert (facts.summary.rank, facts.summary.world_size) == (None, None)


@examples(10)
@given(st.sampled_from(sorted(WRITERS)), JOBS, st.integers(0, 4))
def test_processes_that_run_their_collectives_together_are_of_one_job(
    name: str, job: Job, skipped: int
) -> None:
    # One of them may have begun to record one collective later.
    missing = (skipped,) if skipped < job.ranks and job.count > 4 else ()
    job = Job(
        job.ranks,
        job.first_pid,
        job.begin,
        job.count,
        job.work,
        job.late,
        job.transfer,
        skipped=missing,
    )
    other = Job(2, 500_000, job.begin + job.work + 77, 5, 2_000_000, 0, 30_000, 20)
    # Collectives that end at the same time by chance are told apart by nothing.
    period = job.work + job.late * (job.ranks - 1) + job.transfer
    apart = [(77 + job.work + 2_030_000 * (number + 1)) % period for number in range(other.count)]
    assume(median(min(one, period - one) for one in apart) > period / 8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        WRITERS[name](path, job, other)
        found = jobs(path)
    assert sorted(map(len, found)) == sorted((job.ranks, 2))


@examples(12)
@given(st.integers(1, 3), st.sets(st.integers(1, 40), min_size=1), st.data())
def test_work_without_a_process_is_tied_by_ids_of_one_process_alone(
    processes: int, ids: set[int], data: st.DataObject
) -> None:
    own = {900 + p: data.draw(st.sets(st.sampled_from(sorted(ids)))) for p in range(processes)}
    callers = {n: [pid for pid, numbers in own.items() if n in numbers] for n in ids}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.sqlite"
        with NsightFile(path, without=("globalPid",)) as file:
            for n, pids in callers.items():
                for pid in pids:
                    file.call("cudaLaunchKernel", 1000 * n, 1000 * n + 100, pid, pid, correlation=n)
                file.kernel(f"k{n}", 1000 * n + 200, 1000 * n + 900, n)
        found = parts(path)
    right = wrong = 0
    for trace, facts in found:
        spans, launch = trace["spans"], facts["span_links"]["launch"]
        for row in np.flatnonzero((spans["role"] == Role.KERNEL) & (launch >= 0)).tolist():
            n = int(trace.strings[int(spans["name"][row])][1:])
            track = int(spans["track"][int(launch[row])])
            pid = int(trace.strings[int(trace["tracks"]["pid"][track])])
            right += callers[n] == [pid]
            wrong += callers[n] != [pid]
    alone = sum(len(pids) == 1 for pids in callers.values())
    assert (right, wrong) == (alone, 0)
    unclear = sum(len(pids) > 1 for pids in callers.values())
    assert {trace.defects[d.UNCLEAR_PROCESS] for trace, _ in found} == {unclear}


def test_work_of_nvprof_is_tied_to_the_process_that_launched_it(tmp_path: Path) -> None:
    path = tmp_path / "a.nvprof"
    with NvprofFile(path) as file:
        for k, process in enumerate((777, 778)):
            number = file.call(211, 1000, 2000, correlation=k + 1, process=process)
            file.kernel(f"kernel{process}", 3000, 4000, number, device=k)
    found = parts(path)
    assert [facts.summary.part for _, facts in found] == ["pid 777", "pid 778"]
    assert [launched(*one) for one in found] == [1, 1]


def test_a_stream_of_two_processes_is_two(path: Path) -> None:
    with NsightFile(path, without=("globalPid",)) as file:
        for pid, number in ((10, 1), (11, 2)):
            file.call(
                "cudaLaunchKernel", 100 * number, 100 * number + 9, pid, pid, correlation=number
            )
            file.kernel(f"k{pid}", 100 * number + 20, 100 * number + 60, number)
    assert names(path) == ["pid 10", "pid 11"]


def test_a_helper_without_device_work_stands_by_itself_and_is_said(path: Path) -> None:
    with NsightFile(path) as file:
        add_nsight(file, Job(2))
        file.push_pop("load a batch", 5, 900, pid=77)
    *workers, (rest, facts) = parts(path)
    assert facts.summary.part == UNRANKED
    assert rest["spans"].n == 1
    assert [trace.defects[d.PROCESS_WITHOUT_WORK] for trace, _ in workers] == [1, 1]
    with NsightFile(path.with_name("one.sqlite")) as file:
        add_nsight(file, Job(1))
        file.push_pop("load a batch", 5, 900, pid=77)
    [(trace, _)] = parts(path.with_name("one.sqlite"))
    assert trace.defects.as_dict() == {}


def test_a_helper_belongs_to_the_process_that_started_it_where_the_file_says_so(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.db"
    write_rocpd(path, Job(2, first_pid=10))
    rocpd(path, [Call("load", 1000, 500, 1, thread=7)], pid=99, ending="_99", ppid=11)
    (first, _), (second, _) = parts(path)
    assert (first["spans"].n, second["spans"].n) == (48, 49)


@pytest.mark.parametrize("kind", ["mpi", "nccl", "nccl, registered", "environment"])
def test_ranks_are_those_that_the_file_states(path: Path, kind: str) -> None:
    with NsightFile(path) as file:
        add_nsight(file, Job(2, first_pid=50))
        if kind == "environment":
            file.create("TARGET_INFO_ENVIRONMENT", ["globalPid INTEGER", "name TEXT", "value TEXT"])
        for pid, rank in ((50, 3), (51, 2)):
            if kind == "mpi":
                file.add("MPI_RANKS", globalTid=global_id(pid), rank=rank)
            elif kind == "environment":
                for name, value in (("RANK", rank), ("WORLD_SIZE", 4), ("LOCAL_RANK", rank - 2)):
                    row = {"globalPid": global_id(pid), "name": name, "value": str(value)}
                    file.insert("TARGET_INFO_ENVIRONMENT", row)
            for size, own in ((2, rank - 2), (4, rank)) if kind.startswith("nccl") else ():
                told = json.dumps({"NCCL communicator ID": 9, "No. of ranks": size, "Rank": own})
                text = "ncclCommInitRankConfig"
                named = {"textId": file.text(text)} if "registered" in kind else {"text": text}
                made = {"start": 5, "end": 9, "eventType": 59, "globalTid": global_id(pid, 7)}
                file.add("NVTX_EVENTS", jsonText=told, domainId=0, **made, **named)
    found = [(f.summary.part, f.summary.rank, f.summary.world_size) for _, f in parts(path)]
    world = None if kind == "mpi" else 4
    assert found == [("rank 3", 3, world), ("rank 2", 2, world)]


def test_a_file_of_one_process_has_the_rank_that_it_states(path: Path) -> None:
    with NsightFile(path) as file:
        add_nsight(file, Job(1))
        file.add("META_DATA_EXPORT", name="RANK", value="5")
        file.add("META_DATA_EXPORT", name="WORLD_SIZE", value="8")
    [(_, facts)] = parts(path)
    assert (facts.summary.part, facts.summary.rank, facts.summary.world_size) == ("", 5, 8)


def test_ranks_of_rocprofv3_are_those_of_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    write_rocpd(path, Job(2), environment=lambda rank: {"OMPI_COMM_WORLD_RANK": str(rank)})
    assert names(path) == ["rank 0", "rank 1"]


def test_processes_of_one_file_of_rocprofv3_are_workers(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    processes = [results(three_launches(), pid=pid) for pid in (4242, 4250)]
    path.write_text(json.dumps({"rocprofiler-sdk-tool": processes}))
    found = parts(path)
    assert names(path) == ["python (pid 4242)", "python (pid 4250)"]
    assert [launched(*one) for one in found] == [3, 3]


def test_memory_and_samples_go_with_the_process_that_uses_the_device(path: Path) -> None:
    with NsightFile(path) as file:
        add_nsight(file, Job(2))
        for rank in range(2):
            held = {"start": 2_000_000, "globalPid": global_id(4200 + rank), "deviceId": rank}
            file.add(
                "CUDA_GPU_MEMORY_USAGE_EVENTS",
                bytes=100 + rank,
                memKind=2,
                memoryOperationType=0,
                **held,
            )
            sample = {"timestamp": 2_000_000, "typeId": 256 + rank, "metricId": 1, "value": rank}
            file.add("GPU_METRICS", rawTimestamp=0, **sample)
    for rank, (trace, _) in enumerate(parts(path)):
        texts = trace.strings.many(trace["instants"]["args"])
        assert sorted(texts) == sorted([f'{{"bytes":{100 + rank}}}', f'{{"metric 1":{rank}}}'])


def test_a_header_that_lies_about_processes_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}
    two = [{"name": "a"}, {"name": "b"}]
    lies = [(told, owners) for told in ([1], [two[0]] * 2, "x") for owners in ([0], None)]
    for told, owners in [*lies, *((two, owners) for owners in ([], [0, 0], [5], ["a"], None))]:
        document = {"processes": told, "ownerOfTrack": owners, "traceEvents": [event]}
        path.write_text(json.dumps(document))
        assert names(path) == [""]


def test_work_of_no_known_process_is_not_counted_as_of_an_unclear_rank(path: Path) -> None:
    with NsightFile(path) as file:
        add_nsight(file, Job(2))
        file.kernel("whose", 100, 200, 99, pid=0, device=5)
    assert all(trace.defects[defects.UNCLEAR_RANK] == 0 for trace, _ in parts(path))
