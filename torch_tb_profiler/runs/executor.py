"""Where work is done: the seam behind the queue, and local processes behind that."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from torch_tb_profiler.child_process import start
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.memory import free_memory, system_text
from torch_tb_profiler.units import format_bytes

_KILLS = regex(r"^oom_kill (\d+)$", re.M)


class Death(msgspec.Struct, frozen=True):
    """Why a worker ended without an answer. ``code``: "memory" where it ran out, "killed" where
    somebody or something ended it, "died" where its own fault did.
    """

    message: str
    code: str


class Worker(Protocol):
    """What does one task after another. One thread uses it; ``kill`` may come from any."""

    pid: int
    tasks: int
    """Tasks so far."""

    def run(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Do a task; its answers as they come, without outcome or error if the worker dies."""

    def death(self, size: int) -> Death:
        """Wait for its end and tell why; ``size`` is that of the task's file, bytes (-1 unknown)."""

    def kill(self) -> None:
        """End it and all that it started, at once."""

    def close(self) -> None:
        """End it and let go of what it held."""


class Executor(Protocol):
    """Starts workers, here or in a cluster (``runs/cluster.py``), that see the same paths as this
    process.
    """

    def start(self) -> Worker:
        """A worker without work.

        Raises:
            OSError: there is no room for another one.
        """

    def free_memory(self) -> float:
        """Bytes that new workers may use; ``sys.maxsize`` where that is unknown."""

    def slots(self, wanted: int) -> int:
        """How many tasks may run at once, where the user wants so many on this machine."""

    def close(self) -> None:
        """Let go of what is not a worker's."""


class LocalProcesses:
    """Worker processes of this machine; ``quiet``: what they print goes nowhere."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    def start(self) -> Worker:
        """A process; see ``Executor``."""
        return WorkerProcess(self._quiet)

    def slots(self, wanted: int) -> int:
        """As many as the user wants."""
        return max(1, wanted)

    def close(self) -> None:
        """There is nothing to let go of."""

    def free_memory(self) -> float:
        """Memory that this machine has left, bytes."""
        return free_memory()


class WorkerProcess:
    """A running process of ``worker.py``; see ``Worker``."""

    def __init__(self, quiet: bool = False) -> None:
        import subprocess  # a command that reads a small trace starts no process

        self.tasks = 0
        self._quiet = quiet
        self._memory_kills: int | None = None
        self._process = start(
            "runs.worker:main",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            **_apart(),
        )
        self.pid = self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def run(self, task: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a task; see ``Worker``."""
        self.tasks += 1
        self._memory_kills = _memory_kills()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(task).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return
        for line in self._process.stdout:
            answer = json.loads(line) if line.endswith(b"\n") else {}
            yield answer
            if "outcome" in answer or "error" in answer:
                return

    def death(self, size: int) -> Death:
        """The exit status in words; of a kill whether memory was short."""
        status = self._process.wait()
        if status == -9:
            return _killed(self._memory_kills, _memory_kills(), size)
        if status < 0:
            name = f"signal {-status}"
            with contextlib.suppress(ValueError):
                name += f", {signal.Signals(-status).name}"
            return Death(f"The import process crashed ({name}).", "died")
        printed = "" if self._quiet else "; what it printed is in the terminal of TensorBoard"
        return Death(
            f"The import process ended with exit status {status} before it was done{printed}.",
            "died",
        )

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


def _killed(kills_before: int | None, kills: int | None, size: int) -> Death:
    """Why a process got signal 9: Linux counts how many it killed for want of memory."""
    killed = "The import process was killed (signal 9)"
    if kills_before is not None and kills == kills_before:
        return Death(
            f"{killed}, but not because memory ran out: the system killed nothing for that"
            " meanwhile. A person or another program did it.",
            "killed",
        )
    unknown = kills_before is None or kills is None
    why = "by a person, by a program, or" if unknown else "most likely"
    file = f"the file of {format_bytes(size)}" if size >= 0 else "the file"
    return Death(
        f"{killed}, {why} because memory ran out: {file} may need more than was free. Set TORCH_TB_PROFILER_WORKERS=1 so"
        " that one import runs at a time, or look at it on a machine with more memory.",
        "memory",
    )


def _memory_kills() -> int | None:
    """Processes killed for want of memory so far, of this control group if that is counted, else of
    the system; None if unknown.
    """
    with contextlib.suppress(OSError):
        own = re.search(r"^0::/(.*)$", system_text("/proc/self/cgroup"), re.M)
        for group in (own[1], "") if own else ():
            with contextlib.suppress(OSError):
                if count := _KILLS.search(system_text(f"/sys/fs/cgroup/{group}/memory.events")):
                    return int(count[1])
    with contextlib.suppress(OSError):
        if count := _KILLS.search(system_text("/proc/vmstat")):
            return int(count[1])
    return None


def _apart() -> dict[str, Any]:
    # A session of its own: Ctrl-C in the terminal is for TensorBoard, and one signal reaches the
    # worker and its children.
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
