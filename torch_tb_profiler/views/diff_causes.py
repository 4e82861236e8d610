"""What made most of a change, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.diff.modules import OUTSIDE
from torch_tb_profiler.units import format_ns
from torch_tb_profiler.views.diff_wire import ChangeColumns, ChangeTable, Verdict

LEAST_PART = 0.2
"""Share of the change of the step from which on a row is worth a word."""
_KINDS: tuple[tuple[str, Sequence[ChangeTable]], ...] = (("", ("category",)), ("operator", ("operator", "host")), ("module", ("module",)))


def because(verdict: Verdict, changes: ChangeColumns) -> str:
    """The category, operator and module that changed most in the direction of the step; empty where the step did not change by more than noise."""
    if not verdict.delta_ns or verdict.beyond is False:
        return ""
    parts = [part for kind, tables in _KINDS if (part := _most(kind, tables, verdict.delta_ns, changes))]
    return f"Mostly {'; '.join(parts)}." if parts else ""


def signed_time(ns: int) -> str:
    """``+3.10 ms``, ``−80.0 µs``, ``0``."""
    return f"{'−' if ns < 0 else '+'}{format_ns(abs(ns))}" if ns else "0"


def _most(kind: str, tables: Sequence[ChangeTable], whole: int, changes: ChangeColumns) -> str:
    rows = [
        i for i, table in enumerate(changes.table)
        if table in tables and changes.delta_ns[i] / whole >= LEAST_PART and changes.beyond[i] is not False and not changes.rest[i]
        and changes.name[i] != OUTSIDE
    ]
    if not rows:
        return ""
    best = max(rows, key=lambda i: abs(changes.delta_ns[i]))
    words = [kind, changes.short[best], f"({changes.status[best]})" if changes.status[best] in ("new", "gone") else "", signed_time(changes.delta_ns[best])]
    return " ".join([*(word for word in words if word), *(["on the host"] if changes.table[best] == "host" else [])])
