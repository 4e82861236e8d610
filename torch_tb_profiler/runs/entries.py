"""The files of the catalogue, and how they make up runs, workers and spans."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.errors import ImportFailed, NotFound, NotReady
from torch_tb_profiler.runs.import_job import Outcome
from torch_tb_profiler.runs.jobs import KnownFile, decide, moment_of
from torch_tb_profiler.runs.merged_files import SECOND_OF_JAX, Recording, copies, name_of_part
from torch_tb_profiler.runs.model import Opened, Run, SeenFile, Span, State, Worker
from torch_tb_profiler.runs.products import DerivedProduct, OpenTrace
from torch_tb_profiler.runs.sidecar_store import PendingJob, SidecarStore
from torch_tb_profiler.runs.waits import PHASES, Awaited, Phase
from torch_tb_profiler.sources import names
from torch_tb_profiler.sources.identity import agrees
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import defects
from torch_tb_profiler.units import format_count
from torch_tb_profiler.untrusted import readable

Key = tuple[str, str, str]
"""(run, worker, span)."""
_OF_CAPTURES = (
    "A recording of graph captures: it names the kernels that the traces of its run replay."
)
_UNKNOWN = (
    "There is no run {0!r}; there are {count}: {known}.",
    "Run {0!r} has no worker {1!r}; it has {known}.",
    "Worker {1!r} of run {0!r} has no span {2!r}; it has {known}.",
)


@dataclass(eq=False)
class Entry:
    """One file of a logdir and what became of it; changed only under the catalogue's lock.

    ``root``: name of the logdir it was found in, and ``home`` where that lies. ``pending`` is the import
        that is queued or runs. ``outcome``: what the file says; it stays while the
        same content is imported again. ``unread``: imports in a row whose sidecar could not be read; ``written``:
        whether the last import left one, so that one that is missing since was removed;
        ``tries``: those that failed for a cause that may have passed by now. ``parts``: the further ranks
        in the file, each with an entry of its own.
    """

    root: str
    home: Place
    found: ListedFile
    state: State = State.WAITING
    message: str = ""
    progress: float = 0.0
    outcome: Outcome | None = None
    sidecar: str = ""
    pending: PendingJob | None = None
    unread: int = 0
    written: bool = False
    tries: int = 0
    retry_at: float | None = None
    judged: bool = False
    parts: list[ListedFile] = field(default_factory=list)
    looking: threading.Lock = field(default_factory=threading.Lock)
    """Held while somebody looks for an earlier import; others wait for what that finds."""
    name: names.TraceName = field(init=False)

    def __post_init__(self) -> None:
        self.name = self._called(self.found.part)
        if self.found.captures:
            self.state, self.message = State.REJECTED, _OF_CAPTURES

    def _called(self, part: str) -> names.TraceName:
        folder, file = self.found.folder, self.found.name
        name = names.parse(file, folder) or names.TraceName(file, "", "", folder)
        return name_of_part(name, part) if part else name

    @property
    def listed(self) -> bool:
        """Whether the file stands in a run: its name or its content says that it is a trace."""
        return self.state is not State.REJECTED and (self.name.by_handler or self.judged)

    @property
    def path(self) -> str:
        """Path for people: below the logdir's name if it has one; for web servers the URL."""
        if self.found.location.is_web:
            return self.found.location.shown
        return f"{self.root}/{self.found.path}" if self.root else self.found.path

    def settle(self, outcome: Outcome) -> None:
        """The import is there."""
        self.outcome, self.state, self.progress, self.judged = outcome, State.READY, 1.0, True
        self.pending, self.tries = None, 0
        self.name = self._called(outcome.part)
        self.message = _partial(outcome, self.found.size)

    def fail(self, message: str, *, is_trace: bool = True) -> None:
        """The import failed; a file that neither by name nor content is a trace is rejected."""
        self.state = State.FAILED if is_trace or self.name.by_handler else State.REJECTED
        # Locations may lie outside what people were shown, and URLs may hold secrets.
        self.message = readable(message.replace(self.found.location.text, self.path))
        self.pending, self.progress = None, 0.0


def is_of(identity: str, found: ListedFile) -> bool:
    """Whether a trace was read from a file as it was listed; also where that is not known."""
    if not identity or found.modified_ns is None or not found.location.is_local:
        return True
    return agrees(identity, found.size, found.modified_ns)


def _partial(outcome: Outcome, size: int) -> str:
    at = f", at byte {format_count(size)}" if size >= 0 else ""
    if outcome.defects.get(defects.TRUNCATED_GZIP):
        return (
            f"The compressed stream ends early or is damaged (the file has {format_count(size)} bytes);"
            " everything before that is used."
        )
    if outcome.defects.get(defects.TRUNCATED):
        return f"The file ends in the middle of the trace{at}; everything before the cut is used."
    return ""


def run_name(entry: Entry) -> str:
    """``folder`` below the logdir's name; for files in the logdir itself, the logdir's own."""
    if entry.name.run:
        return f"{entry.root}/{entry.name.run}" if entry.root else entry.name.run
    if entry.root:
        return entry.root
    home = entry.home
    if entry.found.location == home:
        home = home.parent
    return home.name or home.shown


class Arrangement(msgspec.Struct, frozen=True):
    """Runs in natural order of their names, all files, and the entry behind each name."""

    runs: tuple[Run, ...]
    files: tuple[SeenFile, ...]
    entries: Mapping[Key, Entry]
    places: Mapping[int, Key]
    """``id`` of an entry → where it stands."""
    located: Mapping[Key, tuple[Run, Worker, Span]]
    aside: Mapping[int, str]
    """``id`` of an entry that is a copy of others → what to say of it."""


def arrange(entries: Iterable[Entry]) -> Arrangement:
    """Put files into runs as their folders tell, and into workers and spans as ``runs/jobs.py`` decides."""
    folders: dict[tuple[str, str], list[Entry]] = {}
    everything = list(entries)
    aside = _copies(everything)
    for entry in everything:
        if entry.listed and id(entry) not in aside:
            folders.setdefault((entry.root, entry.name.run), []).append(entry)
    # Folders first: a run of the logdir's own files gives way where a folder has the same name.
    order = sorted(folders, key=lambda k: (k[1] == "", names.natural(k[0]), names.natural(k[1])))
    titles = dict(zip(order, names.unique(run_name(folders[k][0]) for k in order), strict=True))
    runs, index, where = [], {}, {}
    for folder in sorted(order, key=lambda k: names.natural(titles[k])):
        run, placed = _run(titles[folder], folders[folder])
        runs.append(run)
        index.update(placed)
        where.update({id(e): k for k, e in placed.items()})
    files = tuple(
        _seen(e, where.get(id(e)), aside.get(id(e), ""))
        for e in _once_per_file(sorted(everything, key=lambda e: names.natural(e.path)), aside)
    )
    located = {
        (run.name, worker.name, span.name): (run, worker, span)
        for run in runs
        for worker in run.workers
        for span in worker.spans
    }
    return Arrangement(tuple(runs), files, index, where, located, aside)


def _copies(entries: Sequence[Entry]) -> dict[int, str]:
    """By ``id`` the entries that are copies of others, and what to say of them."""
    known = [(e, e.outcome) for e in entries if e.outcome is not None]
    if not any(o.part or SECOND_OF_JAX.fullmatch(e.found.name) for e, o in known):
        return {}
    found = copies(
        [
            Recording(
                e.found,
                (e.root, e.name.run),
                e.name.recording,
                o.part,
                o.parts,
                o.work,
                o.begin,
                o.events,
            )
            for e, o in known
        ]
    )
    return {id(known[number][0]): said for number, said in found.items()}


def _once_per_file(entries: Iterable[Entry], aside: Mapping[int, str]) -> list[Entry]:
    """The entries, of those of one file that are copies the first alone."""
    first: dict[Place, Entry] = {}
    return [
        entry
        for entry in entries
        if id(entry) not in aside or first.setdefault(entry.found.location, entry) is entry
    ]


def open_at(arrangement: Arrangement, key: Key, trace: OpenTrace, sidecar: str) -> Opened:
    """An imported trace in its place.

    Raises:
        NotFound: there is none of that name.
    """
    if key not in arrangement.located:
        raise NotFound("The trace was removed a moment ago.", "Choose another one.")
    return Opened(*arrangement.located[key], *trace, sidecar)


def unknown(known: Iterable[Key], asked: Key) -> NotFound:
    """That there is no such run, worker or span, and which there are."""
    keys = list(known)
    for depth, name in enumerate(asked):
        there = {key[depth] for key in keys if key[:depth] == asked[:depth]}
        if name not in there:
            break
    message = _UNKNOWN[depth].format(
        *asked, count=len(there), known=_few(sorted(there, key=names.natural))
    )
    return NotFound(message, "Choose one of the list.")


def _few(texts: Iterable[str]) -> str:
    listed = list(texts)
    return ", ".join(listed[:5]) + (" ..." if len(listed) > 5 else "") if listed else "none"


def _run(title: str, entries: Sequence[Entry]) -> tuple[Run, dict[Key, Entry]]:
    decision = decide([_known(entry) for entry in entries])
    traced = [p.worker for p in decision.processes if not p.extra and p.rank is not None]
    places = _places(sorted(traced, key=names.natural))
    workers, placed = [], {}
    for process in decision.processes:
        files = _in_order([entries[i] for i in process.files])
        told = [_told(e.name, process.called_after) for e in files]
        spans = tuple(
            _span(e, n, i)
            for i, (e, n) in enumerate(zip(files, names.span_names(told), strict=True))
        )
        name = process.worker
        placed.update({(title, name, s.name): e for s, e in zip(spans, files, strict=True)})
        workers.append(
            Worker(
                name,
                process.rank,
                process.source,
                process.world_size,
                spans,
                process.extra,
                places.get(name, ()),
                process.job,
            )
        )
    workers.sort(
        key=lambda w: (w.extra, w.rank if w.rank is not None else -1, names.natural(w.name))
    )
    synthetic = any(e.outcome.synthetic for e in entries if e.outcome is not None)
    keys = ((title, worker.name, span.name) for worker in workers for span in worker.spans)
    kinds = dict.fromkeys(e.outcome.kind for e in entries if e.outcome is not None)
    run = Run(title, tuple(workers), synthetic, decision.remarks, next(filter(None, kinds), ""))
    return run, {key: placed[key] for key in keys}


def _known(entry: Entry) -> KnownFile:
    known = entry.outcome
    if known is None:
        return KnownFile(entry.name, settled=False)
    return KnownFile(
        entry.name,
        True,
        known.rank,
        known.world_size,
        known.begin,
        known.end,
        tuple((key, begin, end) for key, begin, end in known.collectives),
    )


def _in_order(files: Sequence[Entry]) -> list[Entry]:
    """The recordings of a process by time; by what their names tell where it is not known of all."""
    begins = [e.outcome.begin if e.outcome is not None else None for e in files]
    known = not any(begin is None for begin in begins)
    return sorted(
        files,
        key=lambda e: (
            e.name.extra,
            e.outcome.begin if known and e.outcome is not None and e.outcome.begin else 0,
            names.span_order(e.name),
        ),
    )


def _told(name: names.TraceName, called: str) -> names.TraceName:
    """A name whose recording tells the worker, too, where its process is called otherwise."""
    if name.worker == called:
        return name
    return replace(name, recording="-".join(filter(None, (name.recording, name.worker))))


def _places(workers: Sequence[str]) -> dict[str, tuple[tuple[str, int], ...]]:
    """The places in the job that the names of workers tell, by worker."""
    told = names.places_by_name(workers)
    return {
        worker: tuple((name, place[number]) for name, place in told.items())
        for number, worker in enumerate(workers)
    }


def _span(entry: Entry, name: str, position: int) -> Span:
    outcome = entry.outcome
    return Span(
        name=name,
        label=names.span_label(
            position, name if name != names.UNNAMED_SPAN or entry.name.span else ""
        ),
        path=entry.path,
        location=entry.found.location,
        bytes=max(entry.found.size, 0),
        state=entry.state,
        progress=round(entry.progress, 3),
        message=entry.message,
        events=outcome.events if outcome else None,
        lost=outcome.lost if outcome else None,
        stamp=(entry.found.modified_ns, entry.found.stamp),
        moment=moment_of(entry.name),
        begin=outcome.begin if outcome else None,
        end=outcome.end if outcome else None,
    )


def _seen(entry: Entry, key: Key | None, aside: str) -> SeenFile:
    run, worker, span = key or ("", "", "")
    outcome = entry.outcome
    part = outcome.part if outcome is not None and not aside else ""
    return SeenFile(
        path=f"{entry.path} · {part}" if part else entry.path,
        run=run,
        worker=worker,
        span=span,
        state=State.REJECTED if aside else entry.state,
        reason=aside or entry.message,
        bytes=max(entry.found.size, 0),
        events=outcome.events if outcome else None,
        lost=outcome.lost if outcome else None,
    )


def not_ready(entry: Entry) -> ImportFailed | NotReady | None:
    """Why a file cannot be opened; None if it can."""
    if entry.state is State.READY:
        return None
    if entry.state is State.FAILED:
        return ImportFailed(
            f"{entry.path}: {entry.message}",
            "The diagnosis page lists every file and why it is not shown.",
        )
    if entry.state is State.GROWING:
        return NotReady(
            f"{entry.path} is still being written ({format_count(entry.found.size)} bytes so far).",
            "It is imported when it is whole.",
            progress=0.0,
        )
    word = "is being imported" if entry.state is State.IMPORTING else "waits for its import"
    return NotReady(f"{entry.path} {word}.", "Wait a moment.", progress=round(entry.progress, 3))


def awaited_of(entry: Entry, store: SidecarStore, product: DerivedProduct[Any]) -> Awaited:
    """A file as somebody waits for what is made of its trace; it is not opened."""
    *_, last = PHASES[product.name]
    over = entry.state is State.FAILED or bool(store.failure(product, entry.sidecar))
    if entry.state is State.READY:
        done, made = store.progress(product, entry.sidecar), store.is_made(product, entry.sidecar)
        return Awaited(entry.found.size, last, done is not None, done or 0.0, made, over)
    begun = entry.state is State.IMPORTING
    arranges = begun and entry.progress >= 1
    phase: Phase = "arrange" if arranges else "read"
    done = 0.0 if arranges else entry.progress
    return Awaited(entry.found.size, phase, begun, done, False, over)


def place_in_order(entry: Entry) -> tuple[Any, ...]:
    """Sorts imports by run, worker and span."""
    return (
        names.natural(run_name(entry)),
        names.natural(entry.name.worker),
        names.span_order(entry.name),
    )
