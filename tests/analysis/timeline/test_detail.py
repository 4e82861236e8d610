"""Everything about one event: the way from a Python line to the device, delays, neighbours,
siblings, stack.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.timeline.charts import Chart, chart, chart_drawn, chart_of_file, event
from tests.builders.drawn import trace_of
from torch_tb_profiler.analysis.figures.source_lines import is_user_code
from torch_tb_profiler.analysis.timeline.call_path import (
    MOST_OF_A_KIND,
    DeviceWork,
    device_work,
    launched_by,
)
from torch_tb_profiler.analysis.timeline.detail import Detail, event_detail, is_event
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

STEP = """
main   /train.py(3): main                                                             /
main    (ProfilerStep#1                                                              )
main     /train.py(9): step                                                         /
main      /nn.Module: Net_0                                                        /
main       /library                                                               /
main        /model.py(5): forward                                                /
main         [aten::linear             ] [aten::add]   [aten::mul               ]
main           [aten::mm           ]
main            <launch #1> <launch #2>    <call #3>     <launch #4>     <sync>
gpu 7                     {gemm #1       }{copy #2     }{add #3}     {mul #4}
"""
LIBRARY = "torch/nn/modules/module.py(1): _call_impl"


@lru_cache(maxsize=1)
def step() -> Chart:
    return chart_drawn(STEP, {"library": LIBRARY})


def detail(found: Chart, number: int) -> Detail:
    return event_detail(*found, number, Memo().get)


def named(found: Chart, name: str, occurrence: int = 0) -> int:
    trace = found[0]
    rows = [
        row
        for row, number in enumerate(trace["spans"]["name"].tolist())
        if trace.strings[number] == name
    ]
    return rows[occurrence]


def name_of(found: Chart, row: int) -> str:
    return found[0].strings[int(found[0]["spans"]["name"][row])] if row >= 0 else ""


def way(found: Chart, number: int) -> list[tuple[str, str]]:
    return [(link.kind, name_of(found, link.row)) for link in detail(found, number).way.links]


TO_GEMM = [
    ("annotation", "ProfilerStep#1"),
    ("python", "train.py(9): step"),
    ("module", "nn.Module: Net_0"),
    ("python", "model.py(5): forward"),
    ("operator", "aten::linear"),
    ("operator", "aten::mm"),
    ("launch", "launch"),
    ("device", "gemm"),
]


@pytest.mark.parametrize(
    "start",
    [
        "gemm",
        "aten::mm",
        "aten::linear",
        "nn.Module: Net_0",
        "model.py(5): forward",
        "train.py(9): step",
        "ProfilerStep#1",
    ],
)
def test_the_way_is_the_same_from_wherever_one_starts(start: str) -> None:
    found = step()
    links = way(found, named(found, start))
    # train.py(3) encloses the step here, and is the third of the user's own lines.
    assert links == [("python", "train.py(3): main"), *TO_GEMM]


def test_a_frame_of_a_library_is_on_the_way_when_it_is_asked_for() -> None:
    found = step()
    assert ("python", LIBRARY) in way(found, named(found, LIBRARY))
    assert ("python", LIBRARY) not in way(found, named(found, "gemm"))


def test_a_launch_leads_to_its_own_work() -> None:
    found = step()
    assert [way(found, named(found, "launch", i))[-1] for i in range(3)] == [
        ("device", n) for n in ("gemm", "copy", "mul")
    ]


def test_what_launched_nothing_has_the_way_up_only() -> None:
    found = step()
    assert way(found, named(found, "sync"))[-2:] == [("operator", "aten::mul"), ("launch", "sync")]
    assert detail(found, named(found, "sync")).delay is None


def test_what_lies_on_no_way_has_no_links() -> None:
    example = chart(trace_of([event("overhead", 1, 0, 5), event("cuda_sync", 2, 0, 5)]))
    assert detail(example, 0).way.links == detail(example, 1).way.links == ()


def test_delay_and_queue() -> None:
    found = step()
    asked = {name: detail(found, named(found, name)) for name in ("gemm", "copy", "add", "mul")}
    assert {name: d.delay for name, d in asked.items()} == {
        "gemm": 10_000,
        "copy": 14_000,
        "add": 13_000,
        "mul": 12_000,
    }
    # gemm ends 3 µs after the call that launched copy; copy ends 4 µs after the one that launched
    # add; nothing ran when mul was launched.
    assert {name: d.queue for name, d in asked.items()} == {
        "gemm": 0,
        "copy": 3_000,
        "add": 4_000,
        "mul": 0,
    }


def test_queue_looks_at_all_that_runs_on_the_stream() -> None:
    example = chart_drawn("""
        main   <launch #1><launch #2>
        gpu 7      {long #1                     }
        gpu 7            {short #3}
        gpu 7                                   {next #2}
    """)
    assert detail(example, named(example, "next")).queue == 11_000


def test_a_negative_delay_is_told() -> None:
    example = chart_drawn("""
        main        <launch #1>
        gpu 7   {early #1}
    """)
    assert (
        detail(example, named(example, "early")).delay,
        detail(example, named(example, "early")).queue,
    ) == (-4000, 0)


def test_neighbours() -> None:
    found = step()
    linear = detail(found, named(found, "aten::linear")).around
    assert [
        name_of(found, row)
        for row in (linear.parent, linear.first_child, linear.previous, linear.next)
    ] == [
        "model.py(5): forward",
        "aten::mm",
        "",
        "aten::add",
    ]
    assert linear.children == 2
    assert detail(found, named(found, "aten::mm")).around.children == 1
    copy = detail(found, named(found, "copy")).around
    assert [
        name_of(found, row) for row in (copy.parent, copy.first_child, copy.previous, copy.next)
    ] == ["", "", "gemm", "add"]


def test_neighbours_of_the_shadow_of_an_annotation() -> None:
    example = chart(
        trace_of(
            [
                event("gpu_user_annotation", 7, 0, 100, "outer"),
                event("gpu_user_annotation", 7, 10, 20, "a"),
                event("gpu_user_annotation", 7, 40, 20, "b"),
                event("gpu_user_annotation", 7, 42, 5, "inner"),
                event("kernel", 7, 11, 5, "gemm"),
            ]
        )
    )
    outer, inner = (
        detail(example, named(example, "outer")).around,
        detail(example, named(example, "inner")).around,
    )
    assert (outer.children, name_of(example, outer.first_child), outer.parent) == (2, "a", -1)
    assert (name_of(example, inner.parent), inner.children) == ("b", 0)


def test_the_step_and_what_to_look_up() -> None:
    found = step()
    asked = detail(found, named(found, "gemm"))
    assert (asked.step, name_of(found, asked.operator), name_of(found, asked.kernel)) == (
        0,
        "aten::mm",
        "gemm",
    )
    asked = detail(found, named(found, "aten::linear"))
    assert (name_of(found, asked.operator), name_of(found, asked.kernel)) == (
        "aten::linear",
        "gemm",
    )
    assert detail(found, named(found, "train.py(9): step")).operator == -1


def test_siblings_among_ties() -> None:
    example = chart_drawn("""
        gpu 7  {a} {a  } {b} {a} {a  } {a}
    """)
    asked = [detail(example, named(example, "a", i)) for i in range(5)]
    assert [d.peer_rank.rank for d in asked] == [3, 1, 4, 2, 5]
    assert (asked[0].peers.total, asked[0].peers.shortest, asked[0].peers.longest) == (
        19_000,
        3_000,
        5_000,
    )
    assert (asked[0].peers.slowest, asked[0].peers.fastest) == (
        named(example, "a", 1),
        named(example, "a", 0),
    )
    assert [(d.peer_rank.previous, d.peer_rank.next) for d in asked] == [
        (named(example, "a", i - 1) if i else -1, named(example, "a", i + 1) if i < 4 else -1)
        for i in range(5)
    ]


def test_stacks_by_frames_by_argument_and_by_the_forward() -> None:
    found = step()
    frames = [
        "model.py(5): forward",
        LIBRARY,
        "nn.Module: Net_0",
        "train.py(9): step",
        "train.py(3): main",
    ]
    for name in ("gemm", "aten::mm", "launch", "model.py(5): forward"):
        assert list(detail(found, named(found, name)).stack) == frames
    args: dict[str, dict[str, Any]] = {
        "fwd": {"Sequence number": 4, "Fwd thread id": 0},
        "bwd": {"Sequence number": 4, "Fwd thread id": 1},
        "old": {"Call stack": "f.py(2): g;f.py(1): h"},
    }
    found = chart_drawn(
        """
        main   /model.py(5): forward /           [old      ]
        main    [fwd       ]                       [inner]
        other                          [bwd  ]
    """,
        args=args,
    )
    assert list(detail(found, named(found, "bwd")).stack) == ["model.py(5): forward"]
    assert (
        list(detail(found, named(found, "inner")).stack)
        == list(detail(found, named(found, "old")).stack)
        == ["f.py(2): g", "f.py(1): h"]
    )


def test_stacks_are_those_of_the_operator_view(samples: Path) -> None:
    """The other way to the same: the table of stacks, made for all operators at once."""
    example = chart_of_file(next((samples / "transformer").glob("*.gz")))
    trace, facts, _ = example
    parent, frame, operators = (
        facts["stacks"]["parent"],
        facts["stacks"]["frame"],
        facts["operators"],
    )
    known = {facts.strings[int(number)]: set[tuple[str, ...]]() for number in operators["name"]}
    for number, stack in zip(operators["name"].tolist(), operators["stack"].tolist(), strict=True):
        frames = []
        while stack >= 0:
            frames.append(facts.strings[int(frame[stack])])
            stack = int(parent[stack])
        known[facts.strings[number]].add(tuple(frames))
    rows = np.flatnonzero(trace["spans"]["role"] == Role.OPERATOR)
    checked = 0
    for row in rows[:: max(1, len(rows) // 300)].tolist():
        name = name_of(example, row)
        if name in known:
            assert detail(example, row).stack in known[name]
            checked += bool(detail(example, row).stack)
    assert checked > 50


def test_an_instant() -> None:
    example = chart(
        trace_of(
            [
                event("cpu_op", 1, 0, 10),
                {"ph": "i", "name": "mark", "cat": "x", "pid": 1, "tid": 1, "ts": 5, "s": "t"},
                {"ph": "i", "name": "mark", "cat": "x", "pid": 1, "tid": 1, "ts": 7, "s": "t"},
                {"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": 7, "args": {"v": 1}},
            ]
        )
    )
    asked = detail(example, 1)
    assert (
        asked.around.next,
        asked.around.previous,
        asked.peer_rank.rank,
        len(asked.peers.events),
        asked.step,
    ) == (2, -1, 1, 2, 0)
    assert [is_event(example[0], example[2], number) for number in (-1, 0, 1, 2, 3, 4)] == [
        False,
        True,
        True,
        True,
        False,
        False,
    ]


def test_the_way_of_what_overlaps_leads_over_it() -> None:
    """``crossing`` begins inside ``first`` and ends after it; the launch lies in both, and is
    ``crossing``'s child.
    """
    example = chart(
        trace_of(
            [
                event("cpu_op", 1, 0, 100, "first"),
                event("cpu_op", 1, 40, 100, "crossing"),
                {**event("cuda_runtime", 1, 50, 10, "launch"), "args": {"correlation": 7}},
                {**event("kernel", 2, 70, 10, "gemm"), "args": {"correlation": 7, "stream": 2}},
            ]
        )
    )
    for name in ("first", "crossing"):
        assert [link for link in way(example, named(example, name)) if link[0] != "annotation"] == [
            ("operator", name),
            ("launch", "launch"),
            ("device", "gemm"),
        ]


def test_a_deep_nest_is_cut_and_keeps_what_was_asked_for() -> None:
    deep = 3 * MOST_OF_A_KIND
    example = chart(trace_of(event("cpu_op", 1, i, 1000 - 2 * i, f"op{i}") for i in range(deep)))
    assert len(way(example, named(example, f"op{deep - 1}"))) <= MOST_OF_A_KIND + 1
    assert way(example, 0) == [("operator", "op0")]


@pytest.mark.parametrize(
    ("file", "answer"),
    [
        ("train.py", True),
        ("project/torch_models.py", True),
        ("transformers/models/bert.py", True),
        ("torch/nn/functional.py", False),
        ("/usr/lib/python3.11/threading.py", False),
        ("threading.py", False),
        ("/venv/lib/python3.11/site-packages/lightning/loop.py", False),
        ("<frozen runpy>", False),
        ("C:\\venv\\Lib\\site-packages\\x.py", False),
        ("C:\\work\\train.py", True),
        ("concurrent/futures/thread.py", False),
    ],
)
def test_users_own_files(file: str, answer: bool) -> None:
    assert is_user_code(file) is answer


def brute_launched(found: Chart, work: DeviceWork, row: int) -> Ints:
    """By climbing from every anchor."""
    parent = found[1]["span_links"]["parent"]
    rows = []
    for device, anchor in zip(work.row.tolist(), work.anchor.tolist(), strict=True):
        while anchor >= 0 and anchor != row:
            anchor = int(parent[anchor])
        if anchor == row:
            rows.append(device)
    return np.array(rows, np.int64)


@pytest.mark.parametrize("run", ["transformer", "synthetic_ddp8"])
def test_launched_against_climbing(samples: Path, run: str) -> None:
    example = chart_of_file(sorted((samples / run).glob("*.gz"))[0])
    trace = example[0]
    work = device_work(trace, example[1])
    host = np.flatnonzero(~np.isin(trace["spans"]["role"], list(DEVICE_ROLES)))
    for row in host[:: max(1, len(host) // 150)].tolist():
        if trace["spans"]["role"][row] in (
            Role.OPERATOR,
            Role.ANNOTATION,
            Role.RUNTIME,
            Role.PYTHON,
        ):
            assert (
                launched_by(trace, work, row).tolist()
                == brute_launched(example, work, row).tolist()
            )


def test_every_event_of_public_traces_has_a_detail(real_traces: Path) -> None:
    for run in (
        "a100_event_sync",
        "mi300_vllm_graph",
        "a100_triton",
        "mtia_inference",
        "ancient_categories",
    ):
        example = chart_of_file(next((real_traces / run).glob("*.json*")))
        timeline = example[2]
        events = np.flatnonzero(timeline["places"]["lane"] >= 0)
        memo = Memo()
        for number in events[:: max(1, len(events) // 400)].tolist():
            asked = event_detail(*example, number, memo.get)
            links = [link.row for link in asked.way.links]
            assert number in links or not links
            assert 1 <= asked.peer_rank.rank <= len(asked.peers.events)
            assert asked.around.children >= 0
            if asked.delay is not None and asked.queue is not None and asked.delay >= 0:
                assert 0 <= asked.queue <= asked.delay
