"""Whose recordings files are, decided from what is known of each; any names, ranks, recordings, clocks and engines."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.examples import examples
from torch_tb_profiler.runs.jobs import UNDECIDED, Decision, KnownFile, decide, moment_of
from torch_tb_profiler.sources.names import parse

S = 1_000_000_000
UNIX = 1_700_000_000 * S


def file_of(
    path: str,
    rank: int | None = None,
    world: int | None = None,
    begin: float | None = 0,
    lasts: float = 1,
    settled: bool = True,
) -> KnownFile:
    """A file that was recorded from ``begin`` on for so many seconds; None: no clock."""
    folder, _, name = path.rpartition("/")
    parsed = parse(name, folder)
    assert parsed is not None, path
    times = (
        (None, None) if begin is None else (UNIX + int(begin * S), UNIX + int((begin + lasts) * S))
    )
    return KnownFile(parsed, settled, rank, world, *times)


def jobs_of(
    decision: Decision, files: list[KnownFile]
) -> Counter[tuple[tuple[int | None, int], ...]]:
    """Of each job its ranks with the number of their recordings."""
    jobs: dict[int, list[tuple[int | None, int]]] = {}
    for process in decision.processes:
        jobs.setdefault(process.job, []).append((process.rank, len(process.files)))
    assert sorted(i for p in decision.processes for i in p.files) == list(range(len(files)))
    assert len({p.worker for p in decision.processes}) == len(decision.processes)
    return Counter(tuple(sorted(own, key=str)) for own in jobs.values())


LAYOUTS = {
    "handler": "rank{rank}.{time}.pt.trace.json",
    "host and process": "host_{pid}.{time}.pt.trace.json",
    "step in the name": "trace_rank{rank}_step{recording}.json",
    "step first": "step{recording}_rank_{rank}_of_{world}.json.gz",
    "folder of a step": "iteration_{recording}/rank{rank}_trace.json.gz",
    "folder of a rank": "rank{rank}/trace_step{recording}.json",
    "prefix": "run{recording}_dp0_pp0_tp{rank}_dcp0_ep0_rank{rank}.{time}.pt.trace.json.gz",
    "SGLang": "{time}-TP-{rank}-DECODE.trace.json.gz",
    "diffusion": "req{recording}-5_steps-global-rank{rank}.trace.json.gz",
    "determined": "trial.{time}#{rank}.pt.trace.json",
    "nothing": "{letter}{recording}x{pid}.json",
}


@examples(150)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    world=st.integers(2, 6),
    recordings=st.integers(1, 4),
    engines=st.integers(1, 3),
    skews=st.lists(st.floats(-0.4, 0.4), min_size=18, max_size=18),
    apart=st.sampled_from([2.0, 30.0, 1000.0]),
    order=st.randoms(use_true_random=False),
)
def test_ranks_recordings_and_engines_are_found_whatever_files_are_called(
    layout: str,
    world: int,
    recordings: int,
    engines: int,
    skews: list[float],
    apart: float,
    order: Random,
) -> None:
    """What files say and when they were recorded tells all, but which of several engines each belongs to: their names do."""
    files = []
    for engine in range(engines):
        for recording in range(recordings):
            for rank in range(world):
                path = LAYOUTS[layout].format(
                    rank=rank,
                    world=world,
                    recording=recording,
                    time=1_700_000_000_000_000_000 + recording * int(apart * S) + engine,
                    pid=4000 + 100 * engine + rank,
                    letter="abcdef"[rank],
                )
                folder, _, name = path.rpartition("/")
                path = f"{folder}/" * bool(folder) + (
                    f"engine{engine}-{name}" if engines > 1 else name
                )
                begin = recording * apart + skews[engine * world + rank]
                files.append(file_of(path, rank, world, begin))
    order.shuffle(files)
    if layout == "folder of a rank" and engines > 1:
        return  # The worker is named by its folder, so nothing names the engine.
    expected = tuple((rank, recordings) for rank in range(world))
    decision = decide(files)
    assert jobs_of(decision, files) == Counter({expected: engines})
    assert bool(decision.remarks) == (engines > 1)
    for process in decision.processes:
        own = sorted(files[i].begin or 0 for i in process.files)
        assert all(b - a > S for a, b in pairwise(own)), "a rank meets itself"


@examples(100)
@given(
    names=st.lists(
        st.sampled_from(["eager", "compiled", "bf16", "wan", "epoch_0", "host_4242", "host_4243", "run_1"]),
        min_size=2, unique=True,
    ),
    apart=st.floats(10, 1e6),
    claimed=st.booleans(),
)  # fmt: skip
def test_recordings_of_single_processes_stand_alone(
    names: list[str], apart: float, claimed: bool
) -> None:
    files = [
        file_of(f"{name}.json", 0 if claimed else None, 1 if claimed else None, i * apart)
        for i, name in enumerate(names)
    ]
    found = decide(files)
    assert all(process.world_size == (1 if claimed else None) for process in found.processes)
    assert len({process.job for process in found.processes}) == len(names)
    assert all(process.rank == (0 if claimed else None) for process in found.processes)


def test_ranks_that_were_not_recorded_together_are_no_job() -> None:
    files = [file_of("a.json", 0, 2), file_of("b.json", 1, 2, begin=1000)]
    assert jobs_of(decide(files), files) == Counter([((0, 1),), ((1, 1),)])
    same = [file_of("step_3/a.json", 0, 2), file_of("step_3/b.json", 1, 2, begin=1000)]
    assert jobs_of(decide(same), same) == Counter([((0, 1), (1, 1))])


def test_without_clocks_names_decide() -> None:
    files = [file_of(f"rank{r}.{t}.pt.trace.json", r, 2, None) for r in (0, 1) for t in (5, 9)]
    assert jobs_of(decide(files), files) == Counter([((0, 2), (1, 2))])
    both = [file_of("a_1.json", 0, 2, None), file_of("b_2.json", 0, 2, None)]
    assert decide(both).remarks


def test_what_is_not_imported_may_be_of_any_job_and_is_decided_then() -> None:
    names = ["host_1.7.pt.trace.json", "host_2.7.pt.trace.json"]
    known = [file_of(names[0], 0, 2), file_of(names[1], settled=False)]
    assert [process.job for process in decide(known).processes] == [0, UNDECIDED]
    both = [known[0], replace(file_of(names[1], 1, 2), settled=True)]
    assert [process.job for process in decide(both).processes] == [0, 0]
    again = [known[0], file_of("host_1.9.pt.trace.json", settled=False)]
    assert [len(process.files) for process in decide(again).processes] == [2]


def test_a_header_that_one_recording_lacks_is_that_of_the_others() -> None:
    files = [file_of("rank0.5.pt.trace.json", 0, 2), file_of("rank0.9.pt.trace.json", begin=50)]
    [process] = decide(files).processes
    assert (process.rank, len(process.files)) == (0, 2)
    files = [file_of("rank0.json", 0, 2), file_of("rank1.json")]
    assert jobs_of(decide(files), files) == Counter([((0, 1), (1, 1))])


def test_a_cycle_that_begins_at_once_is_the_next_recording_and_no_second_engine() -> None:
    files = [file_of(f"rank0.{n}.pt.trace.json", 0, 2, n * 0.99) for n in range(3)]
    [process] = decide(files).processes
    assert len(process.files) == 3


def test_worlds_of_different_sizes_are_different_jobs() -> None:
    files = [file_of(f"r{r}.json", r % 2, 2) for r in (0, 1)] + [
        file_of(f"s{r}.json", r, 4) for r in range(4)
    ]
    assert sorted(map(len, jobs_of(decide(files), files))) == [2, 4]


def test_names_that_share_a_moment_say_so() -> None:
    assert moment_of(file_of("iteration_3/rank0.json").name) == "iteration_3"
    assert not moment_of(file_of("rank0.json").name)


@examples(100)
@given(
    world=st.integers(2, 5),
    engines=st.integers(1, 3),
    lost=st.sets(st.integers(0, 11), max_size=5),
    late=st.integers(0, 9),
    order=st.randoms(use_true_random=False),
)
def test_files_that_tell_nothing_are_of_one_job_if_they_share_collectives(
    world: int, engines: int, lost: set[int], late: int, order: Random
) -> None:
    """A collective each 30 ns ends after 10; engines are 15 ns apart, ranks arrive up to 9 ns apart, and one lost some."""
    files = []
    for engine in range(engines):
        for rank in range(world):
            begins = {k: UNIX + 30 * k + 15 * engine for k in range(12) if rank or k not in lost}
            shared = tuple((k, at + rank * late // world, at + 10) for k, at in begins.items())
            files.append(replace(file_of(f"x{engine}-{chr(97 + rank)}q.json"), collectives=shared))
    order.shuffle(files)
    expected = tuple((rank, 1) for rank in range(world))
    # A third engine is where the first was one collective before: the same collectives, at other times.
    assert jobs_of(decide(files), files) == Counter({expected: engines})
