"""The file ``tour.json`` of a logdir: places to look at first."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from torch_tb_profiler.sources.places import Place

NAME = "tour.json"
LARGEST = 1 << 16
"""Bytes of it; a larger one is no tour, nor is a link."""


def tour_text(logdirs: Iterable[Place]) -> bytes:
    """That of the first logdir on this machine that has one; empty where none does."""
    for logdir in logdirs:
        if logdir.is_local:
            with suppress(OSError):
                return logdir.join(NAME).read(LARGEST)
    return b""
