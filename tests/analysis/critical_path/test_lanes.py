"""The two lanes and the path of a step; a column of a drawing is a microsecond."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import public
from tests.analysis.figures import insight, opened, trace_files
from tests.builders.drawn import events, trace_of
from tests.conftest import REAL_TRACES, REPOSITORY
from tests.examples import examples
from torch_tb_profiler.analysis.arrays.intervals import measure, union
from torch_tb_profiler.analysis.critical_path.lane_stretches import (
    step_segments,
    stretch_table,
    stretches,
)
from torch_tb_profiler.analysis.critical_path.lanes import (
    BUSY,
    COLUMNS,
    LANES,
    PARTS,
    Lanes,
    Source,
    lane_area,
    lane_work,
    parts_of,
    path_lanes,
)
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

LETTERS = {
    "compute": "k",
    "communication": "n",
    "copies": "c",
    "data_loading": "d",
    "forward": "f",
    "backward": "b",
    "optimizer": "o",
    "python": "p",
    "device_wait": "w",
    "not_recorded": "?",
}


def lanes_of(trace: Trace, facts: Facts, insight: Insight, step: int = 0) -> Lanes:
    path = step_segments(facts, insight, step)
    return path_lanes(path, {0: Source(lane_work(trace, facts, insight))})


def shown(drawing: str, **names: str) -> dict[str, str]:
    """What each lane shows of every microsecond of the first step, upper case on the path; a dot: nothing, or several things."""
    trace = trace_of(events(drawing, names))
    facts = derive(trace)
    lanes = lanes_of(trace, facts, build_insight(trace, facts))
    begin, end = (int(facts["steps"][key][0]) for key in ("start", "end"))
    edges = np.arange(begin, end + 1, 1000)
    drawn = lanes.measured(edges[:-1], edges[1:])
    columns = {lane: ["."] * (len(edges) - 1) for lane in LANES}
    for (part, on), time in drawn.times.items():
        lane, category = PARTS[part]
        for column in np.flatnonzero(time == 1000).tolist():
            columns[lane][column] = LETTERS[category].upper() if on else LETTERS[category]
    return {lane: "".join(letters) for lane, letters in columns.items()}


def check(drawing: str, **names: str) -> None:
    """The lines ``device:`` and ``host:`` of a drawing say what the lanes show."""
    lines = drawing.splitlines()
    said = [line.split(":", 1) for line in lines if line.startswith(("device:", "host:"))]
    rest = "\n".join(line for line in lines if not line.startswith(("device:", "host:")))
    found = shown(rest, **names)
    assert {lane: found[lane] for lane, _ in said} == {lane: says.strip() for lane, says in said}


def test_where_the_path_is_on_a_lane_the_lane_shows_it_and_else_what_was_recorded() -> None:
    check(
        """
main    [ProfilerStep#1                        ]
main     [aten::mm] [aten::add]<sync           >
main       <run #1>   <run #2>
gpu 7           {k #1    }{k #2              }
device: ........KKKKKKKKKKKKKKKKKKKKKKKKKKKKKK..
host:   PPPPPPPPpppppppppppppppwwwwwwwwwwwwwwwPP
""",
        sync="cudaDeviceSynchronize",
    )


def test_the_host_is_drawn_by_phase_and_a_backward_pass_lasts_between_its_functions() -> None:
    check(
        """
main    [ProfilerStep#1                                          ]
main     (L   )[nn] (F      )/train.py(3): backward/   (O        )
main            <r #1>
auto                           [B       ]  [B     ]
gpu 7                 {k #1}
device: ..............kkkkkk......................................
host:   PDDDDDDPPPPPFFFFFFFFFPPBBBBBBBBBBBBBBBBBBBBPPPPOOOOOOOOOOO
""",
        L="enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        F="DistributedDataParallel.forward",
        B="autograd::engine::evaluate_function: MmBackward0",
        O="Optimizer.step#SGD.step",
    )


def test_without_a_device_there_is_one_lane_and_operators_compute() -> None:
    check("""
main    [ProfilerStep#1                  ]
main     [aten::mm] [aten::add   ] /a.py/
device: ..................................
host:   PKKKKKKKKKKPKKKKKKKKKKKKKKPPPPPPPP
""")


def busy_of(trace: Trace, begin: int, end: int) -> int:
    spans = trace["spans"]
    row = spans["role"] == Role.KERNEL
    ran = union(spans["start"][row], spans["start"][row] + spans["dur"][row])
    return int(measure(ran, np.array([begin]), np.array([end]))[0])


def holds(trace: Trace, facts: Facts, insight: Insight) -> None:
    """The laws of every step: what is on the path adds up to it, the host's lane is full, the device's is filled as long as a
    kernel runs.
    """
    work = lane_work(trace, facts, insight)
    for step in range(min(facts["steps"].n, 6)):
        path = step_segments(facts, insight, step)
        if not len(path.start):
            continue
        begin, end = path.bounds
        lanes = path_lanes(path, {0: Source(work)})
        edges = lanes.edges(begin, end)
        assert len(edges) - 1 <= COLUMNS
        assert (np.diff(edges) > 0).all()
        drawn = lanes.measured(edges[:-1], edges[1:])
        shown, width = drawn.length, drawn.length / max(len(edges) - 1, 1)
        assert sum(int(time.sum()) for (_, on), time in drawn.times.items() if on) == shown
        assert (
            lane_area(drawn, "host", LANES["host"])
            + sum(
                int(time.sum())
                for (part, on), time in drawn.times.items()
                if on and PARTS[part][0] == "device"
            )
            >= shown
        )
        # A copy on the path hides the kernel beside it.
        copies = sum(
            int(time.sum())
            for (part, on), time in drawn.times.items()
            if on and PARTS[part] == ("device", "copies")
        )
        cut = int(measure(lanes.cuts, np.array([begin]), np.array([end]))[0])
        filled, busy = lane_area(drawn, "device", BUSY), busy_of(trace, begin, end)
        if not cut:
            assert busy - copies <= filled <= busy
        for lane in LANES:
            levels = sum(
                (time for (part, _), time in drawn.times.items() if PARTS[part][0] == lane),
                np.zeros(len(edges) - 1, np.int64),
            )
            assert (levels <= width + 1).all()
        told = stretch_table(path, parts_of(path, {0: Source(work)}), False)
        assert (told["end_ns"] - told["start_ns"] >= 0.01 * (end - begin)).all()


@pytest.mark.parametrize("path", public.asked(trace_files(REAL_TRACES)))
def test_the_lanes_of_real_traces_add_up(path: Path, real_traces: Path) -> None:
    holds(*opened(path), insight(path))


@pytest.mark.parametrize(
    "path", trace_files(REPOSITORY / "samples")[:4], ids=lambda path: path.parent.name
)
def test_the_lanes_of_samples_add_up(path: Path) -> None:
    holds(*opened(path), insight(path))


KINDS = st.sampled_from(["kernel", "gpu_memcpy", "cpu_op", "cuda_runtime", "python_function"])
DRAWN = st.lists(
    st.tuples(KINDS, st.integers(0, 3), st.integers(0, 90), st.integers(1, 40)),
    min_size=1,
    max_size=25,
)
NAMES = {
    "kernel": ["gemm", "ncclDevKernel_AllReduce"],
    "gpu_memcpy": ["Memcpy HtoD (Pageable -> Device)"],
    "cpu_op": [
        "aten::mm",
        "autograd::engine::evaluate_function: MmBackward0",
        "Optimizer.step#SGD.step",
    ],
    "cuda_runtime": ["cudaLaunchKernel", "cudaDeviceSynchronize"],
    "python_function": ["train.py(3): step", "nn.Module: Linear_0"],
}


@given(DRAWN)
@examples(60)
def test_the_lanes_of_any_trace_add_up(drawn: list[tuple[str, int, int, int]]) -> None:
    listed = [
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": "ProfilerStep#1",
            "pid": 1,
            "tid": 1,
            "ts": 1,
            "dur": 100,
        }
    ]
    for number, (kind, place, begin, length) in enumerate(drawn):
        names = NAMES[kind]
        on_device = kind in ("kernel", "gpu_memcpy")
        listed.append(
            {
                "ph": "X",
                "cat": kind,
                "name": names[number % len(names)],
                "pid": 0 if on_device else 1,
                "tid": 7 + place if on_device else 1 + place,
                "ts": 1 + begin,
                "dur": length,
                "args": {"device": 0, "stream": 7 + place} if on_device else {},
            }
        )
    trace = trace_of(listed)
    facts = derive(trace)
    holds(trace, facts, build_insight(trace, facts))


def test_segments_that_are_centuries_apart() -> None:
    """Sums of two such times are more than 64 bits hold, and the edges more than a float does."""
    start = np.array([0, 1_000_000_000_000_000, 5_999_999_999_998_000_000])
    end = np.append(start[1:], 5_999_999_999_998_001_000)
    key = np.array([1, 0, 0], np.uint8)
    edges, most, place, same = stretches(start, end, key, (0, int(end[-1])))
    assert (edges[0], edges[-1]) == (0, end[-1])
    assert most.tolist() == [0]
    assert place.tolist() == [0, 0, 0]
    assert same.tolist() == [False, True, True]
