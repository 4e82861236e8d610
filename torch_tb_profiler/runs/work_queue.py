"""The one queue of all work on traces, within a budget of cores and memory."""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import msgspec

from torch_tb_profiler.runs.executor import Death, Executor, LocalProcesses, Worker
from torch_tb_profiler.runs.worker import do_task
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.cache_folder import lack_of_room
from torch_tb_profiler.sources.places import Place, words

IDLE_SECONDS = 20.0
"""A worker without work is ended after this long."""
CLOSE_SECONDS = 2.0
"""For workers that were killed to be gone."""

Priority = tuple[Any, ...]


class Job(msgspec.Struct, frozen=True, eq=False):
    """One piece of work: each submission is an object of its own, so that news of an outdated one
    can be told apart.

    ``maker``: ``module:function(location, sidecar, settings, report)``. ``size``: of the file,
        bytes (-1 unknown); ``memory``: what it may need, bytes; ``disk``: what it is to write, about.
    ``brief``: made of an imported trace, in seconds; where somebody waits for it, it runs beside
        imports that fill the budget of cores.
    """

    key: str
    maker: str
    location: Place
    sidecar: str
    size: int
    memory: float = 0.0
    brief: bool = False
    disk: float = 0.0


_Waiting = tuple[Priority, int, Job]


class News(msgspec.Struct, frozen=True):
    """What happened to a job: exactly one of begun, progress, outcome, error is set."""

    begun: bool = False
    progress: float | None = None
    outcome: dict[str, Any] | None = None
    error: str | None = None
    code: str = ""


class QueueCounts(NamedTuple):
    """Jobs that wait and run now, and those that ended since the start of the queue."""

    waiting: int
    running: int
    done: int
    failed: int


class _Running(msgspec.Struct, eq=False):
    job: Job
    heard: float
    worker: Worker | None = None
    cancelled: bool = False
    hung: bool = False

    def cancel(self) -> None:
        self.cancelled = True
        if self.worker is not None:
            self.worker.kill()


class WorkQueue:
    """At most ``settings.workers`` jobs at a time (and one brief one that somebody waits for), the
    smallest priority first, together within the memory that was free when the first of them began;
    one alone always runs. Thread-safe.

    ``tell(job, news)`` is called from the queue's threads; nothing is told of a cancelled job.
    """

    def __init__(
        self,
        settings: Settings,
        tell: Callable[[Job, News], None],
        executor: Executor | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._settings = settings
        self._tell = tell
        self.executor = executor or LocalProcesses()
        self._idle_seconds = idle_seconds
        self._changed = threading.Condition()
        self._waiting: dict[str, _Waiting] = {}
        self._order: list[_Waiting] = []  # a heap, with what was cancelled or promoted since
        self._running: dict[str, _Running] = {}
        self._threads = 0
        self._idle = 0
        self._closed = False
        self._urgent = self._entered = self._done = self._failed = 0
        self._free_memory = 0.0
        self._watchdog: threading.Thread | None = None
        self.started: Counter[str] = Counter()
        """Jobs begun so far, by their makers."""

    def submit(self, job: Job, priority: Priority) -> None:
        """Queue a job; an earlier one with its key is cancelled."""
        self.cancel(job.key)
        with self._changed:
            if self._closed:
                return
            self._enter((1, *priority), job)
            self._staff()
            if self._watchdog is None:
                self._watchdog = threading.Thread(
                    target=self._watch, name="profiler-import-watchdog", daemon=True
                )
                self._watchdog.start()
            # The watchdog waits on the same condition: waking one might wake it and no worker.
            self._changed.notify_all()

    def promote(self, key: str) -> None:
        """Put a waiting job before all others, the last promoted first."""
        with self._changed:
            waiting = self._waiting.get(key)
            if waiting is not None:
                self._urgent += 1
                self._enter((0, -self._urgent), waiting[2])
                self._staff()
                self._changed.notify_all()

    def cancel(self, key: str) -> None:
        """Take a job back; one that runs is ended."""
        with self._changed:
            self._waiting.pop(key, None)
            if (running := self._running.pop(key, None)) is not None:
                running.cancel()

    def counts(self) -> QueueCounts:
        """How much waits, runs and has ended."""
        with self._changed:
            return QueueCounts(len(self._waiting), len(self._running), self._done, self._failed)

    def worker_pids(self) -> dict[str, int]:
        """Key of each job that runs in a process → process id."""
        with self._changed:
            return {key: r.worker.pid for key, r in self._running.items() if r.worker is not None}

    def close(self) -> None:
        """Drop what waits and end every worker; returns when they are gone."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            for running in self._running.values():
                running.cancel()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._threads, timeout=CLOSE_SECONDS)
        self.executor.close()

    def _enter(self, priority: Priority, job: Job) -> None:
        self._entered += 1
        self._waiting[job.key] = (priority, self._entered, job)
        heapq.heappush(self._order, self._waiting[job.key])

    def _staff(self) -> None:
        """Start a thread with a worker of its own where one more job may begin."""
        key = self._first()
        if key is not None and self._idle < len(self._waiting) and self._threads < self._cores(key):
            self._threads += 1
            threading.Thread(target=self._serve, name="profiler-import", daemon=True).start()

    def _first(self) -> str | None:
        """The key of the job that is to begin now; None while there is none, or no room for it."""
        if not self._waiting or self._closed:
            return None
        while self._waiting.get(key := self._order[0][2].key) is not self._order[0]:
            heapq.heappop(self._order)
        if not self._running:
            self._free_memory = self.executor.free_memory()
            return key
        if self._free_memory == float("inf"):  # of a cluster, which may have been lost
            self._free_memory = self.executor.free_memory()
        jobs = [self._waiting[key][2], *(running.job for running in self._running.values())]
        fits = sum(job.memory for job in jobs) <= self._free_memory
        return key if fits and len(self._running) < self._cores(key) else None

    def _cores(self, key: str) -> int:
        """How many jobs may run where a waiting one is among them."""
        (urgency, *_), _, job = self._waiting[key]
        return self.executor.slots(self._settings.workers) + (job.brief and not urgency)

    def _serve(self) -> None:
        worker: Worker | None = None
        running: _Running | None = None
        try:
            while (running := self._next()) is not None:
                worker = self._run(running, worker)
        finally:
            if worker is not None:
                worker.close()
            with self._changed:
                if running is not None:  # an error of our own: _next did not sign this thread off
                    self._threads -= 1
                self._changed.notify_all()

    def _next(self) -> _Running | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(
                lambda: self._closed or self._first() is not None, timeout=self._idle_seconds
            )
            self._idle -= 1
            key = self._first()
            if key is None:
                self._threads -= 1
                return None
            running = self._running[key] = _Running(self._waiting.pop(key)[2], time.monotonic())
            self.started[running.job.maker] += 1
            self._staff()
            return running

    def _run(self, running: _Running, worker: Worker | None) -> Worker | None:
        """Serve one job and return the worker for the next, None when it is gone."""
        self._say(running, News(begun=True))
        try:
            if lack := lack_of_room(running.job.sidecar, running.job.disk):
                news, alive = News(error=lack, code="no_space"), True
            elif self._here_only(running.job):
                news, alive = self._run_here(running), True
            else:
                worker, news = self._run_apart(running, worker)
                alive = worker is not None
        except Exception as error:  # the queue must go on whatever happens to one job
            news = News(
                error=f"The import process could not be used: {words(error)}.", code="raised"
            )
            alive = False
        if not alive and worker is not None:
            worker.close()
        with self._changed:
            if self._running.get(running.job.key) is running:
                del self._running[running.job.key]
            if not running.cancelled:
                self._done += news.error is None
                self._failed += news.error is not None
            # Another thread may have waited for the room.
            self._changed.notify_all()
        self._say(running, news)
        return worker if alive else None

    def _run_apart(self, running: _Running, worker: Worker | None) -> tuple[Worker | None, News]:
        while True:
            if worker is None:
                worker = self.executor.start()
            with self._changed:
                running.worker = worker
                running.heard = time.monotonic()
                if running.cancelled:
                    worker.kill()
            used, begun = worker.tasks > 0, False
            for answer in worker.run(self._task(running.job)):
                begun = True
                running.heard = time.monotonic()
                if "outcome" in answer or "error" in answer:
                    return worker, News(**answer)
                if "progress" in answer:
                    self._say(running, News(progress=_share(*answer["progress"])))
            death = self._hang() if running.hung else worker.death(running.job.size)
            worker.close()
            worker = None
            # A worker that died while it had nothing to do is no fault of this job.
            if begun or not used or running.cancelled:
                return None, News(error=death.message, code=death.code)

    def _here_only(self, job: Job) -> bool:
        cache = Place(self._settings.cache_dir)
        return job.location.in_this_process_only or cache.in_this_process_only

    def _run_here(self, running: _Running) -> News:
        answers: list[dict[str, Any]] = []

        def answer(**message: Any) -> None:
            answers.append(message)
            if "progress" in message:
                self._say(running, News(progress=_share(*message["progress"])))

        do_task(self._task(running.job), answer)
        return News(**answers[-1])

    def _task(self, job: Job) -> dict[str, Any]:
        task = {"maker": job.maker, "location": job.location.text, "sidecar": job.sidecar}
        settings = asdict(self._settings)
        return {**task, "size": job.size, "memory": job.memory, "settings": settings}

    def _hang(self) -> Death:
        seconds = self._settings.import_timeout_seconds
        return Death(
            f"The import made no progress for {seconds:g} s and was stopped."
            " TORCH_TB_PROFILER_IMPORT_TIMEOUT_SECONDS sets how long to wait.",
            "hung",
        )

    def _say(self, running: _Running, news: News) -> None:
        if not running.cancelled:
            self._tell(running.job, news)

    def _watch(self) -> None:
        limit = self._settings.import_timeout_seconds
        with self._changed:
            while not self._closed:
                self._changed.wait(timeout=max(0.02, min(1.0, limit / 4)))
                self._staff()  # a cluster may have grown
                now = time.monotonic()
                for running in self._running.values():
                    worker, silent = running.worker, now - running.heard > limit
                    if worker is not None and silent and not running.hung:
                        running.hung = True
                        worker.kill()


def _share(done: int, total: int | None) -> float:
    return min(1.0, done / total) if total else 0.0
