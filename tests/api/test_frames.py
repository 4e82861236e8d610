"""DataFrames over the facts, and a front door that costs nothing until it is opened."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import torch_tb_profiler
from tests.views import hand_made
from torch_tb_profiler.api import frames
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.single import Unreadable

US = hand_made.US


@pytest.fixture
def trace() -> frames.TraceFrames:
    return frames.TraceFrames(hand_made.opened())


def test_steps(trace: frames.TraceFrames) -> None:
    steps = trace.steps()
    assert steps["name"].tolist() == ["ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"]
    categories = [c for c in steps.columns if c.endswith("_ns") and c not in ("start_ns", "wall_ns")]
    assert len(categories) == 8
    assert (steps[categories].sum(axis=1) == steps["wall_ns"]).all()
    assert (steps["cold"].tolist(), steps["odd"].tolist()) == ([True, False, False], [False, False, True])


def test_operators(trace: frames.TraceFrames) -> None:
    assert trace.operators().set_index("name")["device_self_ns"].to_dict() == {"aten::mm": 60 * US, "aten::add": 12 * US}
    assert trace.operators(group="shape")["shapes"].dropna().tolist() == [hand_made.SHAPES]
    assert len(trace.operators(group="stack")) == 3
    assert trace.operators(steps=(1, 1))["calls"].tolist() == [3]
    with pytest.raises(IndexError):
        trace.operators(steps=(3, 3))


def test_device_times_of_a_host_only_trace_are_unknown() -> None:
    found = frames.TraceFrames(hand_made.opened(hand_made.facts(device=False))).operators()
    assert found["device_self_ns"].isna().all()
    assert found["host_self_ns"].notna().all()


def test_kernels(trace: frames.TraceFrames) -> None:
    assert trace.kernels()["total_ns"].tolist() == [71 * US, 10 * US]
    found = trace.kernels(group="properties")
    assert found["operator"].fillna("unknown").tolist() == ["aten::mm", "unknown", "unknown"]
    assert found["no_operator"].fillna("known").tolist() == ["known", "outside", "no_launch"]
    assert found["registers"].isna().tolist() == [False, False, True]


def test_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_all(path: str, settings: Any) -> Iterator[Opened | Unreadable]:
        yield Unreadable("run", "w9", "1", "run/w9.json", "The file is empty.")
        if path != "bad":
            yield hand_made.opened()
            yield hand_made.opened()

    monkeypatch.setattr(frames, "load_all", load_all)
    first = torch_tb_profiler.open("good")
    assert (first.run, first.worker, first.span) == ("run", "w0", "1")
    assert len(torch_tb_profiler.open_all("good")) == 2
    with pytest.raises(NotATrace, match="The file is empty"):
        torch_tb_profiler.open("bad")


def test_the_front_door_is_light() -> None:
    program = "import sys, torch_tb_profiler as t; print([m for m in ('numpy', 'pandas', 'msgspec', 'fsspec') if m in sys.modules], sorted(dir(t)))"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "[] ['TraceFrames', '__version__', 'open', 'open_all']\n"


def test_what_it_does_not_have() -> None:
    with pytest.raises(AttributeError, match="no attribute 'shut'"):
        _ = torch_tb_profiler.shut
