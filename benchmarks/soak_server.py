"""The server of ``soak.py``: TensorBoard with the plugin, or ``torch-tb-profiler serve``, its processes, the disks that it
writes to, and a clock that jumps.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "/data/plugin/pytorch_profiler"
DISK_BYTES = 512 << 20
CACHE_LIMIT_BYTES = 256 << 20
START_SECONDS, END_SECONDS = 90.0, 30.0
SERVE_END_SECONDS = 5.0
"""What ``serve`` may take to end."""
CLOCK = '''"""Shifts the wall clock of this process by the seconds in a file."""
import os, time
if path := os.environ.get("SOAK_CLOCK"):
    real, real_ns, steady = time.time, time.time_ns, time.monotonic
    last = [-1.0, 0.0]
    def shift():
        if steady() - last[0] > 0.2:
            last[0] = steady()
            try:
                with open(path) as file:
                    last[1] = float(file.read())
            except (OSError, ValueError):
                pass
        return last[1]
    time.time = lambda: real() + shift()
    time.time_ns = lambda: real_ns() + int(1e9 * shift())
'''


@dataclass(frozen=True)
class Process:
    """What a process uses. ``anonymous``: of its resident memory what is no file's."""

    pid: int
    resident: int
    anonymous: int
    descriptors: int


def process(pid: int) -> Process | None:
    """From /proc; None when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        values = dict(line.split(":", 1) for line in lines if ":" in line)
        resident, anonymous = (int(values[key].split()[0]) * 1024 for key in ("VmRSS", "RssAnon"))
        return Process(pid, resident, anonymous, len(os.listdir(f"/proc/{pid}/fd")))
    except (OSError, KeyError, ValueError):
        return None


def below(pid: int) -> list[int]:
    """The processes that a process started, and theirs."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if fields[0] != "Z":
                children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, todo = [], [pid]
    while todo:
        mine = children.get(todo.pop(), [])
        found += mine
        todo += mine
    return found


def started(pid: int) -> str:
    """When a process began, which tells it from a later one of its number; empty when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return "" if fields[0] == "Z" else fields[19]
    except (OSError, IndexError):
        return ""


@dataclass
class Disk:
    """A folder, on a disk of its own where the system lets us mount one."""

    path: Path
    mounted: bool = False

    def mount(self) -> None:
        """A small disk in memory."""
        self.path.mkdir(parents=True, exist_ok=True)
        command = [
            "mount",
            "-t",
            "tmpfs",
            "-o",
            f"size={DISK_BYTES},mode=700",
            "tmpfs",
            str(self.path),
        ]
        with contextlib.suppress(OSError):
            self.mounted = subprocess.run(command, capture_output=True).returncode == 0

    def fill(self) -> None:
        """Leave not a byte."""
        if not self.mounted:
            return
        with open(self.path / "filler", "ab") as file:
            size = 64 << 20
            while size >= 1:
                try:
                    at = file.tell()
                    os.posix_fallocate(file.fileno(), at, size)
                    file.seek(at + size)
                except OSError:
                    size //= 4

    def empty(self) -> None:
        """Make the room free again."""
        (self.path / "filler").unlink(missing_ok=True)

    def unmount(self) -> None:
        """Give it back."""
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.path)], capture_output=True)


@dataclass
class Server:
    """A server on a port of its own; ``logdirs``: the one below which all lie, by the empty name, is served by ``serve``, others by
    TensorBoard. ``seen``: the processes that it ever started; ``end_seconds``: what its end took.
    """

    logdirs: dict[str, str]
    cache: Path
    temporary: Path
    scratch: Path
    port: int = 0
    seen: dict[int, str] = field(default_factory=dict)
    end_seconds: float = 0.0

    @property
    def alone(self) -> bool:
        """Whether it is ``serve``."""
        return "" in self.logdirs

    @property
    def prefix(self) -> str:
        """What stands before each route."""
        return "" if self.alone else PREFIX

    def start(self) -> None:
        """Start it; returns when the plugin answers.

        Raises:
            SystemExit: it does not.
        """
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for folder in (self.cache, self.temporary, self.scratch / "clock"):
            folder.mkdir(parents=True, exist_ok=True)
        (self.scratch / "clock" / "sitecustomize.py").write_text(CLOCK)
        self.shift(0)
        paths = [str(self.scratch / "clock"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "SOAK_CLOCK": str(self.scratch / "shift"),
            "TMPDIR": str(self.temporary),
            "TORCH_TB_PROFILER_CACHE_DIR": str(self.cache),
            "TORCH_TB_PROFILER_CACHE_LIMIT_BYTES": str(CACHE_LIMIT_BYTES),
            "TORCH_TB_PROFILER_SCAN_SECONDS": "2",
        }
        spec = ",".join(f"{name}:{path}" for name, path in self.logdirs.items())
        words = ["--port", str(self.port), "--host", "127.0.0.1"]
        command = ["-m", "tensorboard.main", "--logdir_spec", spec, "--reload_interval", "30"]
        if self.alone:
            command = ["-m", "torch_tb_profiler.cli.main", "serve", self.logdirs[""]]
        with open(self.scratch / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command, *words],
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(
                    f"http://127.0.0.1:{self.port}{self.prefix}/runs", timeout=10
                )
                return
            time.sleep(0.2)
        raise SystemExit(f"The server did not start; see {self.scratch / 'server.log'}.")

    def shift(self, seconds: float) -> None:
        """Set its clock and that of its workers wrong by so much."""
        part = self.scratch / "shift.new"
        part.write_text(str(seconds))
        os.replace(part, self.scratch / "shift")

    def tell_stacks(self) -> None:
        """Have ``serve`` write into its log what each thread does."""
        if self.alone:
            self.process.send_signal(signal.SIGUSR1)

    def workers(self) -> list[int]:
        """Its processes now."""
        found = below(self.process.pid)
        self.seen.update({pid: started(pid) for pid in found if pid not in self.seen})
        return found

    def end(self) -> list[int]:
        """Stop it as a service manager does; the processes that outlived it."""
        self.workers()
        begin = time.monotonic()
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.tell_stacks()
            self.process.kill()
            self.process.wait()
        self.end_seconds = time.monotonic() - begin
        return self._outlived()

    def killed(self, seconds: float) -> list[int]:
        """Start it anew with nothing kept, kill it while it imports; the processes that outlived it."""
        for path in self.cache.iterdir():
            path.unlink()
        self.seen.clear()
        self.start()
        end = time.monotonic() + seconds
        while not self.workers() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1)
        self.workers()
        self.process.kill()
        self.process.wait()
        return self._outlived()

    def _outlived(self) -> list[int]:
        end = time.monotonic() + END_SECONDS
        while (left := self._left()) and time.monotonic() < end:
            time.sleep(0.2)
        return left

    def _left(self) -> list[int]:
        return [pid for pid, begun in self.seen.items() if begun and started(pid) == begun]
