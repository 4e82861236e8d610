"""Live CPU recordings: ``open(path).events()`` lists the events that ``prof.events()`` did, with the
same attributes and the same table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.live.test_key_averages import OPTIONS, record, training
from tests.live.test_key_averages_table import RECORDED, Program, checkpoints, layers, memory
from torch_tb_profiler.api.frames import TraceFrames

SAME = (
    "name trace_name key count fwd_thread sequence_nr is_async is_remote is_legacy node_id id flops input_shapes concrete_inputs"
    " cpu_memory_usage device_memory_usage self_cpu_memory_usage cpu_time_total self_cpu_time_total is_user_annotation"
)
TABLES: tuple[dict[str, Any], ...] = (
    {"row_limit": -1},
    {"sort_by": "self_cpu_time_total", "row_limit": 10},
    {"top_level_events_only": True, "max_name_column_width": 20},
)
PROGRAMS: dict[str, Program] = {
    "training": training,
    "layers": layers,
    "memory": memory,
    "checkpoints": checkpoints,
}


def opened(path: Path) -> TraceFrames:
    trace = torch_tb_profiler.open(path)
    assert isinstance(trace, TraceFrames)
    return trace


@pytest.mark.parametrize(
    ("program", "options"),
    [
        *((program, "plain") for program in PROGRAMS),
        # With stacks, PyTorch itself may fail on a call without memory left.
        *((program, "everything") for program in PROGRAMS if program != "memory"),
        ("memory", "memory"),
    ],
)
def test_events_are_those_of_the_run(
    torch: Any, tmp_path: Path, program: str, options: str
) -> None:
    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, PROGRAMS[program](torch), **RECORDED[options])
    theirs, ours = prof.events(), opened(path).events()
    assert len(ours) == len(theirs)
    threads: dict[Any, set[Any]] = {}
    for their, our in zip(theirs, iter(ours), strict=True):
        for name in SAME.split():
            if name in ("id", "fwd_thread") and our.event < 0:
                continue  # PyTorch numbers allocations, and writes no numbers
            assert (getattr(our, name) or 0) == (getattr(their, name) or 0), (name, their, our)
        assert our.time_range == pytest.approx((their.time_range.start, their.time_range.end))
        assert our.time_range.elapsed_us() == their.time_range.elapsed_us()
        assert [c.name for c in our.cpu_children] == [c.name for c in their.cpu_children]
        assert (our.cpu_parent and our.cpu_parent.name) == (
            their.cpu_parent and their.cpu_parent.name
        )
        # A file tells the scope of regions and of functions of the graph.
        assert our.scope in (None, their.scope), their
        assert (our.scope is not None) == (their.scope != 0), their
        threads.setdefault(their.thread, set()).add(our.thread)
    assert all(len(same) == 1 for same in threads.values())
    for table in TABLES:
        assert ours.table(**table) == theirs.table(**table)
    assert ours.total_average().cpu_time_total == theirs.total_average().cpu_time_total


def test_averages_have_children_and_scopes(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, training(torch), **OPTIONS["everything"])
    theirs = {row.key: row for row in prof.key_averages()}
    for row in torch_tb_profiler.open(path).key_averages():
        their = theirs[row.key]
        assert row.cpu_children == [child.name for child in their.cpu_children]
        assert row.cpu_parent == (their.cpu_parent and their.cpu_parent.name)
        assert row.scope in (None, their.scope)
    assert {row.scope for row in theirs.values()} >= {1, 7}


def test_an_exported_trace_is_the_same_recording(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "worker.pt.trace.json"
    record(torch, path, training(torch), **OPTIONS["everything"])
    trace = opened(path)
    table = trace.key_averages().table(row_limit=-1)
    for name in ("again.json", "again.json.gz"):
        trace.export_chrome_trace(tmp_path / name)
        again = opened(tmp_path / name)
        assert again.key_averages().table(row_limit=-1) == table
        assert len(again.events()) == len(trace.events())


def test_double_backward_has_other_sequence_numbers(torch: Any, tmp_path: Path) -> None:
    """The second backward differentiates the first: both graphs' numbers stand in the file."""

    def work() -> None:
        x = torch.randn(8, 8, requires_grad=True)
        (gradient,) = torch.autograd.grad((x @ x).pow(3).sum(), x, create_graph=True)
        gradient.pow(2).sum().backward()

    path = tmp_path / "worker.pt.trace.json"
    prof = record(torch, path, work, record_shapes=True)
    ours = opened(path).events()
    numbers = [
        [(event.name, event.sequence_nr) for event in listed if event.sequence_nr >= 0]
        for listed in (ours, prof.events())
    ]
    assert numbers[0] == numbers[1]
    functions = [event for event in ours if event.name == "MmBackward0"]
    assert len(functions) > 1
    # What the first backward calls is itself a forward: it has numbers of its own.
    inner = [child.sequence_nr for function in functions for child in function.cpu_children]
    assert any(number >= 0 for number in inner)


def test_regions_of_every_kind_are_ranges(torch: Any, tmp_path: Path) -> None:
    """A block, a decorated function, and a region that ends with what it waits for."""
    region = torch.profiler.record_function

    @region("decorated")  # type: ignore[untyped-decorator]
    def decorated() -> Any:
        return torch.ones(3).sum()

    def work() -> None:
        with region("block"):
            decorated()
        decorated()
        future = torch.futures.Future()
        with region("asynchronous") as waiting:
            waiting._call_end_callbacks_on_future(future)
        torch.ones(3).add(1)
        future.set_result(None)

    path = tmp_path / "worker.pt.trace.json"
    record(torch, path, work)
    calls = opened(path).ranges().set_index("name")["calls"]
    assert {name: calls[name] for name in ("block", "decorated", "asynchronous")} == {
        "block": 1,
        "decorated": 2,
        "asynchronous": 1,
    }
