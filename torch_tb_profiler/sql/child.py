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

from torch_tb_profiler.errors import NotReady, ProfilerError
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sql.engine import Limits, run
from torch_tb_profiler.sql.readable import Data
from torch_tb_profiler.store import damage_reports, sidecar
from torch_tb_profiler.store.insight import Insight


def answer(
    question: str, trace_sidecar: str, settings: Settings, report: Callable[..., None]
) -> dict[str, Any]:
    """The result, or the error, of the statement in a question of ``process.py``."""
    asked = json.loads(question)

    def insight() -> Insight:
        if not os.path.isfile(asked["insight"]):
            raise NotReady("insight")
        return _insight(asked["insight"])

    try:
        data = Data(*_trace(trace_sidecar), insight)
        with damage_reports.expect_readable():
            result = run(data, asked["text"], Limits(**asked["limits"]))
    except ProfilerError as error:
        return {"code": error.code, "message": error.message, "hint": error.hint}
    return dataclasses.asdict(result)


_trace = cache(sidecar.read)
_insight = cache(sidecar.read_insight)
