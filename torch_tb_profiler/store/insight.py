"""A trace's insight in memory: the declared tables, their texts, and a few small facts beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.strings import StringTable


@dataclass(frozen=True)
class Insight:
    """What the Memory, Module, Distributed and Diff views and the findings rest on.

    Attributes:
        strings: texts of the tables; its own, not those of the trace.
        tables: by the names of ``insight_schema.INSIGHT_TABLES``; all are present, possibly empty.
        about: plain values:

            ``module_source``  what the modules are made from: ``python`` (frames of nn.Modules), ``hierarchy`` (arguments), ``lightning``
                               (its profiler's annotations), or empty
            ``backward``       ``{"tied", "untied", "outside"}``: backward functions laid at a module, without a known forward, with one outside modules
            ``paths_pooled``   calls too deep, or of too many distinct paths, which count for a path around them
            ``memory_source``  ``records``, ``snapshot``, ``timeline`` or empty
            ``findings``       plain values, see ``analysis/findings/engine.py``
    """

    strings: StringTable
    tables: dict[str, Table]
    about: dict[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]
