"""Insights: what the Memory, Module, Distributed and Diff views and the findings rest on, made when
one of them is first asked for.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.runs import derived
from torch_tb_profiler.runs.derived import Recipe
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.settings import Settings

if TYPE_CHECKING:
    from torch_tb_profiler.store.insight import Insight


def run_build(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, Any]:
    """Make the insight of a trace, with the user's own performance models and peaks of devices; see
    ``derived.run_build``.

    Raises:
        BadRequest: the user's models file cannot be used.
    """
    from torch_tb_profiler.analysis.efficiency import models
    from torch_tb_profiler.analysis.insight import build_insight
    from torch_tb_profiler.store import sidecar

    models.load(settings.models)
    return derived.run_build(
        location,
        sidecar_path,
        report,
        partial(build_insight, peaks_file=settings.peaks),
        sidecar.write_insight,
    )


def _read(path: str) -> Insight:
    from torch_tb_profiler.store import sidecar

    return sidecar.read_insight(path)


def _chosen(settings: Settings) -> str:
    from torch_tb_profiler.analysis.efficiency import device

    return device.version(settings.peaks)


_PARTS = (
    "module",
    "diff/work.py",
    "memory",
    "distributed",
    "efficiency",
    "counters",
    "findings",
    "timeline",
)
INSIGHT = Recipe(
    "insight",
    "analysis of the trace",
    "torch_tb_profiler.runs.insights:run_build",
    _read,
    ("analysis/insight.py", *(f"analysis/{part}" for part in _PARTS)),
    _chosen,
)
