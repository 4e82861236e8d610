"""Statements of a server or a command, answered one at a time in a process of their own that is ended when it takes too long."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from torch_tb_profiler.errors import BadRequest, Busy, MissingPackage, NotReady, SidecarError
from torch_tb_profiler.runs.executor import WorkerProcess
from torch_tb_profiler.sql.engine import LATE, LESS, Limits, Result
from torch_tb_profiler.store import mapped_files

IDLE_SECONDS = 60.0
"""So long a process waits for the next statement."""
GRACE_SECONDS = 3.0
"""What a statement may take beyond its limit until the process is ended, and what starting one takes."""
_QUEUE_SECONDS = 20.0
_BESIDES = 1 << 30
"""Bytes that a process may allocate beyond what DuckDB counts."""
_PER_BYTE = 4
"""What a byte of an answer takes until it is sent."""
_MAKER = "torch_tb_profiler.sql.child:answer"
_MOST = 200
"""Statements of one process, so that the traces that it has mapped are let go."""
_ERRORS = {kind.code: kind for kind in (BadRequest, Busy, MissingPackage, NotReady, SidecarError)}


class Statements:
    """One process, started by the first statement."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._worker: WorkerProcess | None = None
        self._idle: threading.Timer | None = None

    def ask(
        self,
        sidecar: str,
        insight: str,
        make_insight: Callable[[], Any],
        text: str,
        limits: Limits,
    ) -> Result:
        """The result of a statement on the trace of a sidecar. ``insight``: the sidecar of the insight;
        ``make_insight`` is called if the statement needs that and it is not there yet.

        Raises:
            BadRequest, MissingPackage, SidecarError: as ``engine.run`` does.
            Busy: other statements have run for too long, or the process was killed, and so was the next.
            NotReady: by ``make_insight``.
        """
        question = {"text": text, "insight": insight, "limits": asdict(limits)}
        for asked_again in (False, True):
            found = self._answer(sidecar, question, limits)
            if "code" not in found:
                return Result(**found)
            if found["code"] != NotReady.code or asked_again:
                break
            make_insight()
        if found["code"] == SidecarError.code:
            # That process saw it, and removed the file; this one did not.
            for path in (sidecar, insight):
                mapped_files.report(path, "is damaged", remove=False)
        raise _ERRORS.get(found["code"], BadRequest)(found["message"], found["hint"])

    def close(self) -> None:
        """End the process once it has answered."""
        with self._asking:
            if self._idle is not None:
                self._idle.cancel()
            self._close()

    def _answer(self, sidecar: str, question: dict[str, Any], limits: Limits) -> dict[str, Any]:
        for _ in range(2):
            with self._held() as worker:
                found = _outcome(worker, sidecar, question, limits)
            # Not for what it did: the next one may live.
            if found.get("code") != Busy.code:
                break
        return found

    @contextlib.contextmanager
    def _held(self) -> Iterator[WorkerProcess]:
        if not self._asking.acquire(timeout=_QUEUE_SECONDS):
            raise Busy("Other statements are being answered.", "Try again in a moment.")
        try:
            if self._idle is not None:
                self._idle.cancel()
            if self._worker is None or not self._worker.alive or self._worker.tasks >= _MOST:
                self._close()
                self._worker = WorkerProcess(quiet=True)
            yield self._worker
        finally:
            self._idle = threading.Timer(IDLE_SECONDS, self._end_idle)
            self._idle.daemon = True
            self._idle.start()
            self._asking.release()

    def _end_idle(self) -> None:
        if self._asking.acquire(blocking=False):
            self._close()
            self._asking.release()

    def _close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _outcome(
    worker: WorkerProcess, sidecar: str, question: dict[str, Any], limits: Limits
) -> dict[str, Any]:
    task = {
        "maker": _MAKER,
        "location": json.dumps(question),
        "sidecar": sidecar,
        "settings": {
            "max_import_memory_bytes": limits.memory + _BESIDES + _PER_BYTE * limits.bytes
        },
    }
    late = threading.Event()

    def end() -> None:
        late.set()
        worker.kill()

    watchdog = threading.Timer(limits.seconds + GRACE_SECONDS, end)
    watchdog.daemon = True
    watchdog.start()
    try:
        for message in worker.run(task):
            if "outcome" in message:
                found: dict[str, Any] = message["outcome"]
                return found
            if "error" in message:
                return {"code": "bad_request", "message": message["error"], "hint": LESS}
    finally:
        watchdog.cancel()
    killed = not late.is_set() and worker.death(-1).code == "killed"
    worker.close()
    if killed:
        why = "The process of the statement was killed."
        return {"code": Busy.code, "message": why, "hint": "Try again in a moment."}
    what, hint = "The statement needed too much memory: its process ended.", LESS
    if late.is_set():
        what, hint = f"The statement was ended after {limits.seconds:g} s.", LATE
    return {"code": "bad_request", "message": what, "hint": hint}
