"""The graphs of opened traces, kept between the requests that simulate changes."""

from __future__ import annotations

from torch_tb_profiler.analysis.efficiency.device import usable
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store.insight_schema import PathCause

MOST, MOST_SPANS = 8, 2_000_000
"""Graphs that are kept, and spans of their traces together; the last one is kept whatever its size."""


class Simulations:
    """Graphs by the content of their traces. One is made at a time: a large one needs much memory."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kept = Memo(MOST, weighed=False, heaviest=MOST_SPANS, one_at_a_time=True)

    def of(self, insight: OpenedInsight) -> Simulation:
        """The graph of a trace, to be replayed with changes; of an insight with waiting for other ranks (``Fleets.with_waiting``)
        another one.
        """
        trace, facts = insight.opened.trace, insight.opened.facts
        waits = bool((insight.insight["critical_path_steps"]["cause"] == PathCause.WAITING).any())
        return self._kept.get(
            (insight.id, waits),
            lambda: Simulation(trace, facts, insight.insight, usable(self._settings.peaks)),
            trace["spans"].n,
        )
