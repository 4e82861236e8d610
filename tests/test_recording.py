"""``record`` where PyTorch is not installed, and with wrong arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
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
    ],
)
def test_wrong_arguments(options: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        torch_tb_profiler.record("log", **options)
