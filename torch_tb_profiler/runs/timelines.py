"""Timelines: what the Trace view draws, made when a trace is first looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_tb_profiler.runs import derived
from torch_tb_profiler.runs.derived import Recipe
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.settings import Settings

if TYPE_CHECKING:
    from torch_tb_profiler.store.timeline import Timeline


def run_build(
    location: str, sidecar_path: str, settings: Settings, report: Report
) -> dict[str, Any]:
    """Make the timeline of a trace; see ``derived.run_build``."""
    from torch_tb_profiler.analysis.timeline.build import build_timeline
    from torch_tb_profiler.store import sidecar

    return derived.run_build(location, sidecar_path, report, build_timeline, sidecar.write_timeline)


def _read(path: str) -> Timeline:
    from torch_tb_profiler.store import sidecar

    return sidecar.read_timeline(path)


_PARTS = ("timeline", "memory/blocks.py", "memory/totals.py")
TIMELINE = Recipe(
    "timeline",
    "timeline",
    "torch_tb_profiler.runs.timelines:run_build",
    _read,
    tuple(f"analysis/{part}" for part in _PARTS),
)
