"""Wire types of the Iterations view. Units as in ``wire.py``."""

from __future__ import annotations

from typing import Annotated, Any

from torch_tb_profiler.analysis.figures.iterations import ITERATIONS, PHASE_TABLE
from torch_tb_profiler.views.display_wire import table_of
from torch_tb_profiler.views.wire import Wire


class HowToRecord(Wire, frozen=True, kw_only=True):
    """A server, and how it records a trace with annotations."""

    server: str
    how: str


class IterationsPayload(Wire, frozen=True, kw_only=True):
    """Route ``/iterations``. ``headline``: the answer in a sentence or two. ``iterations``: those of the selected steps
    in time order, none where the trace is of no server; then ``recorded_by`` says how servers record.
    """

    headline: str
    iterations: Annotated[dict[str, Any], table_of(ITERATIONS)]
    phases: Annotated[dict[str, Any], table_of(PHASE_TABLE)]
    recorded_by: list[HowToRecord]
