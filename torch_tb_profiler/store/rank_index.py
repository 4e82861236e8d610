"""A rank index in memory: what the figures of a run need of a rank."""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.strings import StringTable


@dataclass(frozen=True)
class RankIndex:
    """The index of one rank.

    Attributes:
        strings: texts of the tables.
        tables: all of ``rank_schema.RANK_TABLES`` by name.
    """

    strings: StringTable
    tables: dict[str, Table]

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]
