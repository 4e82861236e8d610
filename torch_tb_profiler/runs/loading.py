"""Traces without a server, one after another, for the API and the command line."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.errors import NotFound, OverLimit, ProfilerError, SidecarError, SourceError
from torch_tb_profiler.runs.entries import Arrangement, Entry, Key, arrange, is_of, open_at
from torch_tb_profiler.runs.import_job import Report, outcome_of, read_parts
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.merged_files import other_parts
from torch_tb_profiler.runs.model import Opened, Run, State, Worker
from torch_tb_profiler.runs.prefetch import ImportPrefetcher
from torch_tb_profiler.runs.products import IMPORT, INSIGHT, TIMELINE, DerivedProduct, OpenTrace
from torch_tb_profiler.runs.sidecar_store import SidecarStore, text_bytes
from torch_tb_profiler.runs.worker import limited_memory
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import names, sniff
from torch_tb_profiler.sources.ascend_folder import TABLE, tables_beside
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder
from torch_tb_profiler.sources.listing import ListedFile, Search
from torch_tb_profiler.sources.places import Place, words
from torch_tb_profiler.units import format_names
from torch_tb_profiler.untrusted import readable

if TYPE_CHECKING:
    from torch_tb_profiler.store.insight import Insight
    from torch_tb_profiler.store.model import Facts, Trace
    from torch_tb_profiler.store.timeline import Timeline

T = TypeVar("T")
MOST_NAMED = 16
PATIENCE_SECONDS = 5.0
"""Of a search that takes longer, complete runs are handed on, and again after each as long."""
HELD_BYTES = 64 << 20
"""Text of traces that stay in memory between their import and their use; others are read again."""


class Unreadable(msgspec.Struct, frozen=True):
    """A file without a trace, or a part of a folder that could not be read, and why; of what
    is in no run ``run``, ``worker`` and ``span`` are empty.

    ``rejected``: neither the file's name nor its content claims to be one.
    """

    run: str
    worker: str
    span: str
    path: str
    message: str
    rejected: bool = False

    @property
    def reason(self) -> str:
        """Why, without the path or its last part before it."""
        before, _, after = self.message.partition(": ")
        named = before and after and f"/{self.path}".endswith(f"/{before}")
        return after if named else self.message

    @property
    def text(self) -> str:
        """The path and why, the path once."""
        named = self.message.startswith(self.path) and self.reason == self.message
        return self.message if named else f"{self.path}: {self.reason}"


class CacheUse(NamedTuple):
    """Where imports are kept, how much that is, and why it is not the folder that was wanted."""

    folder: str
    files: int
    bytes: int
    note: str


def cache_use(settings: Settings) -> CacheUse:
    """The cache folder of some settings as it is now."""
    with closing(CacheFolder(settings)) as cache:
        # Another process may remove some meanwhile.
        sizes = list(filter(None, map(cache.bytes_of, cache.path.glob(f"*{SUFFIX}"))))
        return CacheUse(str(cache.path), len(sizes), sum(sizes), cache.note)


class FoundFiles:
    """The files at a place as they are found. ``notes`` and ``remarks``: of the search, once it has ended."""

    def __init__(self, home: Place, settings: Settings) -> None:
        self._home = home
        self._search = Search(home, settings.max_scan_seconds)
        self.notes: tuple[str, ...] = ()
        self.remarks: tuple[str, ...] = ()

    def groups(self, *, at_once: bool = False) -> Iterator[list[Entry]]:
        """All, those rejected that cannot be traces. Of a search that takes long first those of runs that are complete,
        unless all are wanted ``at_once``.

        Raises:
            SourceError: a remote place cannot be read.
        """
        left, given = list[ListedFile](), set[Place]()
        paused = time.monotonic()
        for files in self._search:
            left += files
            if not at_once and time.monotonic() - paused > PATIENCE_SECONDS:
                if found := _complete(left, self._search.pending):
                    given |= {file.location for file in found}
                    left = [file for file in left if file.location not in given]
                    yield self._judged(found)
                paused = time.monotonic()
        listing = self._search.listing()
        self.notes, self.remarks = listing.notes, listing.remarks
        yield self._judged(file for file in listing.files if file.location not in given)

    def _judged(self, files: Iterable[ListedFile]) -> list[Entry]:
        entries = [Entry("", self._home, found) for found in files]
        for entry in entries:
            _judge(entry, named=entry.found.location == self._home)
        return entries


def _complete(files: Sequence[ListedFile], pending: Iterable[str]) -> list[ListedFile]:
    """Files of runs in which no folder is pending, in natural order; those of the logdir's own run come last of all."""
    waiting = set(map(names.run_of, pending))
    above = {folder for run in waiting for folder in _folders(run)}
    runs = {folder: names.run_of(folder) for folder in {file.folder for file in files}}
    complete = {
        folder
        for folder, run in runs.items()
        if run and run not in above and waiting.isdisjoint(_folders(run))
    }
    found = (file for file in files if file.folder in complete)
    return sorted(found, key=lambda file: names.natural(file.path))


def _folders(path: str) -> Iterator[str]:
    """A folder and all above it, ``""`` the last."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""


def expect_some(entries: Sequence[Entry], notes: Sequence[str]) -> None:
    """Expect that some files were found, or nothing to say why not.

    Raises:
        SourceError: there is nothing at the place, or it cannot be read.
    """
    if not entries and notes:
        raise SourceError(once(notes[0]), "Give a trace file, a run folder or a logdir.")


def runs_at(logdir: Place) -> tuple[tuple[Run, ...], Sequence[str]]:
    """The runs of a logdir as they are listed, without reading a trace, and what could not be listed, in words."""
    found = FoundFiles(logdir.absolute, Settings.from_environment([]))
    (entries,) = found.groups(at_once=True)
    return arrange(entries).runs, found.notes


def computed_from(opened: Opened) -> list[Unreadable]:
    """Files beside a trace that hold what follows from it."""
    above = opened.span.path.rpartition("/")[0]
    return [
        Unreadable("", "", "", "/".join(filter(None, (above, name))), TABLE, rejected=True)
        for name in tables_beside(opened.span.location)
    ]


def load_all(
    path: str,
    settings: Settings,
    progress: Report | None = None,
    workers: Collection[str] = (),
    beside: bool = False,
) -> Iterator[Opened | Unreadable]:
    """Every trace of a file, a run folder or a logdir, in the catalogue's order, one in memory at a
    time; last the rejected files, and
    what could not be read.

    ``settings.workers`` processes import many files; ``progress`` is told by this thread, bytes of
    all of them.

    With ``workers`` those alone, by their names or their ranks as texts, and nothing is said of
    other files; with ``beside`` all that stand beside them too.

    Raises:
        SourceError: there is nothing at the path, or it cannot be read.
        NotFound: there is none of these workers.
    """
    if not path:
        raise SourceError(
            "An empty path names nothing.",
            "Give a trace file, a run folder or a logdir; . is the current folder.",
        )
    home = Place(path).absolute
    found = FoundFiles(home, settings)
    with closing(SidecarStore(settings, quiet=True)) as store:
        loading = _Loading(store, progress)
        for entries in found.groups(at_once=bool(workers)):
            if not loading.entries:
                expect_some(entries, found.notes)
            yield from loading.traces(entries, workers, beside)
    if workers:
        return
    for file in arrange(loading.entries).files:
        if file.state is State.REJECTED:
            yield Unreadable("", "", "", file.path, file.reason, rejected=True)
    shown = readable(path) if home.is_local else home.shown
    for note in found.notes:
        yield Unreadable("", "", "", shown, once(note))
    for remark in found.remarks:
        yield Unreadable("", "", "", shown, remark, rejected=True)


class _Loading:
    """The traces of a path on their way. Whose recordings they are is known once all are imported, so several are all
    imported first, and opened one after another then.
    """

    def __init__(self, store: SidecarStore, progress: Report | None) -> None:
        self.entries: list[Entry] = []
        """With those of further ranks in merged files."""
        self._store = store
        self._progress = progress
        self._prefetcher: ImportPrefetcher | None = None
        self._held: dict[int, tuple[Trace, Facts]] = {}
        self._held_bytes = 0
        self._parts: dict[tuple[Place, str], tuple[Trace, Facts]] = {}
        self._only = False

    def traces(
        self, entries: Sequence[Entry], workers: Collection[str], beside: bool
    ) -> Iterator[Opened | Unreadable]:
        """Those of further files, of some workers, with ``beside`` all. Only where their names alone do not tell the
        workers, others are imported to find them.

        Raises:
            NotFound: there is none of these workers.
        """
        before = {id(entry) for entry in self.entries}
        self.entries += entries
        listed = arrange(self.entries)
        named = _of_workers(listed, workers)
        asked = listed.entries if beside or named is None else named
        first = [entry for entry in asked.values() if id(entry) not in before]
        files = [entry.found for entry in first]
        self._prefetcher = ImportPrefetcher(files, self._store, self._import, self._progress)
        self._only = len(first) == 1
        for entry in first:
            self._settle(entry)
            self._add_parts(entry)
        known = arrange(self.entries)
        chosen = _of_workers(known, workers)
        if chosen is None:
            raise _no_worker(known, workers)
        for key, entry in (known.entries if beside else chosen).items():
            if id(entry) not in before:
                yield self._opened(known, key, entry)

    def _opened(self, known: Arrangement, key: Key, entry: Entry) -> Opened | Unreadable:
        """The trace in its place among all."""
        settled = entry.state is State.READY
        if entry.state is not State.FAILED:
            taken = self._taken(entry)
            if taken is not None:
                if not settled:
                    entry.settle(outcome_of(*taken))
                    known = arrange(self.entries)
                lasting = self._store.folder().lasting
                path = self._store.path(entry.found) if lasting else ""
                return open_at(known, known.places[id(entry)], OpenTrace(*taken, Memo()), path)
        return Unreadable(*key, entry.path, entry.message)

    def _settle(self, entry: Entry) -> None:
        """Learn what a file says, from its earlier import or by importing it now."""
        if self._store.settings.use_cache:
            with suppress(SidecarError, SourceError):
                outcome = self._store.outcome(self._store.path(entry.found))
                if is_of(outcome.identity, entry.found):
                    entry.settle(outcome)
                    return
        if (taken := self._taken(entry)) is None:
            return
        entry.settle(outcome_of(*taken))
        self._held_bytes += text_bytes(entry.found.name, entry.found.size)
        if self._only or self._held_bytes < HELD_BYTES:
            self._held[id(entry)] = taken

    def _add_parts(self, entry: Entry) -> None:
        """The further ranks of a file that several were merged into."""
        for found in other_parts(entry.found, entry.outcome.parts if entry.outcome else ()):
            part = Entry(entry.root, entry.home, found, judged=True)
            self.entries.append(part)
            if (taken := self._parts.pop((found.location, found.part), None)) is not None:
                part.settle(outcome_of(*taken))
                self._held[id(part)] = taken
            else:
                self._settle(part)

    def _taken(self, entry: Entry) -> tuple[Trace, Facts] | None:
        """An import; None where it failed, which the entry says then."""
        if (held := self._held.pop(id(entry), None)) is not None:
            return held
        try:
            if entry.state is State.READY or self._prefetcher is None:
                return self._import(entry.found, None)
            return self._prefetcher.take(entry.found)
        except ProfilerError as error:
            entry.fail(str(error) if isinstance(error, OverLimit) else error.message)
        except Exception as error:  # one file that nobody foresaw must not hide the others
            entry.fail(f"The import raised {words(error)}.")
        return None

    def _import(self, found: ListedFile, progress: Report | None) -> tuple[Trace, Facts]:
        """A file, or one rank in it; what else it holds is kept as well."""
        store, place = self._store, found.location.with_part(found.part)

        def build() -> OpenTrace:
            with limited_memory(store.settings):
                parts = read_parts(place, store.settings, progress)
                first = OpenTrace(*next(parts), Memo())
                for other in parts:
                    part = outcome_of(*other).part
                    self._keep(replace(found, part=part), other)
                return first

        def fits(kept: OpenTrace) -> bool:
            source = kept.trace.source
            return source is None or is_of(source.identity, found)

        if not store.settings.use_cache:
            return build()[:2]
        return store.make_here(IMPORT, store.path(found), build, fits)[:2]

    def _keep(self, found: ListedFile, part: tuple[Trace, Facts]) -> None:
        """A rank of a merged file: in the cache, else in memory until it is used."""
        if self._store.settings.use_cache:
            with suppress(OSError):
                path = self._store.located(self._store.path(found))
                IMPORT.write(path, OpenTrace(*part, Memo()))
                return
        self._parts[(found.location, found.part)] = part


def once(note: str) -> str:
    """A note of a listing in the words of who looks once."""
    return re.sub(r"( \(yet\))?; it is checked regularly\.$", ".", note)


def _of_workers(listed: Arrangement, wanted: Collection[str]) -> dict[Key, Entry] | None:
    """The files of workers by their names or ranks, of all without any; None if one of them is not there."""
    workers = [(run.name, worker) for run in listed.runs for worker in run.workers]
    if any(all(not _is_called(w, word) for _, w in workers) for word in wanted):
        return None
    taken = {
        (run, worker.name)
        for run, worker in workers
        if not wanted or any(_is_called(worker, word) for word in wanted)
    }
    return {key: entry for key, entry in listed.entries.items() if key[:2] in taken}


def _is_called(worker: Worker, word: str) -> bool:
    return word in (worker.name, str(worker.rank))


def _no_worker(listed: Arrangement, wanted: Collection[str]) -> NotFound:
    workers = [worker for run in listed.runs for worker in run.workers]
    word = next(w for w in wanted if not any(_is_called(worker, w) for worker in workers))
    names = list(dict.fromkeys(worker.name for worker in workers))
    return NotFound(
        f"There is no worker {word!r}.",
        f"There are: {format_names(names, MOST_NAMED)}." if names else "There is none at all.",
    )


def insight_of(opened: Opened, settings: Settings) -> Insight:
    """The insight of a trace of ``load_all``: that of an earlier call or of the server,
    unless ``settings.use_cache`` is off.

    Raises:
        BadRequest: the user's models file cannot be used.
    """
    return _derived(opened, settings, INSIGHT)


def timeline_of(opened: Opened, settings: Settings) -> Timeline:
    """The timeline of a trace of ``load_all``, likewise."""
    return _derived(opened, settings, TIMELINE)


def _derived(opened: Opened, settings: Settings, product: DerivedProduct[T]) -> T:
    def build() -> T:
        with limited_memory(settings):
            return product.build(opened.trace, opened.facts, settings, None)

    if not settings.use_cache or not opened.sidecar:
        return build()
    with closing(SidecarStore(settings, quiet=True)) as store:
        return store.make_here(product, product.path(opened.sidecar, settings), build)


def _judge(entry: Entry, *, named: bool) -> None:
    """Reject what cannot be a trace, unless it was ``named`` by the user."""
    if entry.state is State.REJECTED:
        return
    if named or entry.name.by_handler:
        entry.judged = True
        return
    try:
        reason = sniff.rejection(entry.found.location)
    except SourceError as error:
        reason = error.message
    if reason is None:
        entry.judged = True
    else:
        entry.fail(reason, is_trace=False)
