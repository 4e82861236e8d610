"""The graphs of opened traces, kept between the requests that simulate changes."""

from __future__ import annotations

import threading
from collections import OrderedDict

from torch_tb_profiler.analysis.efficiency.device import usable
from torch_tb_profiler.analysis.what_if.simulation import Simulation
from torch_tb_profiler.runs.model import OpenedInsight
from torch_tb_profiler.settings import Settings

MOST, MOST_SPANS = 8, 2_000_000
"""Graphs that are kept, and spans of their traces together; the last one is kept whatever its size."""


class Simulations:
    """Graphs by the content of their traces; the least recently used are let go. One is made at a
    time: a large one needs much memory.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._making = threading.Lock()
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Simulation] = OrderedDict()

    def of(self, insight: OpenedInsight) -> Simulation:
        """The graph of a trace, to be replayed with changes."""
        kept = self._held(insight.id)
        if kept is not None:
            return kept
        with self._making:
            if (kept := self._held(insight.id)) is not None:
                return kept
            opened = insight.opened
            self._shrink(opened.trace["spans"].n)
            made = Simulation(
                opened.trace, opened.facts, insight.insight, usable(self._settings.peaks)
            )
            with self._lock:
                self._kept[insight.id] = made
        return made

    def _held(self, key: str) -> Simulation | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _shrink(self, coming: int) -> None:
        """Make room for a trace of ``coming`` spans."""
        with self._lock:
            spans = [kept.scene.trace["spans"].n for kept in self._kept.values()]
            while self._kept and (len(spans) >= MOST or sum(spans) + coming > MOST_SPANS):
                self._kept.popitem(last=False)
                spans.pop(0)
