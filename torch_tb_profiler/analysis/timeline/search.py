"""Search over the names of events and the texts of their arguments.

A query is matched against the distinct texts; the events follow by their numbers. Rows of spans are ordered by time and so are those of instants,
so the hits of either are kept as ascending rows and need no sorting::

    texts    matched?       spans      0 1 2 3 4 5     hits of spans     1 3 4
    gemm       yes          name       b a b a a b     hits of instants  7
    add        no
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.grouping import sum_by
from torch_tb_profiler.analysis.timeline.search_texts import Query, Texts, used_numbers
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline

CHUNK = 1 << 18
KEPT_BYTES = 96 << 20
"""Hits kept per trace; those of the last query are always."""
_COUNTER = ord("C")
_ARGUMENTS = {
    "operator_args": ("dims", "types", "strides", "concrete", "stack"), "device_args": ("grid", "block"), "collective_args": ("collective", "dtype", "group"),
}


@dataclass(frozen=True)
class Hits:
    """What a query found.

    Attributes:
        spans, instants: int32, ascending rows of the two tables.
        names, count, total: rows of ``names``, by total time and then by count, descending; their hits, and the sum of their durations in ns.
    """

    spans: Array
    instants: Array
    names: Ints
    count: Ints
    total: Ints

    @property
    def n(self) -> int:
        """How many events were found."""
        return len(self.spans) + len(self.instants)

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(part.nbytes for part in (self.spans, self.instants, self.names, self.count, self.total))


class Search:
    """Answers queries on one timeline; keep one per opened trace. Threads may share it."""

    def __init__(self, trace: Trace, timeline: Timeline) -> None:
        self._trace, self._timeline = trace, timeline
        self._lock = threading.Lock()
        self._kept: OrderedDict[Query, Hits] = OrderedDict()
        self._names: Texts | None = None
        self._arguments: tuple[Ints, Texts] | None = None
        self._look: Array | None = None

    def find(self, query: Query) -> Hits:
        """The hits of a query, kept for the next question about them.

        Raises:
            BadRequest: the query is empty, no regular expression, or too expensive.
        """
        with self._lock:
            hits = self._kept.get(query)
            if hits is not None:
                self._kept.move_to_end(query)
                return hits
            if self._names is None:
                self._names = Texts(self._trace.strings, self._timeline["names"]["text"].astype(np.int64))
            hits = self._found(query, self._names.matching(query), self._matching_arguments(query) if query.arguments else None)
            self._kept[query] = hits
            while len(self._kept) > 1 and sum(h.nbytes for h in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)
            return hits

    def look(self, names: Ints) -> Array:
        """What the first event of each name looks like, uint8 of the shape of ``names``."""
        with self._lock:
            if self._look is None:
                places = self._timeline["places"]
                look = np.zeros(self._timeline["names"].n + 1, np.uint8)
                for begin in reversed(range(0, places.n, CHUNK)):
                    rows = slice(begin, begin + CHUNK)
                    look[places["name"][rows][::-1]] = places["look"][rows][::-1]
                self._look = look
            return np.asarray(self._look[names])

    def event_at(self, hits: Hits, index: int) -> int:
        """The event of a hit by its place in time order; spans come before instants of the same time."""
        spans, instants = self._trace["spans"], self._trace["instants"]
        low, high = max(0, index - len(hits.instants)), min(index, len(hits.spans))
        # How many of the first `index` hits are spans: the least number whose next span is not before the last instant.
        while low < high:
            middle = (low + high) // 2
            span, instant = hits.spans[middle], hits.instants[index - middle - 1]
            if int(spans["start"][span]) <= max(int(instants["time"][instant]), 0):
                low = middle + 1
            else:
                high = middle
        other = index - low
        if low == len(hits.spans):
            return spans.n + int(hits.instants[other])
        if other == len(hits.instants) or int(spans["start"][hits.spans[low]]) <= max(int(instants["time"][hits.instants[other]]), 0):
            return int(hits.spans[low])
        return spans.n + int(hits.instants[other])

    def first(self, hits: Hits, most: int) -> list[int]:
        """The first events of the hits in time order."""
        spans, instants = hits.spans[:most].astype(np.int64), hits.instants[:most].astype(np.int64)
        time = np.concatenate((self._trace["spans"]["start"][spans], np.maximum(self._trace["instants"]["time"][instants], 0)))
        events: list[int] = np.concatenate((spans, instants + self._trace["spans"].n))[np.argsort(time, kind="stable")][:most].tolist()
        return events

    def until(self, hits: Hits, times: Ints) -> Ints:
        """How many hits begin before each time, int64 ns."""
        starts, points = self._trace["spans"]["start"], self._trace["instants"]["time"]
        found = np.searchsorted(hits.spans, np.searchsorted(starts, times)) + np.searchsorted(hits.instants, np.searchsorted(points, times))
        return np.where(times > 0, found, 0)

    def before(self, hits: Hits, event: int, *, included: bool) -> int:
        """How many hits come before an event in time order; ``included``: the event itself as well, if it is one."""
        spans, instants = self._trace["spans"], self._trace["instants"]
        side: Literal["left", "right"] = "right" if included else "left"
        if event < spans.n:
            start = int(spans["start"][event])
            points = int(np.searchsorted(instants["time"], start)) if start > 0 else 0
            return int(np.searchsorted(hits.spans, event, side)) + int(np.searchsorted(hits.instants, points))
        row = event - spans.n
        until = int(np.searchsorted(spans["start"], max(int(instants["time"][row]), 0), "right"))
        return int(np.searchsorted(hits.spans, until)) + int(np.searchsorted(hits.instants, row, side))

    def _found(self, query: Query, names: Mask, arguments: Mask | None) -> Hits:
        places, table, spans = self._timeline["places"], self._timeline["names"], self._trace["spans"].n
        wanted = np.append(names, False)
        rows = [_where(wanted, places["name"], begin, min(begin + CHUNK, places.n)) for begin in range(0, places.n if names.any() else 0, CHUNK)]
        events = np.concatenate(rows) if rows else np.zeros(0, np.int32)
        if arguments is not None:
            also = self._events_of(arguments)
            events = np.union1d(events, also).astype(np.int32) if len(also) else events
        cut = int(np.searchsorted(events, spans))
        points = events[cut:]
        points = points[places["lane"][points] >= 0] - spans
        if arguments is None:
            number = np.flatnonzero(names)
            count, total = table["events"][number], table["total"][number]
        else:
            shown = np.concatenate((events[:cut], points + spans))
            name = places["name"][shown]
            length = np.concatenate((self._trace["spans"]["dur"][events[:cut]], np.zeros(len(points), np.int64)))
            count, total = np.bincount(name, minlength=table.n), sum_by(name, table.n, length)
            number = np.flatnonzero(count)
            count, total = count[number], total[number]
        order = np.lexsort((-count, -total))
        return Hits(events[:cut].copy(), points.astype(np.int32), number[order], count[order], total[order])

    def _matching_arguments(self, query: Query) -> Mask:
        """Which strings of the trace are texts of arguments that the query matches; the last place answers for −1."""
        if self._arguments is None:
            columns = [column for _, column in self._argument_columns()]
            numbers = used_numbers(columns, len(self._trace.strings))
            self._arguments = numbers, Texts(self._trace.strings, numbers)
        numbers, texts = self._arguments
        found = np.zeros(len(self._trace.strings) + 1, np.bool_)
        found[numbers] = texts.matching(query)
        return found

    def _argument_columns(self) -> list[tuple[Table, Array]]:
        trace = self._trace
        return [*((trace[table], trace[table][name]) for table, names in _ARGUMENTS.items() for name in names), (trace["instants"], trace["instants"]["args"])]

    def _events_of(self, matched: Mask) -> Array:
        """Events with an argument of which ``matched`` holds, in any order."""
        found = []
        for table, column in self._argument_columns() if matched.any() else ():
            for begin in range(0, table.n, CHUNK):
                rows = _where(matched, column, begin, min(begin + CHUNK, table.n))
                if len(rows):
                    found.append(table["span"][rows] if "span" in table else rows + self._trace["spans"].n)
        return np.concatenate(found) if found else np.zeros(0, np.int32)


def _where(wanted: Mask, numbers: Array, begin: int, end: int) -> Array:
    """Rows from ``begin`` to ``end`` whose number is wanted; int32."""
    return (np.flatnonzero(wanted[numbers[begin:end]]) + begin).astype(np.int32)
