"""Facts of the public traces, each imported once per test session."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from torch_tb_profiler.analysis.derive import derive
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources import streams
from torch_tb_profiler.store.trace import Facts, Trace


@lru_cache(maxsize=1)
def trace_at(path: Path) -> Trace:
    """The stored trace of a file."""
    with streams.open_text(str(path), Settings()) as text:
        return read_trace(text, Settings())


@lru_cache(maxsize=None)
def facts_at(path: Path) -> Facts:
    """The facts of a file."""
    return derive(trace_at(path))


def facts_of_run(folder: Path, run: str, span: int = 0) -> Facts:
    """The facts of the ``span``-th file of a run, in the order of names."""
    return facts_at(sorted((folder / run).glob("*.json*"))[span])
