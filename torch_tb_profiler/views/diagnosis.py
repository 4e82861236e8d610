"""Route ``/diagnosis``: where was looked, every file that was seen, and what became of it."""

from __future__ import annotations

from torch_tb_profiler.views.files_table import FILES
from torch_tb_profiler.views.listing import SnapshotLike
from torch_tb_profiler.views.runs_list import state_word
from torch_tb_profiler.views.wire import DiagnosisPayload


def diagnosis_payload(snapshot: SnapshotLike) -> DiagnosisPayload:
    """The catalogue's files with the reasons that it gives."""
    names = [column.name for column in FILES.columns]
    return DiagnosisPayload(
        version=snapshot.version,
        logdirs=list(snapshot.logdirs),
        notes=list(snapshot.notes),
        files={
            **{name: [getattr(file, name) for file in snapshot.files] for name in names},
            "state": [state_word(file.state) for file in snapshot.files],
        },
    )
