"""The live catalogue of a server: what lies in the logdirs, imported in the background, opened on
request.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from torch_tb_profiler.errors import (
    ImportFailed,
    NotFound,
    NotReady,
    ProfilerError,
    SidecarError,
    SourceError,
)
from torch_tb_profiler.runs.derived import DerivedShelf
from torch_tb_profiler.runs.entries import Arrangement, Entry, Key, arrange, run_name
from torch_tb_profiler.runs.import_job import Outcome, content_version
from torch_tb_profiler.runs.insights import INSIGHT
from torch_tb_profiler.runs.jobs import TARGET, Job, Jobs, News
from torch_tb_profiler.runs.model import Opened, OpenedInsight, OpenedTimeline, Snapshot, State
from torch_tb_profiler.runs.shelf import Book, Shelf, outcome_on_disk
from torch_tb_profiler.runs.timelines import TIMELINE
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import names, places, sniff
from torch_tb_profiler.sources.cache_folder import CacheFolder
from torch_tb_profiler.sources.listing import ListedFile, Listing, list_files
from torch_tb_profiler.sources.watch import Changes, Watch

MAPPED_INSIGHTS = 1024
"""Insights that stay mapped: those of the workers of a large run."""
MOST_UNREAD = 3
"""Imports in a row of which nothing can be read, before another one is not tried."""
RETRY_SECONDS = 60.0
"""A file that could not be read (permission, network) is tried again after this long."""


class Catalogue:
    """Everything below some logdirs. All methods may be called from any thread and none waits for
    an import.

    ::

        scanner per logdir ──▶ entries ──▶ jobs (worker processes) ──▶ sidecars ──▶ open()
                                  └──▶ snapshot()
    """

    def __init__(
        self,
        logdirs: Mapping[str, str],
        settings: Settings,
        remarks: Sequence[str] = (),
        *,
        target: str = TARGET,
    ) -> None:
        """``logdirs``: name → path or URL, as ``parse_logdirs`` gives them; ``remarks``: notes from
        the start; ``target``: the import, for tests.
        """
        self._logdirs = {
            n: location if places.scheme_of(location) else places.local_path(location)
            for n, location in logdirs.items()
        }
        self._settings = settings
        self._remarks = tuple(remarks)
        self._lock = threading.RLock()
        self._entries: dict[tuple[str, str], Entry] = {}
        self._imports: dict[str, list[Entry]] = {}
        self._notes: dict[str, tuple[str, ...]] = {}
        self._unfinished = set(self._logdirs)
        self._arrangement: Arrangement | None = None
        self._snapshot: Snapshot | None = None
        self._closing = False
        self._wake = {name: threading.Event() for name in self._logdirs}
        self._threads: list[threading.Thread] = []
        self._shelf = Shelf(settings.open_traces)
        self._cache: CacheFolder | None = None
        self._cache_lock = threading.Lock()
        self.jobs = Jobs(settings, self._hear, target)
        self.timelines = DerivedShelf(settings, TIMELINE, settings.open_traces)
        # Of a large run all are looked at together; they are mapped, not held.
        self.insights = DerivedShelf(settings, INSIGHT, MAPPED_INSIGHTS)

    def start(self) -> None:
        """Begin to look; returns at once."""
        with self._lock:
            if self._threads or self._closing:
                return
            for name in self._logdirs:
                thread = threading.Thread(
                    target=self._scan_for_ever, args=(name,), name="profiler-scanner", daemon=True
                )
                self._threads.append(thread)
                thread.start()

    def close(self) -> None:
        """Stop looking, end the imports; what was opened stays usable."""
        with self._lock:
            self._closing = True
        for event in self._wake.values():
            event.set()
        self.jobs.close()
        self.timelines.close()
        self.insights.close()
        for thread in self._threads:
            thread.join(timeout=5)
        with self._cache_lock:
            if self._cache is not None:
                self._cache.close()

    def rescan(self) -> None:
        """Look at the logdirs now."""
        for event in self._wake.values():
            event.set()

    def snapshot(self) -> Snapshot:
        """What is known now; the same object until something changes."""
        with self._lock:
            if self._snapshot is None:
                arrangement = self._arranged()
                notes = [
                    *self._remarks,
                    *(n for name in self._logdirs for n in self._notes.get(name, ())),
                ]
                if self._cache is not None and self._cache.note:
                    notes.append(self._cache.note)
                shown = tuple(places.shown(location) for location in self._logdirs.values())
                made = Snapshot(
                    "",
                    bool(self._unfinished),
                    shown,
                    arrangement.runs,
                    arrangement.files,
                    tuple(notes),
                )
                self._snapshot = replace(
                    made,
                    version=hashlib.sha256(repr(made).encode("utf-8", "surrogatepass")).hexdigest()[
                        :16
                    ],
                )
            return self._snapshot

    def open(self, run: str, worker: str, span: str) -> Opened:
        """An imported trace with its facts.

        Raises:
            NotFound: there is no such run, worker or span.
            NotReady: it is not imported yet (it is now the next to be); ``details["progress"]`` is
                0 to 1.
            ImportFailed: it could not be imported; the reason is in the message.
        """
        entry, path = self._ready(run, worker, span)
        try:
            book = self._shelf.get(path)
        except SidecarError as error:
            with self._lock:
                if entry.sidecar == path and entry.state is State.READY:
                    entry.unread += 1
                    if entry.unread > MOST_UNREAD:
                        said = (
                            f"{error.message.rstrip('.')}. Was the program updated while it runs?"
                        )
                        self._fail(
                            entry, f"What its imports write cannot be read: {said}", "raised"
                        )
                        self._changed()
                        raise ImportFailed(entry.message, "Start it anew.") from None
                    self._submit(entry)
                    self.jobs.promote(path)
            raise NotReady(
                f"{entry.path} is imported again: its sidecar is gone.",
                "Wait a moment.",
                progress=0.0,
            ) from None
        entry.unread = 0
        if self._cache is not None:
            self._cache.touch(path)
        return _placed(self.snapshot(), (run, worker, span), book)

    def timeline(self, run: str, worker: str, span: str) -> OpenedTimeline:
        """The same with the trace's timeline.

        Raises:
            NotFound, NotReady, ImportFailed: as ``open``, and while the timeline is made.
        """
        opened = self.open(run, worker, span)
        _, path = self._ready(run, worker, span)
        return OpenedTimeline(opened, self.timelines.get(path), self.timelines.id(path))

    def made_timeline(self, run: str, worker: str, span: str) -> OpenedTimeline | None:
        """The same if it was made before; None while it was not, or while the trace is not
        imported.
        """
        try:
            opened = self.open(run, worker, span)
            _, path = self._ready(run, worker, span)
        except ProfilerError:
            return None
        timeline = self.timelines.made(path)
        return (
            OpenedTimeline(opened, timeline, self.timelines.id(path))
            if timeline is not None
            else None
        )

    def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        """The same with the trace's insight.

        Raises:
            NotFound, NotReady, ImportFailed: as ``open``, and while the insight is made.
        """
        opened = self.open(run, worker, span)
        _, path = self._ready(run, worker, span)
        return OpenedInsight(opened, self.insights.get(path), self.insights.id(path))

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float:
        """The same without waiting: the insight, or how far it is, 0 to 1; it is made from now on.
        For the workers beside the asked one.

        Raises:
            NotFound, ImportFailed: as ``open``.
        """
        try:
            opened = self.open(run, worker, span)
            _, path = self._ready(run, worker, span)
        except NotReady:
            return 0.0
        share = self.insights.ask(path)
        return (
            share
            if share < 1.0
            else OpenedInsight(opened, self.insights.get(path), self.insights.id(path))
        )

    def _ready(self, run: str, worker: str, span: str) -> tuple[Entry, str]:
        """The entry of a name and its sidecar, if its import is done."""
        with self._lock:
            entry = self._named(run, worker, span)
            unseen = (
                entry.state is State.WAITING
                and entry.job is None
                and not places.scheme_of(entry.found.location)
            )
        if unseen:
            # The scanner has listed it and not come to it yet: an earlier import may be there
            # already.
            self._accept(entry.root, entry.found)
        with self._lock:
            entry = self._named(run, worker, span)
            self._expect_ready(entry)
            return entry, entry.sidecar

    def _named(self, run: str, worker: str, span: str) -> Entry:
        entry = self._arranged().entries.get((run, worker, span))
        if entry is None:
            raise self._not_found(run, worker, span)
        return entry

    def _expect_ready(self, entry: Entry) -> None:
        if entry.state is State.READY:
            return
        if entry.state is State.FAILED:
            raise ImportFailed(
                f"{entry.path}: {entry.message}",
                "The diagnosis page lists every file and why it is not shown.",
            )
        if entry.state is State.GROWING:
            raise NotReady(
                f"{entry.path} is still being written ({entry.found.size:,} bytes so far).",
                "It is imported when it is whole.",
                progress=0.0,
            )
        if entry.job is not None:
            self.jobs.promote(entry.job.key)
        word = "is being imported" if entry.state is State.IMPORTING else "waits for its import"
        raise NotReady(f"{entry.path} {word}.", "Wait a moment.", progress=round(entry.progress, 3))

    def _not_found(self, run: str, worker: str, span: str) -> ProfilerError:
        if self._unfinished:
            return NotReady(
                "The logdir is being looked at for the first time.", "Wait a moment.", progress=0.0
            )
        known = sorted({r for r, _, _ in self._arranged().entries}, key=names.natural)
        if run not in known:
            return NotFound(
                f"There is no run {run!r}; there are {len(known)}: {_few(known)}.",
                "Choose one of the list.",
            )
        workers = sorted({w for r, w, _ in self._arranged().entries if r == run}, key=names.natural)
        if worker not in workers:
            return NotFound(
                f"Run {run!r} has no worker {worker!r}; it has {_few(workers)}.",
                "Choose one of the list.",
            )
        spans = sorted(
            (s for r, w, s in self._arranged().entries if (r, w) == (run, worker)),
            key=names.natural,
        )
        return NotFound(
            f"Worker {worker!r} of run {run!r} has no span {span!r}; it has {_few(spans)}.",
            "Choose one of the list.",
        )

    def _arranged(self) -> Arrangement:
        if self._arrangement is None:
            self._arrangement = arrange(self._entries.values())
        return self._arrangement

    def _changed(self) -> None:
        self._arrangement = self._snapshot = None

    def _scan_for_ever(self, name: str) -> None:
        watch = Watch(self._settings.settle_seconds)
        while not self._closing:
            begun = time.monotonic()
            self._wake[name].clear()
            growing = self._scan(name, watch)
            # A slow place (a server, a large tree) is not to be looked at all the time.
            pause = max(self._settings.scan_seconds, 3 * (time.monotonic() - begun))
            self._wake[name].wait(min(pause, self._settings.settle_seconds) if growing else pause)

    def _scan(self, name: str, watch: Watch) -> bool:
        """Look once; whether a file is growing."""
        try:
            listing = list_files(self._logdirs[name])
            changes = watch.look(listing.files)
        except Exception as error:  # a scanner that ends would leave the page blind
            message = (
                f"{error.message} {error.hint}"
                if isinstance(error, ProfilerError)
                else f"The logdir could not be looked at: {places.words(error)}."
            )
            # What was known stays: the place may only be away for a moment.
            listing, changes = Listing((), (message,)), Changes((), (), ())
        with self._lock:
            self._take(name, listing, changes)
            again = self._retries(name)
        with contextlib.suppress(OSError):  # each file says it for itself
            self._cache_folder()
        for found in (*changes.whole, *again):
            if self._closing:
                break
            self._accept(name, found)
        with self._lock:
            if name in self._unfinished:
                self._unfinished.discard(name)
                self._snapshot = None
        return bool(changes.growing)

    def _cache_folder(self) -> CacheFolder:
        # Not under the catalogue's lock: a slow disk must not hold up the list of runs.
        with self._cache_lock:
            if self._cache is None:
                self._cache = CacheFolder(self._settings)
                self._cache.trim()
                self._snapshot = None
            return self._cache

    def _take(self, name: str, listing: Listing, changes: Changes) -> None:
        """Enter one look into the catalogue."""
        if self._notes.get(name) != listing.notes:
            self._notes[name] = listing.notes
            self._snapshot = None
        for location in changes.removed:
            entry = self._entries.pop((name, location), None)
            if entry is not None:
                self._let_go(entry)
                self._changed()
        looked = [(f, State.WAITING) for f in changes.whole] + [
            (f, State.GROWING) for f in changes.growing
        ]
        for found, state in looked:
            key = (name, found.location)
            known = self._entries.get(key)
            if known is not None and known.found == found and known.state is state:
                continue
            if known is not None:
                self._let_go(known)
            entry = self._entries[key] = Entry(name, self._logdirs[name], found, state)
            entry.judged = known is not None and known.judged
            entry.message = (
                "Still being written; it is imported when it is whole."
                if state is State.GROWING
                else ""
            )
            self._changed()

    def _let_go(self, entry: Entry) -> None:
        if entry.job is not None:
            sharing = self._imports[entry.job.key]
            sharing.remove(entry)
            if not sharing:
                del self._imports[entry.job.key]
                self.jobs.cancel(entry.job.key)
        if entry.sidecar:
            self._shelf.drop(entry.sidecar)

    def _retries(self, name: str) -> list[ListedFile]:
        due = [
            e
            for (root, _), e in self._entries.items()
            if root == name and e.retry_at is not None and e.retry_at <= time.monotonic()
        ]
        for entry in due:
            entry.retry_at, entry.state = None, State.WAITING
        return [e.found for e in due]

    def _accept(self, name: str, found: ListedFile) -> None:
        """Use the sidecar of a whole file, or reject the file by its content, or queue its import."""
        with self._lock:
            entry = self._entries.get((name, found.location))
            if (
                entry is None
                or entry.found != found
                or entry.state is not State.WAITING
                or entry.job is not None
            ):
                return
        try:
            sidecar = str(self._cache_folder().sidecar(found, content_version(self._settings)))
            outcome, message, code = self._examine(entry, sidecar)
        except Exception as error:  # one file that nobody foresaw must not end the scanner
            sidecar, outcome, message, code = (
                "",
                None,
                f"The file could not be looked at: {places.words(error)}.",
                "raised",
            )
        with self._lock:
            if (
                self._entries.get((name, found.location)) is not entry
                or entry.state is not State.WAITING
                or entry.job is not None
                or self._closing
            ):
                return
            entry.sidecar = sidecar
            if outcome is not None:
                entry.settle(outcome)
            elif message:
                self._fail(entry, message, code)
            else:
                entry.judged = True
                self._submit(entry)
            self._changed()

    def _examine(self, entry: Entry, sidecar: str) -> tuple[Outcome | None, str, str]:
        outcome = outcome_on_disk(sidecar) if self._settings.use_cache else None
        if outcome is not None:
            return outcome, "", ""
        if entry.found.size == 0:
            return None, "The file is empty.", "not_a_trace"
        try:
            # The import looks at the content itself; a name that claims a trace is listed without
            # waiting for that.
            reason = None if entry.name.by_handler else sniff.rejection(entry.found.location)
        except SourceError as error:
            return None, error.message, error.code
        return None, reason or "", "not_a_trace"

    def _submit(self, entry: Entry) -> None:
        entry.state, entry.message, entry.progress, entry.outcome = State.WAITING, "", 0.0, None
        self._changed()
        # One file may be seen through several logdirs; it is imported once.
        sharing = self._imports.setdefault(entry.sidecar, [])
        entry.job = (
            sharing[0].job
            if sharing
            else Job(entry.sidecar, entry.found.location, entry.sidecar, entry.found.size)
        )
        sharing.append(entry)
        if len(sharing) > 1 or entry.job is None:
            return
        self.jobs.submit(
            entry.job,
            (
                names.natural(run_name(entry)),
                names.natural(entry.name.worker),
                names.span_order(entry.name),
            ),
        )

    def _fail(self, entry: Entry, message: str, code: str) -> None:
        entry.fail(message, is_trace=code != "not_a_trace")
        if code in ("source_error", "missing_driver"):
            entry.retry_at = time.monotonic() + RETRY_SECONDS

    def _hear(self, job: Job, news: News) -> None:
        """Called by the job queue's threads."""
        with self._lock:
            sharing = [e for e in self._imports.get(job.key, ()) if e.job is job]
            if not sharing or self._closing:
                return
            if news.outcome is not None or news.error is not None:
                del self._imports[job.key]
            for entry in sharing:
                if news.outcome is not None:
                    entry.settle(Outcome(**news.outcome))
                elif news.error is not None:
                    self._fail(entry, news.error, news.code)
                else:
                    entry.state = State.IMPORTING
                    entry.progress = news.progress if news.progress is not None else 0.0
            self._changed()
        if news.outcome is not None and self._cache is not None:
            self._cache.trim()


def _placed(snapshot: Snapshot, key: Key, book: Book) -> Opened:
    for run in snapshot.runs:
        for worker in run.workers if run.name == key[0] else ():
            for span in worker.spans if worker.name == key[1] else ():
                if span.name == key[2]:
                    return Opened(run, worker, span, *book)
    raise NotFound("The trace was removed a moment ago.", "Choose another one.")


def _few(texts: Iterable[str]) -> str:
    listed = list(texts)
    return ", ".join(listed[:5]) + (" ..." if len(listed) > 5 else "") if listed else "none"
