"""What goes wrong around the server of ``soak.py``: workers are killed, sidecars vanish, are damaged or change places, disks
are full, the clock jumps.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from soak_logdir import ChangingLogdir
from soak_server import Disk, Server

CHANGE_SECONDS, KILL_SECONDS, EVICT_SECONDS, CLOCK_SECONDS = 3.0, 6.0, 40.0, 90.0
DAMAGE_SECONDS = 5.0
"""Mean pauses."""
FULL_SECONDS = 40.0
SHIFTS = (-86_400.0, -3600.0, 0.0, 3600.0, 30 * 86_400.0)


@dataclass
class Chaos:
    """Disturbs a server from threads of its own until it is told to stop."""

    server: Server
    logdir: ChangingLogdir
    disks: list[Disk]
    chance: random.Random
    minutes: float
    counts: Counter[str] = field(default_factory=Counter)
    stopped: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Begin."""
        each: dict[Callable[[], None], float] = {
            self.logdir.change: CHANGE_SECONDS,
            self.kill: KILL_SECONDS,
            self.evict: EVICT_SECONDS,
            self.damage: DAMAGE_SECONDS,
            self.clock: CLOCK_SECONDS,
            # Twice in the time, the cache's disk and then both.
            self.fill: 60 * self.minutes / 3,
        }
        for act, seconds in each.items():
            thread = threading.Thread(target=self._repeat, args=(act, seconds), daemon=True)
            self.threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """No more of it; what was broken is whole again, but for what the server made of it."""
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        self.server.shift(0)
        for disk in self.disks:
            disk.empty()
        self.logdir.finish()

    def _repeat(self, act: Callable[[], None], seconds: float) -> None:
        chance = random.Random(f"{self.chance.random()}")
        regular = act == self.fill
        while not self.stopped.wait(seconds if regular else chance.expovariate(1 / seconds)):
            act()

    def kill(self) -> None:
        """A worker gets signal 9."""
        workers = self.server.workers()
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(workers), signal.SIGKILL)
                self.counts["workers killed"] += 1

    def evict(self) -> None:
        """A sidecar vanishes."""
        sidecars = sorted(self.server.cache.glob("*.safetensors"))
        if sidecars:
            self.chance.choice(sidecars).unlink(missing_ok=True)
            self.counts["sidecars removed"] += 1

    def damage(self) -> None:
        """Somebody writes to a sidecar, or moves it."""
        sidecars = sorted(self.server.cache.glob("*.safetensors"))
        if len(sidecars) < 2:
            return
        act = self.chance.choice((self._overwrite, self._clear, self._swap, self._copy))
        with contextlib.suppress(OSError, ValueError):  # it is gone or empty, or the disk is full
            act(*self.chance.sample(sidecars, 2))
            self.counts[f"sidecars {act.__name__.strip('_')}"] += 1

    def _overwrite(self, path: Path, _: Path) -> None:
        with open(path, "r+b") as file:
            for _turn in range(64):
                file.seek(self.chance.randrange(path.stat().st_size))
                file.write(self.chance.randbytes(8))

    def _clear(self, path: Path, _: Path) -> None:
        size = path.stat().st_size
        with open(path, "r+b") as file:
            file.seek(self.chance.randrange(size))
            file.write(bytes(min(size - file.tell(), 1 << 20)))

    def _swap(self, path: Path, other: Path) -> None:
        part = path.with_name(f"{path.name}.swap")
        path.rename(part)
        other.rename(path)
        part.rename(other)

    def _copy(self, path: Path, other: Path) -> None:
        # None is cut: who maps a file that is cut off has no protection from the system.
        with open(path, "r+b") as file:
            file.write(other.read_bytes()[: path.stat().st_size])

    def clock(self) -> None:
        """The wall clock jumps."""
        self.server.shift(self.chance.choice(SHIFTS))
        self.counts["clock jumps"] += 1

    def fill(self) -> None:
        """A disk is full for a while."""
        self.counts["disks filled"] += 1
        disks = [disk for disk in self.disks if disk.mounted]
        chosen = disks[:1] if self.counts["disks filled"] == 1 else disks
        if not chosen:
            return
        end = time.monotonic() + FULL_SECONDS
        for disk in chosen:
            disk.fill()
        self.stopped.wait(max(0.0, end - time.monotonic()))
        for disk in chosen:
            disk.empty()


def leftovers(folders: list[Path]) -> list[str]:
    """What should not be there after the server ended: half-written files, temporary folders."""
    found = []
    for folder in folders:
        for path in folder.rglob("*"):
            half = path.name.endswith(".part")
            if half or (path.is_dir() and path.name.startswith("torch_tb_profiler-")):
                found.append(str(path.relative_to(folder)))
    return found
