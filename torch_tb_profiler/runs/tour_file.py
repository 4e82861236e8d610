"""The file ``tour.json`` of a logdir: places to look at first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from torch_tb_profiler.sources.places import scheme_of
from torch_tb_profiler.untrusted import read_file

NAME = "tour.json"
LARGEST = 1 << 16
"""Bytes of it; a larger one is no tour, nor is a link."""


def tour_text(logdirs: Iterable[str]) -> bytes:
    """That of the first logdir on this machine that has one; empty where none does."""
    for location in logdirs:
        if scheme_of(location):
            continue
        try:
            return read_file(Path(location) / NAME, LARGEST, links=False)
        except OSError:
            continue
    return b""
