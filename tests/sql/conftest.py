"""A recording with kernels, steps, several ranks and collectives, to be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.api.frames import TraceFrames
from torch_tb_profiler.api.opening import open_path
from torch_tb_profiler.sql.engine import Limits, Result, run
from torch_tb_profiler.tables.source import TableSource

Ask = Callable[..., Result]


@pytest.fixture(scope="session")
def recording(repository: Path) -> TraceFrames:
    opened: Any = open_path(repository / "samples/synthetic_ddp8")
    first: TraceFrames = opened[0]
    return first


@pytest.fixture(scope="session")
def data(recording: TraceFrames) -> TableSource:
    return recording.context.source()


@pytest.fixture(scope="session")
def ask(data: TableSource) -> Ask:
    return lambda text, **limits: run(data, text, Limits(**limits))
