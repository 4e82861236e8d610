"""Route ``/ask``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.timeline.search_texts import Query, Texts
from torch_tb_profiler.store.columns import Ints
from torch_tb_profiler.store.display import DisplayTable
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.units import format_count, format_counted
from torch_tb_profiler.untrusted import said
from torch_tb_profiler.views.ask.commands import Asked, answered
from torch_tb_profiler.views.ask.names import COSTS, Names, in_order, kind_in
from torch_tb_profiler.views.ask.table import ASK, Row, address, kind_name, table_of_rows
from torch_tb_profiler.views.display_wire import table_of, wire_columns
from torch_tb_profiler.views.wire import Subject, Wire

LONGEST_QUESTION = 200
"""Characters of a question."""
MOST_OF_A_KIND = 5
"""Rows of a kind that are told one by one."""
MOST_AT_FIRST = 8
"""Rows that are told before something is asked."""
_TABLES = {
    "line": "lines",
    "operator": "operator",
    "kernel": "kernel",
    "call": "api_calls",
    "module": "module",
}
"""Sections whose table has all rows of a kind."""


class AskPayload(Wire, frozen=True, kw_only=True):
    """Route ``/ask``. ``sentence``: the answer to no question at all, and what is said where nothing has that name; else empty.
    ``over``: the step that times are of, where there are any.
    """

    subject: Subject
    sentence: str
    over: str
    rows: Annotated[dict[str, Any], table_of(ASK)]


class Answer(msgspec.Struct, frozen=True):
    """The rows of an answer as a table, and what is said besides, as in the payload."""

    table: DisplayTable
    subject: Subject
    sentence: str
    over: str

    @property
    def payload(self) -> AskPayload:
        """What the page gets."""
        rows = wire_columns(self.table)
        return AskPayload(subject=self.subject, sentence=self.sentence, over=self.over, rows=rows)


class EventNames:
    """The names of all events of a trace, and how many events each has."""

    def __init__(self, trace: Trace) -> None:
        count = np.zeros(len(trace.strings) + 1, np.int64)
        for table in ("spans", "instants"):
            names = trace[table]["name"]
            count[: len(trace.strings)] += np.bincount(
                names[names >= 0], minlength=len(trace.strings)
            )
        numbers: Ints = np.flatnonzero(count)
        self._count, self._texts = count[numbers], Texts(trace.strings, numbers)

    def count(self, text: str) -> int:
        """Events whose name contains a text, as the timeline's search finds them."""
        return int(self._count[self._texts.matching(Query(text))].sum()) if text else 0


def answer(
    asked: Asked, events: EventNames, question: str, subject: Subject, headline: str, over: str
) -> Answer:
    """What a recording has under the words of a question. ``headline``: the answer to none; ``subject``, ``over``: what times are of."""
    text = " ".join(question.split())
    rows, sentence = _rows(asked, events, text) if text else (_at_first(asked.names), headline)
    # What is said of one step or rank is not of the step that the answer to all else speaks of.
    spoken = any(row.kind in ("finding", "what_if", *COSTS) for row in rows)
    return Answer(table_of_rows(rows), subject, sentence, over if spoken else "")


def _rows(asked: Asked, events: EventNames, text: str) -> tuple[list[Row], str]:
    command = answered(asked, text)
    if command is not None:
        return command
    found, sentence = _found(asked, text), ""
    count = 0 if kind_in(text) else events.count(text)
    if not found and not count:
        near, found = asked.names.nearest(text)
        sentence = f"Nothing here is called “{said(text)}”."
        sentence += f" The nearest name is {near}." if near else ""
        text = near
    rows = _few(found, text)
    if count:
        many = "the one" if count == 1 else f"all {format_count(count)}"
        label = f"Mark {many} in the trace"
        rows.append(Row("trace", text, label, calls=count, to=address("trace", q=text, kind="all")))
    return rows, sentence


def _found(asked: Asked, text: str) -> list[Row]:
    kind = kind_in(text)
    # Kernels are found by the name of their kind, which is one kernel.
    words = kind_name(kind) if kind else text
    return in_order([*asked.names.found(words), *asked.places.found(words)], words)


def _at_first(names: Names) -> list[Row]:
    """The first findings, and what costs most."""
    costs = [row for row in names.rows if row.kind in COSTS]
    findings = [row for row in names.rows if row.kind == "finding"][: MOST_AT_FIRST // 2]
    return [*findings, *costs[: MOST_AT_FIRST - len(findings)]]


def _few(found: Sequence[Row], text: str) -> list[Row]:
    """The first of each kind; where a table has more, what leads to all of them."""
    total, told = Counter(row.kind for row in found), Counter[str]()
    rows, more = [], []
    for row in found:
        told[row.kind] += 1
        if told[row.kind] <= MOST_OF_A_KIND:
            rows.append(row)
        elif told[row.kind] == total[row.kind] and row.kind in _TABLES:
            label = f"All {format_counted(total[row.kind], row.kind)} with “{said(text)}”"
            more.append(Row(row.kind, "", label, to=address(_TABLES[row.kind], search=text)))
    return [*rows, *more]
