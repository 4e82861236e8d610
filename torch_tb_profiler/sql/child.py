"""Answers one statement in a worker process (``runs/worker.py``), which may be ended at any time: some functions of
SQL heed neither an interrupt nor a limit of memory, such as ``repeat('x', 3000000000)``.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from torch_tb_profiler.analysis.figures.selection import select
from torch_tb_profiler.errors import NotReady, ProfilerError, SidecarError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sql.engine import Limits, run
from torch_tb_profiler.store import mapped_files, sidecar
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.tables.source import TableSource


def answer(
    question: str, trace_sidecar: str, settings: Settings, report: Callable[..., None]
) -> dict[str, Any]:
    """The result, or the error, of the statement in a question of ``process.py``."""
    asked = json.loads(question)

    def insight() -> Insight:
        if not os.path.isfile(asked["insight"]):
            raise NotReady("insight")
        return _insight(asked["insight"], _stamp(asked["insight"]))

    try:
        trace, facts = _trace(trace_sidecar, _stamp(trace_sidecar))
        data = TableSource(trace, facts, insight, select(facts))
        with mapped_files.expect_readable():
            result = run(data, asked["text"], Limits(**asked["limits"]))
    except ProfilerError as error:
        return {"code": error.code, "message": error.message, "hint": error.hint}
    return dataclasses.asdict(result)


def _stamp(path: str) -> tuple[int, int, int]:
    """Differs once a file is written anew."""
    try:
        status = os.stat(path)
    except OSError:
        raise SidecarError("There is no sidecar.", "It is made again.") from None
    return status.st_ino, status.st_size, status.st_mtime_ns


@cache
def _trace(path: str, stamp: tuple[int, int, int]) -> tuple[Trace, Facts]:
    return sidecar.read(path)


@cache
def _insight(path: str, stamp: tuple[int, int, int]) -> Insight:
    return sidecar.read_derived(path, Insight)
