"""One trace file, opened as the command line opens it."""

from __future__ import annotations

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.runs.import_job import Report
from torch_tb_profiler.runs.loading import load_all
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings


def load(location: str, settings: Settings, progress: Report | None = None) -> Opened:
    """The trace of a file with its facts.

    Raises:
        SourceError: it does not exist or cannot be read.
        NotATrace: its content is none.
    """
    (opened,) = load_all(location, settings, progress)
    if not isinstance(opened, Opened):
        raise NotATrace(opened.message)
    return opened
