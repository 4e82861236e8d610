"""Import and analyse every trace of a logdir, so that whoever looks at it later waits for nothing.

::

    files ──▶ import of each ──▶ insight of each     here, or in a cluster (``settings.scheduler``)
                 └── what is in the cache already is not made again
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Literal

from torch_tb_profiler.errors import BadRequest, NotATrace, SidecarError, SourceError
from torch_tb_profiler.runs.entries import arrange
from torch_tb_profiler.runs.loading import FoundFiles, expect_some, once
from torch_tb_profiler.runs.merged_files import other_parts
from torch_tb_profiler.runs.products import INSIGHT
from torch_tb_profiler.runs.sidecar_store import PendingJob, SidecarStore
from torch_tb_profiler.runs.work_queue import News
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place

LOOK_SECONDS = 0.2
"""Between two reports of how far all is."""
_PASSING = ("killed", "memory")
TraceState = Literal["waiting", "ready", "failed"]


@dataclass
class MadeTrace:
    """One trace and what became of it. ``made``: something was made now, not found in the cache."""

    run: str
    worker: str
    span: str
    path: str
    state: TraceState = "waiting"
    message: str = ""
    made: bool = False


@dataclass(frozen=True)
class Progress:
    """How far all of it is: traces that are ready, failed and in all; workers and threads that do it
    (-1 workers: processes of this machine); the scheduler that was asked for; ``note``: what is wrong
    meanwhile.
    """

    ready: int
    failed: int
    total: int
    workers: int
    threads: int
    scheduler: str | None
    note: str


def make_all(
    path: str,
    settings: Settings,
    report: Callable[[Progress], None] = lambda progress: None,
    *,
    alone: bool = False,
) -> list[MadeTrace]:
    """Every trace below a path, imported and with its insight. ``report`` is called by this thread.
    ``alone``: by the cluster or not at all.

    Raises:
        SourceError: there is nothing at the path, or the cluster cannot be reached.
        NotATrace: no file there looks like a trace.
        BadRequest: nothing that is made would be kept.
    """
    if not settings.use_cache:
        raise BadRequest(
            "The cache is off, so nothing that is imported would be kept.",
            "Unset TORCH_TB_PROFILER_USE_CACHE.",
        )
    found = FoundFiles(Place(path).absolute, settings)
    with closing(SidecarStore(settings, quiet=True, alone=alone)) as store:
        if store.link is not None:
            store.link.await_attempt()
            if alone and store.link.usable() is None:
                raise SourceError(store.link.problem)
        work = _TracesToMake(store)
        for entries in found.groups():
            if not work.traces:
                expect_some(entries, found.notes)
            listed = arrange(entries).entries.items()
            work.begin([(MadeTrace(*key, entry.path), entry.found) for key, entry in listed])
            report(work.progress())
        if not work.traces:
            raise NotATrace(f"{path} holds no trace: no file looks like one.")
        work.notes = tuple(map(once, found.notes))
        while work.pending():
            report(work.progress())
        report(work.progress())
        return work.traces


class _TracesToMake:
    """The traces on their way; told by the queue's threads."""

    def __init__(self, store: SidecarStore) -> None:
        self._store = store
        self._found: list[tuple[MadeTrace, ListedFile]] = []
        self._changed = threading.Condition()
        self._left = 0
        self._disk_note = ""
        self.notes: tuple[str, ...] = ()
        """What the search said."""

    @property
    def traces(self) -> list[MadeTrace]:
        """All of them, with further ranks in merged files."""
        return [trace for trace, _ in self._found]

    def begin(self, found: list[tuple[MadeTrace, ListedFile]]) -> None:
        """Hand further files to the queue, which takes the first ones first."""
        store = self._store
        with self._changed:
            first = len(self._found)
            self._found += found
            self._left += len(found)
            files = [file for _, file in self._found]
        waiting = [file for file in files if not store.folder().has(store.path(file))]
        self._disk_note = store.disk_note(files, waiting)
        for number, (trace, file) in enumerate(found, first):
            path = self._store.path(file)
            if self._store.folder().has(path):
                with suppress(SidecarError, SourceError):
                    self._add_parts(number, trace, file, self._store.outcome(path).parts)
                self._analyse(number, trace, path)
            else:
                trace.made = True
                self._import(number, trace, file, path)

    def pending(self) -> bool:
        """Whether something is still to come, after a short wait."""
        with self._changed:
            if self._left:
                self._changed.wait(LOOK_SECONDS)
            return self._left > 0

    def progress(self) -> Progress:
        """How far all is."""
        states = [trace.state for trace, _ in self._found]
        link = self._store.link
        state = link.state() if link is not None else None
        cluster = state if link is not None and link.usable() else None
        return Progress(
            states.count("ready"),
            states.count("failed"),
            len(states),
            cluster.workers if cluster else -1,
            self._store.queue.executor.slots(self._store.settings.workers),
            state.address if state else None,
            " ".join(filter(None, (self._store.note, self._disk_note, *self.notes))),
        )

    def _import(
        self, number: int, trace: MadeTrace, file: ListedFile, path: str, again: bool = False
    ) -> None:
        def listener(pending: PendingJob, news: News) -> None:
            if news.outcome is not None:
                self._add_parts(number, trace, file, news.outcome.get("parts", ()))
                self._analyse(number, trace, path)
            elif news.code in _PASSING and not again:
                # Memory may have been short beside other imports.
                self._import(number, trace, file, path, again=True)
            elif news.error is not None:
                self._end(trace, news.error.replace(file.location.text, trace.path))

        self._store.have_imported(file, path, (number, 0), self, listener, alone=again)

    def _add_parts(
        self, number: int, trace: MadeTrace, file: ListedFile, parts: Sequence[str]
    ) -> None:
        """The further ranks in a file, whose imports are there."""
        added = [(replace(trace, worker=each.part), each) for each in other_parts(file, parts)]
        with self._changed:
            trace.worker = parts[0] if parts else trace.worker
            self._found += added
            self._left += len(added)
        for part, each in added:
            self._analyse(number, part, self._store.path(each))

    def _analyse(self, number: int, trace: MadeTrace, path: str) -> None:
        if self._store.folder().has(INSIGHT.path(path, self._store.settings)):
            self._end(trace, self._lost(path))
            return
        trace.made = True

        def listener(pending: PendingJob, news: News) -> None:
            if news.outcome is not None:
                self._end(trace, self._lost(path))
            elif news.error is not None:
                self._end(trace, f"The {INSIGHT.label} could not be made: {news.error}")

        self._store.have_derived(INSIGHT, path, (number, 1), self, listener)

    def _lost(self, path: str) -> str:
        """Why what was made of a trace is gone when this process ends; empty where it stays."""
        folder = self._store.folder()
        if all(map(folder.outlasts, (path, INSIGHT.path(path, self._store.settings)))):
            return ""
        return f"What was made of it does not outlast this command. {folder.note}"

    def _end(self, trace: MadeTrace, message: str = "") -> None:
        with self._changed:
            trace.state, trace.message = ("failed", message) if message else ("ready", "")
            self._left -= 1
            self._changed.notify_all()
