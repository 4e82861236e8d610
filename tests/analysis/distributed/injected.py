"""The true begins of the collectives of a synthetic run, taken from the model while it is made up:
on one clock, before any trace is written.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import REPOSITORY
from torch_tb_profiler.store.columns import Ints


@dataclass(frozen=True)
class Truth:
    """start: ns of shape (ranks, collectives). stall: for each rank and step, ns that its
    DataLoader took. skews: of the ranks' clocks.

    per_step: collectives of a step.
    """

    start: Ints
    stall: Ints
    skews: tuple[int, ...]
    per_step: int

    @property
    def wait(self) -> Ints:
        """What each rank waits for the last one."""
        return np.asarray(self.start.max(axis=0) - self.start)


@lru_cache(maxsize=2)
def truth(ranks: int = 8, steps: int = 7, layers: int = 4, seed: int = 0) -> Truth:
    """Make the run up again, as ``samples/synthesize.py`` does, and keep what the model knows."""
    sys.path.insert(0, str(Path(REPOSITORY) / "samples"))
    try:
        from synthesis import training  # type: ignore[import-not-found]
        from synthesis.process import Process  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    starts: list[list[int]] = [[] for _ in range(ranks)]
    stalls: list[list[int]] = [[] for _ in range(ranks)]
    run, load = Process.run_collective, training.load

    def kept(process: Any, pending: Any, kernel: Any, start: int, dur: int, args: str) -> None:
        starts[process.rank].append(start)
        run(process, pending, kernel, start, dur, args)

    def loaded(process: Any, wait: int) -> None:
        begin = process.main.now
        load(process, wait)
        stalls[process.rank].append(process.main.now - begin)

    Process.run_collective, training.load = kept, loaded
    try:
        job = training.Job(
            [io.BytesIO() for _ in range(ranks)],
            [f"rank{rank}" for rank in range(ranks)],
            seed,
            layers,
            False,
        )
        for _ in range(steps):
            job.step()
    finally:
        Process.run_collective, training.load = run, load
    return Truth(np.array(starts), np.array(stalls), tuple(job.skews), len(starts[0]) // steps)
