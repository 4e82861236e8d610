"""A database of several processes, from the file to what is said of the ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.builders.several_processes import Job, write_nsight, write_rocpd
from tests.cases.test_whose_recordings import found_in
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
    # Than the median of the others.
    longer = job.late * (job.ranks - 1) - job.late * (job.ranks - 2) / 2
    assert held == pytest.approx(job.count * longer, rel=0.01)
    assert set(found.matched.values()) == {job.count}


def test_every_surface_sees_the_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.sqlite"
    write_nsight(path, Job(2, count=20))
    run = torch_tb_profiler.open(str(path), use_cache=False)
    assert [trace.worker for trace in run] == ["pid 4200", "pid 4201"]
    for command in (["summary"], ["findings"], ["kernels"], ["diff", str(path)]):
        assert main.main([command[0], str(path), *command[1:], "--no-cache"]) == 0
        printed = capsys.readouterr().out
        assert ("pid 4201" in printed) or command[0] == "diff"
    main.main(["summary", str(path), "--no-cache"])
    printed = capsys.readouterr().out
    assert "Rank 1 holds all others back: 3.00 ms of each" in printed
    assert "2 recordings of 2 ranks" in printed
