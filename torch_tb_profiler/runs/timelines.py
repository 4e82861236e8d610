"""Timelines: made in a worker process when a trace is first looked at, kept in a sidecar beside the trace's own, mapped from then on.

::

    first request ──▶ job ──▶ 0d4f….safetensors ──▶ 0d4f…-1a2b3c4d.timeline.safetensors ──▶ mapped ──▶ every request
                       └─ not done within a second: 202 with the progress
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch_tb_profiler.errors import ImportFailed, NotReady, SidecarError
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.jobs import Job, Jobs, News
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder
from torch_tb_profiler.store.memory import give_back_memory, keep_freed_memory
from torch_tb_profiler.store.timeline import Timeline

TARGET = "torch_tb_profiler.runs.timelines:run_build"
FIRST_WAIT_SECONDS = 1.0
"""How long a request waits for a timeline before it answers that it is not ready: most are made in less."""


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


@lru_cache(maxsize=1)
def timeline_version() -> str:
    """Tells apart programs that would make another timeline of the same trace's sidecar: a digest of the code that makes it."""
    digest = hashlib.sha256()
    for file in sorted((Path(__file__).parents[1] / "analysis" / "timeline").glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:8]


def timeline_path(sidecar: str) -> str:
    """Where the timeline of a trace's sidecar is kept."""
    return f"{sidecar.removesuffix(SUFFIX)}-{timeline_version()}.timeline{SUFFIX}"


def timeline_id(sidecar: str) -> str:
    """A short name of the content: equal only for one content of a file, read and laid out by one version of the program."""
    return f"{Path(sidecar).name.removesuffix(SUFFIX)[:16]}{timeline_version()}"


@dataclass(eq=False)
class _Building:
    job: Job
    progress: float = 0.0
    done: bool = False
    error: str = ""


class TimelineShelf:
    """Timelines by the sidecar of their trace; thread-safe. At most ``settings.open_traces`` stay mapped."""

    def __init__(self, settings: Settings, target: str = TARGET) -> None:
        self._mapped = Memo(max(1, settings.open_traces))
        self._changed = threading.Condition()
        self._building: dict[str, _Building] = {}
        self.jobs = Jobs(settings, self._hear, target)

    def get(self, sidecar: str) -> Timeline:
        """The timeline of a trace.

        Raises:
            NotReady: it is being made; ``details["progress"]`` is 0 to 1.
            ImportFailed: it could not be made; told to those who wait for it, or to the next one. The call after that tries again.
        """
        path = timeline_path(sidecar)
        try:
            timeline = self._mapped.get(path, lambda: _read(path))
        except SidecarError:
            self._build(sidecar, path)
            timeline = self._mapped.get(path, lambda: _read(path))
        CacheFolder.touch(path)
        return timeline

    def made(self, sidecar: str) -> Timeline | None:
        """The timeline of a trace if it was made before; nothing is made now."""
        path = timeline_path(sidecar)
        try:
            return self._mapped.get(path, lambda: _read(path))
        except SidecarError:
            return None

    def close(self) -> None:
        """End what is being made."""
        self.jobs.close()

    def _build(self, sidecar: str, path: str) -> None:
        """Return when the timeline lies there."""
        with self._changed:
            building = self._building.get(path)
            if building is None:
                building = self._building[path] = _Building(Job(path, sidecar, path, 0))
                new = True
            else:
                new = False
        if new:
            self.jobs.submit(building.job, ())
        self.jobs.promote(path)
        with self._changed:
            self._changed.wait_for(lambda: building.done, timeout=FIRST_WAIT_SECONDS)
            if not building.done:
                raise NotReady("The timeline is being prepared.", "Wait a moment.", progress=round(building.progress, 3))
            if building.error:
                if self._building.get(path) is building:
                    del self._building[path]
                raise ImportFailed(f"The timeline could not be made: {building.error}", "Try again; TensorBoard's log may say more.")

    def _hear(self, job: Job, news: News) -> None:
        with self._changed:
            building = self._building.get(job.key)
            if building is None or building.job is not job:
                return
            if news.progress is not None:
                building.progress = news.progress
            if news.outcome is not None or news.error is not None:
                building.done, building.error = True, news.error or ""
                if not building.error:
                    del self._building[job.key]
            self._changed.notify_all()


def _read(path: str) -> Timeline:
    from torch_tb_profiler.store import sidecar

    return sidecar.read_timeline(path)
