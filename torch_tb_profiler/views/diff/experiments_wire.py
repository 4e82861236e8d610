"""Wire types of the recordings side by side. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.diff.experiments import EXPERIMENTS
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Wire

ExperimentTable = Annotated[dict[str, Any], table_of(EXPERIMENTS)]


class Suggestion(Wire, frozen=True, kw_only=True):
    """The recording that the asked one is best compared with: its row and why."""

    row: int
    reason: str


class ExperimentsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/experiments``. ``base``: the row of the asked recording, which the others are compared with.
    ``total``: rows in all. ``progress`` below 1: ask again, recordings are still being read.
    ``suggestion``: null while the base is read, and where no other recording is of the same program. ``rules``: how rows,
    differences and the suggestion are made.
    """

    rows: ExperimentTable
    base: int
    total: int
    progress: float
    suggestion: Suggestion | None
    rules: list[str]
