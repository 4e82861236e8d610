"""Search in the names of events and the texts of their arguments.

A query is matched against the distinct texts, whose numbers lead to the events. Spans and instants
are each in time order, so their hits need no sorting::

    texts    matched?       spans      0 1 2 3 4 5     hits of spans     1 3 4
    gemm       yes          name       b a b a a b     hits of instants  7
    add        no
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import sum_by
from torch_tb_profiler.analysis.timeline.kinds import (
    KIND_OF_LOOK,
    KINDS,
    ChosenKind,
    Kind,
    chosen_kind,
)
from torch_tb_profiler.analysis.timeline.search_texts import Query, Texts, deadline, used_strings
from torch_tb_profiler.errors import Busy
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline

CHUNK = 1 << 17
"""Rows per chunk, which fits in the processor's cache."""
KEPT_BYTES = 16 << 20
"""Cached hits per trace; those of the last query are always kept."""
PATTERNS_AT_ONCE = 2
"""Regular expressions that are searched for at a time, in all traces."""
LONGEST_WAIT = 5.0
"""Seconds that a query waits for those before it."""
_C = DisplayColumn
_PATTERNS = threading.BoundedSemaphore(PATTERNS_AT_ONCE)
MATCHES = DisplaySpec(
    "matches",
    "Hits of a search by name; ``look`` is that of the first event of the name.",
    (
        _C("name", "code", "Name", "", width=420),
        _C("look", "id", "Kind", "", width=140),
        _C("count", "count", "Matches", "", width=90),
        _C("total_ns", "time", "Total", "", "total", bar=True, width=110),
    ),
)
HITS = DisplaySpec(
    "hits",
    "Hits of a search in time order.",
    (
        _C("event", "row", "", ""),
        _C("lane", "row", "", "", unit="row of lanes"),
        _C("name", "code", "", ""),
        _C("look", "id", "", ""),
        _C("start_ns", "time", "", ""),
        _C("dur_ns", "time", "", ""),
    ),
)
_ARGUMENTS = {
    "operator_args": ("dims", "types", "strides", "concrete", "stack"),
    "device_args": ("grid", "block"),
    "collective_args": ("collective", "dtype", "group"),
    "instants": ("args",),
}

BLOCK = 512
"""Rows per count; a multiple of 8."""

_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1).astype(np.uint8)

_BEFORE = np.array([0, *(0xFF << (8 - bit) & 0xFF for bit in range(1, 8))], np.uint8)
"""Mask of the bits of a byte before a position; the first row is the highest bit."""


class RowSet:
    """The rows for which a mask holds; ``n``: their number.

    A set of table rows as a bitmap with a running count per block: small, quick to count and walk.

    ::

        rows     0 1 2 3 4 5 6 7 | 8 …      bits     0 1 1 0 0 0 1 0 | …      before    0 | 3 | …
    """

    def __init__(self, mask: Mask) -> None:
        self._bytes = BLOCK // 8
        blocks = -(-len(mask) // BLOCK)
        bits = np.zeros(blocks * self._bytes, np.uint8)
        packed = np.packbits(mask)
        bits[: len(packed)] = packed
        self._bits = bits.reshape(blocks, self._bytes)
        self._before = np.zeros(blocks + 1, np.int64)
        np.cumsum(_ONES[self._bits].sum(axis=1, dtype=np.int64), out=self._before[1:])
        self.n = int(self._before[-1])

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self._bits.nbytes + self._before.nbytes

    def below(self, rows: Ints) -> Ints:
        """The number of members less than each row, int64; rows may equal the length of the mask."""
        block, within = rows // BLOCK, rows % BLOCK
        count = self._before[np.minimum(block, len(self._bits))]
        inside = np.flatnonzero(block < len(self._bits))
        bits, byte = self._bits[block[inside]], within[inside] // 8
        ones = np.where(np.arange(self._bytes) < byte[:, None], _ONES[bits], 0).sum(
            axis=1, dtype=np.int64
        )
        count[inside] += (
            ones + _ONES[bits[np.arange(len(inside)), byte] & _BEFORE[within[inside] % 8]]
        )
        return count

    def member(self, index: int) -> int:
        """The member with ``index`` (< ``n``) members before it."""
        block = int(np.searchsorted(self._before, index, "right")) - 1
        return int(self._members(np.array([block]))[index - int(self._before[block])])

    def first(self, most: int) -> Ints:
        """The lowest members, ``most`` at most."""
        needed = int(np.searchsorted(self._before, most))
        filled = np.flatnonzero(np.diff(self._before[: needed + 1]))
        return np.asarray(self._members(filled)[:most])

    def _members(self, blocks: Ints) -> Array:
        block, bit = np.nonzero(np.unpackbits(self._bits[blocks], axis=1))
        return blocks[block] * BLOCK + bit


@contextmanager
def _turn(lock: threading.Lock | threading.BoundedSemaphore) -> Iterator[None]:
    """Hold a lock.

    Raises Busy where it is not to be had in time.
    """
    if not lock.acquire(timeout=LONGEST_WAIT):
        raise Busy("Other searches are being done and take long.", "Try again in a moment.")
    try:
        yield
    finally:
        lock.release()


class Hits(msgspec.Struct, frozen=True):
    """The hits of a query.

    kind: the kind of the hits; ``kinds``: number of matches of each of ``KINDS``, of all kinds.
    spans, instants: rows of the two tables.
    names, count, total: rows of ``names`` by total time, then count, descending; their hits, and
        total ns.
    """

    kind: Kind | Literal["all"]
    kinds: tuple[int, ...]
    spans: RowSet
    instants: RowSet
    names: Ints
    count: Ints
    total: Ints

    @property
    def n(self) -> int:
        """The number of hits."""
        return self.spans.n + self.instants.n

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(
            part.nbytes for part in (self.spans, self.instants, self.names, self.count, self.total)
        )


class Search:
    """Answers queries on one timeline; thread-safe, keep one per opened trace."""

    def __init__(self, trace: Trace, timeline: Timeline) -> None:
        self._trace, self._timeline = trace, timeline
        self._lock = threading.Lock()
        self._kept: OrderedDict[Query, Hits] = OrderedDict()

    def find(self, query: Query) -> Hits:
        """The hits of a query, cached.

        Raises BadRequest if the query is empty, not a regular expression, or too expensive, and
        Busy if others before it take long.
        """
        with _turn(self._lock):
            hits = self._kept.get(query)
            if hits is not None:
                self._kept.move_to_end(query)
                return hits
            if query.regex:
                with _turn(_PATTERNS):
                    hits = self._hits(query)
            else:
                hits = self._hits(query)
            self._kept[query] = hits
            while len(self._kept) > 1 and sum(h.nbytes for h in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)
            return hits

    def _hits(self, query: Query) -> Hits:
        until = deadline()
        names = self._names.matching(query, until)
        arguments = self._arguments.matching(query, until) if query.arguments else None
        return self._search(names, arguments, query.kind)

    def matches(self, hits: Hits, most: int) -> DisplayTable:
        """The first names of the hits by total time."""
        names, table = hits.names[:most], self._timeline["names"]
        with self._lock:
            look = self._look[names]
        return MATCHES.build(
            self._trace.strings,
            name=table["text"][names],
            look=look,
            count=hits.count[:most],
            total_ns=hits.total[:most],
        )

    def event_at(self, hits: Hits, index: int) -> int:
        """The event of a hit by its index in time order; at equal times spans come first."""
        spans = self._trace["spans"].n
        # Bisect for the number of spans among the first `index` hits.
        low, high = max(0, index - hits.instants.n), min(index, hits.spans.n)
        while low < high:
            middle = (low + high) // 2
            if self._precedes(hits.spans.member(middle), hits.instants.member(index - middle - 1)):
                low = middle + 1
            else:
                high = middle
        if low == hits.spans.n:
            return spans + hits.instants.member(index - low)
        span = hits.spans.member(low)
        if index - low == hits.instants.n:
            return span
        instant = hits.instants.member(index - low)
        return span if self._precedes(span, instant) else spans + instant

    def first(self, hits: Hits, most: int, longest: bool = False) -> DisplayTable:
        """The first hits in time order; ``longest``: the longest, the first in time where they are equally long."""
        spans, places = self._trace["spans"], self._timeline["places"]
        looked = hits.spans.n if longest else most
        of_spans, instants = hits.spans.first(looked), hits.instants.first(most)
        if longest and len(of_spans) > most:
            length = spans["dur"][of_spans]
            least = np.partition(length, len(length) - most)[len(length) - most]
            above, equal = np.flatnonzero(length > least), np.flatnonzero(length == least)
            of_spans = of_spans[np.sort(np.append(above, equal[: most - len(above)]))]
        start = np.concatenate((spans["start"][of_spans], self._point(instants)))
        dur = np.concatenate((spans["dur"][of_spans], np.zeros(len(instants), np.int64)))
        order = (np.lexsort((start, -dur)) if longest else np.argsort(start, kind="stable"))[:most]
        event = np.concatenate((of_spans, instants + spans.n))[order]
        return HITS.build(
            self._trace.strings,
            event=event,
            lane=places["lane"][event],
            name=self._timeline["names"]["text"][places["name"][event]],
            look=places["look"][event],
            start_ns=start[order],
            dur_ns=dur[order],
        )

    def until(self, hits: Hits, times: Ints) -> Ints:
        """The number of hits that start before each time, int64 ns."""
        spans, instants = (
            np.searchsorted(self._trace[table][column], times)
            for table, column in (("spans", "start"), ("instants", "time"))
        )
        return np.where(times > 0, hits.spans.below(spans) + hits.instants.below(instants), 0)

    def before(self, hits: Hits, event: int, *, included: bool) -> int:
        """The number of hits before an event in time order, or up to it if ``included``."""
        spans = self._trace["spans"]
        if event < spans.n:
            start = int(spans["start"][event])
            row = event + included
            point = int(np.searchsorted(self._trace["instants"]["time"], start)) if start > 0 else 0
        else:
            point = event - spans.n
            row = int(np.searchsorted(spans["start"], self._point(point), "right"))
            point += included
        return int(hits.spans.below(np.array([row]))[0] + hits.instants.below(np.array([point]))[0])

    def _precedes(self, span: int, instant: int) -> bool:
        return bool(self._trace["spans"]["start"][span] <= self._point(instant))

    def _point(self, rows: int | Ints) -> Ints:
        """When instants are drawn: those before the first span at its start."""
        return np.maximum(self._trace["instants"]["time"][rows], 0)

    def _search(self, names: Mask, arguments: Mask | None, chosen: ChosenKind) -> Hits:
        places = self._timeline["places"]
        table = self._timeline["names"]
        spans = self._trace["spans"]
        wanted = np.append(names, False)
        named = np.zeros(places.n, np.bool_)
        for begin in range(0, places.n if names.any() else 0, CHUNK):
            np.take(
                wanted,
                places["name"][begin : begin + CHUNK],
                out=named[begin : begin + CHUNK],
                mode="wrap",
            )
        named[spans.n :] &= places["lane"][spans.n :] >= 0
        count, total = np.where(names, table["events"], 0), np.where(names, table["total"], 0)
        if arguments is not None:
            also = self._arguments.events(arguments, places.n, spans.n) & ~named
            also[spans.n :] &= places["lane"][spans.n :] >= 0
            for begin in range(0, places.n, CHUNK):
                event = np.flatnonzero(also[begin : begin + CHUNK]) + begin
                if len(event):
                    name = places["name"][event]
                    count += np.bincount(name, minlength=table.n)
                    own = event < spans.n
                    total += sum_by(name[own], table.n, spans["dur"][event[own]])
            named |= also
        kinds = self._kinds(named)
        kind = chosen_kind(chosen, [each for each, n in zip(KINDS, kinds, strict=True) if n])
        if kind != "all" and sum(kinds) > kinds[KINDS.index(kind)]:
            count, total = self._keep(named, KINDS.index(kind))
        number = np.flatnonzero(count)
        number = number[np.lexsort((-count[number], -total[number]))]
        found = RowSet(named[: spans.n]), RowSet(named[spans.n :])
        return Hits(kind, kinds, *found, number, count[number], total[number])

    def _kinds(self, named: Mask) -> tuple[int, ...]:
        """How many of some events are of each kind."""
        look, counts = self._timeline["places"]["look"], np.zeros(len(KIND_OF_LOOK), np.int64)
        for begin in range(0, len(named), CHUNK):
            rows = slice(begin, begin + CHUNK)
            counts += np.bincount(look[rows][named[rows]], minlength=len(counts))
        return tuple(sum_by(KIND_OF_LOOK, len(KINDS), counts).tolist())

    def _keep(self, named: Mask, kind: int) -> tuple[Ints, Ints]:
        """Keep those of a kind; number and ns by row of names."""
        places, spans, n = self._timeline["places"], self._trace["spans"], self._timeline["names"].n
        count, total = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for begin in range(0, len(named), CHUNK):
            rows = slice(begin, begin + CHUNK)
            named[rows] &= np.take(KIND_OF_LOOK, places["look"][rows]) == kind
            event = np.flatnonzero(named[rows]) + begin
            name = places["name"][event]
            count += np.bincount(name, minlength=n)
            own = event < spans.n
            total += sum_by(name[own], n, spans["dur"][event[own]])
        return count, total

    @cached_property
    def _names(self) -> Texts:
        return Texts(self._trace.strings, self._timeline["names"]["text"].astype(np.int64))

    @cached_property
    def _arguments(self) -> _Arguments:
        return _Arguments(self._trace)

    @cached_property
    def _look(self) -> Array:
        """The look of the first event of each name."""
        places = self._timeline["places"]
        look = np.zeros(self._timeline["names"].n + 1, np.uint8)
        for begin in reversed(range(0, places.n, CHUNK)):
            rows = slice(begin, begin + CHUNK)
            look[places["name"][rows][::-1]] = places["look"][rows][::-1]
        return look


class _Arguments:
    """The texts of arguments, and the events that have them."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._used = {
            (table, name): used_strings(trace[table][name], len(trace.strings))
            for table, names in _ARGUMENTS.items()
            for name in names
        }
        self._numbers = np.flatnonzero(np.logical_or.reduce(list(self._used.values()))[:-1])
        self._texts = Texts(trace.strings, self._numbers)

    def matching(self, query: Query, until: float) -> Mask:
        """Which strings of the trace are matching argument texts; the last entry is for −1."""
        mask = np.zeros(len(self._trace.strings) + 1, np.bool_)
        mask[self._numbers] = self._texts.matching(query, until)
        return mask

    def events(self, matched: Mask, count: int, spans: int) -> Mask:
        """Which of ``count`` events have a ``matched`` argument."""
        mask = np.zeros(count, np.bool_)
        for name, columns in _ARGUMENTS.items():
            table = self._trace[name]
            chosen = [
                table[column] for column in columns if (self._used[name, column] & matched).any()
            ]
            for begin in range(0, table.n if chosen else 0, CHUNK):
                rows = slice(begin, begin + CHUNK)
                is_match = np.take(matched, chosen[0][rows], mode="wrap")
                for column in chosen[1:]:
                    is_match |= np.take(matched, column[rows], mode="wrap")
                event = (
                    table["span"][rows][is_match]
                    if "span" in table
                    else np.flatnonzero(is_match) + begin + spans
                )
                mask[event] = True
        return mask
