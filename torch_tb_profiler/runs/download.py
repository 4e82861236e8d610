"""The bytes of a trace file for people and other programs: as they are, or cut to a window of time.

::

    file ──▶ inflate ──▶ events of 8 MB of text at a time ──▶ those that touch the window ──▶ a small valid trace

Both are streams: memory stays bounded at any size, and a remote file is never copied whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.cutter import Batch, EventReader
from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS, RAWS, Event, decode_loose
from torch_tb_profiler.importers.repair import repair, value_end
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextStream, open_bytes, open_text
from torch_tb_profiler.store.defects import DefectCounts

PIECE_BYTES = 1 << 20
# Other header keys may hold environment variables and package lists, which nobody means to share with a cut-out.
HEADER_KEYS = ("schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds")


def original(opened: Opened) -> tuple[Iterator[bytes], int | None]:
    """The file's own bytes, compressed as they are, and their number if it is known.

    Raises:
        SourceError: the file cannot be opened any more.
    """
    file, size = open_bytes(opened.span.location)

    def pieces() -> Iterator[bytes]:
        with file:
            while data := file.read(PIECE_BYTES):
                yield data

    return pieces(), size


def cut(opened: Opened, start: int, end: int, settings: Settings) -> Iterator[bytes]:
    """JSON text of a trace with the events that touch ``start`` to ``end`` (ns after the first event) and all metadata events.

    Raises:
        SourceError: the file cannot be opened any more.
    """
    origin = opened.trace.origin_ns
    header = {key: opened.trace.header[key] for key in HEADER_KEYS if key in opened.trace.header}
    return _text(open_text(opened.span.location, settings), header, origin + start, origin + end, settings.chunk_bytes)


def _text(stream: TextStream, header: dict[str, Any], start: int, end: int, chunk_bytes: int) -> Iterator[bytes]:
    yield msgspec.json.encode(header)[:-1] + (b"," if header else b"") + b'"traceEvents":['
    first = True
    with stream:
        reader = EventReader(Window(stream), chunk_bytes, DefectCounts())
        try:
            for batch in reader.batches():
                chosen = b",".join(text for text, event in _pieces(batch) if touches(event, start, end))
                if chosen:
                    yield (b"" if first else b",") + _utf8(chosen)
                    first = False
        except NotATrace:
            # What is not readable now was when it was imported: the file changed. What was found so far stays a valid trace.
            pass
    yield b"]}"


def _pieces(batch: Batch) -> Iterator[tuple[bytes, Event]]:
    """Each event with its own text, which is valid JSON."""
    try:
        texts = RAWS.decode(b"[" + batch.body + b"]")
    except DECODE_ERRORS:
        texts = []
    if len(texts) == len(batch.events):
        yield from zip(map(bytes, texts), batch.events, strict=True)
    else:
        yield from _damaged(batch.body)


def _damaged(body: bytes) -> Iterator[tuple[bytes, Event]]:
    at = 0
    while (at := body.find(b"{", at)) >= 0:
        end = value_end(body, at)
        text = repair(body[at:end], DefectCounts()) if end > 0 else b""
        try:
            ANY.decode(text)
            yield text, decode_loose(text)[0]
            at = end
        except DECODE_ERRORS:
            at = end if end > 0 else at + 1


def touches(event: Event, start: int, end: int) -> bool:
    """Whether an event belongs to the window ``start`` to ``end`` (the file's own time, ns). Metadata always does."""
    if event.ph == "M":
        return True
    begin = nanoseconds(bytes(event.ts))
    if begin is None or begin > end:
        return False
    if event.ph == "X":
        return begin + (nanoseconds(bytes(event.dur)) or 0) >= start
    return begin >= start


def nanoseconds(text: bytes) -> int | None:
    """``b"12.3456"`` µs → 12345 ns without a float in between; None when it is no number."""
    text = text.strip(b'" ')
    whole, _, fraction = text.partition(b".")
    try:
        if b"e" in fraction or b"E" in fraction or not whole.strip(b"+-").isdigit():
            return round(float(text) * 1000)
        sub = int((fraction + b"000")[:3])
        return int(whole) * 1000 + (-sub if whole.startswith(b"-") else sub)
    except (ValueError, OverflowError):
        return None


def _utf8(text: bytes) -> bytes:
    if text.isascii():
        return text
    return text.decode("utf-8", "replace").encode("utf-8")
