"""Perfetto traces (``.pftrace``), written field by field as the published schema numbers them.

::

    file = PerfettoFile()
    file.process(1, 42, "python"); file.thread(2, 42, 7, "main", parent=1)
    file.begin(2, 1000, "aten::mm", "cpu_op", {"External id": 3}); file.end(2, 5000)
    path.write_bytes(file.data())
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

Value = int | float | bool | str | bytes
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2


def varint(value: int) -> bytes:
    """A number as protobuf writes it; negative ones in ten bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: Value | None) -> bytes:
    """One field; a float is a double, text and bytes have their length before them. None: no field."""
    if value is None:
        return b""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(int(value))
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fixed(number: int, value: int) -> bytes:
    """A field of eight bytes."""
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def annotation(value: Any) -> bytes:
    """The value of a debug annotation, without its name; null is a text, as PyTorch writes it."""
    if isinstance(value, bool):
        return field(2, value)
    if isinstance(value, int):
        return field(4, value)
    if isinstance(value, float):
        return field(5, value)
    if isinstance(value, dict):
        return b"".join(field(11, field(10, key) + annotation(v)) for key, v in value.items())
    if isinstance(value, list):
        return b"".join(field(12, annotation(v)) for v in value)
    return field(6, "null" if value is None else str(value))


class PerfettoFile:
    """Packets of one sequence; ``interned``: names, categories and names of arguments by number."""

    def __init__(self, interned: bool = True, sequence: int = 1) -> None:
        self.packets: list[bytes] = []
        self._interned, self._sequence = interned, sequence
        self._numbers: dict[int, dict[str, int]] = {}
        self.packet(field(13, CLEARED))

    def data(self) -> bytes:
        """The file."""
        return b"".join(field(1, packet) for packet in self.packets)

    def packet(self, *fields: bytes, time: int | None = None, clock: int | None = None) -> None:
        """A packet with any fields."""
        head = field(8, time) + field(10, self._sequence) + field(58, clock)
        self.packets.append(head + b"".join(fields))

    def process(self, uuid: int, pid: int, name: str = "", parent: int | None = None) -> None:
        """Describe the track of a process."""
        self.track(uuid, field(3, field(1, pid) + field(6, name)), parent=parent)

    def thread(
        self, uuid: int, pid: int, tid: int, name: str = "", parent: int | None = None
    ) -> None:
        """Describe the track of a thread."""
        self.track(uuid, field(4, field(1, pid) + field(2, tid) + field(5, name)), parent=parent)

    def track(
        self, uuid: int, *fields: bytes, name: str | None = None, parent: int | None = None
    ) -> None:
        """Describe a track."""
        self.packet(
            field(60, field(1, uuid) + field(2, name) + field(5, parent) + b"".join(fields))
        )

    def begin(
        self,
        uuid: int | None,
        time: int,
        name: str | None = None,
        category: str = "",
        args: Mapping[str, Any] | None = None,
        flows: Iterable[int] = (),
        ends: Iterable[int] = (),
        kind: int = BEGIN,
        clock: int | None = None,
    ) -> None:
        """The begin of a slice, or another event with a name. ``flows``, ``ends``: ids of flows."""
        new: dict[int, list[bytes]] = {}
        event = [field(9, kind), field(11, uuid)]
        event.append(self._name(23, 10, 2, name, new))
        if category:
            event.append(self._name(22, 3, 1, category, new))
        for key, value in (args or {}).items():
            event.append(field(4, self._name(10, 1, 3, key, new) + annotation(value)))
        event += [fixed(47, number) for number in flows] + [fixed(48, number) for number in ends]
        interned = b"".join(field(number, entry) for number in new for entry in new[number])
        more = [field(12, interned)] if interned else []
        self.packet(*more, field(13, NEEDED), field(11, b"".join(event)), time=time, clock=clock)

    def end(self, uuid: int | None, time: int, *fields: bytes) -> None:
        """The end of a slice."""
        self.packet(field(11, field(9, END) + field(11, uuid) + b"".join(fields)), time=time)

    def counter(self, uuid: int, time: int, value: int | float) -> None:
        """A sample of a counter track."""
        number = 44 if isinstance(value, float) else 30
        self.packet(
            field(11, field(9, COUNTER) + field(11, uuid) + field(number, value)), time=time
        )

    def _name(
        self, inline: int, by_number: int, table: int, text: str | None, new: dict[int, list[bytes]]
    ) -> bytes:
        """A text, or its number and, the first time, an entry of a table of interned data."""
        if not self._interned or text is None:
            return field(inline, text)
        known = self._numbers.setdefault(table, {})
        if text not in known:
            known[text] = len(known) + 1
            new.setdefault(table, []).append(field(1, known[text]) + field(2, text))
        return field(by_number, known[text])


def from_chrome(
    document: Mapping[str, Any], interned: bool = True, lists: bool = False, categories: bool = True
) -> bytes:
    """A Chrome trace of Kineto's as Perfetto's: slices, arguments, instants, counters, flows, names.

    ``lists``: all begins before all ends, as PyTorch writes them; else in the order of time.
    Processes and threads with names for ids get numbers. ``categories``: False leaves them out.
    """
    file = PerfettoFile(interned)
    base = int(document.get("baseTimeNanoseconds", 0))
    file.packet(
        field(6, b"".join(field(1, field(1, c) + field(2, base)) for c in (6, 1))), time=base
    )
    events = [e for e in document["traceEvents"] if e.get("ph") in ("X", "i", "C", "s", "f")]
    names = {
        (e["name"], e.get("pid"), e.get("tid") if e["name"] == "thread_name" else None): e["args"][
            "name"
        ]
        for e in document["traceEvents"]
        if e.get("ph") == "M" and "name" in e.get("args", {})
    }
    tracks = _Tracks(file, names)
    flows: dict[tuple[int, Any, Any], tuple[list[int], list[int]]] = {}
    for e in events:
        if e["ph"] in "sf":
            flows.setdefault(_place(e), ([], []))[e["ph"] == "f"].append(int(e["id"]))
    begins: list[tuple[Any, ...]] = []
    ends: list[tuple[Any, ...]] = []
    for number, e in enumerate(events):
        if e["ph"] in "sf":
            continue
        time, uuid = base + _ns(e["ts"]), tracks.of(e)
        if e["ph"] == "C":
            for key, value in e["args"].items():
                begins.append((time, 1, number, COUNTER, tracks.counter(e, key), value))
            continue
        own = flows.pop(_place(e), ([], []))
        category = str(e.get("cat", "")) if categories else ""
        dur = _ns(e.get("dur", 0))
        kind = BEGIN if e["ph"] == "X" else INSTANT
        named = (uuid, str(e["name"]), category, e.get("args"), *own)
        begins.append((time, -dur, number, kind, *named))
        if e["ph"] == "X":
            ends.append((time + dur, dur, -number, END, uuid))
    written = begins + ends if lists else _in_time(begins, ends)
    for time, _, _, kind, uuid, *more in written:
        if kind == END:
            file.end(uuid, time)
        elif kind == COUNTER:
            file.counter(uuid, time, more[0])
        else:
            name, category, args, begun, ended = more
            file.begin(uuid, time, name, category, args, begun, ended, kind)
    return file.data()


def _in_time(begins: list[tuple[Any, ...]], ends: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """By time; at one moment ends come first, but for slices without a duration."""
    long = [(time, 0, dur, order, e) for e in ends for time, dur, order in [e[:3]] if dur]
    short = {-e[2]: e for e in ends if not e[1]}
    out = [(b[0], 1, b[1], b[2], b) for b in begins]
    merged: list[tuple[Any, ...]] = []
    for *_, event in sorted(out + long, key=lambda x: x[:4]):
        merged.append(event)
        if event[3] == BEGIN and event[2] in short:
            merged.append(short[event[2]])
    return merged


def _ns(micros: Any) -> int:
    return round(float(micros) * 1000)


def _place(event: Mapping[str, Any]) -> tuple[int, Any, Any]:
    return _ns(event["ts"]), event.get("pid"), event.get("tid")


class _Tracks:
    """Numbers of tracks, described when they are first used."""

    def __init__(self, file: PerfettoFile, names: Mapping[Any, Any]) -> None:
        self._file, self._names = file, names
        self._numbers: dict[Any, int] = {}
        self._ids: dict[Any, int] = {}

    def _number(self, key: Any) -> tuple[int, bool]:
        new = key not in self._numbers
        return self._numbers.setdefault(key, len(self._numbers) + 1), new

    def _id(self, value: Any) -> int:
        return (
            value
            if isinstance(value, int)
            else self._ids.setdefault(value, 900_000 + len(self._ids))
        )

    def process(self, pid: Any) -> int:
        """The track of a process."""
        uuid, new = self._number(("process", pid))
        if new:
            self._file.process(
                uuid, self._id(pid), str(self._names.get(("process_name", pid, None), ""))
            )
        return uuid

    def of(self, event: Mapping[str, Any]) -> int:
        """The track of an event's thread."""
        pid, tid = event.get("pid"), event.get("tid")
        parent = self.process(pid)
        uuid, new = self._number(("thread", pid, tid))
        if new:
            name = str(self._names.get(("thread_name", pid, tid), ""))
            self._file.thread(uuid, self._id(pid), self._id(tid), name, parent)
        return uuid

    def counter(self, event: Mapping[str, Any], key: str) -> int:
        """The track of one series of a counter event."""
        name = ": ".join(filter(None, (str(event["name"]), key)))
        parent = self.process(event.get("pid"))
        uuid, new = self._number(("counter", event.get("pid"), name))
        if new:
            self._file.track(uuid, field(8, b""), name=name, parent=parent)
        return uuid
