"""Timelines: what the Trace view draws, made when a trace is first looked at."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.runs.derived import Recipe
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.memory import give_back_memory, keep_freed_memory
from torch_tb_profiler.store.timeline import Timeline


def run_build(location: str, sidecar_path: str, settings: Settings, report: Report) -> dict[str, Any]:
    """Make the timeline of the trace whose sidecar is ``location`` and write it to ``sidecar_path``. For a worker process.

    Raises:
        SidecarError: the trace's sidecar cannot be used.
        OSError: the timeline's could not be written.
    """
    from torch_tb_profiler.analysis.timeline.build import build_timeline
    from torch_tb_profiler.store import sidecar

    keep_freed_memory()
    trace, facts = sidecar.read(location)
    sidecar.write_timeline(sidecar_path, build_timeline(trace, facts, report))
    give_back_memory()
    return {}


def _read(path: str) -> Timeline:
    from torch_tb_profiler.store import sidecar

    return sidecar.read_timeline(path)


_PARTS = ("timeline", "memory/blocks.py", "memory/totals.py")
TIMELINE = Recipe("timeline", "timeline", "torch_tb_profiler.runs.timelines:run_build", _read, tuple(f"analysis/{part}" for part in _PARTS))
