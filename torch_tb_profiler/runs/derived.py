"""What is made of a trace only when somebody asks: in a worker process, kept in a sidecar beside
the trace's own, mapped from then on.

::

    first request ──▶ job ──▶ 0d4f….safetensors ──▶ 0d4f…-1a2b3c4d.timeline.safetensors ──▶ mapped ──▶ every request
                       └─ not done within a second: 202 with the progress
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from torch_tb_profiler.errors import ImportFailed, NotReady, SidecarError
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.jobs import Job, Jobs, News
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import SUFFIX, CacheFolder

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import Facts, Trace

T = TypeVar("T")
NEARLY = 0.99
FIRST_WAIT_SECONDS = 1.0
"""How long a request waits for something to be made before it answers that it is not ready: most is
made in less.
"""


@dataclass(frozen=True)
class Recipe(Generic[T]):
    """One kind of derived sidecar.

    ``word``: its name in file names; ``what``: in messages. ``target``: ``module:function(location,
        sidecar_path, settings, report)`` for a worker process.
    ``read``: maps the file, raises SidecarError. ``code``: folders and files of the package that
        decide what it holds, beside what decides the import.
    ``chosen``: what of the user's settings decides it, beside that.
    """

    word: str
    what: str
    target: str
    read: Callable[[str], T]
    code: tuple[str, ...]
    chosen: Callable[[Settings], str] = lambda settings: ""

    def path(self, sidecar: str, settings: Settings) -> str:
        """Where it is kept, for a trace's sidecar."""
        return f"{sidecar.removesuffix(SUFFIX)}-{_version(self.code, self.chosen(settings))}.{self.word}{SUFFIX}"

    def id(self, sidecar: str, settings: Settings) -> str:
        """A short name of the content: equal only for one content of a file, read and derived by
        one version of the program.
        """
        return f"{Path(sidecar).name.removesuffix(SUFFIX)[:16]}{_version(self.code, self.chosen(settings))}"


@lru_cache(maxsize=8)
def _version(code: tuple[str, ...], chosen: str) -> str:
    """Tells apart programs that would derive something else from the same trace's sidecar: a digest
    of the code that does it, and of the user's choices.
    """
    digest = hashlib.sha256(chosen.encode())
    package = Path(__file__).parents[1]
    for place in (package / name for name in code):
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:8]


def run_build(
    location: str,
    sidecar_path: str,
    report: Report,
    build: Callable[[Trace, Facts, Report], T],
    write: Callable[[str, T], None],
) -> dict[str, Any]:
    """Derive something from the trace whose sidecar is ``location`` and write it to
    ``sidecar_path``. For a worker process.

    Raises:
        SidecarError: the trace's sidecar cannot be used.
        OSError: the derived one could not be written.
    """
    from torch_tb_profiler.store import sidecar
    from torch_tb_profiler.store.memory import give_back_memory, keep_freed_memory

    keep_freed_memory()
    trace, facts = sidecar.read(location)
    write(sidecar_path, build(trace, facts, report))
    give_back_memory()
    return {}


@dataclass(eq=False)
class _Making:
    job: Job
    progress: float = 0.0
    done: bool = False
    error: str = ""


class DerivedShelf(Generic[T]):
    """Derived things by the sidecar of their trace; thread-safe. At most ``mapped`` stay mapped."""

    def __init__(
        self, settings: Settings, recipe: Recipe[T], mapped: int, target: str = ""
    ) -> None:
        """``target`` replaces the recipe's, for tests."""
        self._recipe = recipe
        self._settings = settings
        self._mapped = Memo(max(1, mapped))
        self._changed = threading.Condition()
        self._making: dict[str, _Making] = {}
        self.jobs = Jobs(settings, self._hear, target or recipe.target)

    def get(self, sidecar: str) -> T:
        """What is derived from a trace.

        Raises:
            NotReady: it is being made; ``details["progress"]`` is 0 to 1.
            ImportFailed: it could not be made; told to those who wait for it, or to the next one.
                The call after that tries again.
        """
        path = self._path(sidecar)
        found = self._made(path)
        if found is None:
            self._make(sidecar, path)
            found = self._mapped.get(path, lambda: self._recipe.read(path))
        CacheFolder.touch(path)
        return found

    def made(self, sidecar: str) -> T | None:
        """The same if it was made before; nothing is made now."""
        return self._made(self._path(sidecar))

    def ask(self, sidecar: str) -> float:
        """Have it made without waiting; how far that is, 0 to 1. 1 also where it failed: ``get``
        says why.
        """
        path = self._path(sidecar)
        if self._made(path) is not None:
            return 1.0
        making = self._begin(sidecar, path)
        # All parts may be made and the file not yet written.
        return 1.0 if making.done else min(making.progress, NEARLY)

    def id(self, sidecar: str) -> str:
        """A short name of what is derived from a trace, as it is or would be made now; see
        ``Recipe.id``.
        """
        return self._recipe.id(sidecar, self._settings)

    def close(self) -> None:
        """End what is being made."""
        self.jobs.close()

    def _path(self, sidecar: str) -> str:
        return self._recipe.path(sidecar, self._settings)

    def _made(self, path: str) -> T | None:
        try:
            return self._mapped.get(path, lambda: self._recipe.read(path))
        except SidecarError:
            return None

    def _begin(self, sidecar: str, path: str) -> _Making:
        with self._changed:
            making = self._making.get(path)
            if making is not None:
                return making
            # It may have been finished between the caller's look and here: then nobody makes it,
            # and it is there.
            if self._made(path) is not None:
                return _Making(Job(path, sidecar, path, 0), done=True)
            making = self._making[path] = _Making(Job(path, sidecar, path, 0))
        self.jobs.submit(making.job, ())
        return making

    def _make(self, sidecar: str, path: str) -> None:
        """Return when it lies there."""
        making = self._begin(sidecar, path)
        self.jobs.promote(path)
        with self._changed:
            self._changed.wait_for(lambda: making.done, timeout=FIRST_WAIT_SECONDS)
            if not making.done:
                raise NotReady(
                    f"The {self._recipe.what} is being prepared.",
                    "Wait a moment.",
                    progress=round(making.progress, 3),
                )
            if making.error:
                if self._making.get(path) is making:
                    del self._making[path]
                raise ImportFailed(
                    f"The {self._recipe.what} could not be made: {making.error}",
                    "Try again; TensorBoard's log may say more.",
                )

    def _hear(self, job: Job, news: News) -> None:
        with self._changed:
            making = self._making.get(job.key)
            if making is None or making.job is not job:
                return
            if news.progress is not None:
                making.progress = news.progress
            if news.outcome is not None or news.error is not None:
                making.done, making.error = True, news.error or ""
                if not making.error:
                    del self._making[job.key]
            self._changed.notify_all()
