"""Changes of jobs of two ranks, joined over gloo."""

from __future__ import annotations

import os
import time

import torch
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from changed_programs import Step, pair
from changed_programs.models import mlp

_SLEEP_S = 0.03


def _rank() -> int:
    return int(os.environ["RANK"])


def stall() -> None:
    time.sleep(_SLEEP_S)


def training(stalled: bool = False, reduced: bool = True, batch: int = 256) -> Step:
    """A step of data-parallel training; with ``stalled`` rank 1 sleeps in each."""
    model = DistributedDataParallel(mlp(512, 3))
    inputs, labels = torch.randn(batch, 512), torch.randint(10, (batch,))

    def step() -> None:
        if stalled and _rank() == 1:
            stall()
        model.zero_grad()
        functional.cross_entropy(model(inputs), labels).backward()

    def apart() -> None:
        with model.no_sync():
            step()

    return step if reduced else apart


@pair("A `sleep` in rank 1 dropped", "scale:name=*: stall,factor=0", ranks=2, rank=1)
def sleep_in_own_rank(changed: bool) -> Step:
    return training(not changed)


@pair("Batches of 320 on both ranks instead of 128 and 512", "no-stragglers", ranks=2, rank=-1)
def equal_batches(changed: bool) -> Step:
    return training(batch=320 if changed else (128, 512)[_rank()])


@pair(
    "Gradients not reduced",
    "network:factor=0",
    "scale:operator=c10d::allreduce_,factor=0",
    "scale:operator=torch*reducer::*,factor=0",
    ranks=2,
)
def without_reduction(changed: bool) -> Step:
    return training(reduced=not changed)
