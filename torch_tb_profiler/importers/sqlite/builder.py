"""Chunks of database tables → the columns of a trace; shared by the importers of databases.

::

    chunk of a table ──▶ numbers of names, of tracks, of texts ──▶ Gatherer.groups ──▶ assemble ──▶ Trace
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Raw

from torch_tb_profiler.importers.assemble import assemble
from torch_tb_profiler.importers.events import Args, Event
from torch_tb_profiler.importers.gather import Gatherer
from torch_tb_profiler.importers.sqlite.database import (
    MISSING,
    Database,
    Rows,
    distinct_rows,
    mapped,
)
from torch_tb_profiler.importers.sqlite.owners import Owners
from torch_tb_profiler.importers.sqlite.spill import Spill
from torch_tb_profiler.importers.tracks import id_text
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, TableSpec
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.file_processes import stated_header
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role
from torch_tb_profiler.store.strings import NONE

_LATEST = 1 << 61
"""Later times are invalid: the difference of any two others fits into 63 bits."""
_GPU_SORT = 1 << 24
"""As in Kineto: devices are listed below processes."""

PROFILER = "profiler"
"""Header key: the profiler and its version."""
DATABASE_TABLES = "databaseTables"
"""Header key: ``[[table, ordinal of its first row], …]``, to find the row of an event."""

Side = Mapping[str, Any]
"""Columns of a side table (without ``span``) for every row of a chunk; missing ones are unknown."""


def header_of(
    profiler: str, devices: list[dict[str, Any]]
) -> tuple[dict[str, Any], dict[int, int]]:
    """The header as Kineto writes it, and the number of multiprocessors by device id."""
    header: dict[str, Any] = {PROFILER: profiler}
    if devices:
        header["deviceProperties"] = devices
    return header, {gpu["id"]: gpu["numSms"] for gpu in devices if gpu.get("numSms", 0) > 0}


class TraceBuilder:
    """Collects the columns of a trace; ``trace()`` builds it."""

    def __init__(self, database: Database, counts: DefectCounts) -> None:
        self._database = database
        self.counts = counts
        self.gathered = Gatherer(counts)
        self.entries = 0
        self.tables: list[tuple[str, int]] = []
        """Tables read, each with the ordinal of its first row."""
        self.owners = Owners(counts)
        self._spill = Spill()
        self._streams: dict[tuple[int, ...], int] = {}
        self._stream_names: dict[tuple[int, str], int] = {}
        """(device, name of a stream) → process of the first one."""
        self.own_names: dict[tuple[int, int, int], str] = {}
        """(process, context, stream) → its name given by the program."""

    def chunks(
        self,
        table: str,
        numbers: Sequence[str],
        texts: Sequence[str] = (),
        blobs: Sequence[str] = (),
    ) -> Iterator[tuple[Rows, Ints]]:
        """The rows of a table of events, as ``Database.rows`` gives them, with the ordinal of each."""
        before = self.entries
        self.tables.append((table, before))
        for rows in self._database.rows(table, numbers, texts, blobs):
            first = before + rows.first
            self.entries = first + rows.count
            yield rows, np.arange(first, self.entries)

    def names(self, texts: Iterable[str]) -> Array:
        """Numbers of names."""
        return self.gathered.texts.column(texts)

    def names_of(self, name_of: Callable[..., str], *columns: Ints) -> Array:
        """Numbers of the names that a function makes of the numbers of each row."""
        distinct, inverse = distinct_rows(*columns)
        return self.names(name_of(*row) for row in distinct)[inverse]

    def texts(self, values: Iterable[bytes]) -> Array:
        """Numbers of JSON texts; ``NONE`` if empty."""
        return self.gathered.blobs.column(values) + NONE

    def tuples(self, *columns: Ints) -> Array:
        """Numbers of JSON texts ``[x,y,z]``; ``NONE`` if one number is missing."""
        distinct, inverse = distinct_rows(*columns)
        return self.texts(
            b"" if MISSING in row else json.dumps(row, separators=(",", ":")).encode()
            for row in distinct
        )[inverse]

    def threads(self, process: Ints, thread: Ints, mark: str = "") -> Array:
        """Track numbers of host threads; ``mark`` is appended to the thread id."""
        distinct, inverse = distinct_rows(process, thread)
        tracks = [
            ("" if p == MISSING else p, f"{'' if t == MISSING else t}{mark}") for p, t in distinct
        ]
        numbers = self.gathered.tracks.column(tracks)
        self.owners.of_track.update(zip(numbers.tolist(), (p for p, _ in distinct), strict=True))
        return numbers[inverse]

    def streams(self, device: Ints, process: Ints, context: Ints, stream: Ints) -> Array:
        """Track numbers of streams; a stream is unique per device, process and context."""
        return mapped(self._stream, device, process, context, stream).astype(np.int32)

    def _stream(self, *key: int) -> int:
        number = self._streams.get(key)
        if number is None:
            device, process, context, stream = key
            text = "" if stream == MISSING else str(stream)
            qualifiers = (
                [f"process {process}"]
                if self._stream_names.get((device, text), process) != process
                else []
            )
            for word in (*qualifiers, f"context {context}"):
                if (device, text) in self._stream_names:
                    text += f" ({word})"
            self._stream_names[device, text] = process
            track = ("" if device == MISSING else device, text)
            number = self._streams[key] = self.gathered.tracks[track]
            self.owners.of_track[number] = process
            if device != MISSING:
                self.name("process_labels", track, f"GPU {device}")
                self.name("process_sort_index", track, _GPU_SORT + device)
            if stream >= 0:
                own = self.own_names.get((process, context, stream))
                self.name(
                    "thread_name", track, f"stream {text}: {own}" if own else f"stream {text}"
                )
                self.name("thread_sort_index", track, stream)
        return number

    def name(self, what: str, track: tuple[Any, str], value: Any) -> None:
        """Add a metadata event for a track: ``process_name``, ``thread_sort_index`` and so on."""
        key = {
            "process_labels": "labels",
            "process_sort_index": "sort_index",
            "thread_sort_index": "sort_index",
        }.get(what, "label")
        args = Args()
        setattr(args, key, Raw(json.dumps(value).encode()))
        self.gathered.metadata.append(
            Event(ph="M", name=what, pid=track[0], tid=track[1], args=args)
        )

    def spans(
        self,
        ordinal: Ints,
        start: Ints,
        end: Ints,
        name: Array,
        category: str | Array,
        track: Array,
        role: Role | Array,
        *,
        correlation: Ints | int = -1,
        external: Ints | int = -1,
        operator: Side | None = None,
        device: Side | None = None,
        collective: Side | None = None,
    ) -> None:
        """Add spans and their side tables; arrays of equal length.

        Rows without a start are counted and dropped; without an end, the duration is 0.
        """
        n = len(start)
        good = self._timed(start)
        ended = (end > -_LATEST) & (end < _LATEST)
        dur = np.where(ended, end - start, 0)
        self.counts.add(d.NO_DURATION, int((good & ~ended).sum()))
        self.counts.add(d.NEGATIVE_DURATION, int((good & (dur < 0)).sum()))
        columns = {
            "start": start,
            "dur": np.maximum(dur, 0),
            "name": name,
            "category": self._category(category, n),
            "track": np.asarray(track, np.int32),
            "role": np.broadcast_to(np.asarray(role, np.uint8), n),
            "ordinal": np.asarray(ordinal, np.int32),
            "correlation": np.broadcast_to(np.asarray(correlation, np.int64), n),
            "external": np.broadcast_to(np.asarray(external, np.int64), n),
        }
        self._put("spans", {key: column[good] for key, column in columns.items()})
        sides = (operator, device, collective)
        specs = (schema.OPERATOR_ARGS, schema.DEVICE_ARGS, schema.COLLECTIVE_ARGS)
        for spec, side in zip(specs, sides, strict=True):
            if side is not None:
                self._side(spec, side, good)
        self.gathered.spans += int(good.sum())

    def _side(self, spec: TableSpec, side: Side, good: Array) -> None:
        count = int(good.sum())
        rows: dict[str, Array] = {
            "span": np.arange(self.gathered.spans, self.gathered.spans + count, dtype=np.int32)
        }
        for column in spec.columns[1:]:
            if column.name not in side:
                kind = (
                    np.int64
                    if column.dtype == "i4" and column.unit != schema.TEXT
                    else column.dtype
                )
                rows[column.name] = np.full(count, np.nan if column.dtype == "f8" else -1, kind)
                continue
            values = np.asarray(side[column.name])[good]
            rows[column.name] = (
                np.where(values == MISSING, -1, values) if values.dtype == np.int64 else values
            )
        self._put(spec.name, rows)

    def instants(
        self,
        ordinal: Ints,
        time: Ints,
        name: Array,
        category: str,
        track: Array,
        phase: str,
        args: Array | None = None,
    ) -> None:
        """Add rows to ``instants``."""
        good = self._timed(time)
        n = len(time)
        columns = {
            "time": time,
            "track": track,
            "name": name,
            "category": self._category(category, n),
            "phase": np.full(n, ord(phase), np.uint8),
            "args": np.full(n, NONE, np.int32) if args is None else args,
            "ordinal": np.asarray(ordinal, np.int32),
        }
        self._put("instants", {key: column[good] for key, column in columns.items()})

    def _timed(self, time: Ints) -> Mask:
        """Mask of the rows with a valid time; the others are counted."""
        good: Mask = (time > -_LATEST) & (time < _LATEST)
        self.counts.add(d.NO_TIME, int((~good).sum()))
        return good

    def flows(
        self, ordinal: Ints, time: Ints, track: Array, identity: Ints, category: str, phase: str
    ) -> None:
        """Add ends of flows; equal ``identity`` links them."""
        good = (time > -_LATEST) & (time < _LATEST)
        columns: dict[str, Array] = {
            "time": time,
            "track": np.asarray(track, np.int32),
            "id": np.asarray(identity, np.int64),
            "category": self._category(category, len(time)),
            "phase": np.full(len(time), ord(phase), np.uint8),
            "ordinal": np.asarray(ordinal, np.int32),
        }
        self._put("flows", {key: column[good] for key, column in columns.items()})

    def _category(self, category: str | Array, n: int) -> Array:
        return (
            np.full(n, self.gathered.categories[category], np.int32)
            if isinstance(category, str)
            else category
        )

    def categories(self, names: Iterable[str]) -> Array:
        """Numbers of categories."""
        return self.gathered.categories.column(names)

    def _put(self, group: str, columns: Mapping[str, Array]) -> None:
        for key, column in columns.items():
            self._spill.add(group, key, column)

    def trace(self, header: dict[str, Any]) -> Trace:
        """The trace of everything added."""
        tables = self._spill.columns()
        if "spans" in tables:
            self.owners.link(tables["spans"], self._stream_of)
            header = header | self._stated(tables["spans"])
        for table, columns in tables.items():
            self.gathered.groups[table].update({name: [column] for name, column in columns.items()})
        if not self.gathered.groups:
            self.counts.add(d.NO_EVENTS)
        read = [[table, first] for table, first in self.tables]
        return assemble(
            self.gathered, {**header, DATABASE_TABLES: read}, self.entries, self._spill.keep
        )

    def _stream_of(self, track: int, process: int) -> int:
        """The stream of a process in place of one without a process."""
        key = next(key for key, number in self._streams.items() if number == track)
        return self._stream(key[0], process, *key[2:])

    def _stated(self, spans: dict[str, Array]) -> dict[str, Any]:
        """The processes of the file and whose its tracks are, for the header."""
        tracks = self.gathered.tracks
        streams = set(self._streams.values())
        devices = {
            number: pid
            for (pid, _), number in tracks.items()
            if number in streams or number not in self.owners.of_track
        }
        processes, of_track = self.owners.stated(spans, devices)
        rows: dict[tuple[str, str], int] = {}
        for (pid, tid), number in tracks.items():
            rows.setdefault((id_text(pid), id_text(tid)), of_track.get(number, -1))
        return stated_header(processes, list(rows.values()))
