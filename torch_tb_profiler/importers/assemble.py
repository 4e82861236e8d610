"""Gathered columns → the tables of a ``Trace``: one time origin, sorted rows, linked side tables.

::

    gathered spans (file order)    0 1 2 3        sorted by (start, -dur, ordinal)   2 0 3 1
    side table, span column        1 3            after remap                        3 2  → sorted  2 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.importers.decimal_text import INVALID, nanoseconds
from torch_tb_profiler.importers.events import ANY, DECODE_ERRORS, Event
from torch_tb_profiler.importers.gather import BLOBS_OF, Gatherer, Group
from torch_tb_profiler.importers.late_args import LATE_ARGS
from torch_tb_profiler.importers.repair import repair
from torch_tb_profiler.importers.tracks import id_text, tracks_table
from torch_tb_profiler.importers.unreal_times import BASE_KEY, drop_unreal
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Table, TableSpec
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.memory import give_back_memory
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.strings import NONE, StringBuilder

Keep = Callable[[Array], Array]
"""Takes an array and returns the same numbers, perhaps in other memory."""
MARKS_PER_DEFECT = 10_000
_SIDE_TABLES = (
    LATE_ARGS,
    schema.OPERATOR_ARGS,
    schema.DEVICE_ARGS,
    schema.LAUNCH_ARGS,
    schema.NODE_ARGS,
    schema.PYTHON_ARGS,
    schema.COLLECTIVE_ARGS,
    schema.SYNC_ARGS,
    schema.COUNTER_ARGS,
)
_INT32 = np.iinfo(np.int32)
_QUOTED = {
    "stack",
    "kernel",
    "annotation",
    "collective",
    "dtype",
    "group",
    "task",
    "operator",
    "provider",
}
"""Columns of ``BLOBS_OF`` that hold one JSON string each."""


def in_memory(array: Array) -> Array:
    """A ``Keep`` that returns the array itself."""
    return array


def assemble(
    gathered: Gatherer, header: dict[str, Any], entries: int, keep: Keep = in_memory
) -> Trace:
    """The trace of everything gathered; ``keep`` decides where each finished column lives."""
    counts = gathered.counts
    strings = StringBuilder()
    texts = np.array(strings.intern_all(["" if t is None else t for t in gathered.texts]), np.int32)
    categories = np.array(strings.intern_all([c or "" for c in gathered.categories]), np.int32)
    blobs = _Blobs(list(gathered.blobs)[1:], strings, counts)
    group = {name: _joined(gathered.groups.pop(name), keep) for name in list(gathered.groups)}
    for name, columns in group.items():
        for key in BLOBS_OF.get(name, ()):
            read = blobs.unquoted if key in _QUOTED else blobs.compact_json
            columns[key] = keep(read(columns[key]))
        if "category" in columns and name != "memory":
            columns["category"] = keep(categories[columns["category"]])
        if name in ("spans", "instants"):
            columns["name"] = keep(texts[columns["name"]])
    for name, key in (("marks", "defect"), ("counter_args", "counter")):
        if name in group:
            group[name][key] = texts[group[name][key]]
    drop_unreal(group, header, counts)
    origin = _origin(group)
    tracks = tracks_table(gathered, group, strings, counts)
    tables = _tables(group, origin, counts, keep)
    give_back_memory()
    tables["tracks"] = tracks
    base = header.get(BASE_KEY)
    return Trace(
        strings=strings.table(),
        tables=tables,
        header=header,
        defects=counts,
        entries=entries,
        origin_ns=origin,
        base_ns=base if isinstance(base, int) and abs(base) < 1 << 63 else 0,
    )


class _Blobs:
    """Argument texts, compacted or unquoted once per distinct text."""

    def __init__(self, raw: list[bytes], strings: StringBuilder, counts: DefectCounts) -> None:
        self._raw, self._strings, self._counts = raw, strings, counts

    def compact_json(self, column: Array) -> Array:
        """JSON text without white space between the tokens."""
        return self._mapped(column, _compact)

    def unquoted(self, column: Array) -> Array:
        """The text of a JSON string; other values as JSON text."""
        return self._mapped(column, _unquoted)

    def _mapped(self, column: Array, read: Any) -> Array:
        """The column with blob numbers replaced by string numbers (−1 indexes the last one)."""
        used = np.zeros(len(self._raw) + 1, np.bool_)
        used[column] = True
        number_of = np.full(len(used), NONE, np.int32)
        for number in np.flatnonzero(used[:-1]).tolist():
            number_of[number] = self._strings.intern(self._read(self._raw[number], read))
        return np.asarray(number_of[column])

    def _read(self, raw: bytes, read: Any) -> str:
        try:
            return str(read(raw))
        except DECODE_ERRORS:
            try:
                return str(read(repair(raw, self._counts)))
            except DECODE_ERRORS:
                self._counts.add(d.WRONG_TYPE)
                return raw.decode("utf-8", "replace")


def _unquoted(raw: bytes) -> str:
    value = ANY.decode(raw)
    return value if isinstance(value, str) else raw.decode("utf-8", "replace")


def _compact(raw: bytes) -> str:
    text: Any = msgspec.json.format(raw, indent=-1)
    return bytes(text).decode("utf-8", "replace")


def _narrow(spec: TableSpec, columns: dict[str, Array], counts: DefectCounts) -> None:
    """Make ids and sizes that exceed the declared width unknown, instead of wrapping around."""
    for column in spec.columns:
        values = columns[column.name]
        if column.dtype != "i4" or values.dtype == np.int32:
            continue
        wide = (values < _INT32.min) | (values > _INT32.max)
        if wide.any():
            counts.add(d.BIG_INTEGER, int(wide.sum()))
            columns[column.name] = np.where(wide, -1, values)


def _joined(columns: Group, keep: Keep) -> dict[str, Array]:
    """One array per column; pieces are released as they are joined, so no table is in memory twice."""
    out = {}
    for name in list(columns):
        pieces = columns.pop(name)
        out[name] = keep(pieces[0] if len(pieces) == 1 else np.concatenate(pieces))
    give_back_memory()
    return out


def _origin(group: dict[str, dict[str, Array]]) -> int:
    """Time of the first span, else of the first record."""
    for name, column in (
        ("spans", "start"),
        ("memory", "time"),
        ("instants", "time"),
        ("flows", "time"),
    ):
        if name in group and len(group[name][column]):
            return int(group[name][column].min())
    return 0


def _tables(
    group: dict[str, dict[str, Array]], origin: int, counts: DefectCounts, keep: Keep
) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    if "spans" in group:
        spans, row_of_span = _spans_table(
            group.pop("spans"), group.get("python_args"), origin, counts, keep
        )
        tables["spans"] = spans
        for spec in _SIDE_TABLES:
            if spec.name in group:
                columns = group.pop(spec.name)
                tables[spec.name] = _side_table(spec, columns, row_of_span, counts, keep)
    for spec in (schema.MEMORY, schema.FLOWS, schema.INSTANTS):
        if spec.name in group:
            columns = group.pop(spec.name)
            tables[spec.name] = _timed_table(spec, columns, origin, counts, keep)
    if "chunks" in group:
        tables["chunks"] = schema.CHUNKS.build(**group["chunks"])
    marks = group.get("marks")
    if marks is not None:
        rows = np.arange(min(len(marks["start"]), MARKS_PER_DEFECT))
        tables["marks"] = schema.MARKS.build(
            defect=marks["defect"][rows],
            start=marks["start"][rows] - origin,
            dur=marks["dur"][rows],
        )
    for spec in schema.TRACE_TABLES:
        tables.setdefault(spec.name, spec.empty())
    return tables


def _spans_table(
    spans: dict[str, Array],
    python: dict[str, Array] | None,
    origin: int,
    counts: DefectCounts,
    keep: Keep,
) -> tuple[Table, Array]:
    """The table, and int32 the row in it of each gathered span; ``NONE`` for a duplicate."""
    order = _span_order(spans)
    for column in schema.SPANS.columns:
        values = spans.pop(column.name)[order].astype(column.dtype, copy=False)
        if column.name == "start":
            values -= origin
        spans[column.name] = keep(values)
    first = _first_of_duplicates(spans, python, order)
    if not first.all():
        counts.add(d.DUPLICATE, int((~first).sum()))
        order = order[first]
        for name in list(spans):
            spans[name] = keep(spans.pop(name)[first])
    row_of_span = np.full(len(first), NONE, np.int32)
    row_of_span[order] = np.arange(len(order), dtype=np.int32)
    return schema.SPANS.build(**spans), row_of_span


def _span_order(spans: dict[str, Array]) -> Ints:
    """Order by (start, -dur, ordinal). Few starts are equal, so only ties are fully sorted."""
    start = spans["start"]
    order = np.argsort(start, kind="stable")
    ordered = start[order]
    tie = np.zeros(len(order), np.bool_)
    same = ordered[1:] == ordered[:-1]
    tie[1:] |= same
    tie[:-1] |= same
    rows = order[tie]
    if len(rows):
        order[tie] = rows[np.lexsort((spans["ordinal"][rows], -spans["dur"][rows], start[rows]))]
    return np.asarray(order, np.int64)


def _first_of_duplicates(
    spans: dict[str, Array], python: dict[str, Array] | None, order: Ints
) -> Array:
    """Mask that is False for rows that repeat an earlier one, ids included.

    Events without any id (correlation, external, Python id) are never duplicates: two equal ones
    may both have happened.
    """
    n = len(spans["start"])
    tie = (spans["start"][1:] == spans["start"][:-1]) & (spans["dur"][1:] == spans["dur"][:-1])
    near = np.zeros(n, np.bool_)
    near[1:] |= tie
    near[:-1] |= tie
    # Few rows are candidates, so most of the other columns stay unread.
    rows = np.flatnonzero(near)
    named = (spans["correlation"][rows] >= 0) | (spans["external"][rows] > 0)
    columns = [
        spans[c] for c in ("name", "category", "track", "correlation", "external", "dur", "start")
    ]
    if python is not None:
        gathered = np.full(n, -1, np.int64)
        gathered[python["span"]] = python["id"]
        columns.insert(0, gathered[order])
        named |= columns[0][rows] >= 0
    rows = rows[named]
    rows = rows[np.lexsort((rows, *(c[rows] for c in columns)))]
    same = np.ones(max(len(rows) - 1, 0), np.bool_)
    for column in columns:
        same &= column[rows[1:]] == column[rows[:-1]]
    keep = np.ones(n, np.bool_)
    keep[rows[1:][same]] = False
    return keep


def _side_table(
    spec: TableSpec,
    columns: dict[str, Array],
    row_of_span: Array,
    counts: DefectCounts,
    keep: Keep,
) -> Table:
    _narrow(spec, columns, counts)
    columns["span"] = row_of_span[columns["span"]]
    order = np.argsort(columns["span"], kind="stable")
    order = order[columns["span"][order] >= 0]
    return _ordered(spec, columns, order, keep)


def _ordered(spec: TableSpec, columns: dict[str, Array], order: Ints, keep: Keep) -> Table:
    """The rows in ``order``; columns are released one by one, so only one is in memory twice."""
    return spec.build(
        **{
            c.name: keep(columns.pop(c.name)[order].astype(c.dtype, copy=False))
            for c in spec.columns
        }
    )


def _timed_table(
    spec: TableSpec,
    columns: dict[str, Array],
    origin: int,
    counts: DefectCounts,
    keep: Keep,
) -> Table:
    _narrow(spec, columns, counts)
    columns["time"] = keep(columns["time"] - origin)
    order = np.argsort(columns["time"], kind="stable")
    return _ordered(spec, columns, order, keep)


class _Begun:
    """Begins, each with a name, that are to end."""

    def __init__(self) -> None:
        self._named: dict[str, list[int]] = {}
        self.all: dict[int, str] = {}

    def add(self, number: int, name: str) -> None:
        """One more; numbers ascend in time."""
        self.all[number] = name
        for key in {name, ""}:
            self._named.setdefault(key, []).append(number)

    def end(self, name: str) -> int | None:
        """The latest of a name, of any where it is empty; it is open no more."""
        numbers = self._named.get(name, [])
        while numbers and numbers[-1] not in self.all:
            numbers.pop()
        if numbers:
            del self.all[numbers[-1]]
            return numbers.pop()
        return None


class _Open:
    """The begins of one thread that have no end yet: those from before, and those of this moment."""

    def __init__(self) -> None:
        self._before, self._now, self._time = _Begun(), _Begun(), 0

    def __len__(self) -> int:
        return len(self._before.all) + len(self._now.all)

    def begin(self, number: int, name: str, time: int) -> None:
        """One more."""
        self._move(time)
        self._now.add(number, name)

    def end(self, name: str, time: int) -> int | None:
        """The number of the begin that an end of this name ends; None if none is open."""
        self._move(time)
        for sought in dict.fromkeys((name, "")):
            for begun in (self._before, self._now):
                if (number := begun.end(sought)) is not None:
                    return number
        return None

    def _move(self, time: int) -> None:
        if time != self._time:
            for number, name in self._now.all.items():
                self._before.add(number, name)
            self._now, self._time = _Begun(), time


def pair_begin_end(marks: list[tuple[int, Event]], counts: DefectCounts) -> list[tuple[int, Event]]:
    """Join begin (``B``) and end (``E``) events of each thread into complete ones.

    ::

        B a   B b   E   E        a └───────┘
                                 b   └─┘

        B a   B b   E a   E b    a └───────┘
                                 b   └───────┘

    An end with a name ends the latest open begin of that name, else the latest one; what begins
    at the time of the end only if nothing from before is open. Returns the positions of the begins,
    and the joined events; unmatched ones are counted.

    ::

        time 0   5   5   9       a └───┘
             B a B b E   E       b     └───┘
    """
    times = nanoseconds([e.ts for _, e in marks])
    order = sorted(range(len(marks)), key=lambda i: (int(times[i]), marks[i][0]))
    open_: dict[tuple[str, str], _Open] = {}
    joined: list[tuple[int, Event]] = []
    for i in order:
        event = marks[i][1]
        begun = open_.setdefault((id_text(event.pid), id_text(event.tid)), _Open())
        if times[i] == INVALID:
            counts.add(d.NO_TIME)
        elif event.ph == "B":
            begun.begin(i, event.name or "", int(times[i]))
        elif (begin := begun.end(event.name or "", int(times[i]))) is None:
            counts.add(d.UNMATCHED_END)
        else:
            first = marks[begin][1]
            dur = int(times[i] - times[begin])
            first.dur = msgspec.Raw(b"%d.%03d" % (dur // 1000, dur % 1000))
            first.args = first.args if first.args is not None else event.args
            joined.append((marks[begin][0], first))
    counts.add(d.UNMATCHED_BEGIN, sum(map(len, open_.values())))
    return sorted(joined, key=lambda x: x[0])
