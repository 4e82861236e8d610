"""The answer to a question as a table."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import msgspec

from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.strings import NO_STRINGS

KINDS = (
    "finding",
    "line",
    "operator",
    "kernel",
    "call",
    "module",
    "range",
    "function",
    "memory",
    "what_if",
    "step",
    "rank",
    "run",
    "section",
    "trace",
    "word",
)
"""Kinds of rows."""
LONGEST_PATTERN = 200
"""Of the page's search; longer names are searched for by their words."""
_SYNTAX = regex(r"[\\^$.*+?()[\]{}|/]")

_C = DisplayColumn
_TIME = "Its time, of the step that the answer is of: of a finding missing, of a line on the critical path, else as in the table of its kind."
_CHANGE = "By how much a step is longer, or with what the row says would be: below 0 shorter."
ASK = DisplaySpec(
    "ask",
    "What a recording has under the words of a question: what to change, then what costs most on the critical path, places, and words.",
    (
        _C("kind", "text", "Kind", f"One of: {', '.join(KINDS)}."),
        _C("name", "code", "Name", "As the recording has it."),
        _C("label", "text", "What", "What people call it."),
        _C("more", "text", "More", "What else is to be said of it."),
        _C("calls", "count", "Calls", "How often.", optional=True),
        _C("time_ns", "time", "Time", _TIME, optional=True),
        _C("path_ns", "time", "On the path", "What of it is on the critical path.", optional=True),
        _C("change_ns", "delta", "Change", _CHANGE, optional=True),
        _C("bytes", "bytes", "Memory", "What it holds at the peak.", optional=True),
        _C("to", "text", "Link", "What of the page's address leads there; empty of words."),
    ),
)  # fmt: skip


def kind_name(kind: str) -> str:
    """What people call a kind of rows."""
    return kind.replace("_", " ").capitalize()


class Row(msgspec.Struct, frozen=True):
    """A row of ``ASK``; None is unknown. ``words``: what else it is found by."""

    kind: str
    name: str
    label: str = ""
    more: str = ""
    calls: int | None = None
    time_ns: int | None = None
    path_ns: int | None = None
    change_ns: int | None = None
    bytes: int | None = None
    to: str = ""
    words: str = ""

    @property
    def cost(self) -> tuple[int, int]:
        """What it is ordered by among others of its group: on the path, then at all."""
        return self.path_ns or 0, self.time_ns or self.bytes or 0


def table_of_rows(rows: Sequence[Row]) -> DisplayTable:
    """Rows as the declared table."""
    columns = {column.name: [getattr(row, column.name) for row in rows] for column in ASK.columns}
    return ASK.build(NO_STRINGS, **{**columns, "label": [row.label or row.name for row in rows]})


def address(view: str, **params: str) -> str:
    """What of the page's address leads to a section; without ``view`` to the one that is shown."""
    return urlencode([("view", view), *params.items()] if view else list(params.items()))


def exactly(name: str) -> dict[str, str]:
    """Parameters that make a table of the page show exactly the rows of a name, as ``exactly`` of ``fe/src/views/grid_params.ts``."""
    pattern = f"^{_SYNTAX.sub(lambda sign: chr(92) + sign[0], name)}$"
    if len(pattern) <= LONGEST_PATTERN and name == name.strip():
        return {"search": pattern, "regex": "1"}
    return {"search": name}
