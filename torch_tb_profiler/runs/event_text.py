"""One event's text, read from its file again: the store keeps what the views need, the file has
everything.

::

    row of spans ── ordinal ──▶ chunk (offset, size in the inflated text) ──▶ the same cutter as the import's ──▶ text of the event
                                                                                 └── name, time, thread must be those of the store

Only what lies before the chunk is inflated; a file that is not compressed is read at that place.
"""

from __future__ import annotations

import json
import threading
import weakref

import msgspec
import numpy as np

from torch_tb_profiler.errors import NotATrace, NotFound, Outdated, SourceError
from torch_tb_profiler.importers.chunks import decode_entries
from torch_tb_profiler.importers.cutter import EventReader
from torch_tb_profiler.importers.decimal_text import nanoseconds
from torch_tb_profiler.importers.events import DECODE_ERRORS, RAWS, Event
from torch_tb_profiler.importers.perfetto import PERFETTO
from torch_tb_profiler.importers.rocprofv3 import ROCPROFV3
from torch_tb_profiler.importers.sqlite import read_record
from torch_tb_profiler.importers.sqlite.builder import DATABASE_TABLES
from torch_tb_profiler.importers.tracks import id_text
from torch_tb_profiler.importers.window import Window
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.runs.source_file import open_original, original_text
from torch_tb_profiler.sources.identity import is_at
from torch_tb_profiler.sources.inflate import HEAD_BYTES, compression_of
from torch_tb_profiler.sources.places import words
from torch_tb_profiler.sources.sniff import SQLITE
from torch_tb_profiler.sources.streams import TextInMemory, text_of
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.process_roles import NAMED_OTHERWISE
from torch_tb_profiler.units import format_count

PIECE_BYTES = 4 << 20
_HINT = "Reload the page."


class _Wanted(msgspec.Struct, frozen=True):
    """What identifies an event in its file. ``start_ns`` is the file's own time; ``named_otherwise``: in the file."""

    ordinal: int
    name: str
    start_ns: int
    pid: str
    tid: str
    phases: str
    named_otherwise: bool


class _Chunk(msgspec.Struct, frozen=True):
    """The events of chunk ``number`` of the trace ``of``, and the text of each."""

    of: weakref.ref[Trace]
    number: int
    events: list[Event]
    texts: list[bytes]


class EventTexts:
    """Reads texts of single events, one file at a time, and keeps the last chunk read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: _Chunk | None = None

    def read(self, opened: Opened, event: int) -> str:
        """The JSON text of an event as it stands in the file; of a pair of begin and end that of
        the begin.

        ``event``: a row of spans or, from their number on, of instants.

        Raises:
            NotFound: there is no such event, or no place of it in the file is known.
            Outdated: the file changed since it was imported.
            SourceError: the file is gone or cannot be read.
        """
        wanted = _wanted(opened.trace, event)
        if DATABASE_TABLES in opened.trace.header:
            return _record(opened, wanted)
        if "sums" in opened.trace.header:
            raise NotFound(
                "The file holds sums of stacks: this event was made of them and stands nowhere"
                " in it."
            )
        number = _chunk_number(opened.trace, wanted.ordinal)
        if PERFETTO in opened.trace.header:
            # Packets that inflate to many are one place in the file, and several rows.
            offset = opened.trace["chunks"]["offset"]
            number = int(np.searchsorted(offset, offset[number]))
        with self._lock:
            chunk = self._chunk(opened, number)
        at = _find(chunk, wanted, wanted.ordinal - int(opened.trace["chunks"]["ordinal"][number]))
        if at < 0:
            raise _changed(opened)
        return chunk.texts[at].decode("utf-8", "replace")

    def _chunk(self, opened: Opened, number: int) -> _Chunk:
        last = self._last
        if last is None or last.number != number or last.of() is not opened.trace:
            self._last = None
            chunks = opened.trace["chunks"]
            if PERFETTO in opened.trace.header or ROCPROFV3 in opened.trace.header:
                self._last = _translated(opened, number)
                return self._last
            text = _text(opened, int(chunks["offset"][number]), int(chunks["size"][number]))
            last = self._last = _cut(opened, number, text)
        return last


def _record(opened: Opened, wanted: _Wanted) -> str:
    """The text of an event of a database: the columns of its row stand for the arguments."""
    place = opened.span.location
    if not place.is_local:
        raise NotFound(
            "The rest of this event stands in a database elsewhere.",
            "Copy the file to this machine to see every column.",
        )
    tables = [(str(table), int(first)) for table, first in opened.trace.header[DATABASE_TABLES]]
    file, _ = open_original(opened)
    with file:
        if not file.read(len(SQLITE)).startswith(SQLITE):
            raise NotFound(
                "The rest of this event stands in a compressed database.",
                "Unpack the file to see every column.",
            )
        # SQLite opens files by their names only.
        try:
            found = read_record(place.path, tables, wanted.ordinal)
        except NotATrace as error:
            raise _changed(opened) from error
        if not found or not is_at(place.path, file):
            raise _changed(opened)
    return json.dumps({"name": wanted.name, "args": found})


def _changed(opened: Opened) -> Outdated:
    return Outdated(
        f"{opened.span.path} changed since it was imported: the event is not where it was.", _HINT
    )


def _wanted(trace: Trace, event: int) -> _Wanted:
    spans, instants, tracks = trace["spans"], trace["instants"], trace["tracks"]
    table, row = (spans, event) if event < spans.n else (instants, event - spans.n)
    if not 0 <= row < table.n:
        raise NotFound(
            f"There is no event {event}; there are {format_count(spans.n + instants.n)}.",
            "Take the numbers from the timeline.",
        )
    is_span = table is spans
    track = int(table["track"][row])
    return _Wanted(
        ordinal=int(table["ordinal"][row]),
        name=trace.strings[int(table["name"][row])],
        start_ns=trace.origin_ns + int(table["start" if is_span else "time"][row]),
        pid=trace.strings[int(tracks["pid"][track])],
        tid=trace.strings[int(tracks["tid"][track])],
        phases="XB" if is_span else chr(int(table["phase"][row])),
        named_otherwise=trace.header.get("profiler") in NAMED_OTHERWISE,
    )


def _chunk_number(trace: Trace, ordinal: int) -> int:
    number = int(np.searchsorted(trace["chunks"]["ordinal"], ordinal, side="right")) - 1
    if number < 0:
        raise NotFound(
            "It is not known where in the file this event stands.", "Import the trace again."
        )
    return number


def _text(opened: Opened, offset: int, size: int) -> bytes:
    """``size`` bytes from ``offset`` of the inflated text."""
    file, raw_size = open_original(opened)
    try:
        if file.seekable():
            if compression_of(file.read(HEAD_BYTES)) == "plain":
                with file:
                    file.seek(offset)
                    return file.read(size)
            file.seek(0)
    except Exception as error:  # drivers raise anything
        file.close()
        raise SourceError(
            f"{opened.span.path} could not be read: {words(error)}.", "Check that it may be read."
        ) from error
    with text_of(file, raw_size, opened.span.location) as stream:
        while offset and (piece := stream.read(min(offset, PIECE_BYTES))):
            offset -= len(piece)
        parts = []
        while size and (piece := stream.read(min(size, PIECE_BYTES))):
            size -= len(piece)
            parts.append(piece)
    return b"".join(parts)


def _translated(opened: Opened, number: int) -> _Chunk:
    """The entries that packets of a Perfetto trace, or records of rocprofv3, stand for; those before are
    read for their names.
    """
    if PERFETTO in opened.trace.header:
        from torch_tb_profiler.importers.perfetto.reading import entries_at
    else:
        from torch_tb_profiler.importers.rocprofv3.reading import entries_at

    with original_text(opened) as stream:
        texts = entries_at(stream, opened.trace, number)
    events = decode_entries(texts, DefectCounts()).events
    return _Chunk(weakref.ref(opened.trace), number, events, [text.encode() for text in texts])


def _cut(opened: Opened, number: int, text: bytes) -> _Chunk:
    """The events of a chunk's text, found as the import found them."""
    events: list[Event] = []
    texts: list[bytes] = []
    try:
        for batch in EventReader(
            Window(TextInMemory(b"[" + text + b"]")), len(text) + 2, DefectCounts()
        ).batches():
            pieces = [bytes(piece) for piece in RAWS.decode(batch.text)]
            if len(pieces) == len(batch.events):
                events += batch.events
                texts += pieces
    except (NotATrace, *DECODE_ERRORS) as error:
        raise _changed(opened) from error
    return _Chunk(weakref.ref(opened.trace), number, events, texts)


def _find(chunk: _Chunk, wanted: _Wanted, place: int) -> int:
    """Where in the chunk the event is; −1 when it is not there.

    Damage may make a chunk that is cut alone differ by an entry from the one that was cut within
    its file: then the only one that fits is it.
    """
    if 0 <= place < len(chunk.events) and _fits(chunk.events[place], wanted):
        return place
    fitting = [i for i, event in enumerate(chunk.events) if _fits(event, wanted)]
    return fitting[0] if len(fitting) == 1 else -1


def _fits(event: Event, wanted: _Wanted) -> bool:
    if event.ph not in wanted.phases or not event.ph:
        return False
    name = (event.name or "").encode("utf-8", "replace").decode("utf-8", "replace")
    if name != wanted.name and not wanted.named_otherwise:
        return False
    if (id_text(event.pid), id_text(event.tid)) != (wanted.pid, wanted.tid):
        return False
    return int(nanoseconds([event.ts])[0]) == wanted.start_ns
