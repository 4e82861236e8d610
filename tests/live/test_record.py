"""Live CPU recordings by ``torch_tb_profiler.record``: what every view needs is in them, and a file
is there whatever the loop does.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.figures.missing_data import absent
from torch_tb_profiler.errors import BadRequest, SourceError
from torch_tb_profiler.recording import Recording, record
from torch_tb_profiler.runs.loading import insight_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings

EARLY = "only the beginning was recorded, without call stacks"


@pytest.fixture
def train(torch: Any) -> Callable[[], None]:
    """One iteration."""
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        model(torch.randn(8, 16)).sum().backward()
        optimizer.step()

    return step


def loop(
    recording: Recording, train: Callable[[], None], steps: int, fails_in: int = -1
) -> list[Opened]:
    """Train for some steps under a recording; the traces that were written. PyTorch's own warnings
    are not ours.
    """
    with recording as running:
        for step in range(steps):
            train()
            if step == fails_in:
                raise ArithmeticError("loss is NaN")
            running.step()
    return opened(recording)


def opened(recording: Recording) -> list[Opened]:
    return [load(str(path), Settings(use_cache=False)) for path in recording.paths]


def step_names(trace: Opened) -> list[str]:
    return trace.facts.strings.many(trace.facts["steps"]["name"])


def test_a_loop_of_many_steps(train: Callable[[], None], tmp_path: Path) -> None:
    folder = tmp_path / "log" / "run"
    (trace,) = loop(record(folder), train, 12)
    assert step_names(trace) == [f"ProfilerStep#{n}" for n in range(3, 8)]
    assert absent(trace.facts)[:-1] == ("device",)
    options = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
    assert [trace.trace.header.get(option) for option in options] == [1, 1, 1, None, None]
    insight = insight_of(trace, Settings(use_cache=False))
    assert insight.about["module_source"] == "python"
    assert insight["allocations"].n > 0
    assert trace.worker.name == "worker0"
    assert trace.facts.summary.versions["PyTorch"].startswith("2.")
    assert [path.name for path in folder.iterdir()] == [trace.span.location.name]
    assert Path(trace.span.location.path).read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(("steps", "names"), [(2, [0, 1]), (3, [0, 1])])
def test_a_loop_that_ends_before_the_warm_up_does(
    train: Callable[[], None], tmp_path: Path, steps: int, names: list[int]
) -> None:
    with pytest.warns(UserWarning, match=f"ended after {steps} steps: {EARLY}"):
        (trace,) = loop(record(tmp_path), train, steps)
    assert step_names(trace) == [f"ProfilerStep#{n}" for n in names]
    assert absent(trace.facts)[:-1] == ("device", "stack")


def test_a_loop_that_ends_while_it_is_recorded(train: Callable[[], None], tmp_path: Path) -> None:
    (trace,) = loop(record(tmp_path), train, 5)
    assert step_names(trace) == ["ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5"]
    # step() said that another one begins.
    assert trace.facts["steps"]["flags"].tolist()[1:] == [0, StepFlag.CUT]
    assert absent(trace.facts)[:-1] == ("device",)


def test_without_step(train: Callable[[], None], tmp_path: Path) -> None:
    recording = record(tmp_path)
    with pytest.warns(UserWarning, match=f"never called: {EARLY}"), recording:
        train()
    (trace,) = opened(recording)
    assert absent(trace.facts)[:-1] == ("device", "stack")


def test_without_step_from_the_beginning(train: Callable[[], None], tmp_path: Path) -> None:
    recording = record(tmp_path, warmup=0)
    with recording:
        train()
    (trace,) = opened(recording)
    assert step_names(trace) == ["ProfilerStep#0"]
    assert absent(trace.facts)[:-1] == ("device",)


@pytest.mark.parametrize(("fails_in", "names"), [(1, [0, 1]), (3, [3]), (5, [3, 4, 5])])
def test_a_loop_that_raises(
    train: Callable[[], None], tmp_path: Path, fails_in: int, names: list[int]
) -> None:
    recording = record(tmp_path)
    with pytest.raises(ArithmeticError, match="loss is NaN"):
        loop(recording, train, 9, fails_in)
    (trace,) = opened(recording)
    assert step_names(trace) == [f"ProfilerStep#{n}" for n in names]


def test_several_times(train: Callable[[], None], tmp_path: Path) -> None:
    traces = loop(record(tmp_path, warmup=2, active=1, repeat=2), train, 20)
    assert [step_names(trace) for trace in traces] == [["ProfilerStep#2"], ["ProfilerStep#5"]]


def test_options_and_a_schedule_of_ones_own(
    torch: Any, train: Callable[[], None], tmp_path: Path
) -> None:
    seen: list[Any] = []
    schedule = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    (trace,) = loop(
        record(
            tmp_path,
            schedule=schedule,
            on_trace_ready=lambda prof: seen.append(prof.step_num),
            profile_memory=False,
            worker="mine",
        ),
        train,
        6,
    )
    assert step_names(trace) == ["ProfilerStep#2", "ProfilerStep#3"]
    assert absent(trace.facts)[:-1] == ("device", "memory")
    assert (trace.worker.name, seen) == ("mine", [4])


def test_ranks(train: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    assert loop(record(tmp_path, ranks=(0, 1)), train, 9) == []
    (trace,) = loop(record(tmp_path, ranks=3, active=1), train, 9)
    assert (trace.worker.name, trace.worker.rank) == ("rank3", 3)


def test_a_process_group_tells_the_rank(
    torch: Any, train: Callable[[], None], tmp_path: Path
) -> None:
    distributed = importlib.import_module("torch.distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        distributed.init_process_group(
            "gloo", init_method=f"file://{tmp_path / 'meeting'}", rank=0, world_size=1
        )
    try:
        (trace,) = loop(record(tmp_path / "log", active=1), train, 9)
    finally:
        distributed.destroy_process_group()
    assert (trace.worker.name, trace.facts.summary.backend) == ("rank0", "gloo")


def test_a_folder_that_cannot_be_written_to(train: Callable[[], None], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SourceError, match="cannot be created"):
        loop(record(tmp_path / "file" / "log"), train, 9)


def test_a_full_disk_ends_no_training(
    train: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("torch_tb_profiler.recording._pack", full)
    recording = record(tmp_path)
    with pytest.warns(UserWarning, match="could not be written.*No space left"):
        assert loop(recording, train, 9) == []
    with pytest.warns(UserWarning, match="No space left"), pytest.raises(ArithmeticError):
        loop(record(tmp_path), train, 9, 4)
    assert list(tmp_path.iterdir()) == []


def test_the_error_of_the_loop_is_the_one_that_is_seen(
    train: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = Recording._end_profile

    def broken(recording: Recording) -> None:
        end(recording)
        raise RuntimeError("the device is lost")

    recording = record(tmp_path, warmup=0)
    monkeypatch.setattr(Recording, "_end_profile", broken)
    with (
        pytest.warns(UserWarning, match="could not be finished: the device is lost"),
        pytest.raises(ArithmeticError, match="loss is NaN"),
    ):
        loop(recording, train, 3, 1)
    assert len(recording.paths) == 1


def test_it_begins_once(train: Callable[[], None], tmp_path: Path) -> None:
    recording = record(tmp_path, active=1)
    loop(recording, train, 9)
    with pytest.raises(BadRequest, match="already begun"):
        recording.start()


def test_it_has_to_begin(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="has not begun"):
        record(tmp_path).step()
    with pytest.raises(BadRequest, match="is a URL"):
        record("gs://bucket/log")


def test_another_profiler_that_runs_already_is_left_alone(
    torch: Any, train: Callable[[], None], tmp_path: Path
) -> None:
    recording = record(tmp_path / "log", warmup=0)
    with (
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as other,
        pytest.warns(UserWarning, match="Another profiler is running"),
    ):
        assert loop(recording, train, 2) == []
    other.export_chrome_trace(str(tmp_path / "other.json"))
    assert (tmp_path / "other.json").stat().st_size > 0


def test_another_profiler_that_takes_the_place_ends_no_program(
    torch: Any, train: Callable[[], None], tmp_path: Path
) -> None:
    """PyTorch 2.13 dies of a segmentation fault where what it has nothing of is exported."""

    def train_in_another() -> None:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            train()

    recording = record(tmp_path, warmup=0)
    with pytest.warns(UserWarning, match="replaced it"):
        loop(recording, train_in_another, 1)
    assert recording.paths == list(tmp_path.iterdir()) == []


def test_a_folder_of_the_user(
    train: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    loop(record("~/log", warmup=0, active=1), train, 1)
    assert len(list((tmp_path / "log").iterdir())) == 1
