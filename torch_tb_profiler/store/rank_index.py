"""Rank indexes in memory: what the figures of a run need of its ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.rank_schema import RANK_TABLES
from torch_tb_profiler.store.strings import StringBuilder, StringTable

_TEXT = "number of a string"


@dataclass(frozen=True)
class RankIndex:
    """The index of one rank, or of several in their order.

    Attributes:
        strings: texts of the tables.
        tables: all of ``rank_schema.RANK_TABLES`` by name.
    """

    strings: StringTable
    tables: dict[str, Table]

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]

    def __len__(self) -> int:
        """The number of ranks."""
        return self["ranks"].n


def joined(parts: Sequence[RankIndex]) -> RankIndex:
    """The index of all ranks of some indexes, in their order. Associative: a run can be put together as a tree, and the
    index of no part at all is the neutral one.

    ::

        rank 0 ─┐
        rank 1 ─┴▶ ranks 0, 1 ─┐
        rank 2 ────────────────┴▶ ranks 0, 1, 2
    """
    texts = StringBuilder()
    numbers = [np.array([*texts.intern_all(part.strings.all()), -1], np.int32) for part in parts]
    tables = {}
    for spec in RANK_TABLES:
        columns = {}
        for column in spec.columns:
            values = [part[spec.name][column.name] for part in parts]
            if column.unit == _TEXT:
                values = [own[each] for own, each in zip(numbers, values, strict=True)]
            columns[column.name] = np.concatenate([np.zeros(0, column.dtype), *values])
        tables[spec.name] = spec.build(**columns)
    return RankIndex(texts.table(), tables)


def separated(index: RankIndex) -> list[RankIndex]:
    """The indexes of single ranks that one was put together from; they share its texts and arrays."""
    ranks = index["ranks"]
    counted = [spec for spec in RANK_TABLES if spec.name != "ranks"]
    ends = {spec.name: np.cumsum(ranks[spec.name]).tolist() for spec in counted}
    counts = {spec.name: ranks[spec.name].tolist() for spec in counted}
    found = []
    for rank in range(ranks.n):
        tables = {"ranks": _rows(ranks, rank, rank + 1)}
        for name, end in ends.items():
            tables[name] = _rows(index[name], end[rank] - counts[name][rank], end[rank])
        found.append(RankIndex(index.strings, tables))
    return found


def _rows(table: Table, first: int, end: int) -> Table:
    return Table(table.spec, {name: values[first:end] for name, values in table.items()})
