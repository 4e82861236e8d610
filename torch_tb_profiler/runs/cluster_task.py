"""What a Dask worker does for ``runs/cluster.py``: it offers its memory to tasks of this program's
version, and has each task done by a process of its own, as the server of one machine does.

::

    scheduler ──▶ thread of a Dask worker ──▶ worker process (runs/worker.py) ──▶ sidecar
                        └── how far it is, every second ──▶ scheduler ──▶ whoever submitted it

Tasks and results are plain values. This module imports no library, so that all may import it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from torch_tb_profiler.runs.code_version import program_version
from torch_tb_profiler.runs.executor import WorkerProcess
from torch_tb_profiler.units import format_bytes

TOPIC = "torch_tb_profiler"
"""Under which the scheduler passes on how far tasks are."""
PROGRESS_SECONDS = 1.0
LOOK_SECONDS = 1.0
"""Between two looks whether a task is still wanted."""
IDLE_SECONDS = 60.0
"""A process without work is ended after this long."""

_idle: list[tuple[float, WorkerProcess]] = []
_idle_lock = threading.Lock()


def resource(version: str) -> str:
    """The Dask resource, in bytes of memory, that a worker with a version of the program offers."""
    return f"torch_tb_profiler {version} bytes"


async def offer(dask_worker: Any) -> dict[str, Any]:
    """Have a Dask worker take tasks up to its memory: its version, memory (bytes) and threads."""
    version, memory = program_version(), dask_worker.memory_manager.memory_limit
    if not memory:
        from distributed.system import MEMORY_LIMIT

        memory = MEMORY_LIMIT
    name = resource(version)
    if dask_worker.state.total_resources.get(name) != memory:
        from distributed.core import Status

        await dask_worker.set_resources(**{name: memory})
        # The scheduler looks at tasks that fitted nowhere only when it hears of a worker anew.
        if dask_worker.status == Status.running:
            dask_worker.status = Status.paused
            dask_worker.status = Status.running
    return {"version": version, "memory": memory, "threads": dask_worker.state.nthreads}


def carry_out(task: dict[str, Any]) -> dict[str, Any]:
    """Have a task done by a process; its last answer (see ``worker.py``): outcome, or error and code."""
    from distributed import get_worker

    dask_worker = get_worker()
    worker, last = _take(), 0.0
    watch = _Watch(worker, task, dask_worker)
    try:
        for answer in watch.answers():
            if "outcome" in answer or "error" in answer:
                _put_back(worker)
                return _placed(answer, dask_worker.address)
            if "progress" in answer and time.monotonic() - last >= PROGRESS_SECONDS:
                last = time.monotonic()
                dask_worker.log_event(TOPIC, {"task": task["id"], "progress": answer["progress"]})
        return _end(worker, watch, task, dask_worker)
    except BaseException:
        worker.close()
        raise


class _Watch:
    """Kills a process that answers nothing for so many seconds, or whose task nobody wants any more."""

    def __init__(self, worker: WorkerProcess, task: dict[str, Any], dask_worker: Any) -> None:
        self.hung = False
        self._worker, self._task, self._dask_worker = worker, task, dask_worker
        self._heard = time.monotonic()
        self._over = threading.Event()

    def answers(self) -> Iterator[dict[str, Any]]:
        """What the process answers to the task."""
        threading.Thread(target=self._watch, name="profiler-watch", daemon=True).start()
        try:
            for answer in self._worker.run(self._task):
                self._heard = time.monotonic()
                yield answer
        finally:
            self._over.set()

    def _watch(self) -> None:
        limit = self._task["settings"]["import_timeout_seconds"]
        while not self._over.wait(min(LOOK_SECONDS, limit / 4)):
            self.hung = time.monotonic() - self._heard > limit
            known = self._dask_worker.state.tasks.get(self._task["id"])
            if self.hung or known is None or known.state == "cancelled":
                self._worker.kill()
                return


def _end(
    worker: WorkerProcess, watch: _Watch, task: dict[str, Any], dask_worker: Any
) -> dict[str, Any]:
    """Why a process ended without an answer."""
    death = worker.death(task["size"])
    worker.close()
    where = f"on the cluster's worker {dask_worker.address}"
    if watch.hung:
        seconds = task["settings"]["import_timeout_seconds"]
        return {
            "error": f"The import made no progress for {seconds:g} s {where} and was stopped."
            " TORCH_TB_PROFILER_IMPORT_TIMEOUT_SECONDS sets how long to wait.",
            "code": "hung",
        }
    if death.code == "memory":
        limit = dask_worker.memory_manager.memory_limit
        has = f", which may use {format_bytes(limit)}" if limit else ""
        return {
            "error": f"The import process {where}{has}, was killed, most likely because memory ran"
            " out. Start workers with more memory, or fewer of them on a machine.",
            "code": "memory",
        }
    return {"error": f"{death.message} It ran {where}.", "code": death.code}


def _placed(answer: dict[str, Any], address: str) -> dict[str, Any]:
    """An answer that says where a file could not be read: it may be there for others."""
    if answer.get("code") in ("source_error", "missing_driver", "no_space"):
        return {**answer, "error": f"{answer['error']} That was on the cluster's worker {address}."}
    return answer


def _take() -> WorkerProcess:
    with _idle_lock:
        while _idle:
            worker = _idle.pop()[1]
            if worker.alive:
                return worker
            worker.close()
    return WorkerProcess(quiet=True)


def _put_back(worker: WorkerProcess) -> None:
    with _idle_lock:
        _idle.append((time.monotonic(), worker))
    timer = threading.Timer(IDLE_SECONDS + 1, _end_idle)
    timer.daemon = True
    timer.start()


def _end_idle() -> None:
    with _idle_lock:
        end = time.monotonic() - IDLE_SECONDS
        gone = [worker for since, worker in _idle if since < end]
        _idle[:] = [(since, worker) for since, worker in _idle if since >= end]
    for worker in gone:
        worker.close()
