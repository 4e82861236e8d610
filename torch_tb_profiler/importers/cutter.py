"""Find the events of a trace in its text, whatever its layout, and decode them chunk by chunk.

The text is never trusted to be laid out in a certain way. A cut is *guessed* (the last ``},`` ``{`` of what was read) and *proved* by the
decoder: JSON being deterministic, a text that starts between two events and decodes as complete values ends between two events::

      [ {event}, {event}, {event}, {eve
        └──────── decoded ───────┘ ▲
                             guess │  kept for the next chunk

When the proof fails the guess was inside an event, or the text is damaged, or the array ended: these are tried in the order of
their likelihood, the exact but slow walk over every event last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS, EVENT, EVENTS, RAWS, Event, decode_loose
from torch_tb_profiler.importers.repair import repair, shallow, value_end
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts

HEADER_VALUE_BYTES = 1 << 20
"""A top-level value larger than this is skipped (and counted): nothing that we show needs one."""
ENDS_TRIED = 8
GUESS_BYTES = 1 << 16
PATIENCE = 4
"""An event that stays open for this many chunks (1 MB at least) is taken as damaged."""

_BETWEEN = re.compile(rb"\}\s*,\s*\{")
_NEXT_EVENT = re.compile(rb'\}\s*,\s*\{\s*"')
_ARRAY_END = re.compile(rb"\}\s*\]")
_CLOSE = ord("]")
_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')


@dataclass(frozen=True)
class Batch:
    """Decoded events of one piece of text: ``size`` bytes at ``offset`` of the inflated text.

    ``text`` is a JSON array with just these events (mended where damaged), or ``[]`` when there is no such text.
    """

    events: list[Event]
    text: bytes
    offset: int
    size: int


class EventReader:
    """Walks the top level of a trace: ``batches()`` gives the events, afterwards ``header`` holds the other keys."""

    def __init__(self, window: Window, chunk_bytes: int, counts: DefectCounts) -> None:
        self.header: dict[str, object] = {}
        self.entries = 0
        self.bare_array = False
        self._w = window
        self._chunk = max(1, chunk_bytes)
        self._counts = counts
        self._found = False

    def batches(self) -> Iterator[Batch]:
        """All events in file order.

        Raises:
            NotATrace: the text is no JSON object with ``traceEvents`` and no array of events.
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
            what = "nothing but white space" if not first else f"a text that begins with {w.buffer[:20]!r}"
            raise NotATrace(f"The file holds {what}, expected a JSON object or array.", "Give the file that torch.profiler wrote.")
        if not self._found:
            raise NotATrace("The file is JSON, but has no traceEvents.", "Give the file that torch.profiler wrote.")
        if w.skip_space():
            self._counts.add(d.TRAILING)

    def _object(self) -> Iterator[Batch]:
        w = self._w
        while True:
            first = w.skip_space(b",")
            if first == b"}":
                w.advance(1)
                return
            key = w.string() if first == b'"' else None
            if key is None or w.skip_space() != b":":
                if self._found or not w.seek(_EVENTS_KEY):
                    self._counts.add(d.TRUNCATED if not first else d.HEADER_LOST)
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
            self._counts.add(d.TRUNCATED)
        if raw is None:
            self._counts.add(d.HEADER_LOST)
            return
        try:
            self.header[str(ANY.decode(key))] = ANY.decode(raw)
        except DECODE_ERRORS:
            try:
                self.header[str(ANY.decode(repair(key, self._counts)))] = ANY.decode(repair(raw, self._counts))
            except DECODE_ERRORS:
                self._counts.add(d.HEADER_LOST)

    def _array(self) -> Iterator[Batch]:
        self._found = True
        w, want, scanned = self._w, self._chunk, 0
        while True:
            first = w.skip_space(b",")
            if first == b"]":
                w.advance(1)
                return
            if not first:
                self._counts.add(d.TRUNCATED)
                return
            w.fill(want)
            cut, scanned = self._guess(scanned)
            if cut < 0 and not w.ended:
                want += self._chunk
                continue
            batch = self._fast(cut)
            if batch is None:
                batch = self._slow()
            if batch is None:
                want, scanned = 2 * max(want, len(w.buffer)), 0
                continue
            want, scanned = self._chunk, 0
            self.entries += len(batch.events)
            yield batch

    def _guess(self, scanned: int) -> tuple[int, int]:
        """End of the last event that seems complete, −1 if none; and how far the text was looked through in vain."""
        text, low = self._w.buffer, max(0, scanned - 64)
        for start in range(max(low, len(text) - GUESS_BYTES), low - GUESS_BYTES, -GUESS_BYTES):
            found = [m.start() for m in _BETWEEN.finditer(text, max(start, low), min(len(text), start + GUESS_BYTES + 256))]
            if found:
                return found[-1] + 1, 0
        return -1, len(text)

    def _fast(self, cut: int) -> Batch | None:
        """Decode in one go up to the guess, or up to where the array may end; None when only the slow walk is left."""
        text = self._w.buffer
        ends = [cut] if cut > 0 else []
        batch = self._strict(ends)
        if batch is None:
            ends += [m.start() + 1 for m in islice(_ARRAY_END.finditer(text), ENDS_TRIED)]
            batch = self._strict(ends[1:] if cut > 0 else ends)
        for end in ends if batch is None else ():
            if (batch := self._odd(text[:end], end)) is not None:
                break
        for end in ends if batch is None else ():
            found = DefectCounts()
            body = repair(text[:end], found)
            if (batch := self._odd(body, end)) is not None:
                self._counts.absorb(found)
                break
        return batch

    def _strict(self, ends: list[int]) -> Batch | None:
        for end in ends:
            text = b"".join((b"[", memoryview(self._w.buffer)[:end], b"]"))
            try:
                return self._take(EVENTS.decode(text), text, end)
            except DECODE_ERRORS:
                continue
        return None

    def _odd(self, body: bytes, end: int) -> Batch | None:
        """Well-formed text with values of other types than ours: split by the decoder, then event by event."""
        text = b"".join((b"[", body, b"]"))
        try:
            pieces = RAWS.decode(text)
        except DECODE_ERRORS:
            return None
        events = []
        for piece in map(bytes, pieces):
            event = self._one(piece)
            if event is None:
                self._lose(piece)
            else:
                events.append(event)
        return self._take(events, text, end)

    def _slow(self) -> Batch | None:
        """Walk event by event; None when more text is needed to get past the first one."""
        text, w = self._w.buffer, self._w
        events: list[Event] = []
        at, n = 0, len(text)
        while at < n:
            if text[at] in b" \t\r\n,":
                at += 1
                continue
            if text[at] == _CLOSE:
                break
            event, end = self._walk(text, at)
            if event is None and end < 0:
                if not w.ended and n - at < max(1 << 20, PATIENCE * self._chunk):
                    break
                end = self._give_up(text, at)
            elif event is None:
                self._lose(text[at:end])
            else:
                events.append(event)
            at = end
        return self._take(events, b"[]", at) if at else None

    def _walk(self, text: bytes, at: int) -> tuple[Event | None, int]:
        """The entry at ``at`` and its end; (None, end) when it is complete but lost, (None, −1) when its end is not in the text."""
        if text[at] not in b"{[":
            return None, self._w.scalar_end(at)
        after = _NEXT_EVENT.search(text, at + 1)
        guess = after.start() + 1 if after else -1
        if guess > 0:
            try:
                return EVENT.decode(text[at:guess]), guess
            except DECODE_ERRORS:
                pass
        end = value_end(text, at)
        event = self._one(text[at:end]) if end > 0 else None
        if event is None and 0 < guess < (end if end > 0 else len(text)):
            better = self._one(text[at:guess])
            if better is not None or end > 0:
                return better, guess
        return event, end

    def _give_up(self, text: bytes, at: int) -> int:
        """The entry at ``at`` has no end: go on behind the next one's begin, or take the text as cut off there."""
        after = _NEXT_EVENT.search(text, at + 1)
        if after is not None:
            self._lose(text[at:after.start() + 1])
            return after.start() + 1
        self._counts.add(d.TRUNCATED)
        self.entries += 1
        return len(text)

    def _one(self, text: bytes) -> Event | None:
        """One entry, by ever more tolerant means; None when none helps."""
        if text[:1] != b"{":
            return None
        try:
            return EVENT.decode(text)
        except DECODE_ERRORS:
            pass
        found = DefectCounts()
        for mend in (lambda t: t, lambda t: repair(t, found), lambda t: shallow(repair(t, found), found)):
            try:
                event, wrong = decode_loose(mend(text))
            except DECODE_ERRORS:
                continue
            found.add(d.WRONG_TYPE, wrong)
            self._counts.absorb(found)
            return event
        return None

    def _lose(self, text: bytes) -> None:
        self._counts.add(d.UNPARSABLE if text[:1] == b"{" else d.NOT_AN_EVENT)
        self.entries += 1

    def _take(self, events: list[Event], text: bytes, end: int) -> Batch:
        batch = Batch(events, text, self._w.offset, end)
        self._w.advance(end)
        return batch
