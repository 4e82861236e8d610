"""The parent's end of one worker process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from torch_tb_profiler.units import format_bytes

_START = (
    "import sys; sys.path[:] = {path!r}; from torch_tb_profiler.runs.worker import main;"
    " main({target!r})"
)


class WorkerProcess:
    """A running worker. One thread uses it; ``kill`` may come from any."""

    def __init__(self, target: str, quiet: bool = False) -> None:
        """Start it; ``quiet``: what it prints goes nowhere.

        Raises:
            OSError: the system has no room for another process.
        """
        self.jobs = 0
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _START.format(path=[p for p in sys.path if isinstance(p, str)], target=target),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            **_apart(),
        )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def run(self, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a job; its answers as they come. They end without an outcome or an error when the
        process dies.
        """
        self.jobs += 1
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return
        for line in self._process.stdout:
            answer = json.loads(line) if line.endswith(b"\n") else {}
            yield answer
            if "outcome" in answer or "error" in answer:
                return

    def ended(self) -> int:
        """Wait for the end and return the exit status; −n for signal n."""
        return self._process.wait()

    def kill(self) -> None:
        """End it and the processes that it started, at once."""
        if self._process.poll() is not None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """End it and let go of its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def death_in_words(status: int, size: int, quiet: bool = False) -> str:
    """Why an import ended without an answer; ``size`` is that of its file, bytes (−1 unknown).
    ``quiet``: what it printed is nowhere.
    """
    if status == -9:
        of = f"of {format_bytes(size)} " if size >= 0 else ""
        return (
            "The import process was killed (signal 9), most likely because memory ran out: the"
            f" file {of}needs more than was free. Set TORCH_TB_PROFILER_WORKERS=1 so that one"
            " import runs at a time, or look at it on a machine with more memory."
        )
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"The import process crashed (signal {-status}, {signal.Signals(-status).name})."
        return f"The import process crashed (signal {-status})."
    printed = "" if quiet else "; what it printed is in the terminal of TensorBoard"
    return f"The import process ended with exit status {status} before it was done{printed}."


def _apart() -> dict[str, Any]:
    # A session of its own: Ctrl-C in the terminal is for TensorBoard, and one signal reaches the
    # worker and its children.
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
