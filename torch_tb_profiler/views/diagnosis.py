"""Route ``/diagnosis``: where was looked, every file that was seen, and what became of it."""

from __future__ import annotations

from typing import cast

from torch_tb_profiler.views.listing import FileLike, SnapshotLike
from torch_tb_profiler.views.runs_list import state_word
from torch_tb_profiler.views.wire import DiagnosisPayload, FileItem, FileState


def diagnosis_payload(snapshot: SnapshotLike) -> DiagnosisPayload:
    """The catalogue's files with the reasons that it gives."""
    return DiagnosisPayload(
        version=snapshot.version,
        logdirs=list(snapshot.logdirs),
        notes=list(snapshot.notes),
        files=[_file(f) for f in snapshot.files],
    )


def _file(file: FileLike) -> FileItem:
    return FileItem(
        path=file.path,
        run=file.run,
        worker=file.worker,
        span=file.span,
        state=cast("FileState", state_word(file.state)),
        reason=file.reason,
        bytes=file.bytes,
        events=file.events,
        lost=file.lost,
    )
