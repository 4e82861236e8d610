"""Search in the names of events and the texts of their arguments.

A query is matched against the distinct texts, whose numbers lead to the events::

    texts    matched?       events     0 1 2 3 4 5     hits     1 3 4
    gemm       yes          name       b a b a a b
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

from torch_tb_profiler.analysis.arrays.grouping import mask_of, sum_by
from torch_tb_profiler.analysis.timeline.kinds import (
    KIND_OF_LOOK,
    KINDS,
    ChosenKind,
    Kind,
    chosen_kind,
)
from torch_tb_profiler.analysis.timeline.search_texts import Query, Texts, deadline
from torch_tb_profiler.errors import Busy
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.timeline import Timeline

KEPT_BYTES = 16 << 20
"""Cached hits per trace; those of the last query are always kept."""
PATTERNS_AT_ONCE = 2
"""Regular expressions that are searched for at a time, in all traces."""
LONGEST_WAIT = 5.0
"""Seconds that a query waits for those before it."""
_PATTERNS = threading.BoundedSemaphore(PATTERNS_AT_ONCE)
MATCHES = display_spec("""
matches: Hits of a search by name; ``look`` is that of the first event of the name.
    name      code   Name     width=420
    look      id     Kind     width=140
    count     count  Matches  width=90
    total_ns  time   Total    term=total bar width=110
""")
_ARGUMENTS = {
    "operator_args": ("dims", "types", "strides", "concrete", "stack"),
    "device_args": ("grid", "block"),
    "collective_args": ("collective", "dtype", "group"),
    "instants": ("args",),
}


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
    event, start: events in time order, spans before instants that are drawn at the same time, and when they are drawn, ns.
    names, count, total: rows of ``names`` by total time, then count, descending; their hits, and
        total ns.
    """

    kind: Kind | Literal["all"]
    kinds: tuple[int, ...]
    event: Ints
    start: Ints
    names: Ints
    count: Ints
    total: Ints

    @property
    def n(self) -> int:
        """The number of hits."""
        return len(self.event)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return sum(
            part.nbytes for part in (self.event, self.start, self.names, self.count, self.total)
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

    def before(self, hits: Hits, event: int, *, included: bool) -> int:
        """The number of hits before an event in time order, or up to it if ``included``."""
        spans, instants = self._trace["spans"], self._trace["instants"]["time"]
        start = spans["start"][event] if event < spans.n else max(instants[event - spans.n], 0)
        first, behind = np.searchsorted(hits.start, (start, start + 1)).tolist()
        return int(first + np.searchsorted(hits.event[first:behind], event + included))

    def _durations(self, event: Ints) -> Ints:
        dur = self._trace["spans"]["dur"]
        return np.append(dur, 0)[np.minimum(event, len(dur))]

    def _starts(self, event: Ints) -> Ints:
        """When events are drawn: instants before the first span at its start."""
        spans, instants = self._trace["spans"]["start"], self._trace["instants"]["time"]
        return np.concatenate((spans, np.maximum(instants, 0)))[event]

    def _search(self, names: Mask, arguments: Mask | None, chosen: ChosenKind) -> Hits:
        places, n = self._timeline["places"], len(names)
        found = np.append(names, False)[places["name"]]
        if arguments is not None:
            found |= self._arguments.events(arguments, places.n, self._trace["spans"].n)
        event = np.flatnonzero(found & (places["lane"] >= 0))
        of_kind = KIND_OF_LOOK[places["look"][event]]
        kinds = tuple(np.bincount(of_kind, minlength=len(KINDS)).tolist())
        kind = chosen_kind(chosen, [each for each, n in zip(KINDS, kinds, strict=True) if n])
        if kind != "all":
            event = event[of_kind == KINDS.index(kind)]
        start = self._starts(event)
        order = np.argsort(start, kind="stable")
        event, start = event[order].astype(np.int32), start[order]
        name = places["name"][event]
        count, total = np.bincount(name, minlength=n), sum_by(name, n, self._durations(event))
        number = np.flatnonzero(count)
        number = number[np.lexsort((-count[number], -total[number]))]
        return Hits(kind, kinds, event, start, number, count[number], total[number])

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
        look[places["name"][::-1]] = places["look"][::-1]
        return look


class _Arguments:
    """The texts of arguments, and the events that have them."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._used = {
            (table, name): mask_of(len(trace.strings) + 1, trace[table][name])
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
            if chosen:
                is_match = np.logical_or.reduce([matched[column] for column in chosen])
                mask[
                    table["span"][is_match] if "span" in table else spans + np.flatnonzero(is_match)
                ] = True
        return mask
