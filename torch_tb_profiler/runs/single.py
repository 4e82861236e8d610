"""Traces without a server, one after another, for the API and the command line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from torch_tb_profiler.analysis.efficiency import models
from torch_tb_profiler.errors import BadRequest, NotFound, ProfilerError, SidecarError, SourceError
from torch_tb_profiler.runs.ahead import Ahead
from torch_tb_profiler.runs.derived import Recipe
from torch_tb_profiler.runs.entries import Arrangement, Entry, Key, arrange, run_name
from torch_tb_profiler.runs.import_job import Report, content_version, outcome_of, read
from torch_tb_profiler.runs.insights import INSIGHT
from torch_tb_profiler.runs.model import Opened, State
from torch_tb_profiler.runs.timelines import TIMELINE
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import places, sniff
from torch_tb_profiler.sources.cache_folder import CacheFolder
from torch_tb_profiler.sources.listing import ListedFile, list_files
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.timeline import Timeline
from torch_tb_profiler.units import format_names

T = TypeVar("T")
MOST_NAMED = 16


@dataclass(frozen=True)
class Unreadable:
    """A file without a trace, or a part of a folder that could not be looked at, and why; of what
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
    def text(self) -> str:
        """The path and why, the path once."""
        return (
            self.message if self.message.startswith(self.path) else f"{self.path}: {self.message}"
        )


def load(location: str, settings: Settings, progress: Report | None = None) -> Opened:
    """One trace file with its facts.

    The sidecar of an earlier import is used, and one is written, unless ``settings.use_cache`` is
    off.

    Raises:
        BadRequest: the location is a folder.
        SourceError: it does not exist or cannot be read.
        NotATrace: its content is none.
    """
    found = _file(location)
    entry = Entry("", found.location, found, judged=True)
    trace, facts = _import(settings, found, progress)
    return _opened(entry, [entry], run_name(entry), trace, facts)


def load_all(
    path: str,
    settings: Settings,
    progress: Report | None = None,
    workers: Collection[str] = (),
    beside: bool = False,
) -> Iterator[Opened | Unreadable]:
    """Every trace of a file, a run folder or a logdir, in the catalogue's order, one in memory at a
    time; last the rejected files, and
    what could not be looked at.

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
    home = path if places.scheme_of(path) else places.local_path(path)
    listing = list_files(home)
    if not listing.files and listing.notes:
        raise SourceError(once(listing.notes[0]), "Give a trace file, a run folder or a logdir.")
    entries = [Entry("", home, found) for found in listing.files]
    for entry in entries:
        _judge(entry, named=entry.found.location == home)
    folders: dict[str, list[Entry]] = {}
    for entry in entries:
        folders.setdefault(entry.found.folder, []).append(entry)
    listed = arrange(entries)
    chosen = _of_workers(listed, workers)
    wanted = listed.entries if beside else chosen
    with Ahead(
        [entry.found for entry in wanted.values()], settings, partial(_import, settings), progress
    ) as ahead:
        for (run, worker, span), entry in wanted.items():
            try:
                trace, facts = ahead.take(entry.found)
            except ProfilerError as error:
                entry.fail(error.message)
            except Exception as error:  # one file that nobody foresaw must not hide the others
                entry.fail(f"The import raised {places.words(error)}.")
            else:
                yield _opened(entry, folders[entry.found.folder], run, trace, facts)
                continue
            yield Unreadable(run, worker, span, entry.path, entry.message)
    for entry in entries if not workers else ():
        if entry.state is State.REJECTED:
            yield Unreadable("", "", "", entry.path, entry.message, rejected=True)
    for note in listing.notes if not workers else ():
        yield Unreadable("", "", "", places.shown(home), once(note))


def once(note: str) -> str:
    """A note of a listing in the words of who looks once."""
    return re.sub(r"( \(yet\))?; it is checked regularly\.$", ".", note)


def _of_workers(listed: Arrangement, wanted: Collection[str]) -> dict[Key, Entry]:
    workers = [(run.name, worker) for run in listed.runs for worker in run.workers]
    for word in wanted:
        if not any(word in (worker.name, str(worker.rank)) for _, worker in workers):
            names = list(dict.fromkeys(worker.name for _, worker in workers))
            raise NotFound(
                f"There is no worker {word!r}.",
                f"There are: {format_names(names, MOST_NAMED)}."
                if names
                else "There is none at all.",
            )
    taken = {
        (run, worker.name)
        for run, worker in workers
        if not wanted or worker.name in wanted or str(worker.rank) in wanted
    }
    return {key: entry for key, entry in listed.entries.items() if key[:2] in taken}


def insight_of(opened: Opened, settings: Settings, progress: Report | None = None) -> Insight:
    """The insight of a trace of ``load`` or ``load_all``: that of an earlier call or of the server,
    unless ``settings.use_cache`` is off.

    Raises:
        BadRequest: the user's models file cannot be used.
    """
    from torch_tb_profiler.analysis.insight import build_insight
    from torch_tb_profiler.store import sidecar

    models.load(settings.models)
    return _derived(
        opened,
        settings,
        INSIGHT,
        lambda: build_insight(opened.trace, opened.facts, progress, settings.peaks),
        sidecar.write_insight,
    )


def timeline_of(opened: Opened, settings: Settings, progress: Report | None = None) -> Timeline:
    """The timeline of a trace of ``load`` or ``load_all``, likewise."""
    from torch_tb_profiler.analysis.timeline.build import build_timeline
    from torch_tb_profiler.store import sidecar

    return _derived(
        opened,
        settings,
        TIMELINE,
        lambda: build_timeline(opened.trace, opened.facts, progress),
        sidecar.write_timeline,
    )


def _derived(
    opened: Opened,
    settings: Settings,
    recipe: Recipe[T],
    make: Callable[[], T],
    write: Callable[[Path, T], None],
) -> T:
    try:
        found = _file(opened.span.location) if settings.use_cache else None
    except ProfilerError:
        # The file has gone since it was opened.
        found = None
    if found is None:
        return make()
    return _kept(
        found,
        settings,
        lambda path: Path(recipe.path(str(path), settings)),
        lambda path: recipe.read(str(path)),
        make,
        write,
    )


def _file(location: str) -> ListedFile:
    home = location if places.scheme_of(location) else places.local_path(location)
    listing = list_files(home)
    for found in listing.files:
        if found.location == home or (
            found.path == found.name == places.base_name(home) and len(listing.files) == 1
        ):
            return found
    if places.is_web(home):
        return ListedFile(home, "", places.base_name(home), -1, None, "")
    if not listing.files and listing.notes:
        raise SourceError(
            f"{places.shown(home)} does not exist.", "Give the path or URL of a trace file."
        )
    raise BadRequest(
        f"{places.shown(home)} is a folder, not a trace file.", "Give one of its files."
    )


def _judge(entry: Entry, *, named: bool) -> None:
    """Reject what cannot be a trace; a file that was asked for by its name is tried whatever it is
    called.
    """
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


def _import(settings: Settings, found: ListedFile, progress: Report | None) -> tuple[Trace, Facts]:
    if not settings.use_cache:
        return read(found.location, settings, progress)
    from torch_tb_profiler.store import sidecar

    return _kept(
        found,
        settings,
        lambda path: path,
        sidecar.read,
        lambda: read(found.location, settings, progress),
        lambda path, made: sidecar.write(path, *made),
    )


def _kept(
    found: ListedFile,
    settings: Settings,
    place: Callable[[Path], Path],
    read_kept: Callable[[Path], T],
    make: Callable[[], T],
    write: Callable[[Path, T], None],
) -> T:
    """What an earlier call kept of a file, else made now and kept; ``place``: where, given the path
    of the file's own sidecar.
    """
    cache = CacheFolder(settings)
    try:
        path = place(cache.sidecar(found, content_version(settings)))
        try:
            earlier = read_kept(path)
            cache.touch(path)
            return earlier
        except (SidecarError, OSError):
            made = make()
        # A full disk costs the next call the work and this one nothing.
        with contextlib.suppress(OSError):
            write(path, made)
            cache.trim()
        return made
    finally:
        cache.close()


def _opened(
    entry: Entry, folder: list[Entry], run_title: str, trace: Trace, facts: Facts
) -> Opened:
    """The trace in its place among the files of its folder, as far as they are known by now."""
    entry.settle(outcome_of(trace, facts))
    arrangement = arrange(folder)
    _, worker_name, span_name = arrangement.places[id(entry)]
    run = replace(arrangement.runs[0], name=run_title)
    worker = next(w for w in run.workers if w.name == worker_name)
    span = next(s for s in worker.spans if s.name == span_name)
    return Opened(run, worker, span, trace, facts)
