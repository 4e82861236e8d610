"""Each request ends in time, whatever its answer waits for: a lock, a process, a disk, or its own computing.

::

    request ──▶ a thread makes the answer ──▶ reply
       └── it is late: 202, ask again ──▶ the same question gets what that thread makes
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Any, Generic, TypeVar

from torch_tb_profiler.errors import Busy, NotReady, SidecarError
from torch_tb_profiler.runs.memo import damage_times, look_for_damage

T = TypeVar("T")
SECONDS = 20.0
"""How long a request waits for its answer, and a download for its next piece."""
LATE_SECONDS = 120.0
"""How long a late answer is kept for whoever asks again."""
MOST_LATE = 64
MOST_THREADS = 256
_free = threading.Semaphore(MOST_THREADS)


class _Interrupted(SidecarError):
    """Ends a thread that may never end by itself, because a table changed under it: a parent that is its own child, say."""

    def __init__(self) -> None:
        super().__init__("A file of the cache changed while it was read.", "It is made again.")


class _Making(Generic[T]):
    """One answer in the making."""

    def __init__(self, make: Callable[[], T], ended: Callable[[], None]) -> None:
        self.late_since = 0.0
        self._make, self._ended = make, ended
        self._outcome: list[T] = []
        self._failure: BaseException = _Interrupted()
        self._damages = damage_times()
        self._thread = threading.Thread(target=self._run, name="profiler-answer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome.append(self._make())
        except BaseException as error:  # it is raised where it was asked for
            self._failure = error
        finally:
            self._ended()

    def ends_within(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def interrupt_if_damaged(self) -> None:
        """End the thread where a file was damaged since it began."""
        look_for_damage()
        if damage_times() != self._damages:
            thread = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_Interrupted))

    def outcome(self) -> T:
        if not self._outcome:
            raise self._failure
        return self._outcome[0]

    def let_go(self) -> None:
        """Close an answer that nobody fetched."""
        for outcome in self._outcome:
            with suppress(Exception):
                outcome.close()  # type: ignore[attr-defined]


def _begun(make: Callable[[], T]) -> _Making[T]:
    free = _free
    if not free.acquire(timeout=SECONDS):
        raise Busy("Too many requests are being answered.", "Try again in a moment.")
    return _Making(make, free.release)


class Deadline(Generic[T]):
    """Answers of one kind, each within ``SECONDS``. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._late: dict[Hashable, _Making[T]] = {}

    def answer(self, question: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` returns or raises. A late answer goes to whoever asks the same ``question`` next; with None nobody does.

        Raises:
            NotReady: it is late.
            Busy: it is late and nobody can ask for it again, or too many others are.
        """
        with self._lock:
            work = self._late.pop(question, None)
        work = work or _begun(make)
        if work.ends_within(SECONDS):
            return work.outcome()
        work.interrupt_if_damaged()
        if question is None:
            raise Busy(f"It takes longer than {SECONDS:g} s.", "Try again in a moment.")
        self._keep(question, work)
        raise NotReady("The answer takes long; it is being made.", "Wait a moment.", progress=0.0)

    def _keep(self, question: Hashable, work: _Making[T]) -> None:
        with self._lock:
            now = work.late_since = time.monotonic()
            old = [k for k, late in self._late.items() if late.late_since < now - LATE_SECONDS]
            gone = [self._late.pop(key) for key in old or list(self._late)[MOST_LATE - 1 :]]
            if self._late.setdefault(question, work) is not work:
                gone.append(work)
        for late in gone:
            late.let_go()


def timely(pieces: Iterator[Any]) -> Iterator[Any]:
    """Pieces as they come, each within ``SECONDS``.

    Raises:
        Busy: the next one is late.
    """
    deadline, end = Deadline[Any](), object()
    while (piece := deadline.answer(None, lambda: next(pieces, end))) is not end:
        yield piece
