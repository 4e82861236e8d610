"""Imported traces: read from their sidecar files, the least recently used let go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from torch_tb_profiler.errors import SidecarError
from torch_tb_profiler.runs.import_job import Outcome, outcome_of
from torch_tb_profiler.runs.memo import Memo

if TYPE_CHECKING:
    from torch_tb_profiler.store.model import Facts, Trace

Book = tuple["Trace", "Facts", Memo]


class Shelf:
    """Traces by sidecar, mapped when first asked for; at most ``limit`` of them stay."""

    def __init__(self, limit: int) -> None:
        self._books = Memo(max(1, limit))

    def __len__(self) -> int:
        return len(self._books)

    def get(self, sidecar: str) -> Book:
        """The trace of a sidecar and what was made of it.

        Raises:
            SidecarError: it is not there, damaged, or of another version.
        """
        return self._books.get(sidecar, lambda: _read(sidecar))

    def drop(self, sidecar: str) -> None:
        """Let a trace go: its file changed or is gone."""
        self._books.drop(sidecar)


def _read(sidecar: str) -> Book:
    from torch_tb_profiler.store import sidecar as sidecars

    try:
        trace, facts = sidecars.read(Path(sidecar))
    except OSError as error:
        raise SidecarError(
            f"The sidecar could not be read: {error.strerror or error}.", "It is made again."
        ) from error
    return trace, facts, Memo()


def outcome_on_disk(sidecar: str) -> Outcome | None:
    """The small facts of an earlier import; None when there is none that can be used."""
    if not Path(sidecar).is_file():
        return None
    try:
        trace, facts, _ = _read(sidecar)
    except SidecarError:
        return None
    return outcome_of(trace, facts)
