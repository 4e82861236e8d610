"""A server's live catalogue: the files of the logdirs, imported in the background."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.errors import (
    ImportFailed,
    NotReady,
    ProfilerError,
    SidecarError,
    SidecarMissing,
    SourceError,
)
from torch_tb_profiler.runs.entries import (
    Arrangement,
    Entry,
    Key,
    arrange,
    awaited_of,
    is_of,
    not_ready,
    open_at,
    place_in_order,
    unknown,
)
from torch_tb_profiler.runs.import_job import Outcome
from torch_tb_profiler.runs.memo import limit_results
from torch_tb_profiler.runs.merged_files import key_of, other_parts
from torch_tb_profiler.runs.model import (
    Opened,
    OpenedInsight,
    OpenedRank,
    OpenedTimeline,
    Snapshot,
    Span,
    State,
    snapshot_of,
)
from torch_tb_profiler.runs.products import IMPORT, INSIGHT, TIMELINE, DerivedProduct
from torch_tb_profiler.runs.rank_indexes import copy_indexes, rank_index
from torch_tb_profiler.runs.sidecar_store import PendingJob, SidecarStore
from torch_tb_profiler.runs.waits import Wait, wait_of
from torch_tb_profiler.runs.work_queue import News
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import sniff
from torch_tb_profiler.sources.listing import ListedFile, Search
from torch_tb_profiler.sources.logdirs import parse_logdirs
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.sources.watch import Changes, Watch
from torch_tb_profiler.store.memory import share_freed_memory

if TYPE_CHECKING:
    from torch_tb_profiler.store.insight import Insight

MOST_UNREAD = 3
"""Consecutive unreadable imports before giving up."""
RETRY_SECONDS = 60.0
"""A file that could not be read (permission, network) is tried again after this long."""
PASSING = ("memory", "killed", "no_space")
"""Ends of an import that the file is not to blame for, so that it is tried again."""
MOST_TRIES = 5
"""Imports in a row that end so: the second after a quarter of ``RETRY_SECONDS``, each later one after
four times as long."""


class Catalogue:
    """Everything below some logdirs. All methods may be called from any thread and none waits for
    an import.

    ::

        scanner per logdir ──▶ entries ──▶ sidecar store (queue, processes, sidecars) ──▶ open()
                                  └──▶ snapshot()
    """

    def __init__(
        self,
        logdirs: Mapping[str, Place],
        settings: Settings,
        remarks: Sequence[str] = (),
        *,
        makers: Mapping[str, str] | None = None,
    ) -> None:
        """``logdirs``: by name, as ``parse_logdirs`` gives them; ``remarks``: notes from
        the start; ``makers``: see ``SidecarStore``.
        """
        self.logdirs = {name: place.absolute for name, place in logdirs.items()}
        self._settings = settings
        self._remarks = tuple(remarks)
        self._lock = threading.RLock()
        self._entries: dict[tuple[str, Place], Entry] = {}
        self._notes: dict[str, tuple[str, ...]] = {}
        self._unfinished = set(self.logdirs)
        self._arrangement: Arrangement | None = None
        self._snapshot: Snapshot | None = None
        self._kept_note = ""
        self._closing = False
        self._wake = {name: threading.Event() for name in self.logdirs}
        self._threads: list[threading.Thread] = []
        self.store = SidecarStore(settings, makers)

    @property
    def folders(self) -> list[str]:
        """Paths of the logdirs of this machine."""
        return [place.path for place in self.logdirs.values() if place.is_local]

    def start(self) -> None:
        """Begin to look; returns at once."""
        with self._lock:
            if self._threads or self._closing:
                return
            self.store.keep_clean()
            limit_results()
            share_freed_memory()
            if self.store.link is not None:
                self.store.link.connect()
            for name in self.logdirs:
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
        self.store.close()
        for thread in self._threads:
            thread.join(timeout=5)

    def rescan(self) -> None:
        """Look at the logdirs now."""
        for event in self._wake.values():
            event.set()

    def snapshot(self) -> Snapshot:
        """What is known now; the same object until something changes."""
        with self._lock:
            if self._snapshot is None or self._kept_note != self.store.note:
                self._kept_note = self.store.note
                arrangement = self._arranged()
                listed = (note for name in self.logdirs for note in self._notes.get(name, ()))
                notes = filter(None, (*self._remarks, *listed, self._kept_note, self._disk_note()))
                self._snapshot = snapshot_of(
                    bool(self._unfinished),
                    tuple(place.shown for place in self.logdirs.values()),
                    arrangement.runs,
                    arrangement.files,
                    tuple(notes),
                )
            return self._snapshot

    def _disk_note(self) -> str:
        used = [e for e in self._entries.values() if e.listed and e.state is not State.FAILED]
        waiting = [e.found for e in used if e.state is not State.READY]
        return self.store.disk_note([e.found for e in used], waiting)

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
            trace = self.store.open(IMPORT, path)
        except SidecarError as error:
            self._import_again(entry, path, error)
            raise NotReady(
                f"{entry.path} is imported again: its sidecar is gone.",
                "Wait a moment.",
                progress=0.0,
            ) from None
        entry.unread = 0
        with self._lock:
            arrangement = self._arranged()
        return open_at(arrangement, (run, worker, span), trace, path)

    def timeline(self, run: str, worker: str, span: str) -> OpenedTimeline:
        """An imported trace with its timeline.

        Raises:
            NotFound, NotReady, ImportFailed: as ``open``, and while the timeline is made.
        """
        opened = self.open(run, worker, span)
        timeline = self.store.get(TIMELINE, opened.sidecar)
        return OpenedTimeline(opened, timeline, TIMELINE.id(opened.sidecar, self._settings))

    def made_timeline(self, run: str, worker: str, span: str) -> OpenedTimeline | None:
        """An imported trace with its timeline if that was made before; None while it or the import of its trace is missing."""
        with contextlib.suppress(ProfilerError):
            opened = self.open(run, worker, span)
            if (timeline := self.store.made(TIMELINE, opened.sidecar)) is not None:
                return OpenedTimeline(opened, timeline, TIMELINE.id(opened.sidecar, self._settings))
        return None

    def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        """An imported trace with its insight.

        Raises:
            NotFound, NotReady, ImportFailed: as ``open``, and while the insight is made.
        """
        opened = self.open(run, worker, span)
        return self._with(opened, self.store.get(INSIGHT, opened.sidecar))

    def ask_insight(self, run: str, worker: str, span: str) -> OpenedInsight | float:
        """Without waiting, the trace with its insight, or how far it is, 0 to 1; it is made from now on.

        Raises:
            NotFound, ImportFailed: as ``open``.
        """
        try:
            opened = self.open(run, worker, span)
        except NotReady:
            return 0.0
        insight = self.store.ask(INSIGHT, opened.sidecar)
        return insight if isinstance(insight, float) else self._with(opened, insight)

    def ask_ranks(
        self, run: str, names: Sequence[tuple[str, str]]
    ) -> list[OpenedRank | float | ProfilerError]:
        """The rank index of each (worker, span), else how far it is, 0 to 1, or why there is none. Missing ones are made
        from now on; no trace is opened where an index is there.
        """
        keys = [(run, worker, span) for worker, span in names]
        with self._lock:
            entries = self._arranged().entries
        for entry in (entries[key] for key in keys if key in entries):
            self._look_at(entry)
        with self._lock:
            # What was just looked at may have told its rank: arranged once for all of them.
            arrangement = self._arranged()
        asked = (arrangement.entries.get(key) for key in keys)
        copy_indexes(self.store, [entry.sidecar for entry in asked if entry and entry.sidecar])
        return [self._ask_rank(arrangement, key) for key in keys]

    def waiting(
        self, product: DerivedProduct[Any], places: Sequence[Key], *, beside: bool = False
    ) -> tuple[Wait, Span]:
        """How far something is that is made of some traces, and the span of the first of them; nothing is opened or begun.
        ``beside``: also of those that were recorded together with the first one.

        Raises:
            NotFound, NotReady: there is no such trace, or not yet.
            ImportFailed: the first one could not be imported, or it could not be made of that.
        """
        with self._lock:
            entries = [self._named(*place) for place in places]
            if isinstance(failed := not_ready(entries[0]), ImportFailed):
                raise failed
            arrangement = self._arranged()
            run, worker, span = arrangement.located[places[0]]
            if beside:
                keys = ((run.name, w.name, s.name) for w, s in run.beside(worker, span))
                others = (arrangement.entries[key] for key in keys)
                entries += [entry for entry in others if entry is not entries[0]]
        if failure := self.store.failure(product, entries[0].sidecar):
            raise ImportFailed(failure)
        return wait_of(
            product.name, [awaited_of(entry, self.store, product) for entry in entries]
        ), span

    def _ask_rank(self, arrangement: Arrangement, key: Key) -> OpenedRank | float | ProfilerError:
        try:
            with self._lock:
                if (entry := arrangement.entries.get(key)) is None:
                    raise self._not_found(*key)
                self._expect_ready(entry)
                sidecar = entry.sidecar
            try:
                index = rank_index(self.store, sidecar)
            except SidecarError as error:
                # What was damaged is removed, and made again when it is asked for once more.
                if not self.store.folder().has(sidecar):
                    self._import_again(entry, sidecar, error)
                return 0.0
        except NotReady:
            return 0.0
        except ProfilerError as error:
            return error
        if isinstance(index, float):
            return index
        return OpenedRank(*arrangement.located[key][1:], index, INSIGHT.id(sidecar, self._settings))

    def _with(self, opened: Opened, insight: Insight) -> OpenedInsight:
        return OpenedInsight(opened, insight, INSIGHT.id(opened.sidecar, self._settings))

    def _import_again(self, entry: Entry, path: str, error: SidecarError) -> None:
        with self._lock:
            if entry.sidecar != path or entry.state is not State.READY:
                return
            entry.unread += not (entry.written and isinstance(error, SidecarMissing))
            if entry.unread > MOST_UNREAD:
                words = f"What its imports write cannot be read: {error.message.rstrip('.')}."
                self._fail(entry, f"{words} Was the program updated while it runs?", "raised")
                self._changed()
                raise ImportFailed(entry.message, "Start it anew.") from None
            self._submit(entry)
            self.store.queue.promote(path)

    def _ready(self, run: str, worker: str, span: str) -> tuple[Entry, str]:
        """The entry of a name and its sidecar, if its import is done."""
        with self._lock:
            entry = self._named(run, worker, span)
        self._look_at(entry)
        with self._lock:
            entry = self._named(run, worker, span)
            self._expect_ready(entry)
            return entry, entry.sidecar

    def _look_at(self, entry: Entry) -> None:
        """Find out whether an earlier import is there, if the scanner has listed a file and not come to it yet."""
        if entry.state is State.WAITING and entry.pending is None and entry.found.location.is_local:
            self._accept(entry.root, entry.found)

    def _named(self, run: str, worker: str, span: str) -> Entry:
        entry = self._arranged().entries.get((run, worker, span))
        if entry is None:
            raise self._not_found(run, worker, span)
        return entry

    def _expect_ready(self, entry: Entry) -> None:
        why = not_ready(entry)
        if isinstance(why, NotReady) and entry.pending is not None:
            self.store.queue.promote(entry.pending.job.key)
        if why is not None:
            raise why

    def _not_found(self, run: str, worker: str, span: str) -> ProfilerError:
        if self._unfinished:
            return NotReady(
                "The logdir is being read for the first time.", "Wait a moment.", progress=0.0
            )
        return unknown(self._arranged().entries, (run, worker, span))

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
        """Look once, and enter what is found as it is found; whether a file is growing."""
        changes, notes = Changes((), (), ()), tuple[str, ...]()
        try:
            search = Search(self.logdirs[name], self._settings.max_scan_seconds)
            for files in search:
                if files:
                    self._enter(name, watch.look(files, lambda place: False))
                if self._closing:
                    return False
            listing = search.listing()
            notes = (*listing.notes, *listing.remarks)
            # What was known stays where it may be there and was not reached this time.
            changes = watch.look(listing.files, lambda place: listing.whole or place.is_gone)
        except Exception as error:  # a scanner that ends would leave the page blind
            # What was known stays: the place may only be away for a moment.
            notes = (
                f"{error.message} {error.hint}"
                if isinstance(error, ProfilerError)
                else f"The logdir could not be read: {words(error)}.",
            )
        with self._lock:
            if self._notes.get(name) != notes:
                self._notes[name] = notes
                self._snapshot = None
            again = self._retries(name)
        if name in self._unfinished:
            with contextlib.suppress(OSError):  # each file says it for itself
                self.store.folder().trim()
        self._enter(name, changes, again)
        with self._lock:
            if name in self._unfinished:
                self._unfinished.discard(name)
                self._snapshot = None
        return bool(changes.growing)

    def _enter(self, name: str, changes: Changes, again: Sequence[ListedFile] = ()) -> None:
        """Take what changed into the catalogue, and begin with what is whole and with what is tried ``again``."""
        with self._lock:
            self._take(name, changes)
        for found in (*changes.whole, *again):
            if self._closing:
                break
            self._accept(name, found)

    def _take(self, name: str, changes: Changes) -> None:
        for location in changes.removed:
            if (entry := self._entries.get((name, location))) is not None:
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
            entry = self._entries[key] = Entry(name, self.logdirs[name], found, state)
            entry.judged = known is not None and known.judged
            if state is State.GROWING:
                entry.message = "Still being written; it is imported when it is whole."
            self._changed()

    def _let_go(self, entry: Entry) -> None:
        """Forget a file, with the ranks in it."""
        for found in (entry.found, *entry.parts):
            if (each := self._entries.pop(key_of(entry.root, found), None)) is None:
                continue
            if each.pending is not None:
                self.store.leave(each.pending, each)
            if each.sidecar:
                self.store.drop(each.sidecar)

    def _retries(self, name: str) -> list[ListedFile]:
        mine, now = (e for e in self._entries.values() if e.root == name), time.monotonic()
        due = [e for e in mine if e.retry_at is not None and e.retry_at <= now]
        for entry in due:
            entry.retry_at, entry.state = None, State.WAITING
        return [e.found for e in due]

    def _accept(self, name: str, found: ListedFile) -> None:
        """Use the sidecar of a whole file, or reject the file by its content, or queue its import."""
        if (entry := self._waiting(name, found)) is None:
            return
        with entry.looking:
            if self._waiting(name, found) is not entry:
                return
            sidecar, outcome, parts = "", None, list[ListedFile]()
            try:
                sidecar = self.store.path(found)
                outcome, message, code = _examine(self.store, entry, sidecar)
            except Exception as error:  # one file that nobody foresaw must not end the scanner
                message, code = f"The file could not be read: {words(error)}.", "raised"
            with self._lock:
                if self._waiting(name, found) is not entry or self._closing:
                    return
                entry.sidecar = sidecar
                if outcome is not None:
                    parts = self._settle(entry, outcome)
                elif message:
                    self._fail(entry, message, code)
                else:
                    entry.judged = True
                    self._submit(entry)
                self._changed()
        for part in parts:
            self._accept(name, part)

    def _settle(self, entry: Entry, outcome: Outcome) -> list[ListedFile]:
        """Enter an import, and the further ranks of its file, which are returned."""
        entry.settle(outcome)
        entry.written = self.store.folder().has(entry.sidecar)
        entry.parts = other_parts(entry.found, outcome.parts)
        for found in entry.parts:
            part = Entry(entry.root, entry.home, found, judged=True)
            self._entries.setdefault(key_of(entry.root, found), part)
        return entry.parts

    def _waiting(self, name: str, found: ListedFile) -> Entry | None:
        """The entry of a file in this content, if nobody imports it yet."""
        with self._lock:
            entry = self._entries.get(key_of(name, found))
            if entry is None or entry.found != found or entry.pending is not None:
                return None
            return entry if entry.state is State.WAITING else None

    def _submit(self, entry: Entry) -> None:
        entry.state, entry.message, entry.progress = State.WAITING, "", 0.0
        self._changed()
        # One file may be seen through several logdirs; it is imported once.
        entry.pending = self.store.have_imported(
            entry.found,
            entry.sidecar,
            place_in_order(entry),
            entry,
            partial(self._on_news, entry),
            alone=entry.tries > 0,
        )

    def _fail(self, entry: Entry, message: str, code: str) -> None:
        pause = RETRY_SECONDS if code in ("source_error", "missing_driver", "no_room") else None
        if code in PASSING and entry.tries < MOST_TRIES - 1:
            pause = RETRY_SECONDS * 4.0 ** (entry.tries - 1)
            entry.tries += 1
            message += " It is tried again."
        entry.fail(message, is_trace=code != "not_a_trace")
        entry.retry_at = None if pause is None else time.monotonic() + pause

    def _on_news(self, entry: Entry, pending: PendingJob, news: News) -> None:
        """Called by the queue's threads."""
        parts: list[ListedFile] = []
        with self._lock:
            if entry.pending is not pending or self._closing:
                return
            outcome = Outcome(**news.outcome) if news.outcome is not None else None
            if outcome is not None and is_of(outcome.identity, entry.found):
                parts = self._settle(entry, outcome)
            elif outcome is not None:
                self._fail(entry, "The file changed before it was read.", "source_error")
            elif news.error is not None:
                self._fail(entry, news.error, news.code)
            else:
                entry.state = State.IMPORTING
                entry.progress = news.progress if news.progress is not None else 0.0
            self._changed()
        for part in parts:
            self._accept(entry.root, part)


def catalogue_of(
    logdir: str | None,
    settings: Settings,
    logdir_spec: str | None = None,
    remarks: Sequence[str] = (),
) -> Catalogue:
    """The catalogue of ``--logdir`` or ``--logdir_spec``; ``start()`` begins to read."""
    return Catalogue(parse_logdirs(logdir, logdir_spec), settings, remarks)


def _examine(store: SidecarStore, entry: Entry, sidecar: str) -> tuple[Outcome | None, str, str]:
    """The earlier import of a file, else why it is not to be imported, in words and as a code; nothing where it is."""
    if store.settings.use_cache:
        try:
            outcome = store.outcome(sidecar)
            if is_of(outcome.identity, entry.found):
                return outcome, "", ""
        except SidecarError:
            pass
        except SourceError as error:  # the cache is at a URL
            return None, error.message, error.code
    if entry.found.size == 0:
        return None, "The file is empty.", "not_a_trace"
    try:
        # The import looks at the content itself; a name that claims a trace is listed without
        # waiting for that.
        reason = None if entry.name.by_handler else sniff.rejection(entry.found.location)
    except SourceError as error:
        return None, error.message, error.code
    return None, reason or "", "not_a_trace"
