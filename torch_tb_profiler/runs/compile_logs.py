"""The logs of torch.compile that belong to a trace: beside it, or where the user says."""

from __future__ import annotations

import os

from torch_tb_profiler.errors import SourceError
from torch_tb_profiler.importers.provenance import logs_at, logs_within, of_rank, read_provenance
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.sources.places import Place
from torch_tb_profiler.store.provenance import Provenance

NONE = Provenance(())


def provenance_of(opened: Opened, path: str | None = None) -> Provenance:
    """What the logs at ``path`` tell; without one those beside the trace, if there are any.

    Only this machine's folders are looked at. What was read is kept while the trace is open and
    the folder does not change.

    Raises:
        SourceError: there are no logs at the path.
    """
    if path:
        return _read(opened, _logs(path))
    place = opened.span.location
    if not place.is_local:
        return NONE
    folder = place.parent.path
    try:
        stamp = os.stat(folder).st_mtime_ns
    except OSError:
        return NONE
    key = "compile logs", folder, stamp
    return opened.memoise(key, lambda: _read(opened, logs_within(folder)))


def _logs(path: str) -> list[str]:
    place = Place(path)
    logs = logs_at(place.path) if place.is_local else []
    if not logs:
        raise SourceError(
            f"{place.shown} holds no logs of torch.compile.",
            "Give a folder on this machine that TORCH_TRACE or tlparse wrote.",
        )
    return logs


def _read(opened: Opened, logs: list[str]) -> Provenance:
    return read_provenance(of_rank(logs, opened.worker.rank)) if logs else NONE
