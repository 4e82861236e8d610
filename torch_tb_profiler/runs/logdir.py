"""A logdir as it is listed, without reading a trace."""

from __future__ import annotations

from torch_tb_profiler.runs.entries import Entry, arrange
from torch_tb_profiler.runs.loading import judge
from torch_tb_profiler.runs.model import Run
from torch_tb_profiler.sources.listing import list_files
from torch_tb_profiler.sources.places import Place


def runs_at(logdir: Place) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """The runs of a logdir, and what could not be listed, in words."""
    home = logdir.absolute
    listing = list_files(home)
    entries = [Entry("", home, found) for found in listing.files]
    for entry in entries:
        judge(entry, named=False)
    return tuple(arrange(entries).runs), tuple(listing.notes)
