"""Tiny traces as text, and a stream that returns them in pieces of any size."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.model import Trace

LOST = (
    d.UNPARSABLE,
    d.DAMAGED_PACKET,
    d.NOT_AN_EVENT,
    d.NO_TIME,
    d.UNMATCHED_BEGIN,
    d.UNMATCHED_END,
    d.FAR_EVENT,
    d.UNREAL_TIME,
    d.DUPLICATE,
)


class Stream:
    """Text in memory, at most ``piece`` bytes a read."""

    def __init__(self, text: bytes, piece: int = 1 << 30) -> None:
        self.size: int | None = len(text)
        self.problem: str | None = None
        self.done = 0
        self._text, self._piece = memoryview(text), piece

    def read(self, n: int) -> bytes:
        out = bytes(self._text[self.done : self.done + min(n, self._piece)])
        self.done += len(out)
        return out


def read(text: str | bytes, chunk: int = 2 << 20, piece: int = 1 << 30) -> Trace:
    """The trace of a text, read in chunks of ``chunk`` bytes from reads of ``piece`` bytes."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return read_trace(Stream(data, piece), Settings(chunk_bytes=chunk))


def span(number: int, more: str = "", **changed: Any) -> str:
    """One complete event as JSON text: ``op<number>`` at 100 + 10 · number µs for 5 µs; ``more`` is
    put before the closing brace.
    """
    event = {
        "ph": "X",
        "cat": "cpu_op",
        "name": f"op{number}",
        "pid": 1,
        "tid": 2,
        "ts": 100 + 10 * number,
        "dur": 5,
        **changed,
    }
    return (
        json.dumps({k: v for k, v in event.items() if v is not ...})[:-1]
        + (", " + more if more else "")
        + "}"
    )


def trace(
    *events: str, before: str = '"schemaVersion": 1, ', after: str = ', "traceName": "t"'
) -> str:
    """A whole trace around event texts."""
    return "{" + before + '"traceEvents": [' + ", ".join(events) + "]" + after + "}"


def names(trace: Trace, table: str = "spans") -> list[str]:
    """The names of a table's rows, in order."""
    return trace.strings.many(trace[table]["name"].tolist())


def rows(trace: Trace) -> dict[str, list[tuple[Any, ...]]]:
    """Every table but ``chunks``, with texts instead of numbers: equal traces have equal rows."""
    out = {}
    for name, table in trace.tables.items():
        if name == "chunks":
            continue
        columns = []
        for column in table.spec.columns:
            values = table[column.name].tolist()
            if column.unit == "number of a string":
                values = [trace.strings[v] for v in values]
            elif column.unit == "row of tracks":
                tracks = trace["tracks"]
                values = [
                    (trace.strings[int(tracks["pid"][v])], trace.strings[int(tracks["tid"][v])])
                    for v in values
                ]
            columns.append(["nan" if v != v else v for v in values])
        listed = list(zip(*columns, strict=True))
        out[name] = sorted(listed) if name in ("tracks", "marks") else listed
    return out


def lost(trace: Trace) -> int:
    """Entries that were met and not stored, by the counters."""
    return sum(trace.defects[name] for name in LOST)


def defects(trace: Trace) -> dict[str, int]:
    """The counters."""
    return trace.defects.as_dict()


def lines(events: Iterable[str]) -> str:
    """Kineto's own layout: one event begins on a line of its own."""
    return (
        '{\n  "schemaVersion": 1,\n  "traceEvents": [\n  '
        + ",\n  ".join(events)
        + '\n  ],\n  "traceName": "t"\n}\n'
    )
