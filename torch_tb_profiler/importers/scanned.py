"""Chunks that the compiled scanner read → the columns of a ``Gatherer``, number for number as ``Gatherer.add`` makes them.

::

    chunk ─▶ scan.c ─▶ columns ─▶ checked: all that Python must read of it can be read ─▶ added
               │                     │
               └──────── no ─────────┴─▶ the whole chunk is decoded by ``chunks.decode_chunk``

The scanner numbers texts, too; what it numbered becomes a number of the ``Gatherer`` when it is first used.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Raw

from torch_tb_profiler.importers.decimal_text import INVALID, exact
from torch_tb_profiler.importers.events import (
    ABSENT,
    ANY,
    DECODE_ERRORS,
    EVENT,
    Args,
    Count,
    Event,
    Figure,
    Id,
    number_in_text,
)
from torch_tb_profiler.importers.gather import (
    ARG_OF,
    INSTANT,
    INT64_HIGH,
    INT64_LOW,
    KNOWN_PHASES,
    MEMORY_NAME,
    ROLES_OF_ARGS,
    Gatherer,
    Numbers,
    id_number,
)
from torch_tb_profiler.importers.late_args import surplus
from torch_tb_profiler.native.library import library
from torch_tb_profiler.native.scanner import PAD, Columns, Kind, Numbering, Of, Scanner
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints, TableSpec, unique_values
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE

_KIND_OF = {Count: Kind.COUNT, Raw: Kind.RAW, Figure: Kind.FIGURE, Id: Kind.ID}
_FIELDS = [
    (f.name, f.encode_name, Kind.WIDE if f.name == "address" else _KIND_OF[f.type])
    for f in msgspec.structs.fields(Args)
]
"""Field of ``Args``, its name in the text, and how it is written."""
_NUMBER = {name: number for number, (name, _, _) in enumerate(_FIELDS)}
_KIND = {name: kind for name, _, kind in _FIELDS}
_FIGURES = [number for number, (_, _, kind) in enumerate(_FIELDS) if kind is Kind.FIGURE]
_DECODED = "BEM"
"""Phases whose events are kept as such."""
_X = ord("X")
THREAD = "profiler-scan"
_NULL = Raw(b"null")


class _Refused(Exception):
    """A chunk must be decoded in Python."""


class _Odd(NamedTuple):
    """Values that Python read: where they stand in their column, they, and their texts."""

    at: Ints
    values: list[Any]
    texts: list[bytes]


class Scanned(msgspec.Struct, eq=False):
    """Events of ``size`` bytes at ``offset`` of the inflated text; ``text`` is what was scanned. Valid until the same
    scanner, ``by``, scans another chunk.
    """

    by: ChunkScanner
    text: bytes
    offset: int
    size: int
    columns: Columns
    events: range
    spans: Ints
    """Rows of phase X."""
    odd: dict[int, _Odd]
    """Of each argument (its number, or ``Of``): what Python read of it."""
    figures: dict[int, Array]
    decoded: dict[str, list[tuple[int, Event]]]
    """Of each of ``_DECODED``: row and event."""


class _Texts:
    """Numbers that the scanner gave → numbers of a ``Gatherer``; −1, absent, has a value of its own."""

    def __init__(
        self, scanner: Scanner, which: Numbering, numbers: Numbers, read: Callable[[bytes], Any]
    ) -> None:
        self._scanner, self._which, self._numbers, self._read = scanner, which, numbers, read
        # What is behind all others is found at -1.
        self._known = np.full(1, -1, np.int32)

    def check(self, codes: Ints) -> None:
        """Read texts, so that it fails now if it does."""
        new = [
            code for code in codes.tolist() if code + 1 >= len(self._known) or self._known[code] < 0
        ]
        for text in self._scanner.texts(self._which, new):
            self._read(text)

    def __call__(self, codes: Ints, absent: Any = None) -> Array:
        """The numbers, int32, of codes as ``Numbers.column`` would give them."""
        if not len(codes):
            return np.zeros(0, np.int32)
        top = int(codes.max()) + 2
        if top > len(self._known):
            longer = np.full(2 * top, -1, np.int32)
            longer[: len(self._known) - 1] = self._known[:-1]
            longer[-1] = self._known[-1]
            self._known = longer
        found = self._known[codes]
        new = found < 0
        if new.any():
            unknown, first = np.unique(codes[new], return_index=True)
            listed = unknown[np.argsort(first)].tolist()
            texts = iter(self._scanner.texts(self._which, [code for code in listed if code >= 0]))
            for code in listed:
                value = absent if code < 0 else self._read(next(texts))
                self._known[code] = self._numbers[value]
            found = self._known[codes]
        return found


class ChunkScanner:
    """Scans chunks and adds what they hold to a ``Gatherer``; see ``Scanners``."""

    def __init__(self, gathered: Gatherer) -> None:
        self._scanner = Scanner((name, kind) for _, name, kind in _FIELDS)
        self._g = gathered
        self._begun: tuple[bytes, int, Columns | None] = (b"", 0, None)
        self._anew()

    def _anew(self) -> None:
        g, scanner = self._g, self._scanner
        self._generation = scanner.generation
        self._names = _Texts(scanner, Numbering.NAMES, g.texts, _text)
        self._categories = _Texts(scanner, Numbering.CATS, g.categories, _text)
        self._blobs = _Texts(scanner, Numbering.BLOBS, g.blobs, bytes)
        self._tracks = _Texts(scanner, Numbering.TRACKS, g.tracks, self._track)
        self._ids: dict[int, Any] = {-1: None}
        self._floats: dict[int, float] = {}

    def begin(self, chunk: memoryview, offset: int) -> None:
        """Scan a chunk at an offset of the text, which may be done in another thread; ``end`` says what was found."""
        self._begun = b"", offset, None
        # Whoever decodes it then says what lacks.
        with contextlib.suppress(OSError, MemoryError):
            text = b"".join((b"[", chunk, b"]", PAD))
            self._begun = text, offset, self._scanner.scan(text, len(chunk) + 2)

    def end(self) -> Scanned | None:
        """The events of a chunk, or of its part before the end of the array; None: it must be decoded."""
        text, offset, columns = self._begun
        if self._scanner.generation != self._generation:
            self._anew()
        if columns is None or columns.size <= 0:
            return None
        try:
            return self._checked(text, offset, columns)
        except (_Refused, *DECODE_ERRORS):
            return None

    def _checked(self, text: bytes, offset: int, columns: Columns) -> Scanned:
        phases, cats = columns.phase, columns.cat
        spans = np.flatnonzero(phases == _X)
        if len(spans):
            if int(cats[spans].min()) < 0:
                raise _Refused
            # PyTorch's own writer makes instants of these.
            numbers = np.flatnonzero(np.bincount(cats[spans])).tolist()
            if INSTANT in map(_text, self._scanner.texts(Numbering.CATS, numbers)):
                raise _Refused
        self._tracks.check(np.flatnonzero(np.bincount(columns.track)))
        figures = {}
        for number in _FIGURES:
            codes = columns.argument(number)[1]
            if len(codes):
                distinct, inverse = np.unique(codes, return_inverse=True)
                figures[number] = np.array(list(map(self._float, distinct.tolist())))[inverse]
        decoded = {
            phase: [(row, _decode(text, columns, row)) for row in rows.tolist()]
            for phase in _DECODED
            if len(rows := np.flatnonzero(phases == ord(phase)))
        }
        size, events = columns.size, range(columns.n)
        odd = self._odd(columns)
        return Scanned(self, text, offset, size, columns, events, spans, odd, figures, decoded)

    def _track(self, raw: bytes) -> tuple[Any, Any]:
        """The ids of process and thread, from the numbers of their texts."""
        numbers = np.frombuffer(raw, np.int32).tolist()
        for number in numbers:
            if number not in self._ids:
                self._ids[number] = ANY.decode(self._scanner.texts(Numbering.IDS, [number])[0])
        return self._ids[numbers[0]], self._ids[numbers[1]]

    def _float(self, code: int) -> float:
        if (value := self._floats.get(code)) is None:
            value = self._floats[code] = float(self._scanner.texts(Numbering.BLOBS, [code])[0])
        if not math.isfinite(value):
            raise _Refused
        return value

    def _odd(self, columns: Columns) -> dict[int, _Odd]:
        found: dict[int, _Odd] = {}
        arguments = columns.odd["arg"]
        for number in unique_values(arguments).tolist():
            rows = np.flatnonzero(arguments == number)
            codes, inverse = np.unique(columns.odd["text"][rows], return_inverse=True)
            texts = self._scanner.texts(Numbering.BLOBS, codes.tolist())
            values = [_read(number, raw) for raw in texts]
            back = inverse.tolist()
            at = columns.odd["at"][rows]
            found[number] = _Odd(at, [values[i] for i in back], [texts[i] for i in back])
        return found

    def add(self, scanned: Scanned, first: int) -> None:
        """Take in a chunk; ``first`` is the position of its first entry in traceEvents."""
        g, columns = self._g, scanned.columns
        g.put("chunks", ordinal=[first], offset=[scanned.offset], size=[scanned.size])
        if not columns.n:
            return
        phases = columns.phase
        times = _replaced(columns.time, scanned.odd.get(Of.TIME))
        if len(scanned.spans):
            self._spans(scanned, times, first)
        for phase in "BE":
            g.begin_end += [(first + row, event) for row, event in scanned.decoded.get(phase, ())]
        g.metadata += [event for _, event in scanned.decoded.get("M", ())]
        if len(scanned.spans) + len(scanned.decoded.get("M", ())) == columns.n:
            return
        flows = np.flatnonzero(np.isin(phases, [*b"stf"]))
        if len(flows):
            self._flows(scanned, flows, times, first)
        points = np.flatnonzero(np.isin(phases, [*b"iIRC"]))
        if len(points):
            self._points(scanned, points, times, first)
        unknown = ~np.isin(phases, [*"".join(KNOWN_PHASES).encode()])
        g.counts.add(d.UNKNOWN_PHASE, int(unknown.sum()))

    def _spans(self, scanned: Scanned, times: Ints, first: int) -> None:
        g, columns, x = self._g, scanned.columns, scanned.spans
        starts = times[x]
        good = starts != INVALID
        if not good.all():
            g.counts.add(d.NO_TIME, int((~good).sum()))
            x, starts = x[good], starts[good]
            if not len(x):
                return
        durs = _replaced(columns.dur, scanned.odd.get(Of.DUR))[x]
        g.mend_durations(starts, durs)
        categories = self._categories(columns.cat[x])
        codes = columns.name[x]

        def names_of(rows: list[int]) -> list[str | None]:
            texts = self._scanner.texts(Numbering.NAMES, np.maximum(codes[rows], 0).tolist())
            return [
                None if codes[row] < 0 else _text(raw) for row, raw in zip(rows, texts, strict=True)
            ]

        roles = g.roles_of(categories, names_of)
        g.counts.add(d.NO_NAME, int((codes < 0).sum()))
        links = {key: np.full(len(x), -1, np.int64) for key in ("correlation", "external")}
        linked = roles != Role.PYTHON
        rows = x[linked]
        links["correlation"][linked] = _column(scanned, "correlation", rows)
        external = _column(scanned, "external", rows)
        if len(columns.argument(_NUMBER["external_old"])[0]):
            old = _column(scanned, "external_old", rows)
            external = np.where(external == -1, old, external)
        links["external"][linked] = external
        g.put(
            "spans",
            start=starts,
            dur=durs,
            name=self._names(codes, ""),
            category=categories,
            track=self._tracks(columns.track[x]),
            role=roles,
            ordinal=(x + first).astype(np.int32),
            **links,
        )
        for spec, members in ROLES_OF_ARGS:
            self._arguments(scanned, spec, np.flatnonzero(members[roles]), x)
        self._later(scanned, x, durs, roles)
        g.spans += len(x)

    def _arguments(self, scanned: Scanned, spec: TableSpec, rows: Ints, x: Ints) -> None:
        """Put a side table of the spans in some rows of x."""
        if not len(rows):
            return
        if spec.name in ("collective_args", "launch_args"):
            only = "collective" if spec.name == "collective_args" else "kernel"
            rows = rows[self._codes(scanned, only, x[rows]) >= 0]
        elif spec.name == "node_args":
            rows = rows[self._codes(scanned, "annotation", x[rows]) >= 0]
        if not len(rows):
            return
        out = {}
        for column in spec.columns[1:]:
            name = ARG_OF.get((spec.name, column.name), column.name)
            kind = _KIND[name]
            if kind is Kind.RAW:
                codes = self._codes(scanned, name, x[rows])
                out[column.name] = self._blobs(codes, b"") + NONE
            elif kind is Kind.FIGURE:
                number = _NUMBER[name]
                values = np.full(scanned.columns.n, np.nan)
                values[scanned.columns.argument(number)[0]] = scanned.figures.get(number, ())
                out[column.name] = values[x[rows]]
            else:
                out[column.name] = _column(scanned, name, x[rows])
        self._g.put(spec.name, span=rows + self._g.spans, **out)

    def _codes(self, scanned: Scanned, name: str, rows: Ints) -> Ints:
        """Which text some rows have as an argument, or as those that stand for it; −1 none."""
        if name == "annotation":
            codes = np.full(len(rows), -1, np.int64)
            for other in ("annotation", "label", "module_fqn"):
                found = _column(scanned, other, rows)
                codes = np.where(found >= 0, found, codes)
            return np.where(_column(scanned, "node", rows, 0) != 0, codes, -1)
        codes = _column(scanned, name, rows)
        if name == "dims" and len(scanned.columns.argument(_NUMBER["dims_old"])[0]):
            codes = np.where(codes >= 0, codes, _column(scanned, "dims_old", rows))
        return codes

    def _later(self, scanned: Scanned, x: Ints, durs: Ints, roles: Array) -> None:
        """Put what is read from the text of arguments."""
        others = np.flatnonzero(roles == Role.OTHER)
        if len(others):
            written: dict[int, bytes] = {}
            for of in (Of.DUR, Of.DECIMALS_OF_DUR):
                if odd := scanned.odd.get(of):
                    written.update(zip(odd.at.tolist(), odd.texts, strict=True))
            more = [
                surplus(Raw(written.get(row, b"")), dur)
                for row, dur in zip(x[others].tolist(), durs[others].tolist(), strict=True)
            ]
            self._g.late_arguments(others, _raw_args(scanned, x[others]), more)
        ranges = np.flatnonzero(roles == Role.COUNTER_RANGE)
        if len(ranges):
            self._g.counters(ranges, list(map(bytes, _raw_args(scanned, x[ranges]))))

    def _flows(self, scanned: Scanned, rows: Ints, times: Ints, first: int) -> None:
        columns = scanned.columns
        ids = columns.id.copy()
        ids[ids == INVALID] = -1
        if odd := scanned.odd.get(Of.ID):
            mine = np.isin(odd.at, rows)
            chosen = [v for v, flow in zip(odd.values, mine.tolist(), strict=True) if flow]
            ids[odd.at[mine]] = self._g.fit(chosen, -1)
        self._g.put_timed(
            "flows",
            times[rows],
            track=self._tracks(columns.track[rows]),
            id=ids[rows],
            category=self._categories(columns.cat[rows]),
            phase=columns.phase[rows],
            ordinal=(rows + first).astype(np.int32),
        )

    def _points(self, scanned: Scanned, rows: Ints, times: Ints, first: int) -> None:
        columns = scanned.columns
        codes = columns.name[rows]
        distinct = np.flatnonzero(np.bincount(codes[codes >= 0])).tolist()
        texts = map(_text, self._scanner.texts(Numbering.NAMES, distinct))
        memory = [code for code, text in zip(distinct, texts, strict=True) if text == MEMORY_NAME]
        if memory:
            of_memory = np.isin(codes, memory) & (columns.phase[rows] != ord("C"))
            self._memory(scanned, rows[of_memory], times, first)
            rows = rows[~of_memory]
        if not len(rows):
            return
        raws = _raw_args(scanned, rows)
        told = any(len(raw) and raw != _NULL for raw in raws)
        self._g.put_timed(
            "instants",
            times[rows],
            track=self._tracks(columns.track[rows]),
            name=self._names(columns.name[rows], ""),
            category=self._categories(columns.cat[rows]),
            phase=columns.phase[rows],
            args=self._g.raws(raws) if told else np.full(len(rows), NONE),
            ordinal=rows + first,
        )

    def _memory(self, scanned: Scanned, rows: Ints, times: Ints, first: int) -> None:
        if not len(rows):
            return
        self._g.put_timed(
            "memory",
            times[rows],
            track=self._tracks(scanned.columns.track[rows]),
            device_type=_column(scanned, "device_type", rows),
            device=_column(scanned, "device_id", rows),
            address=_column(scanned, "address", rows, 0).view(np.uint64),
            bytes=_column(scanned, "size", rows, 0),
            allocated=_column(scanned, "allocated", rows),
            reserved=_column(scanned, "reserved", rows),
            ordinal=rows + first,
            frames=np.full(len(rows), NONE),
            category=np.full(len(rows), -1),
        )


class Scanners:
    """Two by turns: while this thread adds what one has read, another has the next chunk scanned by the other::

    this thread      scan 1 ┐ add 1 ┐ add 2 ┐ add 3
    another                 └ scan 2 └ scan 3 └ scan 4
    """

    def __init__(self, gathered: Gatherer) -> None:
        """Raises OSError: there is no compiled library, or no memory."""
        self._turns = [ChunkScanner(gathered), ChunkScanner(gathered)]
        self._thread: threading.Thread | None = None
        self._ahead = (-1, -1)
        """Offset and size of the chunk that was last scanned ahead."""

    def scan(self, chunk: memoryview, offset: int) -> Scanned | None:
        """What is in a chunk at an offset of the text; None: it must be decoded."""
        self._wait()
        next_one = self._turns[0]
        if self._ahead != (offset, len(chunk)):
            next_one.begin(chunk, offset)
        self._ahead = (-1, -1)
        self._turns.reverse()
        return next_one.end()

    def ahead(self, chunk: memoryview, offset: int) -> None:
        """Begin with what will be asked next. What was asked last stays valid, and nothing before it."""
        self._wait()
        begin = self._turns[0].begin
        thread = threading.Thread(target=begin, args=(chunk, offset), name=THREAD)
        # A process may have no more threads.
        with contextlib.suppress(RuntimeError):
            thread.start()
            self._thread, self._ahead = thread, (offset, len(chunk))

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None


def scanners_for(gathered: Gatherer) -> Scanners | None:
    """Scanners, where they were compiled."""
    with contextlib.suppress(OSError):
        return Scanners(gathered) if library() is not None else None
    return None


def _text(raw: bytes) -> str:
    return msgspec.json.decode(raw, type=str)


def _decode(text: bytes, columns: Columns, row: int) -> Event:
    start = int(columns.at[row])
    return EVENT.decode(memoryview(text)[start : start + int(columns.length[row])])


def _raw_args(scanned: Scanned, rows: Ints) -> list[Raw]:
    """The text of the arguments of some rows."""
    columns, text = scanned.columns, scanned.text
    extents = zip(columns.args_at[rows].tolist(), columns.args_len[rows].tolist(), strict=True)
    return [Raw(text[start : start + n]) if n else ABSENT for start, n in extents]


def _read(number: int, raw: bytes) -> int:
    """The value of an argument, or ``Of``, that the scanner leaves to Python."""
    if number in (Of.TIME, Of.DUR):
        return exact(raw)
    if number == Of.DECIMALS_OF_DUR:
        return 0
    if number == Of.ID or _FIELDS[number][2] is Kind.ID:
        told: Any = ANY.decode(raw)
        value: int | float | None = told if type(told) is int else id_number(told)
    else:
        value = number_in_text(Raw(raw), False)
    if not isinstance(value, int) or not INT64_LOW <= value <= INT64_HIGH:
        raise _Refused
    return value


def _replaced(column: Ints, odd: _Odd | None) -> Ints:
    """A column with the values that Python read."""
    if odd is not None:
        column = column.copy()
        column[odd.at] = odd.values
    return column


def _column(scanned: Scanned, name: str, rows: Ints, absent: int = -1) -> Ints:
    """An argument of some rows, int64, as the scanner has it."""
    number = _NUMBER[name]
    have, values = scanned.columns.argument(number)
    if not len(have):
        return np.full(len(rows), absent, np.int64)
    whole = np.full(scanned.columns.n, absent, np.int64)
    whole[have] = _replaced(values, scanned.odd.get(number))
    return whole[rows]
