"""A trace's timeline in memory: its tables and a few plain values."""

from __future__ import annotations

from typing import Any

import msgspec

from torch_tb_profiler.store.columns import Table


class Timeline(msgspec.Struct, frozen=True):
    """What the Trace view draws.

    Attributes:
        tables: all of ``timeline_schema.TIMELINE_TABLES`` by name, possibly empty.
        about: plain values:

            ``arrow_kinds``   list of ``{"kind", "label", "total", "untied"}``, indexed by ``arrows.kind``; ``untied``: flow events with one end
            ``series``        list of ``{"key", "name", "track", "unit", "mean", "lowest", "highest", "first", "count", "thinned"}``: the counter
                              series; ``first`` and ``count`` are rows of ``samples``, ``track`` a row of tracks (-1: none), ``thinned``: samples
                              were dropped
            ``device_activity``, ``host_activity``  busy share, 0 to 255, of equal parts of the span; None without such work
            ``has_modules``   whether any event belongs to a module
            ``span_ns``       end of the last event
    """

    tables: dict[str, Table]
    about: dict[str, Any] = msgspec.field(default_factory=dict)

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]
