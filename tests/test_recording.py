"""``record`` where PyTorch is not installed, and with wrong arguments."""

from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import torch_tb_profiler
from torch_tb_profiler import recording
from torch_tb_profiler.errors import BadRequest, MissingPackage

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import torch_tb_profiler
recording = torch_tb_profiler.record("log")
try:
    recording.start()
except ImportError as error:
    print(type(error).__name__, error.message)
print([name for name in sys.modules if name.startswith("torch.")])
"""


DISABLED = """
import sys
sys.modules["torch"] = None
import torch_tb_profiler
with torch_tb_profiler.record("log", enabled=False, use_device="cuda", schedule=None) as p:
    for _ in range(20):
        p.step()
again = torch_tb_profiler.record("log", enabled=False)
again.step(); again.stop(); again.start(); again.start(); again.step(); again.stop()
try:
    with torch_tb_profiler.record("log", enabled=False):
        raise KeyError("of the loop")
except KeyError as error:
    print(error, p.paths, again.paths, p.profile, "torch_tb_profiler.api" in sys.modules)
"""


class Activity(Enum):
    CPU = 0
    CUDA = 1
    XPU = 2
    MTIA = 3
    PrivateUse1 = 4


def started_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, supported: set[Activity], **options: Any
) -> dict[str, Any]:
    """What ``torch.profiler.profile`` is given."""
    given: dict[str, Any] = {}

    def profile(**arguments: Any) -> Any:
        given.update(arguments)
        return SimpleNamespace(start=lambda: None, step_num=0)

    profiler = SimpleNamespace(
        ProfilerActivity=Activity,
        ProfilerAction=SimpleNamespace(WARMUP=1, RECORD=2, RECORD_AND_SAVE=3, NONE=0),
        supported_activities=lambda: supported,
        profile=profile,
    )
    torch = SimpleNamespace(
        profiler=profiler,
        autograd=SimpleNamespace(_profiler_enabled=lambda: False),
    )
    monkeypatch.setattr(recording, "_torch", lambda: torch)
    torch_tb_profiler.record(tmp_path, **options).start()
    return given


def test_pytorch_is_asked_for_when_it_is_needed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("MissingPackage record() needs PyTorch, which cannot be imported")
    assert second == "[]"
    assert list(tmp_path.iterdir()) == []


def test_disabled_nothing_happens(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DISABLED], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split("\n")[0] == "'of the loop' [] [] None False"
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


ALL = set(Activity)


@pytest.mark.parametrize(
    ("options", "activities"),
    [
        ({"use_kineto": True}, None),
        ({"use_cpu": True}, ALL),
        ({"use_cpu": False}, ALL - {Activity.CPU}),
        ({"use_device": None}, {Activity.CPU}),
        ({"use_device": "cuda", "use_kineto": True}, {Activity.CPU, Activity.CUDA}),
        ({"use_device": "xpu"}, {Activity.CPU, Activity.XPU}),
        ({"use_device": "npu", "use_cpu": False}, {Activity.PrivateUse1}),
        ({"use_mtia": True, "use_device": None}, {Activity.CPU, Activity.MTIA}),
        ({"use_mtia": False}, ALL),
    ],
)
def test_options_of_autograds_profiler_choose_activities(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: dict[str, Any],
    activities: set[Activity] | None,
) -> None:
    given = started_with(monkeypatch, tmp_path, ALL, **options)
    assert given.get("activities") == activities
    assert not any(name.startswith("use_") for name in given)


@pytest.mark.parametrize(
    "option",
    [
        "record_shapes",
        "activities",
        "with_flops",
        "profile_memory",
        "with_modules",
        "experimental_config",
        "acc_events",
        "use_cuda",
    ],
)
def test_other_options_reach_pytorch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str
) -> None:
    given = object()
    assert started_with(monkeypatch, tmp_path, ALL, **{option: given})[option] is given


def test_a_device_that_pytorch_cannot_record_is_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for device in ("hpu", "cuda"):
        with pytest.warns(UserWarning, match=f"cannot record .*(?i:{device})"):
            given = started_with(monkeypatch, tmp_path, {Activity.CPU}, use_device=device)
        assert given["activities"] == {Activity.CPU}


def test_the_error_is_an_import_error() -> None:
    assert issubclass(MissingPackage, ImportError)


@pytest.mark.parametrize(
    "options",
    [
        {"warmup": -1},
        {"active": 0},
        {"repeat": 0},
        {"worker": "a/b"},
        {"worker": ""},
        {"worker": "..\\x"},
        {"worker": ".hidden"},
        {"use_kineto": False},
        {"use_device": 0},
        {"use_device": None, "use_cpu": False},
        {"use_device": "cuda", "activities": []},
        {"use_cpu": True, "activities": ["CPU"]},
    ],
)
def test_wrong_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        torch_tb_profiler.record("log", **options)
