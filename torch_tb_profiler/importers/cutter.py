"""Find the events of a trace in its text, whatever the layout, and decode them chunk by chunk.

A cut is *guessed* (the last ``},`` ``{`` of what was read) and *proved* by the decoder: a text that
starts between two events and decodes as complete values also ends between two events::

      [ {event}, {event}, {event}, {eve
        └──────── decoded ───────┘ ▲
                             guess │  left for the next chunk

When the proof fails, the decoder says why: the array ended before the guess, a value has an
unexpected type, or the text is damaged. ``walk`` then goes from entry to entry.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import TypeVar

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.chunks import Batch, bracketed, decode_chunk
from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS
from torch_tb_profiler.importers.repair import repair
from torch_tb_profiler.importers.scanned import Scanned, Scanners
from torch_tb_profiler.importers.walk import PATIENT_BYTES, Ledger, Walk
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.defects import HEADER_LOST, TRAILING, TRUNCATED, DefectCounts

HEADER_VALUE_BYTES = 1 << 20
"""Larger top-level values are skipped and counted; we show none that large."""
GUESS_BYTES = 1 << 16
STRANGERS = 100_000
"""A bare array with this many entries and no event is some other JSON."""

_BETWEEN = regex(rb"\}\s*,\s*\{")
_FIRST_KEY = regex(rb'\{\s*("[\w .-]{1,64}")\s*:')
_NEXT_ENTRY = regex(rb'\}\s*,\s*(?=\{\s*")')
_EVENTS_KEY = regex(rb'"?traceEvents"\s*:\s*\[')


_Read = TypeVar("_Read", Batch, Scanned)


class EventReader:
    """Reads the top level of a trace: ``pieces()`` yields the events and fills ``header``."""

    def __init__(
        self,
        window: Window,
        chunk_bytes: int,
        counts: DefectCounts,
        scanners: Scanners | None = None,
    ) -> None:
        """``scanners``: are asked first."""
        self.header: dict[str, object] = {}
        self.bare_array = False
        self._w = window
        self._chunk = max(1, chunk_bytes)
        self._counts = counts
        self._found = False
        self._truncated = False
        self._ledger = Ledger(counts)
        self._between: tuple[bytes, re.Pattern[bytes]] = (b"", _BETWEEN)
        self._scanners = scanners

    @property
    def entries(self) -> int:
        """Entries of ``traceEvents`` so far, lost ones included."""
        return self._ledger.entries

    def batches(self) -> Iterator[Batch]:
        """All events in file order, of a reader without scanners; see ``pieces``."""
        for piece in self.pieces():
            assert isinstance(piece, Batch)
            yield piece

    def pieces(self) -> Iterator[Batch | Scanned]:
        """All events in file order. What was scanned is valid until the next piece is asked for.

        Raises:
            NotATrace: the text is neither an object with ``traceEvents`` nor an array of events.
        """
        w = self._w
        first = w.skip_space()
        if first == b"[":
            self.bare_array = True
            w.advance(1)
            yield from self._array()
        elif first == b"{":
            w.advance(1)
            yield from self._object()
        else:
            what = "only whitespace" if not first else "neither a JSON object nor a JSON array"
            raise NotATrace(
                f"The file holds {what}.",
                "Choose the file that torch.profiler wrote.",
            )
        if not self._found:
            absent = "is JSON, but has no traceEvents"
            what = "ends before traceEvents" if self._truncated else absent
            raise NotATrace(f"The file {what}.", "Choose the file that torch.profiler wrote.")
        if w.skip_space():
            self._counts.add(TRAILING)

    def _object(self) -> Iterator[Batch | Scanned]:
        w = self._w
        while True:
            first = w.skip_space(b",")
            if first == b"}":
                w.advance(1)
                return
            key = w.string() if first == b'"' else None
            follows = w.skip_space()
            if key is None or follows != b":":
                if self._found or not w.seek(_EVENTS_KEY):
                    if not follows or (first == b'"' and key is None and w.ended):
                        self._cut_off()
                    else:
                        self._counts.add(HEADER_LOST)
                    w.drain()
                    return
                yield from self._array()
                continue
            w.advance(1)
            if w.skip_space() == b"[" and key == b'"traceEvents"':
                w.advance(1)
                yield from self._array()
            else:
                self._header_value(key)

    def _header_value(self, key: bytes) -> None:
        raw, whole = self._w.value(HEADER_VALUE_BYTES)
        if not whole:
            self._cut_off()
        if raw is None:
            self._counts.add(HEADER_LOST)
            return
        try:
            self.header[str(ANY.decode(key))] = ANY.decode(raw)
        except DECODE_ERRORS:
            try:
                value = ANY.decode(repair(raw, self._counts))
                self.header[str(ANY.decode(repair(key, self._counts)))] = value
            except DECODE_ERRORS:
                self._counts.add(HEADER_LOST)

    def _cut_off(self) -> None:
        """Count a truncated text once, however many things were open."""
        if not self._truncated:
            self._truncated = True
            self._counts.add(TRUNCATED)

    def _array(self) -> Iterator[Batch | Scanned]:
        self._found = True
        w, want, scanned, strangers = self._w, self._chunk, 0, self.bare_array
        while True:
            first = w.skip_space(b",")
            if first == b"]":
                w.advance(1)
                return
            if not first:
                self._cut_off()
                return
            w.fill(want)
            cut, scanned = self._guess(scanned)
            if cut < 0 and not w.ended and len(w.buffer) < PATIENT_BYTES:
                want = len(w.buffer) + max(self._chunk, len(w.buffer) // 2)
                continue
            batch: Batch | Scanned | None = self._fast(cut) if cut > 0 else None
            if batch is None:
                batch = self._slow()
            if batch is None:
                want, scanned = 2 * max(want, len(w.buffer)), 0
                continue
            want, scanned = self._chunk, 0
            strangers = strangers and not batch.events
            if strangers and self.entries > STRANGERS:
                raise NotATrace(
                    "The file is a JSON array, but not of events.",
                    "Choose the file that torch.profiler wrote.",
                )
            if isinstance(batch, Scanned):
                self._look_ahead()
            yield batch

    def _guess(self, scanned: int) -> tuple[int, int]:
        """(end of the last event that seems complete or −1, bytes scanned in vain).

        Most events begin with the same key, which tells them from objects inside arguments.
        """
        text, low = self._w.buffer, max(0, scanned - 128)
        first = _FIRST_KEY.match(text)
        key = first.group(1) if first else b""
        if key and key != self._between[0]:
            self._between = (key, re.compile(rb"\}\s*,\s*\{\s*" + re.escape(key)))
        for pattern in (self._between[1], _BETWEEN) if key else (_BETWEEN,):
            for start in range(max(low, len(text) - GUESS_BYTES), low - GUESS_BYTES, -GUESS_BYTES):
                end = min(len(text), start + GUESS_BYTES + 256)
                last = deque(pattern.finditer(text, max(start, low), end), 1)
                if last:
                    return last[0].start() + 1, 0
        return -1, len(text)

    def _fast(self, cut: int) -> Batch | Scanned | None:
        """Read up to the guess or to the end of the array; None if only the walk can go on."""
        chunk, offset = memoryview(self._w.buffer)[:cut], self._w.offset
        if self._scanners is not None and (scanned := self._scanners.scan(chunk, offset)):
            return self._take(scanned)
        batch = decode_chunk(bracketed(chunk), offset, self._ledger)
        return None if batch is None else self._take(batch)

    def _look_ahead(self) -> None:
        """Have the next chunk scanned while what was read last is used."""
        w = self._w
        if w.skip_space(b",") == b"{" and self._scanners is not None:
            w.fill(self._chunk)
            cut, _ = self._guess(0)
            if cut > 0:
                self._scanners.ahead(memoryview(w.buffer)[:cut], w.offset)

    def _slow(self) -> Batch | None:
        """Walk from entry to entry; None if the first one needs more text."""
        w = self._w
        walk = Walk(w.buffer, w.ended, self._ledger)
        end = walk.go()
        if not end:
            return None
        text = b"[" + b",".join(walk.texts) + b"]"
        batch = self._take(Batch(walk.events, text, w.offset, end))
        if walk.gave_up and not w.seek(_NEXT_ENTRY):
            self._cut_off()
        return batch

    def _take(self, batch: _Read) -> _Read:
        self._w.advance(batch.size)
        self._ledger.entries += len(batch.events)
        return batch
