"""A path or URL → the traces there."""

from __future__ import annotations

import os

from torch_tb_profiler.api.frames import RunFrames, TraceFrames
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.runs.loading import Unreadable, load_all
from torch_tb_profiler.runs.whole_logdir import make_all
from torch_tb_profiler.settings import Settings

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def open_path(
    path: Path, *, use_cache: bool = True, scheduler: str | None = None
) -> TraceFrames | RunFrames:
    """The trace at a path or URL; of a folder with several, all of them.

    ``scheduler``: address of a Dask scheduler (``tcp://host:8786``) whose workers import and analyse
    the traces first; the cache must be a folder or URL that they see too.

    Raises:
        SourceError: there is nothing at the path, or the scheduler cannot be reached.
        NotATrace: nothing there could be read; the reason is in the message.
    """
    if scheduler:
        make_all(os.fsdecode(path), Settings.from_environment(scheduler=scheduler), alone=True)
    traces, unreadable = _traces(path, use_cache)
    if len(traces) == 1:
        return TraceFrames(traces[0].context, unreadable)
    return RunFrames(traces, unreadable)


def open_all(path: Path, *, use_cache: bool = True) -> list[TraceFrames]:
    """Every readable trace of a file, run folder or logdir, ordered by run, worker and span.

    Raises:
        SourceError: there is nothing at the path.
        NotATrace: nothing there could be read; the reason is in the message.
    """
    return _traces(path, use_cache)[0]


def _traces(path: Path, use_cache: bool) -> tuple[list[TraceFrames], list[Unreadable]]:
    settings = Settings.from_environment(use_cache=None if use_cache else False)
    traces: list[TraceFrames] = []
    unreadable: list[Unreadable] = []
    path = os.fsdecode(path)
    for item in load_all(path, settings):
        if isinstance(item, Unreadable):
            unreadable.append(item)
        else:
            traces.append(TraceFrames(TraceContext(item, settings)))
    if not traces:
        reason = unreadable[0].text if unreadable else "no file looks like one"
        raise NotATrace(f"{path} holds no readable trace: {reason}")
    return traces, [item for item in unreadable if not item.rejected]
