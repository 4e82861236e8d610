"""A logdir as it is listed, without reading a trace."""

from __future__ import annotations

import os

from torch_tb_profiler.runs.entries import Entry, arrange
from torch_tb_profiler.runs.model import Run
from torch_tb_profiler.runs.single import judge
from torch_tb_profiler.sources import places
from torch_tb_profiler.sources.listing import list_files


def is_url(place: str) -> bool:
    """Whether a place is a URL."""
    return bool(places.scheme_of(place))


def folder_of(logdir: str) -> str | None:
    """The absolute path of a logdir of this machine; None for a URL."""
    return None if is_url(logdir) else os.path.abspath(places.local_path(logdir))


def runs_at(logdir: str) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """The runs of a logdir, and what could not be listed, in words."""
    home = folder_of(logdir) or logdir
    listing = list_files(home)
    entries = [Entry("", home, found) for found in listing.files]
    for entry in entries:
        judge(entry, named=False)
    return tuple(arrange(entries).runs), tuple(listing.notes)
