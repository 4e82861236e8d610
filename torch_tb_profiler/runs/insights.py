"""Insights: what the Memory, Module, Distributed and Diff views and the findings rest on, made when one of them is first asked for."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.runs.derived import Recipe
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.memory import give_back_memory, keep_freed_memory


def run_build(location: str, sidecar_path: str, settings: Settings, report: Report) -> dict[str, Any]:
    """Make the insight of the trace whose sidecar is ``location`` and write it to ``sidecar_path``. For a worker process.

    Raises:
        SidecarError: the trace's sidecar cannot be used.
        OSError: the insight's could not be written.
    """
    from torch_tb_profiler.analysis.insight import build_insight
    from torch_tb_profiler.store import sidecar

    keep_freed_memory()
    trace, facts = sidecar.read(location)
    sidecar.write_insight(sidecar_path, build_insight(trace, facts, report))
    give_back_memory()
    return {}


def _read(path: str) -> Insight:
    from torch_tb_profiler.store import sidecar

    return sidecar.read_insight(path)


_PARTS = ("module", "diff/work.py", "memory", "distributed", "findings", "timeline")
INSIGHT = Recipe(
    "insight", "analysis of the trace", "torch_tb_profiler.runs.insights:run_build", _read, ("analysis/insight.py", *(f"analysis/{part}" for part in _PARTS)),
)
