"""Whose recordings the files of a folder are: workers, jobs, recordings, and who holds whom back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.builders.ranked import Recorded, job, write
from torch_tb_profiler.analysis.critical_path.blame import to_blame
from torch_tb_profiler.api.fleets import fleet_places
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened, Run
from torch_tb_profiler.settings import Settings

LATER = 101_000_000.0
"""µs: 100 s after the first recording."""


@dataclass
class Found:
    """What is told of a folder. held: of each recording of a job (by the spans of its workers) who holds the others back in all of its
    steps, and the ns of the first step. ranks, worlds: of each worker.
    """

    run: Run
    traces: list[Opened]
    held: dict[tuple[str, ...], tuple[list[str], int]]
    matched: dict[tuple[str, ...], int]

    @property
    def ranks(self) -> dict[str, tuple[int | None, int | None]]:
        return {w.name: (w.rank, w.world_size) for w in self.run.workers}

    @property
    def jobs(self) -> list[list[str]]:
        jobs: dict[int, list[str]] = {}
        for worker in self.run.workers:
            jobs.setdefault(worker.job, []).append(worker.name)
        return sorted(jobs.values())

    @property
    def spans(self) -> dict[str, int]:
        return {w.name: len(w.spans) for w in self.run.workers}


def found_in(folder: Path) -> Found:
    """All of a folder, without a cache."""
    settings = Settings.from_environment(use_cache=False)
    traces = [one for one in load_all(str(folder), settings) if isinstance(one, Opened)]
    [run] = {one.run.name: one.run for one in traces}.values()
    assert not run.provisional
    held, matched = {}, {}
    for fleet, _ in fleet_places([TraceContext(one, settings) for one in traces]):
        names = [worker for worker, _ in fleet.names]
        key = tuple(f"{worker} {span}" for worker, span in fleet.names)
        first = fleet.blames[0].held if fleet.blames else 0
        held[key] = [names[rank] for rank in to_blame(fleet.blames)], first
        matched[key] = len(fleet.figures.matched.matches)
    return Found(run, traces, held, matched)


@pytest.mark.parametrize(
    "names",
    [
        ["myhost_4242.1700000000000000000.pt.trace.json", "myhost_4243.1700001000000000000.pt.trace.json"],
        ["flux_eager.json", "flux_compiled.json"],
        ["flux_eager.json", "flux_compile.json", "wan_eager.json"],
        ["epoch_0.json", "epoch_1.json"],
        ["trace_0.json", "trace_1.json"],
        ["bf16.json", "fp8.json"],
    ],
    ids=lambda names: names[0],
)  # fmt: skip
def test_independent_recordings_are_no_ranks(tmp_path: Path, names: list[str]) -> None:
    alone = Recorded("", rank=None, members=())
    files = [
        replace(alone, path=name, begin_us=1e6 + 1e9 * number, gemm_us=200.0 * (number + 1))
        for number, name in enumerate(names)
    ]
    found = found_in(write(tmp_path, files))
    assert set(found.ranks.values()) == {(None, None)}
    assert [len(workers) for workers in found.jobs] == [1] * len(names)
    assert set(map(len, found.held)) == {1}


def test_files_that_tell_no_rank_and_share_collectives_are_one_job(tmp_path: Path) -> None:
    names = ["eager.json", "other.json", "third.json"]
    shared = {"rank": None, "members": (0, 1), "sequence": 7, "slowest_us": 400.0}
    files = [
        Recorded(names[0], gemm_us=200.0, **shared),  # type: ignore[arg-type]
        Recorded(names[1], gemm_us=400.0, **shared),  # type: ignore[arg-type]
        Recorded(names[2], begin_us=1e9, **shared),  # type: ignore[arg-type]
    ]
    found = found_in(write(tmp_path, files))
    assert found.jobs == [["eager", "other"], ["third"]]
    assert found.ranks == {"eager": (0, None), "other": (1, None), "third": (None, None)}
    assert {w.rank_source for w in found.run.workers} == {"order"}
    assert sorted(who for who, _ in found.held.values()) == [[], ["other"]]


def test_engines_that_no_name_tells_apart_are_told_by_their_collectives(tmp_path: Path) -> None:
    files = [
        Recorded(f"{name}.json", rank=rank, sequence=7, begin_us=1e6 + 3_000.0 * engine)
        for engine, rank, name in ((0, 0, "b"), (1, 0, "d"), (0, 1, "c"), (1, 1, "a"))
    ]
    files = [replace(file, slowest_us=900.0, steps=40) for file in files]
    assert found_in(write(tmp_path, files)).jobs == [["b", "c"], ["d", "a"]]


def test_recordings_of_one_process_are_its_spans(tmp_path: Path) -> None:
    stages = [f"batch{b}_input256_output32_{s}" for b in (1, 8) for s in ("prefill", "decode")]
    files = [Recorded(f"profile_{stage}.trace.json.gz", world=1, members=()) for stage in stages]
    found = found_in(write(tmp_path, files))
    assert (found.ranks, found.spans) == ({"profile": (0, 1)}, {"profile": 4})
    assert set(map(len, found.held)) == {1}


def test_two_engines_are_two_jobs(tmp_path: Path) -> None:
    def engine(number: int, gemm: float) -> list[Recorded]:
        names = [
            f"dp{number}_pp0_tp{tp}_dcp0_ep0_rank{tp}.175282995651500000{number}.pt.trace.json.gz"
            for tp in (0, 1)
        ]
        return job(names, gemm_us=gemm, slowest_us=400.0)

    found = found_in(write(tmp_path, engine(0, 200.0) + engine(1, 400.0)))
    assert [len(workers) for workers in found.jobs] == [2, 2]
    assert all({name[:3] for name in workers} in ({"dp0"}, {"dp1"}) for workers in found.jobs)
    assert all(not who for who, _ in found.held.values())
    assert set(found.matched.values()) == {3}


def test_engines_of_data_parallel_experts_are_one_job(tmp_path: Path) -> None:
    names = [
        f"dp{dp}_pp0_tp0_dcp0_ep{dp}_rank0.175282995651500000{dp}.pt.trace.json.gz" for dp in (0, 1)
    ]
    found = found_in(write(tmp_path, job(names, slow=1)))
    assert [len(workers) for workers in found.jobs] == [2]
    assert [who for who, _ in found.held.values()] == [["dp1_pp0_tp0_dcp0_ep1_rank0"]]


NS, NS2 = "1700000000000000000", "1700000100000000000"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("trace_rank{}_step10.json", "trace_rank{}_step20.json"),
        ("warm_dp0_pp0_tp{0}_dcp0_ep0_rank{0}." + NS + ".pt.trace.json.gz", "run2_dp0_pp0_tp{0}_dcp0_ep0_rank{0}." + NS2 + ".pt.trace.json.gz"),
        ("6f1c-5_steps-global-rank{}.trace.json.gz", "9ab2-5_steps-global-rank{}.trace.json.gz"),
        ("rank{}/step_0.json", "rank{}/step_1.json"),
        ("rank{}/trace_step19.json", "rank{}/trace_step29.json"),
        ("myhost_424{}." + NS + ".pt.trace.json", "myhost_425{}." + NS2 + ".pt.trace.json"),
        ("rank{}." + NS + ".pt.trace.json", "rank{}." + NS2 + ".pt.trace.json"),
        ("iteration_10/rank{}_trace.json.gz", "iteration_20/rank{}_trace.json.gz"),
        ("step10_rank_{}_of_2.json", "step20_rank_{}_of_2.json"),
        ("epoch_0_rank_{}.json", "epoch_1_rank_{}.json"),
        ("a{}.json", "b{}.json"),
    ],
    ids=lambda name: name.split(".")[0],
)  # fmt: skip
@pytest.mark.slow
def test_names_of_ranks_and_recordings(tmp_path: Path, first: str, second: str) -> None:
    """In the first recording rank 1 takes 200 µs longer in every step, in the second nobody does."""
    files = job([first.format(rank) for rank in (0, 1)], slow=1)
    files += job([second.format(rank) for rank in (0, 1)], begin_us=LATER)
    found = found_in(write(tmp_path, files))
    assert sorted(found.ranks.values()) == [(0, 2), (1, 2)]
    assert (len(found.jobs), list(found.spans.values())) == (1, [2, 2])
    held = sorted(found.held.values(), key=lambda one: -len(one[0]))
    assert [len(who) for who, _ in held] == [1, 0]
    assert dict(found.ranks)[held[0][0][0]] == (1, 2)
    assert held[0][1] == 200_000


def test_two_files_that_claim_one_rank_are_said_and_do_not_meet(tmp_path: Path) -> None:
    files = job(["nodeA_100.17.pt.trace.json", "nodeB_100.17.pt.trace.json"], slow=1)
    found = found_in(write(tmp_path, [replace(one, rank=0) for one in files]))
    assert found.ranks == {"nodeA_100": (0, 2), "nodeB_100": (0, 2)}
    assert len(found.jobs) == 2
    [remark] = found.run.remarks
    assert "nodeA_100.17 and nodeB_100.17 both say rank 0 of 2" in remark
    assert all(not who for who, _ in found.held.values())


@pytest.mark.parametrize(
    "name",
    ["trace_dp_rank_{}_tp_rank_{}.json.gz", "node{}_rank{}.json.gz", "host{}_local_rank_{}.json"],
)
def test_compound_ranks_are_four_workers_in_an_order_that_is_a_guess(
    tmp_path: Path, name: str
) -> None:
    names = [name.format(outer, inner) for outer in (0, 1) for inner in (0, 1)]
    found = found_in(write(tmp_path, [replace(one, rank=None) for one in job(names)]))
    assert [(w.rank, w.rank_source) for w in found.run.workers] == [
        (rank, "order") for rank in range(4)
    ]
    assert len(found.jobs) == 1


@pytest.mark.parametrize("sequence", [None, 0])
def test_a_rank_that_recorded_one_step_more(tmp_path: Path, sequence: int | None) -> None:
    longer, other = job(["host_100.17.pt.trace.json", "host_101.17.pt.trace.json"], slow=1)
    files = [replace(longer, steps=4, sequence=sequence), replace(other, sequence=sequence)]
    found = found_in(write(tmp_path, files))
    assert list(found.matched.values()) == [3]
    assert [who for who, _ in found.held.values()] == [["host_101"]]


@pytest.mark.parametrize("sequence", [None, 11])
def test_a_profiler_that_began_one_iteration_later(tmp_path: Path, sequence: int | None) -> None:
    first, late = job(["rank0.json", "rank1.json"])
    number = None if sequence is None else sequence + 1
    files = [
        replace(first, sequence=sequence),
        replace(late, sequence=number, begin_us=1_001_000.0, first=1),
    ]
    assert list(found_in(write(tmp_path, files)).matched.values()) == [2]


def test_from_less_than_the_whole_group_nobody_is_named(tmp_path: Path) -> None:
    files = job([f"rank{rank}.json" for rank in range(4)], slow=1)[:2]
    found = found_in(write(tmp_path, files))
    assert list(found.matched.values()) == [3]
    assert all(not who for who, _ in found.held.values())
