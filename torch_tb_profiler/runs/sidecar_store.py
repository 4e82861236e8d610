"""Keeps what is made of traces: makes it in worker processes when somebody asks, in a sidecar file
that is mapped from then on, and makes it again when the cause of a failure has passed.

::

    trace file ──▶ import ──▶ 0d4f….safetensors ──▶ timeline, insight ──▶ 0d4f…-1a2b3c4d.timeline.safetensors
                     └────── one queue of jobs ─────────┘
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.errors import ImportFailed, NotReady, SidecarError, SourceError
from torch_tb_profiler.runs.executor import Executor, LocalProcesses
from torch_tb_profiler.runs.import_job import Outcome, outcome_of
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.products import (
    DERIVED,
    IMPORT,
    DerivedProduct,
    Product,
    content_version,
    read_head,
)
from torch_tb_profiler.runs.work_queue import Job, News, Priority, WorkQueue
from torch_tb_profiler.runs.worker import FULL
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import DAY_SECONDS, CacheFolder
from torch_tb_profiler.sources.listing import ListedFile
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store import mapped_files
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.untrusted import prepared

if TYPE_CHECKING:
    from torch_tb_profiler.runs.cluster_link import ClusterLink

T = TypeVar("T")
NEARLY = 0.99
FIRST_WAIT_SECONDS = 1.0
"""How long a request waits for something to be made before it answers that it is not ready: most is
made in less.
"""
PROCESS_BYTES = 150 << 20
"""What an import process needs beside half the trace's text (measured, see benchmarks)."""
SHRUNK = 16
"""Bytes of a trace's text per byte of its compressed file, about."""
KEPT_SHARE = 1 / 3
"""Bytes of an import's sidecar per byte of text: 0.19 to 0.49 on the public traces."""
DERIVED_SHARE = 1.0
"""Bytes of a timeline or an insight per byte of the import's sidecar, at most, about."""
DEAD = ("killed", "memory", "died", "hung")
"""Ends of a worker that could not tidy up."""
ALL_MEMORY = float("inf")
DESCRIPTORS_PER_MAP = 8
"""Each map needs a file descriptor; of each kind of sidecar so small a share of all is mapped."""


class PendingJob(msgspec.Struct, eq=False):
    """Something that is being made, or that failed and of which nobody heard yet. ``listeners``: who
    is told what happens, by the queue's threads, and how.
    """

    job: Job
    priority: Priority
    listeners: dict[Hashable, Listener] = msgspec.field(default_factory=dict)
    begun: bool = False
    progress: float = 0.0
    done: bool = False
    error: str = ""
    code: str = ""


Listener = Callable[[PendingJob, News], None]


class SidecarStore:
    """What is made of traces, by the paths of its sidecars in the cache folder that was asked for.
    Thread-safe; one for a server, for one call of the API or for one command.
    """

    def __init__(
        self,
        settings: Settings,
        makers: Mapping[str, str] | None = None,
        *,
        quiet: bool = False,
        alone: bool = False,
    ) -> None:
        """``makers``: product's name → what makes it instead, for tests; ``quiet``: nobody reads
        what worker processes print; ``alone``: a cluster that cannot be reached is not replaced by
        processes of this machine.
        """
        self.settings = settings
        self._makers = makers or {}
        self._changed = threading.Condition()
        self._pending: dict[str, PendingJob] = {}
        self._mapped: dict[str, Memo] = {}
        self._folder: CacheFolder | None = None
        self._folder_lock = threading.Lock()
        self.closed = threading.Event()
        self._failures: dict[str, str] = {}
        self.queue = WorkQueue(settings, self._on_news, _executor(settings, quiet, alone))

    def close(self) -> None:
        """End what is being made, of which nothing half-written is left; what is mapped stays."""
        self.closed.set()
        self.queue.close()
        with self._changed:
            for pending in self._pending.values():
                _remove_parts(Path(pending.job.sidecar))
        with self._folder_lock:
            if self._folder is not None:
                self._folder.close()

    def keep_clean(self) -> None:
        """Remove what was kept of files that are gone, now and once a day, while this is open."""

        def clean() -> None:
            while True:
                with suppress(OSError):
                    self.folder().remove_gone()
                if self.closed.wait(DAY_SECONDS):
                    return

        # On its own: a file system that does not answer holds up nothing else.
        threading.Thread(target=clean, name="profiler-cache", daemon=True).start()

    @property
    def note(self) -> str:
        """Why things are kept in another folder than the one that was asked for, and what is wrong
        with the cluster; else empty.
        """
        folder = self._folder.note if self._folder is not None else ""
        cluster = self.link.note if self.link is not None else ""
        return " ".join(filter(None, (folder, cluster)))

    @property
    def link(self) -> ClusterLink | None:
        """The connection to the cluster that does the work; None if none is asked for."""
        return getattr(self.queue.executor, "link", None)

    def disk_note(self, files: Iterable[ListedFile], waiting: Iterable[ListedFile]) -> str:
        """What is kept of files, and of those of them that are not imported yet, in words, where that is
        more than the folder keeps or half of what its disk has free; else empty.
        """
        kept, more = (
            KEPT_SHARE * sum(text_bytes(found.name, found.size) for found in each)
            for each in (files, waiting)
        )
        limit = self.settings.cache_limit_bytes
        free = self._folder.free() if self._folder is not None else ALL_MEMORY
        note = ""
        if more > free / 2:
            note = (
                f"The imports to come take about {format_bytes(round(more))} of disk, their timelines and analyses as much"
                f" again; {format_bytes(round(free))} are free."
            )
        if kept > limit:
            note += (
                f" All imports take about {format_bytes(round(kept))}, and the cache folder keeps {format_bytes(limit)}: what was"
                " used longest ago is imported again. TORCH_TB_PROFILER_CACHE_LIMIT_BYTES sets the limit."
            )
        return note.strip()

    def folder(self) -> CacheFolder:
        """The cache folder, looked for when it is first needed."""
        with self._folder_lock:
            if self._folder is None:
                self._folder = CacheFolder(self.settings)
            return self._folder

    def path(self, found: ListedFile) -> str:
        """The sidecar of a file's import."""
        sidecar = self.folder().sidecar(found, content_version(self.settings))
        return str(CacheFolder.part_sidecar(sidecar, found.part))

    def located(self, path: str) -> str:
        """Where a sidecar is or is to be written: elsewhere when its folder was full."""
        return str(self._folder.located(path)) if self._folder is not None else path

    def open(self, product: Product[T], path: str) -> T:
        """What lies at a path; it stays mapped.

        Raises:
            SidecarError: it is not there, damaged, or of another version.
        """
        with self._changed:
            most = max(1, min(self.settings.open_traces, descriptors() // DESCRIPTORS_PER_MAP))
            mapped = self._mapped.setdefault(product.name, Memo(most, weighed=False))
        mapped_files.report_changed()
        if mapped_files.take(self.located(path)):
            self.folder().condemn(path)
            mapped.drop(path)
        opened = mapped.get(path, lambda: self.read(product, path))
        CacheFolder.touch(self.located(path))
        return opened

    def read(self, product: Product[T], path: str) -> T:
        """What lies at a path, let go when the caller lets go of it."""
        return self._read(product.read, path)

    def _read(self, read: Callable[[str], T], path: str) -> T:
        location = self._copied(path)
        try:
            return read(location)
        except SidecarError:
            self.folder().discard(path)
            raise

    def outcome(self, path: str) -> Outcome:
        """What an import says of itself, by the header of its sidecar; with a cache at a URL without
        copying that.

        Raises:
            SidecarError: it is not there, or cannot be used.
            SourceError: the cache does not answer.
        """
        told = self.folder().told_of(path)
        if told is not None:
            with suppress(msgspec.ValidationError):
                return msgspec.convert(told, prepared(Outcome))
        return outcome_of(*self._read(read_head, path))

    def is_made(self, product: DerivedProduct[Any], sidecar: str) -> bool:
        """Whether something lies where it is kept that was made of the trace of a sidecar; it is not opened."""
        return self.folder().has(product.path(sidecar, self.settings))

    def progress(self, product: DerivedProduct[Any], sidecar: str) -> float | None:
        """How far the making of something of an imported trace is, 0 to 1; None where it has not begun."""
        with self._changed:
            pending = self._pending.get(product.path(sidecar, self.settings))
        return pending.progress if pending is not None and pending.begun else None

    def failure(self, product: DerivedProduct[Any], sidecar: str) -> str:
        """Why the last try to make something of an imported trace failed; empty where it did not."""
        return self._failures.get(product.path(sidecar, self.settings), "")

    def copy_all(self, paths: Iterable[str]) -> None:
        """Have small sidecars copied here together, where the cache is at a URL."""
        if self.folder().remote is not None:
            # Each is fetched by itself, too, and says then what is wrong.
            with suppress(SourceError, OSError):
                self.folder().copy_all(paths)

    def _copied(self, path: str) -> str:
        folder = self.folder()
        try:
            return str(folder.copied(path))
        except OSError as error:
            if error.errno in FULL and folder.fall_back():
                return str(folder.copied(path))
            raise

    def kept(self, product: Product[T], path: str) -> T | None:
        """What lies at a path, marked as used; None if it is not there."""
        with suppress(SidecarError):
            kept = self.read(product, path)
            CacheFolder.touch(self.located(path))
            return kept
        return None

    def drop(self, path: str) -> None:
        """Let an imported trace go, and what was made of it: its file changed or is gone."""
        paths = {IMPORT.name: path}
        paths |= {product.name: product.path(path, self.settings) for product in DERIVED}
        for name, mapped in self._mapped.items():
            mapped.drop(paths.get(name))
            self._failures.pop(paths.get(name, ""), None)

    def make_here(
        self,
        product: Product[T],
        path: str,
        build: Callable[[], T],
        fits: Callable[[T], bool] = lambda kept: True,
    ) -> T:
        """What was kept, if it ``fits``, else what ``build`` makes in this process, which is then
        kept.
        """
        kept = self.kept(product, path)
        if kept is not None and fits(kept):
            return kept
        with mapped_files.expect_readable():
            built = build()
        # A full disk costs the next call the work and this one nothing.
        with suppress(OSError):
            product.write(self.located(path), built)
            self.folder().trim()
            with suppress(SourceError):
                self.folder().publish(self.located(path))
        return built

    def get(self, product: DerivedProduct[T], sidecar: str) -> T:
        """What is derived from the trace of a sidecar.

        Raises:
            NotReady: it is being made; ``details["progress"]`` is 0 to 1.
            ImportFailed: it could not be made; told to those who wait for it, or to the next one.
                The call after that tries again.
        """
        made = self._derive(product, sidecar)
        if not isinstance(made, PendingJob):
            return made
        self.queue.promote(made.job.key)
        self._wait(product, made)
        return self.open(product, product.path(sidecar, self.settings))

    def made(self, product: DerivedProduct[T], sidecar: str) -> T | None:
        """What was derived from the trace of a sidecar before; nothing is made now."""
        with suppress(SidecarError):
            return self.open(product, product.path(sidecar, self.settings))
        return None

    def ask(self, product: DerivedProduct[T], sidecar: str) -> T | float:
        """Without waiting, what is derived from the trace of a sidecar, or how far its making is, 0 to 1.

        Raises:
            ImportFailed: as ``get``.
        """
        made = self._derive(product, sidecar)
        if isinstance(made, PendingJob):
            # All parts may be made and the file not yet written.
            return self.get(product, sidecar) if made.done else min(made.progress, NEARLY)
        return made

    def have_imported(
        self,
        found: ListedFile,
        path: str,
        priority: Priority,
        owner: Hashable,
        listener: Listener,
        *,
        alone: bool = False,
    ) -> PendingJob:
        """Have a file imported, once for all listeners, who are told until the end. ``alone``: beside
        nothing else, as memory may have been short the last time.
        """
        text = text_bytes(found.name, found.size)
        memory = ALL_MEMORY if alone else PROCESS_BYTES + text / 2
        with self._changed:
            disk = KEPT_SHARE * text
            location = found.location.with_part(found.part)
            pending = self._begin(IMPORT, location, path, found.size, memory, disk, priority)
            pending.listeners[owner] = listener
            return pending

    def have_derived(
        self,
        product: DerivedProduct[Any],
        sidecar: str,
        priority: Priority,
        owner: Hashable,
        listener: Listener,
    ) -> PendingJob:
        """Have something made of an imported trace, likewise."""
        size = self.folder().bytes_of(sidecar)
        with self._changed:
            pending = self._begin_derived(product, sidecar, size, priority)
            pending.listeners[owner] = listener
            return pending

    def leave(self, pending: PendingJob, owner: Hashable) -> None:
        """Tell somebody no more; what nobody waits for is not made."""
        with self._changed:
            pending.listeners.pop(owner, None)
            if not pending.listeners and self._pending.get(pending.job.key) is pending:
                del self._pending[pending.job.key]
                self.queue.cancel(pending.job.key)

    def _begin(
        self,
        product: Product[Any],
        location: Place,
        path: str,
        size: int,
        memory: float,
        disk: float,
        priority: Priority,
    ) -> PendingJob:
        with self._changed:
            pending = self._pending.get(path)
            if pending is None:
                maker = self._makers.get(product.name, product.maker)
                brief = isinstance(product, DerivedProduct)
                where = self.located(path)
                job = Job(path, maker, location, where, size, memory, brief, disk)
                pending = self._pending[path] = PendingJob(job, priority)
                self.queue.submit(job, priority)
            return pending

    def _begin_derived(
        self, product: DerivedProduct[Any], sidecar: str, size: int, priority: Priority = ()
    ) -> PendingJob:
        path, location = product.path(sidecar, self.settings), Place(self.located(sidecar))
        memory, disk = PROCESS_BYTES + 2.0 * size, DERIVED_SHARE * size
        return self._begin(product, location, path, size, memory, disk, priority)

    def _derive(self, product: DerivedProduct[T], sidecar: str) -> T | PendingJob:
        """What is there, else its making, begun where nobody did."""
        if (made := self.made(product, sidecar)) is not None:
            return made
        path = product.path(sidecar, self.settings)
        with self._changed:
            # It may have been finished since that look.
            if path not in self._pending and (made := self.made(product, sidecar)) is not None:
                return made
            return self._begin_derived(product, sidecar, self.folder().bytes_of(sidecar))

    def _wait(self, product: DerivedProduct[Any], pending: PendingJob) -> None:
        """Return when it lies there."""
        with self._changed:
            self._changed.wait_for(lambda: pending.done, timeout=FIRST_WAIT_SECONDS)
            if not pending.done:
                raise NotReady(
                    f"The {product.label} is being prepared.",
                    "Wait a moment.",
                    progress=round(pending.progress, 3),
                )
            if pending.error:
                if self._pending.get(pending.job.key) is pending:
                    del self._pending[pending.job.key]
                if pending.code == SidecarError.code:
                    raise NotReady(
                        f"The trace is imported again, and the {product.label} is made of that: what"
                        " was kept of it is damaged or gone.",
                        "Wait a moment.",
                        progress=0.0,
                    )
                raise ImportFailed(
                    f"The {product.label} could not be made: {pending.error}",
                    "Try again; TensorBoard's log may say more.",
                )

    def _on_news(self, job: Job, news: News) -> None:
        """Called by the queue's threads."""
        if news.code == "no_space" and self._move(job):
            return
        if news.code == SidecarError.code:
            # What it is made of; the worker saw that, this process did not.
            mapped_files.report(job.location.text, "is damaged")
        if news.code in DEAD:
            _remove_parts(Path(job.sidecar))
        ended = news.outcome is not None or news.error is not None
        with self._changed:
            pending = self._pending.get(job.key)
            if pending is None or pending.job is not job:
                return
            pending.begun = True
            pending.progress = news.progress or pending.progress
            self._failures.pop(job.key, None)
            if news.error is not None:
                self._failures[job.key] = news.error
            if ended:
                pending.done, pending.error, pending.code = True, news.error or "", news.code
                if pending.listeners or not pending.error:
                    del self._pending[job.key]
            listeners = list(pending.listeners.values())
            self._changed.notify_all()
        if news.outcome is not None and self._folder is not None:
            self._folder.appeared(job.sidecar)
        for listener in listeners:
            listener(pending, news)
        if news.outcome is not None and self._folder is not None:
            self._folder.trim()

    def _move(self, job: Job) -> bool:
        """Make something in another folder because its own is full; whether there is one."""
        folder = self.folder()
        if Path(job.sidecar).parent == folder.spare or not folder.fall_back(job.disk):
            return False
        with self._changed:
            pending = self._pending.get(job.key)
            if pending is None or pending.job is not job:
                return True
            pending.job = replace(job, sidecar=self.located(job.key))
            self.queue.submit(pending.job, pending.priority)
        return True


def descriptors() -> int:
    """How many files this process may have open."""
    try:
        import resource
    except ImportError:  # Windows, where there is no such limit on maps
        return sys.maxsize
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def _executor(settings: Settings, quiet: bool, alone: bool) -> Executor:
    # What is kept for this process alone, no other machine can write.
    if not settings.scheduler or not settings.use_cache:
        return LocalProcesses(quiet)
    from torch_tb_profiler.runs.cluster import Cluster

    return Cluster(settings, quiet, alone)


def text_bytes(name: str, size: int) -> int:
    """About how long the text of a trace file is, by its name and size; 0 where that is unknown."""
    return max(size, 0) * (SHRUNK if name.lower().endswith((".gz", ".zst")) else 1)


def _remove_parts(sidecar: Path) -> None:
    """What a worker that was ended was just writing; ``store.sidecar`` names it so."""
    for part in sidecar.parent.glob(f"{sidecar.name}.*.part"):
        with suppress(OSError):
            part.unlink()
