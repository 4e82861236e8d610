"""Ranks of a job, each a fork of one process that has imported PyTorch: that takes longer than what a test
records.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess


def begun(count: int, rank: Callable[..., None], *arguments: object) -> list[ForkServerProcess]:
    """Processes in which ``rank(number, *arguments)`` runs; a function of a module, as its name is sent."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "torch_tb_profiler.live.listener"])
    processes = [context.Process(target=rank, args=(n, *arguments)) for n in range(count)]
    for process in processes:
        process.start()
    return processes


def ended(processes: list[ForkServerProcess], seconds: float = 120.0) -> list[int | None]:
    """The exit codes, once all have ended."""
    for process in processes:
        process.join(seconds)
    return [process.exitcode for process in processes]
