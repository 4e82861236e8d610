"""The walk back from the end of each step, rule by rule; a column is a microsecond."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import public
from tests.analysis.figures import opened, trace_files
from tests.builders.drawn import events, trace_of
from tests.conftest import REAL_TRACES
from torch_tb_profiler.analysis.critical_path.build import build_critical_path, walk_steps
from torch_tb_profiler.analysis.critical_path.device import Begin
from torch_tb_profiler.analysis.critical_path.evidence import gather
from torch_tb_profiler.analysis.facts.calltree import call_tree
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.module.paths import build_paths
from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.strings import StringBuilder

LETTERS = {
    PathCause.NOT_RECORDED: "?",
    PathCause.KERNEL: "k",
    PathCause.MEMCPY: "c",
    PathCause.COMMUNICATION: "n",
    PathCause.LAUNCH: "l",
    PathCause.OPERATOR: "o",
    PathCause.PYTHON: "p",
    PathCause.RUNTIME: "r",
    PathCause.SYNCHRONIZATION: "s",
    PathCause.DATALOADER: "d",
    PathCause.ANNOTATION: "a",
    PathCause.BEFORE_RECORDING: "b",
    PathCause.WAITING: "w",
}


def path_of(trace: Trace) -> tuple[Facts, Table]:
    facts = derive(trace)
    tables, _ = build_paths(trace, facts, {}, StringBuilder(), tree=call_tree(trace))
    evidence = gather(trace, facts)
    return facts, build_critical_path(trace, facts, tables, walk_steps(trace, facts, evidence))[
        "critical_path"
    ]


def covers(facts: Facts, path: Table) -> None:
    """The segments of each step cover it without hole or overlap."""
    steps = facts["steps"]
    for step in range(steps.n):
        own = path["step"] == step
        start, end = path["start"][own], path["end"][own]
        if steps["end"][step] > steps["start"][step]:
            assert [*start, steps["end"][step]] == [steps["start"][step], *end]
        assert (start < end).all()


def check(drawing: str, **names: str) -> None:
    """The line ``path`` of a drawing says the cause of every microsecond."""
    lines = drawing.splitlines()
    [expected] = [line.removeprefix("path").strip() for line in lines if line.startswith("path")]
    rest = "\n".join(line for line in lines if not line.startswith("path"))
    _, path = path_of(trace_of(events(rest, names)))
    length = (path["end"] - path["start"]) // 1000
    letters = [LETTERS[PathCause(cause)] for cause in path["cause"].tolist()]
    assert "".join(np.repeat(letters, length)) == expected


def test_on_a_slow_host_the_device_is_not_on_the_path() -> None:
    check("""
main    [ProfilerStep#1                     ]
main     [aten::mm   ] [aten::add           ]
main       <launch #1>   <launch #2>
gpu 7          {a #1}         {b #2}
path    aoorrrrrrrrrrraoorrrrrrrrrrrooooooooo
""")


def test_behind_a_full_queue_the_stream_is_the_path() -> None:
    check("""
main    [ProfilerStep#1                                         ]
main     [aten::mm][aten::add]         [aten::item             ]
main      <run #1> <run #2>             <cudaStreamSynchronize>
gpu 7             {a #1           }{b #2               }
path    aorrrrrrrrkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkksssssssoa
""")


def test_work_on_an_idle_stream_waited_for_its_launch() -> None:
    check("""
main    [ProfilerStep#1 ]
main     [aten::mm]
main      <run #1>
gpu 7               {a #1          }
path    aorrrrrrrrllkkkkkkkkkkkkkkkk
""")


def test_work_that_begins_when_another_stream_ends_waited_for_it() -> None:
    check("""
main    [ProfilerStep#1      ]
main     <a #1><b #2>
gpu 7        {a #1              }
gpu 20                            {ncclKernel #2}
path    arrrrkkkkkkkkkkkkkkkkkkkklnnnnnnnnnnnnnnn
""")


def test_work_before_the_recording_held_the_stream() -> None:
    drawing = """
main    [ProfilerStep#1                ]
main     <a #1>   <cudaStreamSynchronize>
gpu 7                            {a #1}
"""
    _, path = path_of(trace_of(events(drawing, scale=100)))
    assert [PathCause(cause).name for cause in path["cause"].tolist()] == [
        "ANNOTATION",
        "RUNTIME",
        "BEFORE_RECORDING",
        "KERNEL",
        "SYNCHRONIZATION",
    ]


def test_a_thread_that_waits_leads_to_the_thread_that_works() -> None:
    check("""
main    [ProfilerStep#1                         ]
main     [aten::mm]/f.py(1): backward          /
worker               [MmBackward0] [AddBackward]
worker                 [aten::mm]
path    aooooooooooppooooooooooooopoooooooooooooa
""")


def test_a_thread_that_works_beside_another_is_not_on_its_path() -> None:
    check("""
main    [ProfilerStep#1                        ]
main     [aten::mm]/f.py(1): g                 /
worker                    [aten::mm]
path    aooooooooooppppppppppppppppppppppppppppp
""")


def test_waiting_for_data() -> None:
    check(
        """
main    [ProfilerStep#1                ]
main     [load             ] [aten::mm ]
main       /f.py(1): read /
path    adddddddddddddddddddaooooooooooo
""",
        load="enumerate(DataLoader)#_Iter.__next__",
    )


def test_a_copy_that_ends_within_its_call_blocks_the_host() -> None:
    check("""
main    [ProfilerStep#1                         ]
main     <run #1><cudaMemcpyAsync #2           >
gpu 7        {a #1              }{Memcpy D #2}
path    arrrrkkkkkkkkkkkkkkkkkkkkcccccccccccccssa
""")


@pytest.mark.parametrize("path", public.asked(trace_files(REAL_TRACES)))
def test_the_path_covers_every_step_of_real_traces(path: Path, real_traces: Path) -> None:
    covers(*path_of(opened(path)[0]))


def test_a_thread_that_only_sleeps_in_python_is_not_the_main_one() -> None:
    trace = trace_of(
        events(
            """
    main    [aten::mm  ]  [aten::mm  ]
    other  /sleep                         /
    """,
            {"sleep": "report.py(3): sleep"},
        )
    )
    _, path = path_of(trace)
    assert PathCause.OPERATOR in path["cause"]
    assert PathCause.PYTHON not in path["cause"]


def test_a_long_wait_that_other_work_covered_ended_with_that_work() -> None:
    drawing = """
main    [ProfilerStep#1                                                            ]
main     <l #1><l #2><l #3><l #4><l #5>
gpu 7        {a #1                    }{c #2 }{d #3 }                 {b #5        }
gpu 20                                      {ncclKernel #4          }
"""
    trace = trace_of(events(drawing, scale=100))
    work = gather(trace, derive(trace)).work
    b = len(work.row) - 1
    assert Begin(work.begin[b]) == Begin.OTHER_STREAM
    assert work.end[work.elsewhere[b]] == work.start[b] - 100_000


@st.composite
def transfers(draw: st.DrawFn) -> list[tuple[int, int, int, str]]:
    """Thread, begin, end and name of transfers that host threads carry out, each thread one after the other."""
    found = []
    for thread in range(draw(st.integers(1, 3))):
        times = iter(sorted(draw(st.sets(st.integers(-20, 120), min_size=2, max_size=7))))
        for begin, end in zip(times, times, strict=False):
            library = draw(st.sampled_from(("gloo", "mpi", "ucc")))
            found.append((thread, begin, end, f"{library}:all_reduce"))
    return found


@given(transfers(), st.booleans())
@example(
    [(0, 0, 23, "gloo:all_reduce"), (1, 0, 26, "mpi:all_reduce"), (2, 25, 27, "ucc:all_reduce")],
    False,
)
def test_what_host_threads_transfer_is_communication(
    moved: list[tuple[int, int, int, str]], on_main: bool
) -> None:
    """On threads of their own while nothing is recorded of the program's, or on that."""
    moved = [one for one in moved if not (on_main and (one[0] or one[1] < 0 or one[2] > 100))]
    called = [(0, 0, 100, "ProfilerStep#1")]
    called += [(0 if on_main else 1 + t, begin, end, name) for t, begin, end, name in moved]
    trace = trace_of(
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": name,
            "pid": 1,
            "tid": 1 + thread,
            "ts": 1000 + begin,
            "dur": end - begin,
        }
        for thread, begin, end, name in called
    )
    facts = derive(trace)
    path = build_insight(trace, facts)["critical_path"]
    covers(facts, path)
    talks = path["cause"] == PathCause.COMMUNICATION
    busy = {at for _, begin, end, _ in moved for at in range(max(begin, 0), min(end, 100))}
    assert (path["end"] - path["start"])[talks].sum() == 1000 * len(busy)
