"""A database of several processes, from the file to what is said of the ranks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.builders.nsight import NsightFile, global_id
from tests.builders.several_processes import Job, add_nsight, write_nsight, write_rocpd
from tests.cases.test_whose_recordings import found_in
from torch_tb_profiler.api.frames import RunFrames
from torch_tb_profiler.cli import main


@pytest.mark.parametrize(
    ("write", "name", "called"),
    [(write_nsight, "r.sqlite", "pid {}"), (write_rocpd, "r_results.db", "python (pid {})")],
)
@pytest.mark.parametrize("job", [Job(2, count=20), Job(3, late=90_000, work=700_000)])
def test_the_process_that_computes_longest_holds_the_others_back(
    tmp_path: Path, write: Callable[[Path, Job], None], name: str, called: str, job: Job
) -> None:
    write(tmp_path / name, job)
    found = found_in(tmp_path)
    workers = [called.format(job.first_pid + rank) for rank in range(job.ranks)]
    assert found.jobs == [workers]
    [(ranks, (held_back_by, held))] = found.held.items()
    assert len(ranks) == job.ranks
    assert held_back_by == workers[-1:]
    # Than the next-latest.
    assert held == pytest.approx(job.count * job.late, rel=0.01)
    assert set(found.matched.values()) == {job.count}


@pytest.mark.parametrize("told", [True, False])
def test_collectives_of_two_communicators_are_told_apart_where_the_file_names_them(
    tmp_path: Path, told: bool
) -> None:
    """Ranks 0, 1 and 2, 3 reduce in pairs: by their names alone all four would."""
    path = tmp_path / "report.sqlite"
    with NsightFile(path) as file:
        add_nsight(file, Job(2, first_pid=10, late=90_000))
        add_nsight(file, Job(2, first_pid=12, late=90_000, device=2))
        for pid in range(10, 14):
            made = {"domainId": 3, "globalTid": global_id(pid, pid)}
            file.add("NVTX_EVENTS", start=0, eventType=75, text="NCCL", **made)
            for number, size, rank in ((1, 4, pid - 10), (7 + pid // 12, 2, pid % 2)):
                sizes = {"NCCL communicator ID": number, "No. of ranks": size, "Rank": rank}
                text = json.dumps(sizes)
                file.add(
                    "NVTX_EVENTS",
                    start=5,
                    end=9,
                    eventType=59,
                    text="ncclCommInitRank",
                    jsonText=text,
                    **made,
                )
            for moves, begin, *_ in Job(2, late=90_000).pieces(pid % 2) if told else ():
                if moves:
                    text = json.dumps(
                        {"NCCL communicator ID": 7 + pid // 12, "Message size [bytes]": 64}
                    )
                    file.add(
                        "NVTX_EVENTS", start=begin - 6_500, end=begin - 4_000, eventType=59,
                        text="ncclAllReduce", jsonText=text, **made,
                    )  # fmt: skip
    run = torch_tb_profiler.open(str(path), use_cache=False)
    assert isinstance(run, RunFrames)
    assert [trace.worker for trace in run] == [f"rank {n}" for n in range(4)]
    shared = run.collectives
    groups = shared["group"].fillna("")
    last = {*zip(shared["worker"], groups, shared["last_worker"], strict=True)}
    assert last == {
        (f"rank {n}", f"{7 + n // 2}" if told else "", f"rank {n // 2 * 2 + 1 if told else 1}")
        for n in range(4)
    }
    if told:
        assert set(shared["group_size"]) == {2}


def test_every_surface_sees_the_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.sqlite"
    write_nsight(path, Job(2, count=20))
    run = torch_tb_profiler.open(str(path), use_cache=False)
    assert isinstance(run, RunFrames)
    assert [trace.worker for trace in run] == ["pid 4200", "pid 4201"]
    for command in (["summary"], ["findings"], ["kernels"], ["diff", str(path)]):
        assert main.main([command[0], str(path), *command[1:], "--no-cache"]) == 0
        printed = capsys.readouterr().out
        assert ("pid 4201" in printed) or command[0] == "diff"
    main.main(["summary", str(path), "--no-cache"])
    printed = capsys.readouterr().out
    assert "Rank 1 holds all others back: 3.00 ms of the" in printed
    assert "2 recordings of 2 ranks" in printed
