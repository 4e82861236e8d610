"""Live CPU recordings: the Operator view equals ``key_averages()`` of the same run, to the
nanosecond.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.figures import Table, difference, of_engine, of_pytorch, operator_names

OPTIONS = {
    "plain": {},
    "shapes": {"record_shapes": True},
    "stacks": {"with_stack": True, "with_modules": True},
    "everything": {
        "record_shapes": True,
        "with_stack": True,
        "with_modules": True,
        "profile_memory": True,
        "with_flops": True,
    },
}


def record(torch: Any, path: Path, work: Callable[[], object], **options: Any) -> Any:
    """Run ``work`` under the profiler and export the trace; returns the profile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], **options
        ) as prof:
            work()
        prof.export_chrome_trace(str(path))
    return prof


def both(prof: Any, path: Path, by_shape: bool = False) -> tuple[Table, Table]:
    theirs = of_pytorch(
        prof.key_averages(group_by_input_shape=by_shape), operator_names(prof.events()), by_shape
    )
    return of_engine(path, by_shape), theirs


def training(torch: Any) -> Callable[[], None]:
    """Two steps of a small network with regions of every kind."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(288, 10),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def work() -> None:
        for step in range(2):
            with torch.profiler.record_function(f"ProfilerStep#{step}"):
                with (
                    torch.profiler.record_function("forward"),
                    torch.profiler.record_function("forward"),
                ):
                    loss = torch.nn.functional.cross_entropy(
                        model(torch.randn(4, 3, 8, 8)), torch.randint(10, (4,))
                    )
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    return work


@pytest.mark.parametrize("options", OPTIONS)
def test_training_step(torch: Any, tmp_path: Path, options: str) -> None:
    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, training(torch), **OPTIONS[options])
    ours, theirs = both(prof, path)
    assert ("aten::convolution_backward", "") in theirs
    assert difference(ours, theirs) == {}


def nested(torch: Any) -> Callable[[], None]:
    """An operator whose only child has its name, and one whose child of its name has a sibling."""
    region = importlib.import_module("torch._C._profiler")._RecordFunctionFast

    def work() -> None:
        with region("only_child"), region("only_child"), region("only_child"):
            torch.ones(3).add(1)
        with region("sibling"):
            torch.ones(3)
            with region("sibling"):
                torch.ones(3)

    return work


def test_same_name_nested(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "worker.pt.trace.json"
    ours, theirs = both(record(torch, path, nested(torch)), path)
    assert theirs["only_child", ""].calls == 1
    assert theirs["sibling", ""].calls == 2
    assert difference(ours, theirs) == {}


def python_inside(torch: Any) -> Callable[[], None]:
    """An operator that runs Python: a custom autograd function, with a region inside."""

    class Doubled(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.profiler.record_function("inside"):
                return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    def work() -> None:
        Doubled.apply(torch.ones(4, requires_grad=True)).sum().backward()

    return work


def test_python_inside_an_operator(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "worker.pt.trace.json"
    ours, theirs = both(record(torch, path, python_inside(torch)), path)
    assert theirs["Doubled", ""].self_time < theirs["Doubled", ""].total_time
    assert difference(ours, theirs) == {}


@pytest.mark.parametrize("program", [nested, python_inside])
def test_python_inside_an_operator_with_stacks(
    torch: Any, tmp_path: Path, program: Callable[[Any], Callable[[], None]]
) -> None:
    """PyTorch ≥ 2.13 counts Python frames as calls when stacks are recorded, so that ``with_stack``
    changes its figures of operators that
    run Python. The Operator view leaves frames out always: it equals PyTorch's own rules over the
    same recording without its frames.
    """
    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, program(torch), with_stack=True)
    inner = prof.profiler
    event_list = importlib.import_module("torch.autograd.profiler_util").EventList
    events = [
        event
        for event in inner._parse_kineto_results(inner.kineto_results)
        if not event.is_python_function
    ]
    without_frames = event_list(events, use_device=None)
    without_frames._build_tree()
    theirs = of_pytorch(without_frames.key_averages(), operator_names(events))
    assert difference(of_engine(path), theirs) == {}
