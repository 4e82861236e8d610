"""Live CPU recordings: what ``key_averages()`` of the exported file prints equals what PyTorch
prints of the run, character for character.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.live.test_key_averages import OPTIONS, nested, python_inside, record, training
from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.errors import BadRequest

Program = Callable[[Any], Callable[[], None]]
GROUPS: tuple[dict[str, Any], ...] = (
    {},
    {"group_by_input_shape": True},
    {"group_by_stack_n": 1},
    {"group_by_stack_n": 5},
    {"group_by_overload_name": True},
    {"group_by_input_shape": True, "group_by_stack_n": 100, "group_by_overload_name": True},
)
TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"row_limit": -1},
    {"sort_by": "cpu_time_total", "row_limit": 10},
    {"sort_by": "self_cuda_time_total"},
    {"sort_by": "device_time", "row_limit": 0},
    {"sort_by": "self_cpu_memory_usage", "time_unit": "ms"},
    {"sort_by": "self_cuda_memory_usage"},
    {"sort_by": "xpu_time", "header": "Run", "time_unit": "us"},
    {"top_level_events_only": True, "row_limit": 7, "time_unit": "s"},
    {"max_name_column_width": 20, "max_shapes_column_width": 12, "max_src_column_width": 15},
    {
        "max_name_column_width": None,
        "max_shapes_column_width": None,
        "max_src_column_width": None,
        "sort_by": "count",
    },
    {"sort_by": "flops"},
    {"sort_by": "key", "row_limit": 3},
    {"max_name_column_width": 0, "max_shapes_column_width": 0, "max_src_column_width": 0},
    {"sort_by": "cpu_time_str"},
    {"sort_by": "stack"},
)
RECORDED = {**OPTIONS, "memory": {"profile_memory": True}}
SORT_KEYS = (
    *(f"{device}_time{total}" for total in ("", "_total") for device in ("cpu", "cuda", "xpu")),
    *(f"{own}{device}_memory_usage" for own in ("", "self_") for device in ("cpu", "cuda", "xpu")),
    *(f"self_{device}_time_total" for device in ("cpu", "cuda", "xpu")),
    "count",
)
"""Every key that PyTorch has documented, and the times of an operator's own."""
METRICS = ("self_cpu_time_total", "self_cuda_time_total")


def layers(torch: Any) -> Callable[[], None]:
    """Attention, a recurrent cell, lists of tensors, products of batches, and convolutions of which
    PyTorch counts no FLOPs.
    """
    nn = torch.nn
    encoder, recurrent = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), nn.LSTM(4, 5)

    def work() -> None:
        encoder(torch.randn(2, 5, 16, requires_grad=True)).sum().backward()
        recurrent(torch.randn(3, 2, 4))[0].sum().backward()
        torch.stack([torch.ones(2)] * 40).mul(2).add(torch.ones(2))
        torch.baddbmm(torch.randn(3, 4, 6), torch.randn(3, 4, 5), torch.randn(3, 5, 6)).bmm(
            torch.randn(3, 6, 1)
        )
        torch.mm(torch.randn(4, 0), torch.randn(0, 6)).mul(torch.tensor(2.0))
        for arguments in ({"padding": "same"}, {"stride": 2, "padding": 1, "dilation": 2}):
            nn.functional.conv2d(torch.randn(2, 4, 9, 9), torch.randn(4, 4, 3, 3), **arguments)
        nn.functional.conv2d(torch.randn(4, 9, 9), torch.randn(4, 2, 3, 3), groups=2)

    return work


def memory(torch: Any) -> Callable[[], None]:
    """Blocks that are released outside of every operator, before and after one that there is no
    room for; a product of what does not fit.
    """

    def work() -> None:
        kept = [torch.empty(1000, 1000) for _ in range(3)]
        del kept
        with torch.profiler.record_function("hold"):
            held = torch.ones(10, 10)
        del held
        with pytest.raises(RuntimeError, match="can't allocate"):
            torch.empty(10**15)
        late = torch.ones(2, 3)
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            torch.mm(late, late)
        del late

    return work


def threads(torch: Any) -> Callable[[], None]:
    """Two threads that train at once, and a backward pass on another thread than its forward."""
    two = [training(torch), training(torch)]

    def work() -> None:
        weight = torch.randn(16, 16, requires_grad=True)
        for target in ((weight @ weight).relu().sum().backward, two[0]):
            thread = threading.Thread(target=target)
            thread.start()
            if target is two[0]:
                two[1]()
            thread.join()

    return work


def checkpoints(torch: Any) -> Callable[[], None]:
    """Modules that run again within the backward pass, where forward and backward nest in one
    another.
    """
    checkpoint = importlib.import_module("torch.utils.checkpoint").checkpoint
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())

    def work() -> None:
        for reentrant in (False, True):
            checkpoint(
                net, torch.randn(4, 8, requires_grad=True), use_reentrant=reentrant
            ).sum().backward()

    return work


def recursive(torch: Any) -> Callable[[], None]:
    """A function that calls nothing but itself is one event with its caller, and two frames of the
    stacks beneath it.
    """

    def down(steps: int) -> Any:
        return down(steps - 1) if steps else (torch.ones(3), sorted([1]))

    def work() -> None:
        for steps in range(4):
            down(steps)

    return work


def scripted(torch: Any) -> Callable[[], None]:
    """TorchScript writes stacks of its own into a recording that is not verbose."""
    compiled = torch.jit.CompilationUnit("def twice(x):\n    return (x * 2).relu()\n")

    def work() -> None:
        for _ in range(3):
            compiled.twice(torch.ones(3))

    return work


def collectives(torch: Any) -> Callable[[], None]:
    """Collectives end when they end: they stand in no call, and have no time of their own."""
    distributed = importlib.import_module("torch.distributed")

    def work() -> None:
        distributed.init_process_group("gloo", rank=0, world_size=1, store=distributed.HashStore())
        waited = distributed.all_reduce(torch.ones(100), async_op=True)
        torch.ones(3).add(1)
        waited.wait()
        distributed.destroy_process_group()

    return work


def verbose(torch: Any, **more: bool) -> Any:
    return importlib.import_module("torch._C._profiler")._ExperimentalConfig(verbose=True, **more)


RUNS: dict[str, tuple[Program, str, dict[str, bool] | None]] = {
    "training": (training, "plain", None),
    "training by shape": (training, "shapes", None),
    "training with Python functions": (training, "stacks", None),
    "training with everything": (training, "everything", None),
    "training with stacks": (training, "everything", {}),
    "training with overloads": (training, "shapes", {"capture_overload_names": True}),
    "layers": (layers, "everything", None),
    "layers with stacks": (layers, "everything", {}),
    "memory": (memory, "memory", None),
    "memory with overloads and stacks": (memory, "everything", {"capture_overload_names": True}),
    "threads": (threads, "shapes", {"profile_all_threads": True}),
    "threads with stacks": (threads, "everything", {"profile_all_threads": True}),
    "checkpoints with stacks": (checkpoints, "everything", {}),
    "one of a name in another": (nested, "plain", None),
    "operators that run Python": (python_inside, "everything", {}),
    "recursive functions": (recursive, "everything", {}),
    "TorchScript": (scripted, "stacks", None),
    "collectives": (collectives, "everything", {"profile_all_threads": True}),
}
SHOWN = {
    "training with everything": ("Total KFLOPs", "CPU Mem", "ProfilerStep*", "nn.Module: Conv2d_0"),
    "training by shape": ("Input Shapes", "[4, 3, 8, 8]"),
    "training with stacks": ("Source Location", "nn/modules/conv.py"),
    "training with overloads": ("Overload Name", "memory_format"),
    "layers": ("aten::_scaled_dot_product", "aten::baddbmm"),
    "memory": ("[memory]", "[OutOfMemory]", "-11.44 MB", "hold", "aten::mm"),
    "threads with stacks": ("MmBackward0", "Source Location"),
    "TorchScript": ("Source Location", "aten::relu"),
    "collectives": ("gloo:all_reduce",),
}


def read(path: Path) -> TraceFrames:
    found = torch_tb_profiler.open(str(path), use_cache=False)
    assert isinstance(found, TraceFrames)
    return found


@pytest.fixture(scope="module", params=RUNS)
def run(
    request: pytest.FixtureRequest, torch: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Any, TraceFrames]:
    """Name, PyTorch's profile and ours of the exported file."""
    program, options, config = RUNS[request.param]
    path = tmp_path_factory.mktemp("run") / "worker.pt.trace.json"
    more = {} if config is None else {"experimental_config": verbose(torch, **config)}
    for _ in range(3):
        prof = record(torch, path, program(torch), **RECORDED[options], **more)
        # PyTorch 2.13 now and then holds the name of a function whose memory is another's by now:
        # it fails itself, or names it otherwise than it wrote it.
        with suppress(UnicodeDecodeError):
            trace = read(path)
            if {e.name for e in prof.events() if ".py(" in e.name} <= set(trace.events["name"]):
                return request.param, prof, trace
    pytest.fail("PyTorch's profile and our reading of its file differ in names, three times.")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: " ".join(group) or "by name")
def test_tables(run: tuple[str, Any, TraceFrames], group: dict[str, Any]) -> None:
    _, prof, trace = run
    theirs, ours = prof.key_averages(**group), trace.key_averages(**group)
    for options in TABLES:
        assert ours.table(**options) == theirs.table(**options), options
    assert str(ours) == str(theirs)
    assert [repr(row) for row in ours] == [repr(row) for row in theirs]


def test_sort_keys(run: tuple[str, Any, TraceFrames]) -> None:
    _, prof, trace = run
    theirs, ours = prof.key_averages(), trace.key_averages()
    for key in SORT_KEYS:
        assert ours.table(sort_by=key, row_limit=-1) == theirs.table(sort_by=key, row_limit=-1), key


def test_what_the_runs_are_for(run: tuple[str, Any, TraceFrames]) -> None:
    name, _, trace = run
    table = trace.key_averages(
        group_by_input_shape=True, group_by_stack_n=100, group_by_overload_name=True
    ).table(row_limit=-1, max_src_column_width=None)
    assert [text for text in SHOWN.get(name, ("aten::",)) if text not in table] == []


def test_figures(run: tuple[str, Any, TraceFrames]) -> None:
    """Floats that went the same way are equal, not only near."""
    _, prof, trace = run
    theirs, ours = (
        prof.key_averages(group_by_input_shape=True, group_by_stack_n=5),
        trace.key_averages(group_by_input_shape=True, group_by_stack_n=5),
    )
    for row, expected in zip(ours, theirs, strict=True):
        told = {
            name: value
            for name, value in vars(row).items()
            if name in vars(expected)
            and name not in ("cpu_children", "cpu_parent", "device_type", "overload_name", "scope")
        }
        assert told == {name: getattr(expected, name) for name in told}
        assert (row.cpu_parent is None, row.device_type) == (
            expected.cpu_parent is None,
            expected.device_type.name,
        )
    assert ours.self_cpu_time_total == theirs.self_cpu_time_total
    total, expected = ours.total_average(), theirs.total_average()
    names = (
        "key",
        "count",
        "cpu_time_total",
        "self_cpu_time_total",
        "cpu_memory_usage",
        "self_cpu_memory_usage",
        "flops",
        "cpu_time",
    )
    assert [getattr(total, name) for name in names] == [getattr(expected, name) for name in names]


@pytest.mark.parametrize("metric", METRICS)
def test_stacks(run: tuple[str, Any, TraceFrames], tmp_path: Path, metric: str) -> None:
    name, prof, trace = run
    if RUNS[name][1] not in ("stacks", "everything"):
        return
    prof.export_stacks(str(tmp_path / "theirs.txt"), metric)
    theirs = (tmp_path / "theirs.txt").read_text(encoding="utf-8")
    try:
        trace.export_stacks(tmp_path / "ours.txt", metric)
    except BadRequest:
        assert RUNS[name][2] is None
        assert theirs == ""
    else:
        assert (tmp_path / "ours.txt").read_text(encoding="utf-8") == theirs


def test_a_schedule(torch: Any, tmp_path: Path) -> None:
    """The handler is where most recordings are exported; steps are annotations with a number, and
    one row.
    """
    path = tmp_path / "worker.pt.trace.json.gz"
    work, theirs = training(torch), []

    def ready(prof: Any) -> None:
        prof.export_chrome_trace(str(path))
        theirs.append(prof.key_averages().table(sort_by="cpu_time_total", row_limit=-1))

    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
        on_trace_ready=ready,
    ) as prof:
        for _ in range(5):
            work()
            prof.step()
    ours = read(path).key_averages().table(sort_by="cpu_time_total", row_limit=-1)
    assert "ProfilerStep*" in ours
    assert [ours] == theirs


def test_many_calls(torch: Any, tmp_path: Path) -> None:
    """Sums of hundreds of floats round as PyTorch's do."""
    path = tmp_path / "worker.pt.trace.json"
    work = training(torch)
    prof = record(torch, path, lambda: [work() for _ in range(30)], record_shapes=True)
    ours = read(path).key_averages(group_by_input_shape=True)
    assert max(row.count for row in ours) > 500
    for unit in (None, "ms"):
        assert ours.table(row_limit=-1, time_unit=unit) == prof.key_averages(
            group_by_input_shape=True
        ).table(row_limit=-1, time_unit=unit)
