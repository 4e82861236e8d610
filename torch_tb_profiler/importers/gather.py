"""Batches of decoded events → numpy columns, grouped by kind.

::

    events  X X i X s X M ...                      Group "spans"      9 columns, one row per X
       └─ split by ph ─┬─ X ─ by role of cat ──▶  Group "operators"  their arguments, with the row among the spans
                       ├─ i named [memory] ────▶  Group "memory"
                       └─ ...
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, countOf
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from torch_tb_profiler.importers.chunks import Batch
from torch_tb_profiler.importers.decimal_text import INVALID, LONGEST_NS, nanoseconds
from torch_tb_profiler.importers.events import (
    ABSENT,
    ANY,
    DECODE_ERRORS,
    WHOLE_ARGS,
    Args,
    Count,
    Event,
    Figure,
)
from torch_tb_profiler.importers.late_args import NUMBERS, TEXTS, is_empty, late_args, surplus
from torch_tb_profiler.importers.legacy import legacy_category
from torch_tb_profiler.importers.repair import as_utf8
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store import schema
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.roles import DEVICE_ROLES, ROLE_OF_NAME, Role, role_of
from torch_tb_profiler.store.strings import NONE

Group = dict[str, list[Array]]
MEMORY_NAME = "[memory]"


def _is_one_of(*members: Role) -> Mask:
    """A lookup table: mask by role."""
    return np.isin(np.arange(max(Role) + 1), [int(member) for member in members])


_NAMED = (Role.OPERATOR, Role.ANNOTATION)
ROLES_OF_ARGS = (
    (schema.OPERATOR_ARGS, _is_one_of(*_NAMED)),
    (schema.PYTHON_ARGS, _is_one_of(Role.PYTHON)),
    (schema.DEVICE_ARGS, _is_one_of(*DEVICE_ROLES)),
    (schema.SYNC_ARGS, _is_one_of(Role.SYNC)),
    (schema.LAUNCH_ARGS, _is_one_of(Role.RUNTIME)),
    (schema.NODE_ARGS, _is_one_of(*DEVICE_ROLES)),
    (schema.COLLECTIVE_ARGS, _is_one_of(*_NAMED, Role.KERNEL, Role.DEVICE_ANNOTATION)),
)
ARG_OF = {
    ("python_args", "id"): "python_id",
    ("python_args", "parent"): "python_parent",
    ("python_args", "module"): "python_module",
    ("collective_args", "sequence"): "collective_sequence",
}
"""(table, column) → field of ``Args``, where it is not called as the column."""


def _annotation(args: Args) -> Raw:
    """What ``torch.cuda.graph`` recorded for the node of a graph: its module, else its name or names."""
    if not args.node:
        return ABSENT
    texts = (args.module_fqn, args.label, args.annotation)
    return next((text for text in texts if len(text)), ABSENT)


_ONLY_WITH: dict[str, Callable[[Args], Raw]] = {
    "collective_args": attrgetter("collective"),
    "launch_args": attrgetter("kernel"),
    "node_args": _annotation,
}
"""Side tables with rows for those events alone that have an argument."""
BLOBS_OF = {
    "operator_args": ("dims", "types", "strides", "concrete", "hierarchy", "stack"),
    "device_args": ("grid", "block"),
    "launch_args": ("kernel",),
    "node_args": ("annotation",),
    "instants": ("args",),
    "collective_args": ("collective", "dtype", "group"),
    "late_args": TEXTS,
}
"""Columns whose values are argument texts, by number."""
_TYPE_OF_ARG = {f.name: f.type for f in msgspec.structs.fields(Args)}
_NO_ARGS = Args()
INSTANT = "cpu_instant_event"
_NO_ROWS = np.zeros(0, np.int64)
KNOWN_PHASES = frozenset("XBEistfCMIR")
INT64_LOW, INT64_HIGH = -(1 << 63), (1 << 63) - 1


class Numbers(dict[Any, int]):
    """Value → number; new values get the next number. Looking up a known value is one C call."""

    def __missing__(self, value: Any) -> int:
        number = self[value] = len(self)
        return number

    def column(self, values: Iterable[Any]) -> Array:
        """The numbers of many values, int32."""
        return np.fromiter(map(self.__getitem__, values), np.int32)


class Gatherer:
    """Collects the columns of all batches; ``assemble`` turns them into tables."""

    def __init__(self, counts: DefectCounts, own_roles: Mapping[str, Role] | None = None) -> None:
        """``own_roles``: see ``store.roles.own_roles``."""
        self.counts = counts
        self._own_roles = own_roles or {}
        self.texts = Numbers()
        self.blobs = Numbers({b"": 0})
        """Argument texts. Columns hold the number less one, so absent (0) becomes ``NONE``."""
        self.categories = Numbers()
        self.tracks = Numbers()
        """(pid, tid) as written."""
        self.groups: dict[str, Group] = defaultdict(lambda: defaultdict(list))
        self.metadata: list[Event] = []
        self.begin_end: list[tuple[int, Event]] = []
        self.spans = 0
        self._roles: list[int] = []

    def add(self, batch: Batch, first: int) -> None:
        """Take in a batch; ``first`` is the position of its first entry in traceEvents."""
        self.put("chunks", ordinal=[first], offset=[batch.offset], size=[batch.size])
        events = batch.events
        if not events:
            return
        rows_of = _by_phase(events)
        ordinals = np.arange(first, first + len(events), dtype=np.int32)
        rows = rows_of.get("X", _NO_ROWS)
        spans = events if len(rows) == len(events) else [events[i] for i in rows.tolist()]
        # PyTorch's own writer (``use_python_export=True``) makes instants last until the end.
        if countOf(map(attrgetter("cat"), spans), INSTANT):
            instant = np.array([e.cat == INSTANT for e in spans])
            rows_of["i"] = np.concatenate((rows_of.get("i", _NO_ROWS), rows[instant]))
            rows = rows[~instant]
            spans = [e for e in spans if e.cat != INSTANT]
        if spans:
            self._spans(spans, ordinals[rows], batch, first)
        for phase in "BE":
            self.begin_end += [
                (first + i, events[i]) for i in rows_of.get(phase, _NO_ROWS).tolist()
            ]
        self.metadata += [events[i] for i in rows_of.get("M", _NO_ROWS).tolist()]
        flows = np.sort(np.concatenate([rows_of.get(p, _NO_ROWS) for p in "stf"]))
        if len(flows):
            self._flows([events[i] for i in flows.tolist()], ordinals[flows])
        points = np.sort(np.concatenate([rows_of.get(p, _NO_ROWS) for p in "iIRC"]))
        if len(points):
            self._points(batch, points.tolist(), first)
        unknown = sum(len(r) for p, r in rows_of.items() if p not in KNOWN_PHASES)
        # XLA's writer ends its list with an empty object, which says nothing that could be lost.
        empty = sum(_is_empty(events[i]) for i in rows_of.get("", _NO_ROWS).tolist())
        self.counts.add(d.UNKNOWN_PHASE, unknown - empty)

    def add_joined(self, joined: list[tuple[int, Event]]) -> None:
        """Take in (ordinal, span) joined from begin and end events."""
        self._spans([e for _, e in joined], np.array([ordinal for ordinal, _ in joined]))

    def track_of(self, events: list[Event]) -> Array:
        """The number of each event's (pid, tid)."""
        return self.tracks.column(map(attrgetter("pid", "tid"), events))

    def put(self, group: str, /, **columns: Any) -> None:
        """Put rows behind those of a group."""
        target = self.groups[group]
        for name, values in columns.items():
            target[name].append(np.asarray(values))

    def _spans(
        self, events: list[Event], ordinals: Array, batch: Batch | None = None, first: int = 0
    ) -> None:
        times = nanoseconds([*map(attrgetter("ts"), events), *map(attrgetter("dur"), events)])
        starts, durs = times[: len(events)], times[len(events) :]
        good = starts != INVALID
        if not good.all():
            self.counts.add(d.NO_TIME, int((~good).sum()))
            events = [e for e, ok in zip(events, good.tolist(), strict=True) if ok]
            starts, durs, ordinals = starts[good], durs[good], ordinals[good]
            if not events:
                return
        self.mend_durations(starts, durs)
        names = list(map(attrgetter("name"), events))
        categories = self._categories_of(events)
        roles = self.roles_of(categories, lambda rows: [names[row] for row in rows])
        if None in names:
            self.counts.add(d.NO_NAME, names.count(None))
            names = ["" if n is None else n for n in names]
        args = list(map(attrgetter("args"), events))
        if None in args:
            args = [_NO_ARGS if a is None else a for a in args]
        self.put(
            "spans",
            start=starts,
            dur=durs,
            name=self.texts.column(names),
            category=categories,
            track=self.track_of(events),
            role=roles,
            ordinal=ordinals,
            **self._links(args, roles),
        )
        self._arguments(args, roles)
        others = np.flatnonzero(roles == Role.OTHER)
        if len(others) and batch is not None:
            blobs = self._whole_args(batch)
            positions = (ordinals[others] - first).tolist()
            raws = [blobs[p] for p in positions] if blobs else [ABSENT] * len(others)
            more = [surplus(events[row].dur, int(durs[row])) for row in others.tolist()]
            self.late_arguments(others, raws, more)
        ranges = np.flatnonzero(roles == Role.COUNTER_RANGE)
        if len(ranges) and batch is not None and (blobs := self._whole_args(batch)) is not None:
            positions = (ordinals[ranges] - first).tolist()
            self.counters(ranges, [as_utf8(bytes(blobs[p]), self.counts) for p in positions])
        self.spans += len(events)

    def mend_durations(self, starts: Ints, durs: Ints) -> None:
        """Count what is no duration, ns, of events that start then, and make it 0 in place."""
        missing = (durs == INVALID) | (durs > LONGEST_NS)
        negative = (durs < 0) & (durs != INVALID)
        bad = missing | negative
        if bad.any():
            self.counts.add(d.NO_DURATION, int(missing.sum()))
            self.counts.add(d.NEGATIVE_DURATION, int(negative.sum()))
            durs[bad] = 0
            defect = [self.texts[d.NO_DURATION]] * int(bad.sum())
            self.put("marks", defect=defect, start=starts[bad], dur=durs[bad])

    def _categories_of(self, events: list[Event]) -> Array:
        """Category numbers; the legacy profiler wrote none, but its processes tell them."""
        categories = self.categories.column(map(attrgetter("cat"), events))
        if None in self.categories:
            for row in np.flatnonzero(categories == self.categories[None]).tolist():
                categories[row] = self.categories[legacy_category(events[row])]
        return categories

    def _links(self, args: list[Args], roles: Array) -> dict[str, Array]:
        """Correlation and external id; Python frames, often half of the trace, have neither."""
        rows = np.flatnonzero(roles != Role.PYTHON)
        chosen = [args[r] for r in rows.tolist()]
        links = {key: np.full(len(args), -1, np.int64) for key in ("correlation", "external")}
        links["correlation"][rows] = self._ints(chosen, "correlation")
        external, old = self._ints(chosen, "external"), [a.external_old for a in chosen]
        if any(value is not None for value in old):
            external = np.where(
                external == -1, self.fit([-1 if v is None else v for v in old], -1), external
            )
        links["external"][rows] = external
        return links

    def roles_of(
        self, categories: Ints, names: Callable[[list[int]], Sequence[str | None]]
    ) -> Array:
        """Roles, uint8, of events by their category numbers and, where that matters, their names, which ``names`` gives
        for rows.
        """
        known = list(self.categories)
        for category in known[len(self._roles) :]:
            role = role_of(category, self._own_roles) if category else Role.OTHER
            self._roles.append(-1 if role is None else int(role))
        roles = np.maximum(np.array(self._roles, np.int64)[categories], 0).astype(np.uint8)
        for category in dict.fromkeys(key for key, _ in ROLE_OF_NAME):
            number = self.categories.get(category)
            rows = np.flatnonzero(categories == number).tolist() if number is not None else []
            for row, name in zip(rows, names(rows) if rows else (), strict=True):
                roles[row] = ROLE_OF_NAME.get((category, name or ""), roles[row])
        return roles

    def _arguments(self, args: list[Args], roles: Array) -> None:
        for spec, members in ROLES_OF_ARGS:
            rows = np.flatnonzero(members[roles])
            if (argument := _ONLY_WITH.get(spec.name)) is not None:
                rows = rows[[len(argument(args[r])) > 0 for r in rows.tolist()]]
            if len(rows):
                chosen = [args[r] for r in rows.tolist()]
                names = {c.name: ARG_OF.get((spec.name, c.name), c.name) for c in spec.columns[1:]}
                columns = {name: self._column(chosen, arg) for name, arg in names.items()}
                self.put(spec.name, span=rows + self.spans, **columns)

    def late_arguments(self, rows: Ints, blobs: Sequence[Raw], more: Sequence[int]) -> None:
        """Put what may still tell the role of the events in some rows after ``spans``: their arguments, and the surplus of
        their durations, ps.
        """
        found = late_args(blobs)
        kept = [i for i, args in enumerate(found) if more[i] or not is_empty(args)]
        if not kept:
            return
        chosen = [found[i] for i in kept]
        numbers = zip(*(args.numbers for args in chosen), strict=True)
        texts = zip(*(args.texts for args in chosen), strict=True)
        self.put(
            "late_args",
            span=rows[kept] + self.spans,
            **{name: self.raws(raws) for name, raws in zip(TEXTS, texts, strict=True)},
            surplus=[more[i] for i in kept],
            **{n: self.fit(list(values), -1) for n, values in zip(NUMBERS, numbers, strict=True)},
        )

    def counters(self, rows: Ints, texts: Sequence[bytes]) -> None:
        """Put the counters of profiled ranges in some rows after ``spans``: their names are arbitrary, so arguments, UTF-8,
        are decoded again.
        """
        counters = [_counters_of(text) for text in texts]
        if any(counters):
            self.put(
                "counter_args",
                span=np.repeat(rows + self.spans, list(map(len, counters))),
                counter=self.texts.column(name for each in counters for name in each),
                value=[value for each in counters for value in each.values()],
            )

    def _column(self, args: list[Args], name: str) -> Array:
        """A column of a side table, read as the type of its argument asks."""
        kind = _TYPE_OF_ARG[name]
        if name == "dims":
            dims = [a.dims for a in args]
            if ABSENT in dims:
                dims = [dim if len(dim) else a.dims_old for a, dim in zip(args, dims, strict=True)]
            return self.raws(dims)
        if name == "annotation":
            return self.raws(map(_annotation, args))
        if kind == Count:
            return self._ints(args, name)
        values = map(attrgetter(name), args)
        if kind == Raw:
            return self.raws(values)
        if kind == Figure:
            return np.array([np.nan if v is None else v for v in values], np.float64)
        return self._ids(values)

    def _flows(self, events: list[Event], ordinals: Ints) -> None:
        self.put_timed(
            "flows",
            nanoseconds([e.ts for e in events]),
            track=self.track_of(events),
            id=self._ids(map(attrgetter("id"), events)),
            category=self.categories.column(map(attrgetter("cat"), events)),
            phase=np.array([ord(e.ph) for e in events], np.uint8),
            ordinal=ordinals,
        )

    def put_timed(self, group: str, times: Ints, **columns: Array) -> None:
        """Put rows of events that are points in time, ns; those without a valid one are counted."""
        good = times != INVALID
        self.counts.add(d.NO_TIME, int((~good).sum()))
        columns |= {"time": times}
        self.put(group, **{name: column[good] for name, column in columns.items()})

    def _points(self, batch: Batch, rows: list[int], first: int) -> None:
        events = batch.events
        memory = [i for i in rows if events[i].name == MEMORY_NAME and events[i].ph != "C"]
        if memory:
            self._memory([events[i] for i in memory], np.array(memory) + first)
        memory_rows = set(memory)
        rest = [i for i in rows if i not in memory_rows]
        if not rest:
            return
        blobs = self._whole_args(batch) if any(events[i].args is not None for i in rest) else None
        chosen = [events[i] for i in rest]
        self.put_timed(
            "instants",
            nanoseconds([e.ts for e in chosen]),
            track=self.track_of(chosen),
            name=self.texts.column(e.name or "" for e in chosen),
            category=self.categories.column(map(attrgetter("cat"), chosen)),
            phase=np.array([ord("i" if e.ph == "X" else e.ph) for e in chosen], np.uint8),
            args=self.raws([blobs[i] for i in rest]) if blobs else np.full(len(rest), NONE),
            ordinal=np.array(rest) + first,
        )

    def _whole_args(self, batch: Batch) -> list[Raw] | None:
        """Unparsed arguments of every event of the batch; None if it was repaired event by event."""
        try:
            whole = WHOLE_ARGS.decode(batch.text)
        except DECODE_ERRORS:
            return None
        return [w.args for w in whole] if len(whole) == len(batch.events) else None

    def _memory(self, events: list[Event], ordinals: Ints) -> None:
        args = [e.args or _NO_ARGS for e in events]
        addresses = [0 if a.address is None else a.address & (1 << 64) - 1 for a in args]
        self.put_timed(
            "memory",
            nanoseconds([e.ts for e in events]),
            track=self.track_of(events),
            device_type=self._ints(args, "device_type"),
            device=self._ints(args, "device_id"),
            address=np.array(addresses, np.uint64),
            bytes=self._ints(args, "size", 0),
            allocated=self._ints(args, "allocated"),
            reserved=self._ints(args, "reserved"),
            ordinal=ordinals,
            frames=np.full(len(args), NONE),
            category=np.full(len(args), -1),
        )

    def _ints(self, args: Sequence[Args], name: str, absent: int = -1) -> Ints:
        values = list(map(attrgetter(name), args))
        missing = values.count(None)
        if missing == len(values):
            return np.full(missing, absent, np.int64)
        if missing:
            values = [absent if v is None else v for v in values]
        return self.fit(values, absent)

    def fit(self, values: list[int], absent: int) -> Ints:
        """Whole numbers as int64; what does not fit is counted, and absent."""
        try:
            return np.array(values, np.int64) if values else np.zeros(0, np.int64)
        except OverflowError:
            wide = [not INT64_LOW <= v <= INT64_HIGH for v in values]
            self.counts.add(d.BIG_INTEGER, sum(wide))
            return np.array(
                [absent if w else v for v, w in zip(values, wide, strict=True)], np.int64
            )

    def raws(self, raws: Iterable[Raw]) -> Array:
        """The numbers of argument texts, less one."""
        listed = list(raws)
        if listed.count(ABSENT) == len(listed):
            return np.full(len(listed), NONE, np.int32)
        return self.blobs.column(map(bytes, listed)) + NONE

    def _ids(self, values: Iterable[Any]) -> Ints:
        listed = list(values)
        if set(map(type, listed)) <= {int}:
            return self.fit(listed, -1)
        return self.fit([v if type(v) is int else id_number(v) for v in listed], -1)


def _is_empty(event: Event) -> bool:
    fields = (event.name, event.cat, event.pid, event.tid, event.id, event.args)
    return not len(event.ts) and all(field is None for field in fields)


def _by_phase(events: list[Event]) -> dict[str, Ints]:
    """Rows of each phase, ascending."""
    phases = list(map(attrgetter("ph"), events))
    text = "\n".join(phases)
    codes = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    single = len(codes) == 2 * len(phases) - 1 and (codes[1::2] == 10).all()
    if single and not (codes[::2] == 10).any():
        codes = codes[::2]
        return {
            chr(c): np.flatnonzero(codes == c) for c in np.flatnonzero(np.bincount(codes)).tolist()
        }
    rows: dict[str, list[int]] = defaultdict(list)
    for row, phase in enumerate(phases):
        rows[phase].append(row)
    return {p: np.array(r) for p, r in rows.items()}


def id_number(value: Any) -> int:
    """The number of a textual id (``"7"``, ``"0x1f"``); other text is hashed far above real ids."""
    if value is None:
        return -1
    if isinstance(value, (bool, float)):
        return int(value) if float(value).is_integer() else -1
    try:
        return int(value, 0)
    except ValueError:
        number = 0
        for byte in value.encode("utf-8", "replace"):
            number = (number * 1099511628211 + byte) & ((1 << 60) - 1)
        return (1 << 61) + number


_NO_COUNTERS = frozenset(
    (
        "correlation",
        "External id",
        "external id",
        "device",
        "stream",
        "context",
        "kernel id",
        "queue",
    )
)
"""Arguments that link an event to others."""
_PLAIN_ARGS = msgspec.json.Decoder(dict[str, float])


def _counters_of(raw: Raw | bytes) -> dict[str, float]:
    """The finite values, by counter, in the JSON of the arguments of a profiler range (``cuda_profiler_range``), each of
    which is a hardware counter; some are text.
    """
    args: Any = None
    try:
        args = _PLAIN_ARGS.decode(raw)
        if _NO_COUNTERS.isdisjoint(args) and math.isfinite(sum(args.values())):
            return dict(args)
    except DECODE_ERRORS:
        with contextlib.suppress(*DECODE_ERRORS):
            args = ANY.decode(raw)
    if not isinstance(args, dict):
        return {}
    values = ((name, _finite(value)) for name, value in args.items() if name not in _NO_COUNTERS)
    return {name: value for name, value in values if math.isfinite(value)}


def _finite(value: Any) -> float:
    """The value as a float, NaN if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan
