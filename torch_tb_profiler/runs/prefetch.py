"""The files of a path for API and command line, imported a few ahead by worker processes."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from torch_tb_profiler.errors import ImportFailed, SidecarError
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.products import IMPORT
from torch_tb_profiler.runs.sidecar_store import PendingJob, SidecarStore, text_bytes
from torch_tb_profiler.runs.work_queue import News
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import Facts, Trace

Import = Callable[[ListedFile, "Report | None"], "tuple[Trace, Facts]"]

WORTH_BYTES = 48 << 20
"""Text below which workers save nothing: one starts in 0.22 s of a core, which imports 12 MB
(measured).
"""
AHEAD_PER_WORKER = 2
"""Files that a worker is ahead of whoever looks at them: a cache folder of little room would lose
more before they are opened.
"""
_LOOK_SECONDS = 0.5
"""Between two looks for Ctrl-C, which some systems deliver to nobody who waits without end."""
_NOT_THE_FILES_FAULT = ("raised", "no_space")


class ImportPrefetcher:
    """Traces and facts of files, to be taken in their order.

    Without workers, where there is little to import and no limit of memory, and for what only this process can
    read, ``here`` imports.
    """

    def __init__(
        self,
        files: Sequence[ListedFile],
        store: SidecarStore,
        here: Import,
        report: Report | None = None,
    ) -> None:
        self._store = store
        self._here = here
        self._changed = threading.Condition()
        self._news: dict[Place, News] = {}
        self._progress = _TotalProgress(files, report)
        self._apart: dict[Place, tuple[ListedFile, str]] = {}
        self._begun = 0
        # A limit of memory is one of a worker: where it is reached, libraries may end their process.
        self._all = store.link is not None or bool(store.settings.max_import_memory_bytes)
        if self._all or (store.settings.workers > 1 and _worthwhile(files)):
            missing = {
                found.location: (found, path)
                for found in files
                if not found.location.in_this_process_only
                and not store.folder().has(path := store.path(found))
            }
            if self._all or _worthwhile([found for found, _ in missing.values()]):
                self._apart = missing

    def take(self, found: ListedFile) -> tuple[Trace, Facts]:
        """One of the files; those behind it are begun.

        Raises:
            ImportFailed: its import ended without a result.
            ProfilerError: as ``here``.
        """
        imported = self._imported(found) if found.location in self._apart else None
        if imported is None:
            imported = self._here(found, self._progress.part(found.location))
        self._progress.share(found.location, 1.0)
        return imported

    def _imported(self, found: ListedFile) -> tuple[Trace, Facts] | None:
        """What a worker made; None where this process has to, such as on a full disk."""
        news = self._wait(found.location)
        if news.code in ("killed", "memory"):
            # Memory may have been short beside other imports, and a kill was not the file's fault.
            file = self._apart[found.location]
            self._store.have_imported(*file, (), self, self._on_news, alone=True)
            news = self._wait(found.location)
        if news.error is not None:
            if news.code in _NOT_THE_FILES_FAULT:
                return None
            raise ImportFailed(news.error)
        path = self._apart[found.location][1]
        try:
            trace, facts, _ = self._store.read(IMPORT, path)
        except SidecarError:
            return None
        if not self._store.settings.use_cache:
            # What is mapped stays readable.
            with contextlib.suppress(OSError):
                os.unlink(path)
        return trace, facts

    def _wait(self, location: Place) -> News:
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
                    done = 1.0 if last.outcome is not None else last.progress or 0.0
                    self._progress.share(each, done)
                self._progress.tell()

    def _begin(self, location: Place) -> None:
        """Hand over files up to so many behind the one that is asked for."""
        ahead = AHEAD_PER_WORKER * self._store.queue.executor.slots(self._store.settings.workers)
        end = list(self._apart).index(location) + 1 + ahead
        for found, path in list(self._apart.values())[self._begun : end]:
            self._store.have_imported(found, path, (self._begun,), self, self._on_news)
            self._begun += 1

    def _on_news(self, pending: PendingJob, news: News) -> None:
        with self._changed:
            self._news[pending.job.location] = news
            self._changed.notify_all()


class _TotalProgress:
    """How far the imports of several files are together, as bytes of the files."""

    def __init__(self, files: Sequence[ListedFile], report: Report | None) -> None:
        self._sizes = {found.location: found.size for found in files}
        self._done: dict[Place, float] = {}
        self._report = report

    def part(self, location: Place) -> Report | None:
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

    def share(self, location: Place, share: float) -> None:
        """How far one of them is, 0 to 1."""
        self._done[location] = max(self._sizes.get(location, 0), 0) * min(share, 1.0)

    def tell(self) -> None:
        """Call the report with what is done of all."""
        if self._report is not None:
            known = all(size >= 0 for size in self._sizes.values())
            whole = sum(self._sizes.values()) if known else None
            self._report(round(sum(self._done.values())), whole)


def _worthwhile(files: Sequence[ListedFile]) -> bool:
    """Whether workers save time."""
    text = sum(text_bytes(found.name, found.size) for found in files)
    return len(files) > 1 and text >= WORTH_BYTES
