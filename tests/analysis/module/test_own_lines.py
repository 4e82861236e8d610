"""What lines cost, against figures that one counts off a drawing and against a plain loop over random frames."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.builders.drawn import Event, events, trace_of
from tests.builders.loop import span
from tests.examples import examples
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.figures.source_lines import LineGroup
from torch_tb_profiler.analysis.insight import build_insight
from torch_tb_profiler.analysis.module.own_lines import own_lines
from torch_tb_profiler.store.model import Trace

US = 1000
TIMES = ("python_ns", "host_ns", "device_ns", "calls")
NAMES = {
    "train": "/w/train.py(9): main",
    "net": "/w/net.py(3): forward",
    "scipy": "/x/site-packages/scipy/ndimage.py(7): zoom",
    "sleeper": "tqdm/_monitor.py(60): run",
    "lib": "/lib/python3.12/site-packages/torch/nn/functional.py(5): linear",
}


def rows(
    trace: Trace, first: int | None = None, by: LineGroup = "own"
) -> dict[str | None, dict[str, Any]]:
    """The table by line."""
    facts = derive(trace)
    table = own_lines(trace, facts, build_insight(trace, facts), select(facts, first, first), by)
    columns = {name: list(table[name]) for name in (*TIMES, "path_ns", "event")}
    return {
        line: {name: values[row] for name, values in columns.items()}
        for row, line in enumerate(table.texts("line"))
    }


def test_everything_counts_for_the_nearest_own_line() -> None:
    drawing = """
    main  [ProfilerStep#1                                            ]
    main  /train                                                     /
    main    /net                         /        <cudaDeviceSync #2>
    main      /lib                   /
    main        [aten::mm          ]
    main          <cudaLaunch #1>
    gpu 7                   {gemm #1                               }
    """
    found = rows(trace_of(events(drawing, NAMES)))
    assert set(found) == {NAMES["train"], NAMES["net"]}
    net, train = found[NAMES["net"]], found[NAMES["train"]]
    assert [net[key] for key in TIMES] == [10 * US, 20 * US, 40 * US, 1]
    assert [train[key] for key in TIMES] == [11 * US, 19 * US, 0, 0]
    assert net["event"] >= 0
    assert sum(row["path_ns"] for row in found.values()) > 0


def test_packages_have_lines_of_their_own_where_they_are_asked_for() -> None:
    drawing = """
    main  [ProfilerStep#1                                            ]
    main  /train                                                     /
    main    /scipy              /   [aten::mm]
    main      /lib          /
    main        [aten::add]
    """
    found = rows(trace_of(events(drawing, NAMES)), by="package")
    assert set(found) == {NAMES["train"], NAMES["scipy"]}
    assert [row["calls"] for row in found.values()] == [1, 1]
    assert found[NAMES["scipy"]]["path_ns"] == 21 * US


MINE = "/w/mine.py(7): backward"


def _trained(sizes: list[int], thread: int, own: bool, numbers: bool) -> Trace:
    """A step with a function of the model per size that calls an operator of so many µs, and the backward pass of each, three times as
    long, last first: in the thread of the program or another one, in Python of its own or not, with the numbers of its forward or not.
    """
    lines = [f"/w/net.py({number}): forward" for number in range(len(sizes))]
    length = 4 * sum(sizes) + 30 * len(sizes) + 40
    entries = [
        span("user_annotation", "ProfilerStep#1", 100, 1, 0, length),
        span("python_function", NAMES["train"], 100, 1, 1, length - 2),
    ]
    at = 5
    for number, (line, size) in enumerate(zip(lines, sizes, strict=True)):
        args = {"Sequence number": number, "Fwd thread id": 0} if numbers else {}
        entries.append(span("python_function", line, 100, 1, at, size + 4))
        entries.append(span("cpu_op", "aten::mm", 100, 1, at + 1, size, **args))
        at += size + 6
    for number, size in reversed(list(enumerate(sizes))):
        args = {"Sequence number": number, "Fwd thread id": 1} if numbers else {}
        name, begin = "autograd::engine::evaluate_function: MmBackward0", at
        entries.append(span("cpu_op", name, 100, thread, begin, 3 * size + 12, **args))
        entries.append(span("cpu_op", "MmBackward0", 100, thread, begin + 1, 3 * size + 10, **args))
        if own:
            frame = span("python_function", MINE, 100, thread, begin + 2, 3 * size + 8)
            entries.append(frame)
        entries.append(span("cpu_op", "aten::mm", 100, thread, begin + 3, 3 * size))
        at += 3 * size + 14
    return trace_of(entries)


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    thread=st.sampled_from([1, 2]),
    own=st.booleans(),
    numbers=st.booleans(),
)
def test_the_backward_pass_counts_at_the_lines_of_its_forward(
    sizes: list[int], thread: int, own: bool, numbers: bool
) -> None:
    found = rows(_trained(sizes, thread, own, numbers))
    for number, size in enumerate(sizes):
        row = found[f"/w/net.py({number}): forward"]
        there = 3 * size * (not own) * numbers
        assert row["host_ns"] == (size + there + 12 * numbers) * US
        # The path of the program's thread holds all that runs there.
        if thread == 1:
            assert row["path_ns"] >= (size + there) * US
    if own:
        assert found[MINE]["host_ns"] == 3 * sum(sizes) * US


def test_a_thread_of_a_package_that_sleeps_has_no_line() -> None:
    drawing = """
    main  [ProfilerStep#1                  ]
    main  /train                           /
    main      [aten::mm      ]
    other /sleeper                         /
    """
    assert set(rows(trace_of(events(drawing, NAMES)))) == {NAMES["train"]}


def test_a_step_of_no_length_has_no_path_and_no_lines() -> None:
    step = span("user_annotation", "ProfilerStep#1", 100, 1, 0, 0)
    frame, operator = span("python_function", "f", 100, 1, 0, 1), span("cpu_op", "g", 100, 1, 0, 1)
    assert not rows(trace_of([step, frame, operator]))


def frames(nested: Any, begin: int, end: int) -> list[Event]:
    """A call from ``begin`` to ``end`` µs and those within it, each a third of the room that is left."""
    kind, name, inner = nested
    found = [span(kind, name, 100, 1, begin, end - begin)]
    at = begin + 1
    for one in inner:
        length = (end - at) // 3
        if length >= 3:
            found += frames(one, at, at + length)
            at += length + 1
    return found


CALL = st.tuples(
    st.sampled_from(["python_function"] * 3 + ["cpu_op", "cuda_runtime", "user_annotation"]),
    st.sampled_from([*NAMES.values(), "<built-in method item of Tensor>", "aten::mm"]),
)
NESTED: st.SearchStrategy[Any] = st.recursive(
    CALL.map(lambda call: (*call, [])),
    lambda inner: st.tuples(CALL, st.lists(inner, max_size=4)).map(
        lambda pair: (*pair[0], pair[1])
    ),
    max_leaves=12,
)


@examples(20)
@given(st.lists(NESTED, min_size=1, max_size=3), st.integers(0, 2))
def test_host_time_is_what_a_plain_loop_over_microseconds_counts(
    nested: list[Any], chosen: int
) -> None:
    """Each microsecond of the thread is of the innermost call, and counts for the nearest own line around it."""
    around = ("python_function", NAMES["train"], nested)
    listed = frames(around, 5, 1000)
    steps = [
        span("user_annotation", f"ProfilerStep#{number}", 100, 2, 10 + 300 * number, 300)
        for number in range(3)
    ]
    trace = trace_of([*listed, *steps, span("cpu_op", "aten::x", 100, 3, 0, 1)])
    found = rows(trace, chosen)
    wanted: dict[str | None, int] = defaultdict(int)
    for now in range(10 + 300 * chosen, 310 + 300 * chosen):
        inside = [e for e in listed if e["ts"] <= now < e["ts"] + e["dur"]]
        if inside[-1]["cat"] not in ("python_function", "user_annotation"):
            continue
        own = [
            e["name"]
            for e in inside
            if e["cat"] == "python_function" and e["name"].startswith("/w/")
        ]
        wanted[own[-1] if own else None] += US
    assert {line: row["python_ns"] for line, row in found.items() if row["python_ns"]} == wanted
    packages = rows(trace, chosen, "package")
    for key in ("path_ns", "host_ns", "calls"):
        assert sum(row[key] for row in found.values()) == sum(r[key] for r in packages.values())
