"""From entry to entry through text that could not be decoded in one go: what is whole is kept, what
is damaged is mended or lost, alone.

Where an entry ends is known exactly while it is well-formed (``extent``). A damaged one ends where
the next one seems to begin::

    {"name": "a"b", "args": {…}}, {"name": …
             └┬┘└ the decoder stops here
              └── no real boundary lies before this string: what came before was well-formed
"""

from __future__ import annotations

import re

from torch_tb_profiler.importers.events import DECODE_ERRORS, EVENT, Event, decode_loose
from torch_tb_profiler.importers.extent import extent
from torch_tb_profiler.importers.repair import WHOLE_STRING, opens, repair, shallow, value_end
from torch_tb_profiler.store.defects import NOT_AN_EVENT, UNPARSABLE, WRONG_TYPE, DefectCounts

PATIENT_BYTES = 64 << 20
"""An entry longer than this is given up: nothing may fill the memory."""
LOOK_BYTES = 16 << 10
"""So far behind the damage the end of an entry with nested objects is looked for."""
FUTILE_BYTES = 16 << 20
"""Text that may be looked through in vain, in one trace; what is damaged beyond is lost without a
second look.
"""

_CLOSE, _QUOTE = ord("]"), ord('"')
_GAP = re.compile(rb"[ \t\r\n,]+")
_SPACE = re.compile(rb"\s*")
_NEXT_EVENT = re.compile(rb'\}\s*,\s*\{\s*"')
_LAST_EVENT = re.compile(
    rb'\}\s*\]\s*(?:\}?\s*\Z|,\s*"(?:traceName|displayTimeUnit|baseTimeNanoseconds|schemaVersion|deviceProperties|distributedInfo|trace_id'
    rb'|with_stack|with_flops|with_modules|record_shapes|profile_memory|cuda_runtime_version|cuda_driver_version|cupti_version)")'
)
_GARBAGE = re.compile(rb'[^\s,\]\[{"]+')


class Ledger:
    """Entries met and lost, and how much text was looked through in vain."""

    def __init__(self, counts: DefectCounts) -> None:
        self.counts = counts
        self.entries = 0
        self.futile = 0

    def lose(self, text: bytes) -> None:
        """One entry that cannot be used."""
        self.counts.add(UNPARSABLE if text[:1] == b"{" else NOT_AN_EVENT)
        self.entries += 1


def one_event(text: bytes, counts: DefectCounts) -> tuple[Event, bytes] | None:
    """One entry and the text that gave it, by ever more tolerant means; None when none helps."""
    if text[:1] != b"{":
        return None
    found = DefectCounts()
    try:
        return EVENT.decode(text), text
    except DECODE_ERRORS:
        pass
    try:
        event, wrong = decode_loose(text)
    except DECODE_ERRORS as error:
        try:
            text = _mended(text, error, found)
            event, wrong = decode_loose(text)
        except DECODE_ERRORS:
            return None
    found.add(WRONG_TYPE, wrong)
    counts.absorb(found)
    return event, text


def _mended(text: bytes, error: Exception, found: DefectCounts) -> bytes:
    """The text repaired, and made less deep where that was what the decoder refused."""
    better = repair(text, found)
    if not isinstance(error, RecursionError):
        if better == text:
            raise error
        try:
            decode_loose(better)
            return better
        except RecursionError:
            pass
    return shallow(better, found)


class Walk:
    """One pass over a buffer. ``ended``: no text follows it. Afterwards ``events`` and ``texts``
    hold what could be read.
    """

    def __init__(self, text: bytes, ended: bool, ledger: Ledger) -> None:
        self.events: list[Event] = []
        self.texts: list[bytes] = []
        self.gave_up = False
        self._text, self._ended, self._ledger = text, ended, ledger
        self._next: tuple[int, int] = (1, 0)
        self._last: tuple[int, int] = (1, 0)

    def go(self) -> int:
        """Walk as far as the text allows; the position reached, 0 when more text is needed for the
        first entry.
        """
        text, at, n = self._text, 0, len(self._text)
        while at < n and text[at] != _CLOSE and not self.gave_up:
            gap = _GAP.match(text, at)
            if gap:
                at = gap.end()
                continue
            end = self._event(at) if text[at : at + 1] == b"{" else self._other(at)
            if end < 0:
                break
            at = end
        return at

    def _event(self, at: int) -> int:
        text = self._text
        guess = self._boundary(at + 1)
        if guess > 0:
            try:
                self.events.append(EVENT.decode(text[at:guess]))
                self.texts.append(text[at:guess])
                return guess
            except DECODE_ERRORS:
                pass
        end, bad = self._extent(at)
        if end > 0:
            if not self._accept(at, end):
                self._ledger.lose(b"{")
            return end
        return self._damaged(at, bad) if bad > 0 else self._unfinished(at)

    def _extent(self, at: int) -> tuple[int, int]:
        try:
            return extent(self._text, at)
        except RecursionError:
            end = self._tolerant_end(at, len(self._text))
            return end, at + 1 if end < 0 and self._ledger.futile > FUTILE_BYTES else -1

    def _tolerant_end(self, at: int, limit: int) -> int:
        """Where the brackets are balanced; −1 when they are not before ``limit``, or when too much
        was looked through in vain before.
        """
        if self._ledger.futile > FUTILE_BYTES:
            return -1
        end = value_end(self._text, at, limit)
        if end < 0:
            self._ledger.futile += limit - at
        return end

    def _accept(self, at: int, end: int) -> bool:
        found = one_event(self._text[at:end], self._ledger.counts)
        if found is not None:
            self.events.append(found[0])
            self.texts.append(found[1])
        return found is not None

    def _unfinished(self, at: int) -> int:
        """Well-formed up to the end of the text."""
        if not self._ended and len(self._text) - at < PATIENT_BYTES:
            return -1
        end = self._tolerant_end(at, len(self._text)) if self._ended else -1
        if end > 0 and self._accept(at, end):
            return end
        return self._give_up(at)

    def _give_up(self, at: int) -> int:
        self._ledger.lose(self._text[at : at + 1])
        self.gave_up = not self._ended
        return len(self._text)

    def _damaged(self, at: int, bad: int) -> int:
        """Mend the entry, or lose it up to where the next one seems to begin."""
        text, n = self._text, len(self._text)
        if not self._ended and n - bad < LOOK_BYTES:
            return -1
        start = at + 1
        for match in WHOLE_STRING.finditer(text, at, bad):
            start = match.start()
        guess = self._boundary(start)
        if guess > 0 and self._accept(at, guess):
            return guess
        if guess < 0 or opens(text, at, guess):
            end = self._tolerant_end(at, min(n, bad + LOOK_BYTES))
            if end > 0 and self._accept(at, end):
                return end
            self._ledger.futile += max(end - at, 0)
        last = self._array_end(start)
        if last > 0 and (guess < 0 or last < guess):
            guess = last
            if self._accept(at, guess):
                return guess
        if guess > 0:
            self._ledger.lose(b"{")
            return guess if guess == last else self._past_fragments(guess, bad + LOOK_BYTES, last)
        if not self._ended and n - at < PATIENT_BYTES:
            return -1
        return self._give_up(at)

    def _past_fragments(self, guess: int, limit: int, last: int) -> int:
        """The boundary moved behind objects of the lost entry's own arguments: an event has a
        phase.
        """
        while guess < min(limit, last if last > 0 else limit):
            after = _NEXT_EVENT.search(self._text, guess)
            ends = [e for e in (after.start() + 1 if after else -1, last) if e > 0]
            if not ends or self._text.find(b'"ph"', guess, min(ends)) >= 0:
                break
            guess = min(ends)
        return guess

    def _other(self, at: int) -> int:
        """An entry that is no object: a value of another kind, or debris."""
        text, n = self._text, len(self._text)
        if text[at] == _QUOTE:
            match = WHOLE_STRING.match(text, at)
            end = match.end() if match and match.lastgroup is None else -1
        elif text[at : at + 1] == b"[":
            end, bad = self._extent(at)
            if bad > 0:
                end = self._boundary(bad)
        else:
            match = _GARBAGE.match(text, at)
            end = match.end() if match else at + 1
            end = end if end < n or self._ended else -1
        if end > 0:
            self._ledger.lose(text[at : at + 1])
            space = _SPACE.match(text, end)
            behind = text[space.end() : space.end() + 1] if space else b""
            return end if behind in b",]{" else max(end, self._boundary(end))
        if not self._ended and n - at < PATIENT_BYTES:
            return -1
        return self._give_up(at)

    def _boundary(self, at: int) -> int:
        """End of the first entry, from ``at`` on, that another one follows; −1 when there is none.
        Found ones are remembered.
        """
        low, found = self._next
        if not (low <= at and (found < 0 or at < found)):
            match = _NEXT_EVENT.search(self._text, at)
            found = match.start() + 1 if match else -1
            self._next = (at, found)
        return found

    def _array_end(self, at: int) -> int:
        """The same for the entry that the end of the array follows."""
        low, found = self._last
        if not (low <= at and (found < 0 or at < found)):
            match = _LAST_EVENT.search(self._text, at)
            found = match.start() + 1 if match else -1
            self._last = (at, found)
        return found
