"""Decode one chunk: text that starts between two events and, as far as one can guess, ends so too.

It depends on nothing but the chunk, so that it may be done in any process.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from torch_tb_profiler.importers.events import DECODE_ERRORS, EVENTS, RAWS, Event
from torch_tb_profiler.importers.json_extent import trailing_at
from torch_tb_profiler.importers.repair import repair
from torch_tb_profiler.importers.walk import Ledger, one_event
from torch_tb_profiler.store.defects import DefectCounts


class Batch(msgspec.Struct, frozen=True):
    """Decoded events of ``size`` bytes at ``offset`` of the inflated text.

    ``text`` is a JSON array of just these events, repaired where damaged.
    """

    events: list[Event]
    text: bytes
    offset: int
    size: int


def bracketed(chunk: bytes | memoryview) -> bytes:
    """A chunk as a JSON array."""
    return b"".join((b"[", chunk, b"]"))


def decode_chunk(text: bytes, offset: int, ledger: Ledger) -> Batch | None:
    """The events of a chunk, as ``bracketed`` makes it, that is at ``offset``; lost entries are counted.

    The batch is smaller than the chunk where the array ends before it; None if the text can only be
    walked through.
    """
    size = len(text) - 2
    try:
        return Batch(EVENTS.decode(text), text, offset, size)
    except msgspec.ValidationError:
        return _odd(text, offset, size, ledger) or _mended(text, offset, ledger)
    except UnicodeDecodeError:
        return _mended(text, offset, ledger)
    except msgspec.DecodeError as error:
        end = trailing_at(error) - 2
        if not 0 < end < size:
            return None if "truncated" in str(error) else _mended(text, offset, ledger)
    except DECODE_ERRORS:
        return None
    # The array ended before the guess: its bracket precedes the trailing text.
    end = text.rfind(b"]", 1, end + 2) - 1
    if end <= 0:
        return None
    text = bracketed(memoryview(text)[1 : end + 1])
    try:
        return Batch(EVENTS.decode(text), text, offset, end)
    except DECODE_ERRORS:
        return _odd(text, offset, end, ledger)


def decode_entries(texts: Iterable[str], counts: DefectCounts) -> Batch:
    """Entries of a Chrome trace that an importer wrote, as JSON; at the begin of the text."""
    written = list(texts)
    batch = decode_chunk(bracketed(",".join(written).encode()), 0, Ledger(counts))
    if batch is None or len(batch.events) != len(written):
        raise AssertionError("an entry of our own is no JSON")
    return batch


def _mended(text: bytes, offset: int, ledger: Ledger) -> Batch | None:
    """Decode damaged text repaired as a whole; None if that does not help."""
    size, mended_counts = len(text) - 2, DefectCounts()
    body = repair(text, mended_counts)
    if body == text:
        return None
    try:
        batch: Batch | None = Batch(EVENTS.decode(body), body, offset, size)
    except DECODE_ERRORS:
        batch = _odd(body, offset, size, ledger)
    if batch is not None:
        ledger.counts.absorb(mended_counts)
    return batch


def _odd(text: bytes, offset: int, size: int, ledger: Ledger) -> Batch | None:
    """Decode well-formed text with unexpected types: split by the decoder, then event by event."""
    try:
        pieces = [bytes(p) for p in RAWS.decode(text)]
    except DECODE_ERRORS:
        return None
    events, texts = [], []
    for piece in pieces:
        decoded = one_event(piece, ledger.counts)
        if decoded is None:
            ledger.lose(piece)
        else:
            events.append(decoded[0])
            texts.append(decoded[1])
    return Batch(events, b"[" + b",".join(texts) + b"]", offset, size)
