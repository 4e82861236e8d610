"""The tables of a trace → JSON text of a Chrome trace, for files that hold none themselves
(databases of profilers): what Perfetto and others read.

Everything that the import kept is written in Kineto's words, so that the text imports as the same
trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.store.columns import Ints, Table
from torch_tb_profiler.store.model import Trace

PIECE_ROWS = 20_000
_TEXTS = {
    "operator_args": {
        "dims": "Input Dims",
        "types": "Input type",
        "strides": "Input Strides",
        "concrete": "Concrete Inputs",
    },
    "device_args": {"grid": "grid", "block": "block"},
}
_PLAIN_TEXTS = {
    "operator_args": {"stack": "Call stack", "hierarchy": "Module Hierarchy"},
    "collective_args": {
        "collective": "Collective name",
        "dtype": "dtype",
        "group": "Process Group Name",
    },
}
_NUMBERS = {
    "operator_args": {"sequence": "Sequence number", "forward_thread": "Fwd thread id"},
    "device_args": {
        "device": "device",
        "stream": "stream",
        "registers": "registers per thread",
        "shared_memory": "shared memory",
        "blocks_per_sm": "blocks per SM",
        "occupancy": "est. achieved occupancy %",
        "bytes": "bytes",
    },
    "python_args": {"id": "Python id", "parent": "Python parent id", "module": "Python module id"},
    "sync_args": {
        "device": "device",
        "stream": "stream",
        "wait_stream": "wait_on_stream",
        "wait_record": "wait_on_cuda_event_record_corr_id",
    },
    "collective_args": {
        "group_size": "Group size",
        "elements_in": "In msg nelems",
        "elements_out": "Out msg nelems",
        "sequence": "Seq",
        "source": "Src Rank",
        "destination": "Dst Rank",
    },
}
_encode = msgspec.json.encode


def events(trace: Trace, start: int, end: int) -> Iterator[bytes]:
    """JSON texts of the entries that touch ``start`` to ``end`` (ns after the first event),
    ``PIECE_ROWS`` of them with commas between at a time; all
    names of threads first."""
    tracks = _Tracks(trace)
    yield b",".join(tracks.names())
    begin, dur, time = trace["spans"]["start"], trace["spans"]["dur"], trace["instants"]["time"]
    spans = np.flatnonzero((begin <= end) & (begin + dur >= start))
    instants = np.flatnonzero((time <= end) & (time >= start))
    for write, rows in ((_spans, spans), (_instants, instants)):
        for first in range(0, len(rows), PIECE_ROWS):
            yield b",".join(write(trace, tracks, rows[first : first + PIECE_ROWS]))


class _Tracks:
    """Process and thread of every track, as JSON."""

    def __init__(self, trace: Trace) -> None:
        self._table, self._strings = trace["tracks"], trace.strings
        pids, tids = (
            [
                "null" if number < 0 else _id(trace.strings[number])
                for number in self._table[c].tolist()
            ]
            for c in ("pid", "tid")
        )
        self.at = [f'"pid":{pid},"tid":{tid}' for pid, tid in zip(pids, tids, strict=True)]

    def names(self) -> Iterator[bytes]:
        """The metadata events."""
        columns = (
            ("process_name", "process_name", "name"),
            ("process_label", "process_labels", "labels"),
            ("process_sort", "process_sort_index", "sort_index"),
            ("thread_name", "thread_name", "name"),
            ("thread_sort", "thread_sort_index", "sort_index"),
        )
        for column, event, key in columns:
            for track, value in enumerate(self._table[column].tolist()):
                known = value if key == "sort_index" else self._strings[value] if value >= 0 else ""
                if known:
                    args = _encode({key: known}).decode()
                    yield f'{{"ph":"M","name":"{event}",{self.at[track]},"ts":0,"args":{args}}}'.encode()


def _id(text: str) -> str:
    return (
        text
        if text.removeprefix("-").isdecimal()
        and text.isascii()
        and len(text) < 16
        and str(int(text)) == text
        else _encode(text).decode()
    )


def _time(value: int) -> str:
    """Nanoseconds → microseconds as decimal text."""
    return f"{'-' if value < 0 else ''}{abs(value) // 1000}.{abs(value) % 1000:03d}"


def _spans(trace: Trace, tracks: _Tracks, rows: Ints) -> Iterator[bytes]:
    spans, texts = trace["spans"], _Encoded(trace)
    columns = [
        spans[name][rows].tolist()
        for name in ("start", "dur", "name", "category", "track", "correlation", "external")
    ]
    arguments = _arguments(trace, rows)
    for start, dur, name, category, track, correlation, external, more in zip(
        *columns, arguments, strict=True
    ):
        if correlation > 0:
            more.append(f'"correlation":{correlation}')
        if external > 0:
            more.append(f'"External id":{external}')
        what = f'"cat":{texts[category]},"name":{texts[name]},{tracks.at[track]},"ts":{_time(start + trace.origin_ns)}'
        text = f'{{"ph":"X",{what},"dur":{_time(dur)},"args":{{{",".join(more)}}}}}'
        yield text.encode("utf-8", "replace")


def _instants(trace: Trace, tracks: _Tracks, rows: Ints) -> Iterator[bytes]:
    instants, texts = trace["instants"], _Encoded(trace)
    keys = ("time", "name", "category", "track", "phase", "args")
    for time, name, category, track, phase, args in zip(
        *(instants[key][rows].tolist() for key in keys), strict=True
    ):
        what = f'"cat":{texts[category]},"name":{texts[name]},{tracks.at[track]},"ts":{_time(time + trace.origin_ns)}'
        arguments = trace.strings[args] if args >= 0 else "{}"
        yield f'{{"ph":"{chr(phase)}",{what},"args":{arguments}}}'.encode("utf-8", "replace")


class _Encoded(dict[int, str]):
    """Number of a string → its text as JSON."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._strings = trace.strings

    def __missing__(self, number: int) -> str:
        valid = self._strings[number].encode("utf-8", "replace").decode()
        text = self[number] = _encode(valid).decode()
        return text


def _arguments(trace: Trace, rows: Ints) -> list[list[str]]:
    """For every row of spans its arguments as ``"name":value``."""
    arguments: list[list[str]] = [[] for _ in range(len(rows))]
    kinds: tuple[tuple[dict[str, dict[str, str]], Callable[[Any], str]], ...] = (
        (_TEXTS, trace.strings.__getitem__),
        (_PLAIN_TEXTS, _Encoded(trace).__getitem__),
        (_NUMBERS, repr),
    )
    for name in _NUMBERS:
        table = trace[name]
        side_rows = _side_rows(table, rows)
        present = np.flatnonzero(side_rows >= 0)
        for columns, text in kinds:
            for column, key in columns.get(name, {}).items():
                values = table[column][side_rows[present]]
                known = np.isfinite(values) & (values >= (-1 if column == "stream" else 0))
                for row, value in zip(present[known].tolist(), values[known].tolist(), strict=True):
                    arguments[row].append(f'"{key}":{text(value)}')
    return arguments


def _side_rows(table: Table, rows: Ints) -> Ints:
    """Rows of a side table for rows of spans; −1 without."""
    if not table.n:
        return np.full(len(rows), -1, np.int64)
    place = np.minimum(np.searchsorted(table["span"], rows), table.n - 1)
    return np.where(table["span"][place] == rows, place, -1)
