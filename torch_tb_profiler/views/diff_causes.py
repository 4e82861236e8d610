"""What made most of a change, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.diff.modules import OUTSIDE
from torch_tb_profiler.units import format_delta
from torch_tb_profiler.views.diff_wire import ChangeTable, Columns, Verdict

LEAST_PART = 0.2
"""Share of the change of the step from which on a row is worth a word."""
_KINDS: tuple[tuple[str, Sequence[ChangeTable]], ...] = (
    ("", ("category",)),
    ("operator", ("operator", "host")),
    ("module", ("module",)),
)


def because(verdict: Verdict, changes: Columns) -> str:
    """The category, operator and module that changed most in the direction of the step; empty where
    it is shown that the step did not change.
    """
    if not verdict.delta_ns or verdict.changed is False:
        return ""
    rows = [(kind, _most(tables, verdict.delta_ns, changes)) for kind, tables in _KINDS]
    parts = [_words(kind, changes, row) for kind, row in rows if row is not None]
    return f"Mostly {'; '.join(parts)}." if parts else ""


def shown_by(verdict: Verdict, changes: Columns) -> int | None:
    """The row whose events show best what ``because`` says, or would say if the step's change were
    more than noise.
    """
    rows = [_most(tables, verdict.delta_ns or 0, changes) for _, tables in _KINDS]
    return next(
        (
            row
            for row in rows
            if row is not None
            and (changes["event_a"][row], changes["event_b"][row]) != (None, None)
        ),
        None,
    )


def _most(tables: Sequence[ChangeTable], whole: int, changes: Columns) -> int | None:
    """The row of some tables that makes most of a change, None where none makes enough."""
    rows = [
        i
        for i, table in enumerate(changes["table"])
        if table in tables
        and whole
        and changes["delta_ns"][i] / whole >= LEAST_PART
        and changes["beyond"][i] is not False
        and not changes["rest"][i]
        and changes["name"][i] != OUTSIDE
    ]
    return max(rows, key=lambda i: abs(changes["delta_ns"][i])) if rows else None


def _words(kind: str, changes: Columns, row: int) -> str:
    status = f"({changes['status'][row]})" if changes["status"][row] in ("new", "gone") else ""
    where = "on the host" if changes["table"][row] == "host" else ""
    words = (kind, changes["short"][row], status, format_delta(changes["delta_ns"][row]), where)
    return " ".join(filter(None, words))
