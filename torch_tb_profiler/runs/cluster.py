"""A Dask cluster behind the queue: its workers do the tasks, and where it cannot be reached,
processes of this machine do.

::

    queue ──▶ ClusterWorker, one per thread of the cluster ──▶ Dask scheduler ──▶ Dask workers
                   │                                                                 └── cluster_task.carry_out
                   └── not reachable ──▶ process of this machine        sidecars on a shared disk or at a URL

Dask runs a task again whose worker was lost, and gives up on one that was lost with several. When
the scheduler itself was lost, the tasks that were not done are submitted again. What is there
already is not made twice (``worker.py``).
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from collections.abc import Generator, Iterator
from typing import Any

from torch_tb_profiler.runs.cluster_link import CONNECT_SECONDS, ClusterLink, Session
from torch_tb_profiler.runs.executor import Death, LocalProcesses, Worker
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.places import Place, words

ARRIVAL_SECONDS = 10.0
"""How long a file may take to appear on a shared disk."""
BEAT_SECONDS = 2.0
"""Between two looks at a task of which nothing is heard."""


class Cluster:
    """The executor of a cluster; see ``Executor``. ``link``: the connection."""

    def __init__(self, settings: Settings, quiet: bool = False, alone: bool = False) -> None:
        """``alone``: nothing is done on this machine, whatever happens to the cluster."""
        self.link = ClusterLink(settings, alone)
        self._local = LocalProcesses(quiet)

    def start(self) -> Worker:
        """A worker that has its tasks done by the cluster; see ``Executor``."""
        self.link.connect()
        return ClusterWorker(self.link, self._local)

    def free_memory(self) -> float:
        """The scheduler sees to it that tasks fit; without it what is free here."""
        return float("inf") if self.link.usable() else self._local.free_memory()

    def slots(self, wanted: int) -> int:
        """As many as the cluster has threads; without it as many as the user wants."""
        session = self.link.usable()
        return max(1, self.link.threads(session)) if session else self._local.slots(wanted)

    def close(self) -> None:
        """Let go of the connection; what runs there goes on to its end."""
        self.link.close()


class ClusterWorker:
    """Has one task after another done by the cluster; see ``Worker``."""

    pid = 0

    def __init__(self, link: ClusterLink, local: LocalProcesses) -> None:
        self.tasks = 0
        self._link = link
        self._start_local = local.start
        self._local: Worker | None = None
        self._killed = threading.Event()
        self._news: queue.Queue[Any] = queue.Queue()

    def run(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Submit a task, again after the scheduler was lost; see ``Worker``."""
        self.tasks += 1
        there = self._link.addressed(task)
        while not self._killed.is_set():
            session = None
            for session in self._link.await_session():
                if session is not None or self._killed.is_set():
                    break
                yield {}
            if session is None:
                break
            answer = yield from self._submit(session, there)
            if answer is not None:
                if answer:
                    yield answer
                return
            self._link.lost(session)
        if self._killed.is_set():
            return
        if self._link.alone:
            yield {"error": self._link.note, "code": "unreachable"}
        else:
            yield from self._here(task)

    def _submit(
        self, session: Session, task: dict[str, Any]
    ) -> Generator[dict[str, Any], None, dict[str, Any] | None]:
        """Yields how far a task is and returns its end; None where the connection was lost."""
        news: queue.Queue[Any] = queue.Queue()
        self._news = session.news[task["id"]] = news
        begun, future = False, None
        try:
            while not self._killed.is_set():
                if not begun and (why := self._link.misfit(session, task["memory"])):
                    return {"error": why, "code": "no_room"}
                if future is None:
                    future = self._link.submit(session, task)
                    future.add_done_callback(lambda _: news.put(None))
                with contextlib.suppress(queue.Empty):
                    progress = news.get(timeout=BEAT_SECONDS)
                    if progress is None:
                        return _end_of(future, task)
                    begun = True
                    yield {"progress": progress}
                if not session.alive:
                    return None
                yield {}
            return {}
        except Exception:
            if session.alive:
                raise
            return None
        finally:
            session.news.pop(task["id"], None)
            if future is not None and session.alive:
                # What runs goes on to its end, which harms nobody; what waits is dropped.
                future.release()

    def _here(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self._local is None:
            self._local = self._start_local()
        yield from self._local.run(task)

    def death(self, size: int) -> Death:
        """Why a process of this machine ended; see ``Worker``."""
        if self._local is None:
            return Death("The task was taken back.", "killed")
        death, self._local = self._local.death(size), None
        return death

    def kill(self) -> None:
        """Take the task back, or end the process of this machine that does it."""
        self._killed.set()
        self._news.put(None)
        if self._local is not None:
            self._local.kill()

    def close(self) -> None:
        """Take the task back or end its process, and let go of that process."""
        self.kill()
        if self._local is not None:
            self._local.close()


def _end_of(future: Any, task: dict[str, Any]) -> dict[str, Any] | None:
    """The last answer to a task; None where it is not known and the task is to be submitted again."""
    status = future.status
    if status == "finished":
        answer: dict[str, Any] = future.result(timeout=CONNECT_SECONDS)
        return _arrived(answer, task)
    if status == "error":
        error = future.exception(timeout=CONNECT_SECONDS)
        if type(error).__name__ == "KilledWorker":
            return {
                "error": "The cluster's worker that did it was lost, again and again: most likely memory"
                " ran out there. Dask's dashboard and the logs of its workers may say more.",
                "code": "killed",
            }
        return {"error": f"The cluster's task raised {words(error)}.", "code": "raised"}
    return None


def _arrived(answer: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    """An answer once its sidecar is seen from here."""
    folder, end = os.path.dirname(task["sidecar"]), time.monotonic() + ARRIVAL_SECONDS
    if "outcome" not in answer or not Place(task["settings"]["cache_dir"]).is_local:
        return answer
    while not os.path.exists(task["sidecar"]):
        if time.monotonic() > end:
            return {
                "error": f"The cluster's worker wrote its result to {folder}, and it is not here: is that"
                " folder on a disk that all machines share? TORCH_TB_PROFILER_CACHE_DIR sets another"
                " one, or a URL.",
                "code": "not_shared",
            }
        with contextlib.suppress(OSError):  # has network file systems look again
            os.listdir(folder)
        time.sleep(0.1)
    return answer
