"""The file ``tour.json`` of a logdir: places to look at first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.sources.places import scheme_of
from torch_tb_profiler.sources.streams import open_bytes

NAME = "tour.json"
LARGEST = 1 << 16
"""Bytes that are read of it."""


def tour_text(logdirs: Iterable[str]) -> bytes:
    """That of the first logdir on this machine that has one; empty where none does."""
    for location in logdirs:
        if scheme_of(location):
            continue
        try:
            with open_bytes(str(Path(location) / NAME))[0] as file:
                return file.read(LARGEST)
        except (SourceError, OSError):
            continue
    return b""
