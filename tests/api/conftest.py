"""A trace that the tests of this folder open."""

from __future__ import annotations

import pytest

import torch_tb_profiler
from tests.api.traces import write
from torch_tb_profiler.api.frames import TraceFrames


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> TraceFrames:
    """A run of one worker."""
    frames = torch_tb_profiler.open(
        write(tmp_path_factory.mktemp("one") / "run", "w0"), use_cache=False
    )
    assert isinstance(frames, TraceFrames)
    return frames
