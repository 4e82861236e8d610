"""An imported trace and the facts derived from it: immutable, and all that the rooms above ever
see.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch_tb_profiler.store.columns import Table
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.strings import StringTable


@dataclass(frozen=True)
class Trace:
    """One trace file as columns.

    Attributes:
        strings: every text of the trace, once.
        tables: by the names of ``schema.TRACE_TABLES``; all are present, possibly empty.
        header: the small top-level keys of the file (``deviceProperties``, ``distributedInfo``,
            ``with_stack`` ...), parsed.
        defects: what was found wrong, counted.
        entries: number of entries of ``traceEvents``.
        origin_ns: time of the first event as written in the file, ns; add it to get the file's own
            times.
        base_ns: ``baseTimeNanoseconds``, 0 when absent; origin_ns + base_ns is Unix time where the
            writer used both.
    """

    strings: StringTable
    tables: dict[str, Table]
    header: dict[str, Any]
    defects: DefectCounts
    entries: int
    origin_ns: int = 0
    base_ns: int = 0

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]


@dataclass(frozen=True)
class Facts:
    """What ``analysis.derive`` finds in one trace; texts point into ``strings`` (the trace's,
    extended).

    Attributes:
        strings: the trace's strings followed by those the analysis made.
        tables: by the names of ``fact_schema.FACT_TABLES``; all are present, possibly empty.
        summary: small facts that are no table; the keys are documented in ``analysis/facts/derive.py``.
        defects: the trace's counts and those that the analysis added.
    """

    strings: StringTable
    tables: dict[str, Table]
    summary: dict[str, Any] = field(default_factory=dict)
    defects: DefectCounts = field(default_factory=DefectCounts)

    def __getitem__(self, name: str) -> Table:
        return self.tables[name]
