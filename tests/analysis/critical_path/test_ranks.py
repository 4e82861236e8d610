"""The walk back through all ranks of a run, rule by rule; a column is a microsecond."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.critical_path.test_build import LETTERS
from tests.builders.drawn import Event, events, trace_of
from tests.examples import examples
from tests.runs.written_run import WrittenRun, sample
from torch_tb_profiler.analysis.critical_path import ranks
from torch_tb_profiler.analysis.critical_path.ranks import RanksPath
from torch_tb_profiler.analysis.critical_path.waiting import with_waiting
from torch_tb_profiler.runs.fleet import Fleet, Fleets
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Trace

UNIX = 1_700_000_000 * 10**9
Args = dict[str, dict[str, Any]]


def group(name: str, *ranks: int) -> dict[str, Any]:
    return {"pg_name": name, "ranks": list(ranks), "pg_size": len(ranks)}


def reduced(name: str, size: int) -> dict[str, Any]:
    """Arguments of an all_reduce."""
    return {"Collective name": "allreduce", "Process Group Name": name, "Group size": size}


def moved(name: str, source: int, target: int, kind: str) -> dict[str, Any]:
    """Arguments of one end of a transfer."""
    ends = {"Src Rank": source, "Dst Rank": target}
    return {"Collective name": kind, "Process Group Name": name, "Group size": 2, **ends}


def waits(listed: list[Event], *pairs: tuple[int, int]) -> list[Event]:
    """Stream waits: the work of the first correlation of each pair is awaited before that of the second."""
    launch = {e["args"].get("correlation"): e for e in listed if e["cat"] == "cuda_runtime"}
    work = {e["args"].get("correlation"): e for e in listed if e["cat"] == "kernel"}
    made: list[Event] = []
    for number, (source, target) in enumerate(pairs):
        ids = 100 + 2 * number, 101 + 2 * number
        times = launch[source]["ts"] + launch[source]["dur"] - 0.5, launch[target]["ts"] - 0.4
        call = {"ph": "X", "cat": "cuda_runtime", "pid": 100, "tid": 50, "dur": 0.1}
        names = ("cudaEventRecord", "cudaStreamWaitEvent")
        made += [
            {**call, "name": name, "ts": time, "args": {"correlation": own}}
            for name, time, own in zip(names, times, ids, strict=True)
        ]
        streams = [work[number]["args"]["stream"] for number in (target, source)]
        record = {
            "correlation": ids[1],
            "device": 0,
            "stream": streams[0],
            "wait_on_stream": streams[1],
            "wait_on_cuda_event_record_corr_id": ids[0],
        }
        sync = {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "pid": 0, "dur": 0}
        made.append({**sync, "tid": streams[0], "ts": times[1], "args": record})
    return listed + made


def rank(
    drawing: str,
    number: int,
    args: Args,
    groups: list[dict[str, Any]],
    *awaited: tuple[int, int],
) -> Trace:
    """A drawn rank; ``awaited``: see ``waits``."""
    listed = waits(events(drawing, None, args), *awaited)
    info = {"rank": number, "world_size": 4, "backend": "nccl", "pg_config": groups}
    return trace_of(listed, baseTimeNanoseconds=UNIX, distributedInfo=info)


def run_of(*traces: Trace) -> WrittenRun:
    return WrittenRun({f"rank{number}": trace for number, trace in enumerate(traces)})


def fleet_in(run: WrittenRun, most_spans: int | None = None) -> Fleet:
    return Fleets(run, most_spans).of(run.open("run", "rank0", "1"))


def fleet_of(*traces: Trace, most_spans: int | None = None) -> Fleet:
    return fleet_in(run_of(*traces), most_spans)


def path_of(fleet: Fleet) -> RanksPath:
    assert fleet.path is not None
    covers(fleet.path)
    return fleet.path


def covers(path: RanksPath) -> None:
    """The stretches of each step cover it without hole or overlap."""
    for step, (begin, stop) in enumerate(zip(path.begin, path.stop, strict=True)):
        own = path.step == step
        start, end = path.start[own], path.end[own]
        if begin < stop:
            assert [*start, stop] == [begin, *end]
        assert (start < end).all()


def drawn(path: RanksPath, step: int = 0) -> tuple[str, str]:
    """Which rank a step's path is on, and what it does there, letter by letter."""
    own = path.step == step
    length = (path.end[own] - path.start[own]) // 1000
    letters = [LETTERS[PathCause(cause)] for cause in path.cause[own].tolist()]
    ranks = [str(number) for number in path.rank[own].tolist()]
    return "".join(np.repeat(ranks, length)), "".join(np.repeat(letters, length))


EARLY = """
main    [ProfilerStep#1 ]
main     <a #1><n #2>
gpu 7                   {a #1}
gpu 20                         {n #2                 }
"""
LATE = """
main    [ProfilerStep#1 ]
main     <a #1><n #2>
gpu 7                   {a #1              }
gpu 20                                       {n #2   }
"""
BOTH = [group("0", 0, 1)]
OF_TWO = {"n #2": reduced("0", 2)}


def test_behind_a_late_rank_the_path_is_on_that_rank() -> None:
    path = path_of(fleet_of(rank(EARLY, 0, OF_TWO, BOTH), rank(LATE, 1, OF_TWO, BOTH)))
    ranks, letters = drawn(path)
    assert ranks == "1" * 46
    assert letters == "a" + "r" * 6 + "l" * 9 + "k" * 20 + "l" + "n" * 9


def test_alone_a_rank_waits_in_its_communication() -> None:
    _, letters = drawn(path_of(fleet_of(rank(EARLY, 0, OF_TWO, BOTH))))
    assert letters == "a" + "r" * 6 + "l" * 9 + "k" * 6 + "l" + "n" * 23


STAGES = (
    """
main    [ProfilerStep#1         ]
main     <f #1><s #2><r #3><b #4>
gpu 7                           {f #1}                                          {b #4}
gpu 20                                {s #2}{r #3                              }
""",
    """
main    [ProfilerStep#1                     ]
main     <r #1><f #2><s #3><t #4><b #5><u #6>
gpu 7                                       {f #2}                        {b #5}
gpu 20                          {r #1      }      {s #3}{t #4            }      {u #6}
""",
    """
main    [ProfilerStep#1         ]
main     <r #1><f #2><b #3><s #4>
gpu 7                                                   {f #2  }{b #3}
gpu 20                          {r #1                  }              {s #4}
""",
)
PAIRS = [group("a", 0, 1), group("b", 1, 2)]
STAGE_ARGS: tuple[Args, ...] = (
    {"s #2": moved("a", 0, 1, "send"), "r #3": moved("a", 1, 0, "recv")},
    {
        "r #1": moved("a", 0, 1, "recv"),
        "s #3": moved("b", 1, 2, "send"),
        "t #4": moved("b", 2, 1, "recv"),
        "u #6": moved("a", 1, 0, "send"),
    },
    {"r #1": moved("b", 1, 2, "recv"), "s #4": moved("b", 2, 1, "send")},
)


AWAITED = (((1, 2), (3, 4)), ((1, 2), (2, 3), (4, 5), (5, 6)), ((1, 2), (3, 4)))


def stages(args: tuple[Args, ...] = STAGE_ARGS) -> list[Trace]:
    return [
        rank(STAGES[number], number, args[number], PAIRS, *AWAITED[number]) for number in range(3)
    ]


def test_through_a_pipeline_the_path_ends_at_the_stage_that_computes_too_long() -> None:
    """Rank 0 waits longest, for rank 1, which waits for rank 2: its forward and backward are the path."""
    path = path_of(fleet_of(*stages()))
    ranks, letters = drawn(path)
    assert ranks == "0" * 30 + "1" * 12 + "2" * 20 + "1" * 16
    sent = "n" * 6 + "k" * 6
    assert (
        letters
        == "a" + "r" * 6 + "l" * 17 + "k" * 6 + sent + "n" * 6 + "k" * 14 + "nnnn" + sent[::-1]
    )


def test_ends_of_a_group_of_two_need_not_be_told_apart() -> None:
    """Without arguments that say which end a kernel is, the order in the group pairs them."""
    bare: tuple[Args, ...] = tuple(
        {
            key: {
                "name": "ncclDevKernel_SendRecv",
                "Collective name": "coalesced",
                "Process Group Name": values["Process Group Name"],
            }
            for key, values in args.items()
        }
        for args in STAGE_ARGS
    )
    assert drawn(path_of(fleet_of(*stages(bare)))) == drawn(path_of(fleet_of(*stages())))


def test_a_rank_that_cannot_be_read_is_a_hole_with_a_name() -> None:
    run = run_of(*(rank(d, n, OF_TWO, BOTH) for n, d in enumerate((EARLY, LATE))))
    fleet = fleet_in(run)
    again = fleet.open_rank
    assert again(1) is not None
    run.failing = {"rank1"}
    assert again(1) is None


def test_without_a_rank_that_can_be_read_there_is_no_path() -> None:
    run = run_of(rank(EARLY, 0, OF_TWO, BOTH))
    opened = run.open("run", "rank0", "1")
    run.failing = {"rank0"}
    assert not len(path_of(Fleets(run).of(opened)).step)


@pytest.mark.parametrize("most_rows", [1 << 22, 1])
def test_own_paths_of_the_ranks_tell_nearly_the_same(
    samples: Path, monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    """Where the traces are too large to be gone through; also if none is kept in memory."""
    monkeypatch.setattr(ranks, "MOST_ROWS", most_rows)
    run = sample(str(samples / "synthetic_ddp8"))
    asked = run.open("run", "rank0", "1")
    whole, own = Fleets(run, None).of(asked), Fleets(run, -1).of(asked)
    assert [blame.rank for blame in own.blames] == [blame.rank for blame in whole.blames]
    sums = [
        np.bincount(path.cause, path.end - path.start, minlength=len(PathCause))
        for path in (path_of(whole), path_of(own))
    ]
    assert np.abs(sums[0] - sums[1]).sum() < 0.02 * sums[0].sum()


def test_own_paths_lead_to_the_late_rank() -> None:
    traces = [rank(d, n, OF_TWO, BOTH) for n, d in enumerate((EARLY, LATE))]
    whole, own = (path_of(fleet_of(*traces, most_spans=most)) for most in (None, -1))
    assert drawn(own, 0) == drawn(whole, 0)


def test_a_late_rank_over_gloo_is_found_from_the_thread_that_waits(samples: Path) -> None:
    """Transfers of host libraries run on threads of their own; most of a step is no longer Python's."""
    run = sample(str(samples / "ddp_gloo"))
    path = path_of(Fleets(run).of(run.open("run", "rank0", "1")))
    time = path.end - path.start
    assert time[path.cause == PathCause.COMMUNICATION].sum() > 0.1 * time.sum()
    assert time[path.cause == PathCause.PYTHON].sum() < 0.4 * time.sum()
    assert len(np.unique(path.rank)) > 1


CALL = st.tuples(st.sampled_from(["k", "n", "s", "r"]), st.integers(1, 9), st.integers(0, 4))


@st.composite
def a_rank(draw: st.DrawFn, number: int) -> Trace:
    """A host that launches kernels, collectives and transfers of random lengths, on a clock of its own."""
    listed: list[Event] = []
    time = 0
    for place, (kind, length, gap) in enumerate(draw(st.lists(CALL, max_size=8))):
        time += gap
        name = {"k": "gemm", "n": "ncclDevKernel_AllReduce"}.get(kind, "ncclDevKernel_SendRecv")
        other = 1 - number if number < 2 else 0
        ends = (number, other) if kind == "s" else (other, number)
        given_args = {
            "k": {},
            "n": reduced("0", 3),
            "s": moved("1", *ends, "send"),
            "r": moved("1", *ends, "recv"),
        }[kind]
        more = {"correlation": place + 1}
        launch = {
            "cat": "cuda_runtime",
            "name": "launch",
            "pid": 9,
            "tid": 1,
            "ts": place,
            "dur": 1,
        }
        listed.append({"ph": "X", **launch, "args": more})
        stream = 7 if kind == "k" else 20
        work = {"cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": time, "dur": length}
        listed.append(
            {"ph": "X", **work, "args": {**more, **given_args, "device": 0, "stream": stream}}
        )
        time += length
    step = {"cat": "user_annotation", "name": "ProfilerStep#1", "pid": 9, "tid": 1, "ts": 0}
    listed.append({"ph": "X", **step, "dur": draw(st.integers(1, 40)), "args": {}})
    base = draw(st.sampled_from([UNIX, UNIX + 3_000, UNIX - 2_500, 0]))
    info = {"rank": number, "pg_config": [group("0", 0, 1, 2), group("1", 0, 1)]}
    return trace_of(listed, baseTimeNanoseconds=base, distributedInfo=info)


@examples(80)
@given(st.tuples(*(a_rank(number) for number in range(3))))
def test_any_ranks_are_covered(traces: tuple[Trace, ...]) -> None:
    run = run_of(*traces)
    for most_spans in (None, -1):
        fleet = fleet_in(run, most_spans)
        path = path_of(fleet)
        # Ranks that nothing ties to each other have no path in common.
        assert (path.begin < path.stop).all() == fleet.figures.tied.any()
        assert (path.end - path.start).sum() == (path.stop - path.begin).sum()


def test_of_one_rank_waiting_for_another_is_told_from_transfer() -> None:
    run = run_of(*(rank(d, n, OF_TWO, BOTH) for n, d in enumerate((EARLY, LATE))))
    fleet = fleet_in(run)
    for number, letters in ((0, "k" * 6 + "l" + "w" * 14 + "n" * 9), (1, "k" * 20 + "l" + "n" * 9)):
        opened = run.insight("run", f"rank{number}", "1")
        trace, facts = opened.opened.trace, opened.opened.facts
        insight = with_waiting(trace, facts, opened.insight, fleet.figures, number)
        path = insight["critical_path"]
        length = (path["end"] - path["start"]) // 1000
        causes = [LETTERS[PathCause(cause)] for cause in path["cause"].tolist()]
        assert "".join(np.repeat(causes, length)).endswith("l" * 9 + letters)
        assert (path["start"][1:] == path["end"][:-1]).all()
        assert insight["critical_path_steps"]["time"].sum() == length.sum() * 1000
