"""An imported trace, the facts derived from it and the index of a rank, all immutable."""

from __future__ import annotations

from typing import Any

import msgspec

from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.strings import StringTable
from torch_tb_profiler.store.summary import Summary


class SourceFile(msgspec.Struct, frozen=True):
    """The file of this machine that a trace was read from.

    Attributes:
        path: absolute, percent-encoded, as a path need not be text.
        identity: what tells its content from others (``sources/identity.py``).
        device: number of its file system.
    """

    path: str
    identity: str
    device: int


class Trace(msgspec.Struct, frozen=True, weakref=True):
    """One trace file as columns.

    Attributes:
        strings: the distinct texts of the trace.
        tables: all of ``schema.TRACE_TABLES`` by name, possibly empty.
        header: the small top-level keys of the file (``deviceProperties``, ``with_stack`` ...).
        defects: counts of what was wrong.
        entries: number of entries in ``traceEvents``.
        origin_ns: time of the first event as written in the file, ns.
        base_ns: ``baseTimeNanoseconds``, 0 if absent; origin_ns + base_ns is Unix time if the
            writer used both.
        source: its file; None where that is none of this machine.
    """

    strings: StringTable
    tables: dict[str, Table]
    header: dict[str, Any]
    defects: DefectCounts
    entries: int
    origin_ns: int = 0
    base_ns: int = 0
    source: SourceFile | None = None

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]


class Facts(msgspec.Struct, frozen=True):
    """What ``analysis.facts.derive`` computes from one trace.

    Attributes:
        strings: the trace's strings followed by those that the analysis added.
        tables: all of ``fact_schema.FACT_TABLES`` by name, possibly empty.
        summary: facts that are not tables.
        defects: the trace's counts plus those of the analysis.
    """

    strings: StringTable
    tables: dict[str, Table]
    summary: Summary
    defects: DefectCounts

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]


class RankIndex(msgspec.Struct, frozen=True):
    """What the figures of a run need of one rank.

    Attributes:
        strings: texts of the tables.
        tables: all of ``rank_schema.RANK_TABLES`` by name.
    """

    strings: StringTable
    tables: dict[str, Table]

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]
