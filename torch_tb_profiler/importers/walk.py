"""Walk entry by entry through text that cannot be decoded at once: damage costs only its own entry.

The end of a well-formed entry is exact (``json_extent``). One with wrong values ends where its brackets
balance, its strings being whole. One with broken strings ends where the next event seems to begin::

    {"name": "a", "ts": 01}, 17, {"name": …       brackets balance, and an entry follows
    {"name": "a"b", "args": {…}}, {"name": …
             └┬┘└ the decoder stops here
              └── the boundary is after this string: everything before it was well-formed

So the entries of a text are those that a JSON decoder counts, if all that is wrong is that some
values are none (``NaN``, ``01``); of other text they are those that were met.
"""

from __future__ import annotations

import re

from torch_tb_profiler.importers.brackets import inside_array, value_end
from torch_tb_profiler.importers.events import DECODE_ERRORS, EVENT, Event, decode_loose
from torch_tb_profiler.importers.json_extent import extent
from torch_tb_profiler.importers.repair import WHOLE_STRING, as_utf8, repair, shallow
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.defects import (
    NOT_AN_EVENT,
    SKIPPED,
    UNPARSABLE,
    WRONG_TYPE,
    DefectCounts,
)

PATIENT_BYTES = 64 << 20
"""A longer entry is given up, to bound memory."""
LOOK_BYTES = 16 << 10
"""How far past the damage the end of an entry with nested objects is sought."""
FUTILE_BYTES = 4 << 20
"""Text that may be scanned in vain per trace; damage beyond that is skipped at once."""

LOST_BYTES = 4 << 20
"""Text that may be lost entry by entry per trace, which costs up to 1.5 s per MiB; of more damage
``SKIPPED_BYTES`` are lost at once.
"""
SKIPPED_BYTES = 1 << 20

_CLOSE, _QUOTE = ord("]"), ord('"')
_GAP = regex(rb"[ \t\r\n,]+")
_SPACE = regex(rb"\s*")
_FOLLOWS = regex(rb"""\s*(?:\]|\Z|,\s*(?:[\[{"]|\Z|[^\s,:{}\[\]"]+\s*(?:[,\]]|\Z)))""")
_NEXT_EVENT = regex(rb'\}\s*,\s*\{\s*"')
_LAST_EVENT = regex(
    rb'\}\s*\]\s*(?:\}?\s*\Z|,\s*"(?:traceName|displayTimeUnit|baseTimeNanoseconds|schemaVersion|deviceProperties|distributedInfo|trace_id'
    rb'|with_stack|with_flops|with_modules|record_shapes|profile_memory|cuda_runtime_version|cuda_driver_version|cupti_version)")'
)
_GARBAGE = regex(rb'[^\s,\]\[{"]+')


class Ledger:
    """Entries read and lost, the bytes of those that were lost one by one, and the bytes scanned in vain."""

    def __init__(self, counts: DefectCounts) -> None:
        self.counts = counts
        self.entries = 0
        self.lost = 0
        self.lost_bytes = 0
        self.futile = 0

    def lose(self, text: bytes) -> None:
        """Count an entry that cannot be used."""
        self.counts.add(UNPARSABLE if text[:1] == b"{" else NOT_AN_EVENT)
        self.entries += 1
        self.lost += 1


def one_event(text: bytes, counts: DefectCounts) -> tuple[Event, bytes] | None:
    """An entry and the text that it was decoded from, by ever more tolerant means; None if all
    fail.
    """
    if text[:1] != b"{":
        return None
    repairs = DefectCounts()
    try:
        return EVENT.decode(text), text
    except DECODE_ERRORS:
        # Values are decoded one by one below, and one that is no text would be none.
        text = as_utf8(text, repairs)
    try:
        event, wrong = decode_loose(text)
    except DECODE_ERRORS as error:
        try:
            text = _mended(text, error, repairs)
            event, wrong = decode_loose(text)
        except DECODE_ERRORS:
            return None
    repairs.add(WRONG_TYPE, wrong)
    counts.absorb(repairs)
    return event, text


def _mended(text: bytes, error: Exception, repairs: DefectCounts) -> bytes:
    """The text repaired, and made shallower if the decoder refused its depth."""
    better = repair(text, repairs)
    if not isinstance(error, RecursionError):
        if better == text:
            raise error
        try:
            decode_loose(better)
            return better
        except RecursionError:
            pass
    return shallow(better, repairs)


class Walk:
    """One pass over a buffer, into ``events`` and ``texts``. ``ended``: no text follows it."""

    def __init__(self, text: bytes, ended: bool, ledger: Ledger) -> None:
        self.events: list[Event] = []
        self.texts: list[bytes] = []
        self.gave_up = False
        self._text, self._ended, self._ledger = text, ended, ledger
        self._seen = {_NEXT_EVENT: (1, 0), _LAST_EVENT: (1, 0)}
        """Pattern → the last offset that it was sought from, and the end that was found."""

    def go(self) -> int:
        """Walk as far as possible; the offset reached, 0 if the first entry needs more text."""
        text, position, n, ledger = self._text, 0, len(self._text), self._ledger
        behind = 0
        while position < n and text[position] != _CLOSE and not self.gave_up:
            gap = _GAP.match(text, position)
            if gap:
                position = gap.end()
                continue
            lost = ledger.lost
            end = (
                self._event(position)
                if text[position : position + 1] == b"{"
                else self._other(position)
            )
            if end < 0:
                break
            if ledger.lost > lost:
                ledger.lost_bytes += end - behind
                if ledger.lost_bytes > LOST_BYTES:
                    end = self._past_damage(end)
            position = behind = end
        return position

    def _past_damage(self, end: int) -> int:
        """Where an entry ends that is far enough behind a lost one; all that is between is lost with it."""
        if end < len(self._text):
            self._ledger.counts.add(SKIPPED)
        far = end + SKIPPED_BYTES
        boundary = self._boundary(far) if far < len(self._text) else -1
        if boundary > 0:
            return boundary
        self.gave_up = not self._ended
        return len(self._text)

    def _event(self, start: int) -> int:
        text = self._text
        guess = self._boundary(start + 1)
        if guess > 0:
            try:
                self.events.append(EVENT.decode(text[start:guess]))
                self.texts.append(text[start:guess])
                return guess
            except DECODE_ERRORS:
                pass
        end, bad = self._extent(start)
        if end > 0:
            if not self._accept(start, end):
                self._ledger.lose(b"{")
            return end
        return self._damaged(start, bad) if bad > 0 else self._unfinished(start)

    def _extent(self, start: int) -> tuple[int, int]:
        try:
            return extent(self._text, start)
        except RecursionError:
            end = self._tolerant_end(start, len(self._text))
            return end, start + 1 if end < 0 and self._ledger.futile > FUTILE_BYTES else -1

    def _tolerant_end(self, start: int, limit: int) -> int:
        """Where the brackets balance; −1 if not before ``limit``, or after too many vain scans."""
        if self._ledger.futile > FUTILE_BYTES:
            return -1
        end = value_end(self._text, start, limit)
        if end < 0:
            self._ledger.futile += limit - start
        return end

    def _accept(self, start: int, end: int) -> bool:
        decoded = one_event(self._text[start:end], self._ledger.counts)
        if decoded is not None:
            self.events.append(decoded[0])
            self.texts.append(decoded[1])
        return decoded is not None

    def _unfinished(self, start: int) -> int:
        """An entry that is well-formed up to the end of the text."""
        if not self._ended and len(self._text) - start < PATIENT_BYTES:
            return -1
        end = self._tolerant_end(start, len(self._text)) if self._ended else -1
        if end > 0 and self._accept(start, end):
            return end
        return self._give_up(start)

    def _give_up(self, start: int) -> int:
        self._ledger.lose(self._text[start : start + 1])
        self.gave_up = not self._ended
        self._ledger.counts.add(SKIPPED, int(self.gave_up))
        return len(self._text)

    def _damaged(self, at: int, bad: int) -> int:
        """Repair the entry, or lose it up to where the next one seems to begin."""
        text, n = self._text, len(self._text)
        if not self._ended and n - bad < LOOK_BYTES:
            return -1
        start = at + 1
        for match in WHOLE_STRING.finditer(text, at, bad):
            start = match.start()
        guess = self._boundary(start)
        if guess > 0 and self._accept(at, guess):
            return guess
        end = self._balance(at, bad, guess)
        if end > 0:
            if end == guess or not self._accept(at, end):
                self._ledger.lose(text[at : at + 1])
            return end
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

    def _balance(self, at: int, bad: int, guess: int) -> int:
        """Where the brackets of a damaged value balance and an entry, or the end of the array,
        follows; −1 if not before the ``guess``, or a little later if that is within an array.
        """
        text = self._text
        end = value_end(text, at, guess) if guess > 0 else -1
        if end < 0 and (guess < 0 or inside_array(text, at, guess)):
            end = self._tolerant_end(at, min(len(text), bad + LOOK_BYTES))
        if end > 0 and not _FOLLOWS.match(text, end):
            self._ledger.futile += end - at
            return -1
        return end

    def _past_fragments(self, guess: int, limit: int, last: int) -> int:
        """The boundary moved past objects of the lost entry's arguments, which have no phase."""
        while guess < min(limit, last if last > 0 else limit):
            after = _NEXT_EVENT.search(self._text, guess)
            ends = [e for e in (after.start() + 1 if after else -1, last) if e > 0]
            if not ends or self._text.find(b'"ph"', guess, min(ends)) >= 0:
                break
            guess = min(ends)
        return guess

    def _other(self, start: int) -> int:
        """An entry that is not an object: another kind of value, or debris."""
        text, n = self._text, len(self._text)
        if text[start] == _QUOTE:
            match = WHOLE_STRING.match(text, start)
            end = match.end() if match and match.lastgroup is None else -1
        elif text[start : start + 1] == b"[":
            end, bad = self._extent(start)
            if bad > 0:
                if not self._ended and n - bad < LOOK_BYTES:
                    return -1
                guess = self._boundary(bad)
                end = self._balance(start, bad, guess)
                end = end if end > 0 else guess
        else:
            match = _GARBAGE.match(text, start)
            end = match.end() if match else start + 1
            end = end if end < n or self._ended else -1
        if end > 0:
            self._ledger.lose(text[start : start + 1])
            space = _SPACE.match(text, end)
            behind = text[space.end() : space.end() + 1] if space else b""
            return end if behind in b",]{" else max(end, self._boundary(end))
        if not self._ended and n - start < PATIENT_BYTES:
            return -1
        return self._give_up(start)

    def _boundary(self, start: int) -> int:
        """End of the first entry after ``start`` that is followed by another, −1 none; cached."""
        return self._end_before(_NEXT_EVENT, start)

    def _array_end(self, start: int) -> int:
        """End of the last entry of the array after ``start``, −1 none."""
        return self._end_before(_LAST_EVENT, start)

    def _end_before(self, pattern: re.Pattern[bytes], start: int) -> int:
        low, end = self._seen[pattern]
        if not (low <= start and (end < 0 or start < end)):
            match = pattern.search(self._text, start)
            end = match.start() + 1 if match else -1
            self._seen[pattern] = (start, end)
        return end
