"""Dask clusters for tests: in this process, or processes that can be killed."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.runs.conftest import until
from torch_tb_profiler.settings import Settings

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def threads(workers: int = 2, **options: Any) -> Iterator[str]:
    """The address of a scheduler in this process, whose workers have a thread each."""
    import dask
    import distributed

    make: Any = distributed.LocalCluster
    # Workers in this process would be paused for the memory of all earlier tests.
    own_memory = {f"distributed.worker.memory.{act}": False for act in ("pause", "spill", "target")}
    with warnings.catch_warnings(), dask.config.set(own_memory):
        # A port that is taken, sockets that Dask closes late: not ours.
        warnings.simplefilter("ignore")
        with make(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            **options,
        ) as cluster:
            yield cluster.scheduler_address


class Processes:
    """A ``dask scheduler`` and ``dask worker`` processes, started as the guide says."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        """On the same port each time."""
        self.scheduler = self._start("scheduler", f"--port={self.port}", "--no-dashboard")
        until(self._answers, "the scheduler answers")

    def start_worker(self, sees: Path = ROOT) -> subprocess.Popen[bytes]:
        """One of one thread, without a nanny that would start it again. ``sees``: where it finds
        packages that are not installed.
        """
        options = ("--nthreads=1", "--no-nanny", "--no-dashboard", "--memory-limit=2GB")
        worker = self._start("worker", self.address, *options, sees=sees)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """End them all."""
        for process in (*self.workers, self.scheduler):
            if process is not None:
                process.kill()
                process.wait()

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def _start(self, *command: str, sees: Path = ROOT) -> subprocess.Popen[bytes]:
        with open(self._folder / f"{command[0]}.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *command],
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": str(sees)},
                stdout=log,
                stderr=log,
            )


def of_cluster(settings: Settings, address: str) -> Settings:
    """The settings with a scheduler."""
    return replace(settings, scheduler=address)
