"""Flame graphs: frames, what is too small to be drawn, Python lines, and the files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.analysis.module.trees import insight_of
from tests.builders.drawn import draw, events, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.analysis.module.frames import LINE, REST, Frames, drawn
from torch_tb_profiler.store.display import listed
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.views.work.flame import (
    LONGEST_NAME,
    NO_FRAME,
    SPEEDSCOPE_SCHEMA,
    FileFormat,
    Metric,
    flame_file,
    flame_payload,
    harmless,
)
from torch_tb_profiler.views.work.module_wire import FlamePayload, FlameTree

PICTURE = """
    main  /train.py(1): main                                           /
    main   /nn.Module: Net_0                         / (loss        )
    main     [aten::mm        ]  <triton #2>           [aten::sum]
    main       <launch #1>
    gpu 7          {gemm #1         } {mine #2 }  {b #3 }  {lost #9}
"""


def payload(trace: Trace, tree: FlameTree) -> FlamePayload:
    facts = derive(trace)
    return flame_payload(facts, insight_of(trace, facts), select(facts), tree)


def file(trace: Trace, tree: FlameTree, metric: Metric, file_format: FileFormat) -> str:
    facts = derive(trace)
    return b"".join(
        flame_file(facts, insight_of(trace, facts), select(facts), tree, metric, file_format)
    ).decode()


def frames(flame: FlamePayload) -> dict[str, tuple[Any, ...]]:
    """By way of names: kind, calls, host and device total in µs."""
    ways: list[str] = []
    r = flame.rows
    for parent, name in zip(r["parent"].tolist(), r["name"], strict=True):
        ways.append(f"{ways[parent]};{name}" if parent >= 0 else name)
    device = [None if ns is None else ns // 1000 for ns in listed(r["device_ns"])]
    return dict(
        zip(
            ways,
            zip(
                r["kind"], r["calls"].tolist(), (r["host_ns"] // 1000).tolist(), device, strict=True
            ),
            strict=True,
        )
    )


def test_modules_and_operators() -> None:
    flame = payload(draw(PICTURE), "module")
    assert frames(flame) == {
        "Net_0": ("module", 1, 43, 28),
        "Net_0;aten::mm": ("operator", 1, 18, 18),
        "loss": ("annotation", 1, 14, 0),
        "loss;aten::sum": ("operator", 1, 11, 0),
    }
    assert (flame.pooled, flame.unattributed_device_ns, flame.has_device) == (0, 16_000, True)


def test_python_lines() -> None:
    flame = payload(draw(PICTURE), "line")
    way = "train.py(1): main"
    assert frames(flame) == {
        way: ("line", 2, 29, 28),
        f"{way};nn.Module: Net_0": ("line", 1, 18, 28),
    }
    assert flame.unattributed_device_ns == 16_000
    assert payload(draw("main  [aten::mm]"), "line").missing[0].what == "Call stacks"


def test_without_a_device_its_times_are_unknown() -> None:
    flame = payload(draw("main  [aten::mm  ]"), "module")
    assert not flame.has_device
    assert frames(flame) == {"aten::mm": ("operator", 1, 12, None)}


def tree_of(parent: list[int], host: list[int], device: list[int] | None = None) -> Frames:
    n = len(parent)
    none = np.zeros(n, np.int64)
    return Frames(
        np.array(parent, np.int64),
        np.arange(n),
        np.full(n, LINE),
        none == 1,
        none + 1,
        np.array(host, np.int64),
        np.array(device or [0] * n, np.int64),
        np.arange(n),
        none,
    )


def test_small_frames_share_one() -> None:
    # 100 in all; a frame needs 10. Beneath 0: 30, 6 + 5 (share one), beneath 1: 9 (its own time),
    # and 8 + 1 outermost (too little).
    shown, pooled = drawn(
        tree_of([-1, 0, 0, 0, 1, -1, -1, 2], [91, 30, 6, 5, 9, 8, 1, 2]), smallest=10
    )
    assert (shown.parent.tolist(), shown.host.tolist(), shown.kind.tolist()) == (
        [-1, 0, 0],
        [91, 30, 11],
        [LINE, LINE, REST],
    )
    assert shown.name.tolist() == [0, 1, 2]
    assert shown.first.tolist() == [0, 1, 2]
    assert pooled == 6


def test_a_frame_large_on_the_device_alone_stays() -> None:
    shown, pooled = drawn(tree_of([-1, 0, 0], [1000, 0, 0], [100, 99, 1]), smallest=50)
    assert (shown.device.tolist(), pooled) == ([100, 99], 1)
    assert drawn(tree_of([], []))[1] == 0


@pytest.mark.parametrize("tree", ["module", "line"])
@pytest.mark.parametrize("metric", ["host", "device"])
def test_files_hold_all_of_it(tree: FlameTree, metric: Metric) -> None:
    trace = draw(PICTURE)
    flame = payload(trace, tree)
    outermost = [row for row, parent in enumerate(flame.rows["parent"]) if parent < 0]
    total = sum(flame.rows[f"{metric}_ns"][row] or 0 for row in outermost)
    total += flame.unattributed_device_ns if metric == "device" else 0
    lines = file(trace, tree, metric, "folded").splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == total
    read = json.loads(file(trace, tree, metric, "speedscope"))
    (profile,) = read["profiles"]
    assert (sum(profile["weights"]), profile["startValue"], profile["endValue"]) == (
        total,
        0,
        total,
    )
    assert len(profile["samples"]) == len(profile["weights"]) == len(lines)
    names = [frame["name"] for frame in read["shared"]["frames"]]
    assert [";".join(names[frame] for frame in stack) for stack in profile["samples"]] == [
        line.rpartition(" ")[0] for line in lines
    ]


def test_the_files_by_eye() -> None:
    trace = draw(PICTURE)
    assert (
        file(trace, "module", "device", "folded")
        == f"Net_0 10000\nNet_0;aten::mm 18000\n{NO_FRAME} 16000\n"
    )
    read = json.loads(file(trace, "module", "host", "speedscope"))
    assert read["$schema"] == SPEEDSCOPE_SCHEMA
    assert read["profiles"][0]["type"] == "sampled"
    assert read["profiles"][0]["unit"] == "nanoseconds"
    assert read["exporter"].startswith("torch_tb_profiler ")
    assert set(read) == {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}


def test_files_of_nothing() -> None:
    empty = trace_of([])
    assert file(empty, "module", "host", "folded") == ""
    read = json.loads(file(empty, "line", "device", "speedscope"))
    assert read["profiles"][0]["samples"] == []


def test_names_break_no_format() -> None:
    names = {"a": "std::pair<int;int>\nevil 5", "b": "x" * 5000, "c": "\x00\x1f\u2028;"}
    trace = draw("main  [a      ] [b     ] [c      ]", names)
    lines = file(trace, "module", "host", "folded").split("\n")
    assert lines[-1] == ""
    assert sorted(lines[:-1]) == sorted(
        ["std::pair<int,int> evil 5 9000", f"{'x' * LONGEST_NAME} 8000", ", 9000"]
    )
    assert all(
        json.loads(file(trace, "module", "host", "speedscope"))["shared"]["frames"][i]["name"]
        for i in range(3)
    )


@pytest.mark.parametrize(
    ("name", "expected"), [("", "?"), ("\n\t", "?"), ("a;b", "a,b"), ("a\r\nb", "a b"), ("é ", "é")]
)
def test_harmless(name: str, expected: str) -> None:
    assert harmless(name) == expected


def test_a_recording_without_stacks_lays_nothing() -> None:
    trace = trace_of([*events("main  [aten::mm ]\nmain    <l #1>\ngpu 7    {k #1 }")])
    flame = payload(trace, "line")
    assert (flame.rows["name"], flame.unattributed_device_ns) == ([], 7000)
    assert file(trace, "line", "device", "folded") == f"{NO_FRAME} 7000\n"
