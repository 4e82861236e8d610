"""The files of a path for the API and the command line: many are imported by worker processes while
the first ones are looked at.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from torch_tb_profiler.errors import ImportFailed, SidecarError
from torch_tb_profiler.runs.import_job import Report, content_version
from torch_tb_profiler.runs.jobs import TARGET, Job, Jobs, News
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import CacheFolder
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import in_this_process_only
from torch_tb_profiler.store.model import Facts, Trace

Import = Callable[[ListedFile, "Report | None"], "tuple[Trace, Facts]"]

WORTH_BYTES = 48 << 20
"""Text below which workers save nothing: one starts in 0.22 s of a core, which imports 12 MB
(measured).
"""
SHRUNK = 16
"""Bytes of a trace's text per byte of its compressed file, about."""
AHEAD_PER_WORKER = 2
"""Files that a worker is ahead of whoever looks at them: a cache folder of little room would lose
more before they are opened.
"""
_LOOK_SECONDS = 0.5
"""Between two looks for Ctrl-C, which some systems deliver to nobody who waits without end."""
_NOT_THE_FILES_FAULT = "raised"


class Ahead:
    """Traces and facts of files, to be taken in their order; ends its workers with the ``with``
    block, of which nothing half-written is left.

    Without workers, where there is little to import, and for what only this process can read,
    ``here`` imports.
    """

    def __init__(
        self,
        files: Sequence[ListedFile],
        settings: Settings,
        here: Import,
        report: Report | None = None,
        target: str = TARGET,
    ) -> None:
        self._settings = settings
        self._here = here
        self._changed = threading.Condition()
        self._news: dict[str, News] = {}
        self._tally = _Tally(files, report)
        self._jobs: Jobs | None = None
        self._cache: CacheFolder | None = None
        self._apart: dict[str, Job] = {}
        self._begun = 0
        if len(files) > 1 and settings.workers > 1 and _text_bytes(files) >= WORTH_BYTES:
            self._cache = CacheFolder(settings)
            missing = self._missing(files, self._cache)
            if len(missing) > 1 and _text_bytes([found for found, _ in missing]) >= WORTH_BYTES:
                self._apart = {
                    found.location: Job(found.location, found.location, str(sidecar), found.size)
                    for found, sidecar in missing
                }
                self._jobs = Jobs(settings, self._hear, target, quiet=True)

    def _missing(
        self, files: Sequence[ListedFile], cache: CacheFolder
    ) -> list[tuple[ListedFile, Path]]:
        """Files that a worker can import and that no earlier call did, and where what comes of them
        is kept.
        """
        version = content_version(self._settings)
        places = [
            (found, cache.sidecar(found, version))
            for found in files
            if not in_this_process_only(found.location)
        ]
        return [(found, sidecar) for found, sidecar in places if not sidecar.exists()]

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._jobs is not None:
            self._jobs.close()
        if self._cache is not None:
            for job in self._apart.values():
                _remove_parts(Path(job.sidecar))
            self._cache.close()

    def take(self, found: ListedFile) -> tuple[Trace, Facts]:
        """One of the files; those behind it are begun.

        Raises:
            ImportFailed: its import ended without a result.
            ProfilerError: as ``here``.
        """
        job = self._apart.get(found.location)
        made = self._made(found, job) if job is not None else None
        if made is None:
            made = self._here(found, self._tally.part(found.location))
        self._tally.finish(found.location)
        return made

    def _made(self, found: ListedFile, job: Job) -> tuple[Trace, Facts] | None:
        """What a worker made; None where this process has to, such as on a full disk."""
        from torch_tb_profiler.store import sidecar

        news = self._wait(found.location)
        if news.error is not None:
            if news.code == _NOT_THE_FILES_FAULT:
                return None
            raise ImportFailed(news.error)
        assert self._cache is not None
        try:
            made = sidecar.read(job.sidecar)
        except SidecarError:
            return None
        if not self._settings.use_cache:
            # What is mapped stays readable.
            with contextlib.suppress(OSError):
                os.unlink(job.sidecar)
        self._cache.trim()
        return made

    def _wait(self, location: str) -> News:
        """The end of a file's import, with the progress of all told meanwhile by this thread: what
        prints must not be interrupted by another.
        """
        with self._changed:
            self._begin(location)
            while True:
                news = self._news.get(location)
                if news is not None and (news.outcome is not None or news.error is not None):
                    return self._news.pop(location)
                self._changed.wait(_LOOK_SECONDS)
                for each, last in self._news.items():
                    self._tally.share(
                        each, 1.0 if last.outcome is not None else last.progress or 0.0
                    )
                self._tally.tell()

    def _begin(self, location: str) -> None:
        """Hand over files up to so many behind the one that is asked for."""
        assert self._jobs is not None
        jobs = list(self._apart.values())
        end = jobs.index(self._apart[location]) + 1 + AHEAD_PER_WORKER * self._settings.workers
        for job in jobs[self._begun : end]:
            self._jobs.submit(job, (self._begun,))
            self._begun += 1

    def _hear(self, job: Job, news: News) -> None:
        with self._changed:
            self._news[job.key] = news
            self._changed.notify_all()


class _Tally:
    """How far the imports of several files are together, as bytes of the files."""

    def __init__(self, files: Sequence[ListedFile], report: Report | None) -> None:
        self._sizes = {found.location: found.size for found in files}
        self._done: dict[str, float] = {}
        self._report = report

    def part(self, location: str) -> Report | None:
        """A report for one of them."""
        if self._report is None:
            return None

        def report(done: int, total: int | None) -> None:
            if self._sizes.get(location, -1) < 0:
                # A server that does not tell sizes may tell one while it sends.
                self._sizes[location] = -1 if total is None else total
                self._done[location] = done
            else:
                self.share(location, done / total if total else 0.0)
            self.tell()

        return report

    def share(self, location: str, share: float) -> None:
        """How far one of them is, 0 to 1."""
        self._done[location] = max(self._sizes.get(location, 0), 0) * min(share, 1.0)

    def finish(self, location: str) -> None:
        """One of them is done, however it ended."""
        self.share(location, 1.0)

    def tell(self) -> None:
        """Call the report with what is done of all."""
        if self._report is not None:
            known = all(size >= 0 for size in self._sizes.values())
            self._report(
                round(sum(self._done.values())), sum(self._sizes.values()) if known else None
            )


def _text_bytes(files: Sequence[ListedFile]) -> int:
    return sum(
        max(found.size, 0) * (SHRUNK if found.name.lower().endswith((".gz", ".zst")) else 1)
        for found in files
    )


def _remove_parts(sidecar: Path) -> None:
    """What a worker that was ended was just writing; ``store.sidecar`` names it so."""
    for part in sidecar.parent.glob(f"{sidecar.name}.*.part"):
        with contextlib.suppress(OSError):
            part.unlink()
