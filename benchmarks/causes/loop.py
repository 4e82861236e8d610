"""What the programs share: options, a loop whose steps are timed without and then with a profiler, ranks.

::

    with Loop(options()) as loop:
        while loop.on:
            ...
            loop.step()

The first STEPS run without a profiler, and unless the mode is ``none`` as many follow with it. The first
SETTLE of either are not counted. At the end rank 0 prints a line of JSON: the mode, the variant, and the
lengths of both in ms.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch

SETTLE, COUNTED = 3, 10
STEPS = SETTLE + COUNTED
MODES = {
    "none": None,
    "plain": {},
    "stack": {"with_stack": True, "record_shapes": True},
    "record": None,
}
"""Options of PyTorch's own profiler by mode; ``record`` takes that of this package."""


def options() -> argparse.Namespace:
    """Options of the command line; seeds all random numbers and leaves PyTorch one thread."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="run the twin without the cause")
    parser.add_argument("--mode", choices=sorted(MODES), default="none")
    parser.add_argument("--out", default="traces", help="folder of the trace")
    read = parser.parse_args()
    Path(read.out).mkdir(parents=True, exist_ok=True)
    _settle(0)
    return read


def ranks(body: Callable[[int, argparse.Namespace], None], count: int = 2) -> None:
    """Run ``body(rank, options)`` in ``count`` processes that are connected with gloo."""
    read = options()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
    torch.multiprocessing.start_processes(
        _one_rank, (body, count, read), nprocs=count, start_method="fork"
    )


def _one_rank(rank: int, body: Callable[..., None], count: int, read: argparse.Namespace) -> None:
    os.environ["RANK"] = str(rank)
    _settle(rank)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=count)
    body(rank, read)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def _settle(seed: int) -> None:
    warnings.simplefilter("ignore")
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)


class Loop:
    """The steps of a program. ``on``: whether more are wanted."""

    def __init__(self, read: argparse.Namespace) -> None:
        self.read, self.opened, self.profiler = read, ExitStack(), None
        self.lengths: list[float] = []

    def __enter__(self) -> Loop:
        self.begun = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        self.opened.__exit__(*error)
        if error[0] is None and os.environ.get("RANK", "0") == "0":
            milliseconds = [round(1000 * length, 3) for length in self.lengths]
            bare, profiled = milliseconds[SETTLE:STEPS], milliseconds[STEPS + SETTLE :]
            variant = {"mode": self.read.mode, "fixed": self.read.fixed}
            print(json.dumps({**variant, "bare_ms": bare, "profiled_ms": profiled}), flush=True)

    @property
    def on(self) -> bool:
        return len(self.lengths) < STEPS * (1 if self.read.mode == "none" else 2)

    def step(self) -> None:
        """The step is over; what the profiler does now counts for none."""
        self.lengths.append(time.perf_counter() - self.begun)
        if self.profiler is not None:
            self.profiler.step()
        elif self.on and len(self.lengths) == STEPS:
            self.profiler = self.opened.enter_context(_profiler(self.read))
        self.begun = time.perf_counter()


def _profiler(read: argparse.Namespace) -> Any:
    if read.mode == "record":
        import torch_tb_profiler

        return torch_tb_profiler.record(read.out, warmup=SETTLE, active=COUNTED)
    rank = os.environ.get("RANK")
    return torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=1, warmup=SETTLE - 1, active=COUNTED, repeat=1),
        on_trace_ready=torch.profiler.tensorboard_trace_handler(read.out, rank and f"rank{rank}"),
        **MODES[read.mode],
    )
