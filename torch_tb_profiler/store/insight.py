"""A trace's insight in memory: its tables, their texts and a few plain values."""

from __future__ import annotations

from typing import Any

import msgspec

from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.strings import StringTable


class Insight(msgspec.Struct, frozen=True):
    """The basis of the findings and of the Memory, Module, Distributed and Diff views.

    Attributes:
        strings: texts of the tables; not those of the trace.
        tables: all of ``insight_schema.INSIGHT_TABLES`` by name, possibly empty.
        about: plain values:

            ``module_source``  where modules come from: ``python`` (frames), ``hierarchy`` (arguments), ``lightning`` (annotations),
                               ``compiled`` (regions and graphs of torch.compile alone), or empty
            ``backward``       ``{"tied", "untied", "outside"}``: backward functions attributed to a module, without a forward, outside modules
            ``paths_pooled``   calls too deep or on too many distinct paths, pooled in an enclosing path
            ``memory_source``  ``records``, ``snapshot``, ``timeline`` or empty
            ``findings``       see ``analysis/findings/engine.py``
    """

    strings: StringTable
    tables: dict[str, Table]
    about: dict[str, Any] = msgspec.field(default_factory=dict)

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]
