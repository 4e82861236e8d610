"""The Distributed route on public recordings: what was found in them by hand."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest

from tests.analysis.figures import opened
from tests.runs.written_run import WrittenRun
from tests.web.test_distributed import payload
from torch_tb_profiler.views.distributed.wire import DistributedPayload


def run_of(folder: Path, run: str) -> DistributedPayload:
    paths = sorted(glob.glob(str(folder / run / "*.gz")))
    assert paths, f"{run} is not among the public traces"
    return payload(
        WrittenRun({Path(path).name.split(".")[0]: opened(Path(path)) for path in paths})
    )


@pytest.mark.parametrize(
    ("run", "steps", "collectives", "recorded", "world"),
    [
        ("a100_nccl", 3, 21, 1, 2),
        ("mi300_resnet_ddp", 3, 17, 1, 8),
        ("v100_memory_nccl", 5, 2020, 1, 2),
        ("b200_eager", 1, 74, 1, 8),
        ("h800_deepseek_train", 1, 36, 1, 64),
        ("ddp128_sampled", 2, 10, 2, 128),
    ],
)
def test_runs_of_which_few_ranks_were_recorded(
    run: str, steps: int, collectives: int, recorded: int, world: int, real_traces: Path
) -> None:
    found = run_of(real_traces, run)
    assert (len(found.steps), found.workers[0].collectives, found.ready) == (
        steps,
        collectives,
        recorded,
    )
    assert found.notes[0].startswith(f"{recorded} of {world} ranks were recorded")
    assert bool(found.missing) == (recorded == 1)
    columns = found.overlap
    for worker in range(recorded):
        for step in range(steps):
            values = [
                column[worker][step]
                for column in (
                    columns.computation_ns,
                    columns.overlap_ns,
                    columns.communication_ns,
                    columns.other_ns,
                )
            ]
            assert all(value is not None and value >= 0 for value in values)
    if recorded == 1:
        assert not any(found.operations["split"])
        assert (found.matched, found.blame) == (0, [])


def test_bus_bandwidth_by_hand(real_traces: Path) -> None:
    """Two A100s: three all_reduce of 31,502,336 bytes; of two ranks bus and algorithm bandwidth are
    the same.
    """
    rows = run_of(real_traces, "a100_nccl").operations
    place = next(
        i
        for i in range(len(rows["kind"]))
        if rows["bytes"][i] == 31502336 and rows["worker"][i] == -1
    )
    assert (
        rows["kind"][place],
        rows["dtype"][place],
        rows["calls"][place],
        rows["group_size"][place],
    ) == (
        "all_reduce",
        "Float",
        3,
        2,
    )
    assert rows["algorithm_bandwidth"][place] == pytest.approx(
        3 * 31502336 / (rows["mean_ns"][place] * 3 / 1e9), rel=1e-6
    )
    assert rows["bus_bandwidth"][place] == rows["algorithm_bandwidth"][place]


def test_two_ranks_of_a_large_job_match_only_what_agrees(real_traces: Path) -> None:
    """Both recorded four all_reduce and four all_to_all, but not of the same sizes in the same
    places: two all_reduce end together, as do both all_gather.
    """
    found = run_of(real_traces, "ddp128_sampled")
    assert [(one.kind, one.counts) for one in found.unmatched] == [
        ("all_reduce", [4, 4]),
        ("all_to_all", [4, 4]),
    ]
    assert found.matched == 4
    assert found.headline[-1] == "2 of 128 ranks were read: who holds the job back is unknown."
