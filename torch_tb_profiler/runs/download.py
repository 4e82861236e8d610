"""The bytes of a trace file for people and other programs: as they are, or cut to a window of time.

::

    file ──▶ inflate ──▶ events of a chunk of text at a time ──▶ those that touch the window ──▶ a small valid trace

Both are streams: memory stays bounded at any size, and a remote file is never copied whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any, cast

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace
from torch_tb_profiler.importers.chunks import Batch
from torch_tb_profiler.importers.cutter import EventReader
from torch_tb_profiler.importers.decimal_text import INVALID, nanoseconds
from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS, RAWS, Event, decode_loose
from torch_tb_profiler.importers.perfetto import PERFETTO
from torch_tb_profiler.importers.repair import repair
from torch_tb_profiler.importers.rocprofv3 import ROCPROFV3
from torch_tb_profiler.importers.sqlite.builder import DATABASE_TABLES
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.runs.chrome_text import events
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.source_file import changed, open_original, original_text, read_piece
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.identity import version_of
from torch_tb_profiler.sources.streams import TextStream
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace

PIECE_BYTES = 1 << 20
ENDS_TRIED = 8
_BETWEEN = regex(rb"\}\s*,\s*\{")
# Other header keys may hold environment variables and package lists, which nobody means to share
# with a cut-out.
HEADER_KEYS = (
    "schemaVersion",
    "deviceProperties",
    "distributedInfo",
    "displayTimeUnit",
    "record_shapes",
    "profile_memory",
    "with_stack",
    "with_flops",
    "with_modules",
    "torch_version",
    "baseTimeNanoseconds",
)


def original(opened: Opened) -> tuple[Iterator[bytes], int | None]:
    """The file's own bytes, compressed as they are, and their number if it is known.

    Raises:
        SourceError: the file cannot be opened any more; or, by the pieces, read.
        Outdated: it is not the one that was imported.
    """
    file, size = open_original(opened)
    version = version_of(file)

    def pieces() -> Iterator[bytes]:
        with file:
            while data := read_piece(opened, file, PIECE_BYTES):
                if version_of(file) != version:
                    # Ends the download before its announced length: nobody takes it for whole.
                    raise changed(opened)
                yield data

    return pieces(), size


def cut(opened: Opened, start: int, end: int, settings: Settings) -> Iterator[bytes]:
    """JSON text of a trace with the events that touch ``start`` to ``end`` (ns after the first
    event) and all metadata events.

    Raises:
        SourceError: the file cannot be opened any more.
        Outdated: it is not the one that was imported.
    """
    origin = opened.trace.origin_ns
    header = {key: opened.trace.header[key] for key in HEADER_KEYS if key in opened.trace.header}
    if not _has_text(opened.trace):
        return _document(header, events(opened.trace, start, end))
    stream = original_text(opened)
    return _document(header, _text(stream, origin + start, origin + end, settings.chunk_bytes))


def whole_text(opened: Opened) -> Iterator[bytes] | None:
    """The text of a trace that is one of events, as it was written; None of other formats.

    Raises:
        SourceError: the file cannot be opened any more.
        Outdated: it is not the one that was imported.
    """
    return _all_of(original_text(opened)) if _has_text(opened.trace) else None


def _all_of(stream: TextStream) -> Iterator[bytes]:
    with stream:
        while text := stream.read(PIECE_BYTES):
            yield text


def _has_text(trace: Trace) -> bool:
    # Lists of stacks have no text of events either.
    no_text = trace["spans"].n and not trace["chunks"].n
    translated = PERFETTO in trace.header or ROCPROFV3 in trace.header
    return not (no_text or trace.header.get(DATABASE_TABLES) or translated)


def _document(header: dict[str, Any], pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A trace of pieces of its events; empty ones are left out."""
    yield msgspec.json.encode(header)[:-1] + (b"," if header else b"") + b'"traceEvents":['
    comma = b""
    for piece in filter(None, pieces):
        yield comma + piece
        comma = b","
    yield b"]}"


class _Window(Window):
    """Keeps the text of the last batch: a damaged one comes without it."""

    taken = b""

    def advance(self, n: int) -> None:
        self.taken = self.buffer[:n]
        super().advance(n)


def _text(stream: TextStream, start: int, end: int, chunk_bytes: int) -> Iterator[bytes]:
    # A file that cannot be read now could be when it was imported: it changed. What was read so far
    # stays a valid trace.
    with stream, suppress(NotATrace):
        window = _Window(stream)
        for batch in EventReader(window, chunk_bytes, DefectCounts()).batches():
            texts, events = _pieces(batch, window.taken)
            yield _utf8(b",".join(compress(texts, touching(events, start, end))))


def _pieces(batch: Batch, taken: bytes) -> tuple[Sequence[bytes], Sequence[Event]]:
    """The events and the text of each, which is valid JSON."""
    texts = RAWS.decode(batch.text)
    if len(texts) == len(batch.events):
        return texts, batch.events
    readable = list(_damaged(taken))
    return [text for text, _ in readable], [event for _, event in readable]


def _damaged(taken: bytes) -> Iterator[tuple[bytes, Event]]:
    """What can be read of a damaged text: pieces between ``} , {``, a few of them together where
    such a place lies inside an event.
    """
    ends = [m.start() + 1 for m in _BETWEEN.finditer(taken)] + [taken.rfind(b"}") + 1]
    at, next_end = taken.find(b"{"), 0
    while at >= 0 and next_end < len(ends):
        tried = range(next_end, min(next_end + ENDS_TRIED, len(ends)))
        found = next(
            ((i, piece) for i in tried if (piece := _piece(taken[at : ends[i]])) is not None), None
        )
        if found is not None:
            next_end = found[0]
            yield found[1]
        at = taken.find(b"{", ends[next_end])
        next_end += 1


def _piece(text: bytes) -> tuple[bytes, Event] | None:
    mended = repair(text, DefectCounts())
    try:
        ANY.decode(mended)
        event, _ = decode_loose(mended)
    except DECODE_ERRORS:
        return None
    # Without a phase it is no event but an object inside one that is cut off.
    return (mended, event) if event.ph else None


def touching(events: Sequence[Event], start: int, end: int) -> list[bool]:
    """Which events touch ``start`` to ``end`` (the file's own time, ns), or are metadata."""
    begin = nanoseconds([e.ts for e in events])
    length = nanoseconds([e.dur for e in events])
    slices = np.array([e.ph == "X" for e in events], np.bool_)
    last = np.where(slices & (length > 0), begin + np.maximum(length, 0), begin)
    inside = (begin != INVALID) & (begin <= end) & (last >= start)
    metadata = np.array([e.ph == "M" for e in events], np.bool_)
    return cast("list[bool]", (inside | metadata).tolist())


def _utf8(text: bytes) -> bytes:
    if text.isascii():
        return text
    return text.decode("utf-8", "replace").encode("utf-8")
