"""Packets → entries of a Chrome trace, as JSON: what one says and the other is the same from here on.

::

    begin of a slice      {"ph":"X", …, "dur":0}    its duration is known when all ends are (``pairs``)
    instant, counter      {"ph":"i", …}  {"ph":"C", …, "args":{"":5}}
    id of a flow          {"ph":"t", …}             whether it is the first one is known at the end

Times are microseconds after ``base``, the first time of the file.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import msgspec

from torch_tb_profiler.importers.decimal_text import LARGEST_NS, LONGEST_NS
from torch_tb_profiler.importers.perfetto import device, schema
from torch_tb_profiler.importers.perfetto.annotations import Fields
from torch_tb_profiler.importers.perfetto.clocks import Clocks
from torch_tb_profiler.importers.perfetto.packets import inflated
from torch_tb_profiler.importers.perfetto.places import Place, Places, text_of
from torch_tb_profiler.importers.perfetto.roles import category_of
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.roles import role_of

MOST_INFLATED = 64 << 20
"""Bytes that one packet may inflate to."""
_BIG = 1 << 63
_DEVICE = frozenset(("kernel", "gpu_memcpy", "gpu_memset"))
_NO_EVENTS = frozenset(
    (
        None,
        "ftrace_events",
        "process_tree",
        "trace_config",
        "trace_stats",
        "synchronization_marker",
        "system_info",
        "service_event",
        "trace_uuid",
    )
)
_COMPRESSED = frozenset(("compressed_packets", "zstd_compressed_packets"))
_encode = msgspec.json.encode


class Names(dict[bytes, bytes]):
    """Text of a message → JSON text, remembered."""

    def __missing__(self, text: bytes) -> bytes:
        if len(self) > 1 << 16:
            self.clear()
        self[text] = json = _encode(text_of(text))
        return json


class Sequence:
    """What the packets of one sequence have said so far: names by number, and defaults."""

    def __init__(self, number: int, counts: DefectCounts) -> None:
        self.number = number
        self.fields = Fields(counts)
        self.names: dict[int, bytes] = {}
        self.categories: dict[int, bytes] = {}
        self.device = device.Interned()
        self.clock = schema.BOOTTIME
        self.track = 0
        self.counters: tuple[list[int], list[int]] = ([], [])

    def clear(self) -> None:
        """Forget everything interned."""
        self.fields.forget()
        self.names.clear()
        self.categories.clear()
        self.device = device.Interned()
        self.clock, self.track, self.counters = schema.BOOTTIME, 0, ([], [])

    def take_names(self, data: bytes) -> None:
        """Take in interned data."""
        interned = schema.InternedData.FromString(data)
        self.names.update((each.iid, each.name) for each in interned.event_names)
        self.categories.update((each.iid, each.name) for each in interned.event_categories)
        if interned.debug_annotation_names or interned.debug_annotation_string_values:
            fields = self.fields
            fields.clear()
            fields.names.update((each.iid, each.name) for each in interned.debug_annotation_names)
            fields.texts.update(
                (each.iid, each.name) for each in interned.debug_annotation_string_values
            )
        self.device.take(interned)

    def take_defaults(self, data: bytes) -> None:
        """Take in the defaults of the packets that follow."""
        defaults = schema.TracePacketDefaults.FromString(data)
        self.clock = defaults.timestamp_clock_id or self.clock
        if defaults.HasField("track_event_defaults"):
            event = defaults.track_event_defaults
            self.track = event.track_uuid
            self.counters = (
                list(event.extra_counter_track_uuids),
                list(event.extra_double_counter_track_uuids),
            )


class Slices:
    """Begins and ends of slices, in the order of the file."""

    def __init__(self) -> None:
        self.time, self.track, self.sequence, self.entry = (array("q") for _ in range(4))
        """``entry``: number of the begin's entry; −1 of an end."""
        self._tracks: dict[int, int] = {}

    def add(self, time: int, uuid: int, sequence: int, entry: int) -> None:
        """Put one behind the others."""
        self.time.append(time)
        self.track.append(self._tracks.setdefault(uuid, len(self._tracks)))
        self.sequence.append(sequence)
        self.entry.append(entry)


class Translation:
    """Entries of the packets of a trace, one after the other.

    Attributes:
        entries: those written so far, in ``texts`` and before.
        lost: events that became no entry; they are counted as defects, too.
        base: ns of trace time; None until the first event.
    """

    def __init__(self, counts: DefectCounts, most_inflated: int, base: int | None = None) -> None:
        self.base = base
        self.texts: list[bytes] = []
        self.entries = self.lost = 0
        self.places, self.clocks, self.slices = Places(), Clocks(), Slices()
        self.system_packets = 0
        self._counts, self._left = counts, most_inflated
        self._sequences: dict[int, Sequence] = {}
        self._quoted = Names()
        self._categories: dict[bytes, tuple[str, bytes]] = {}
        self._events = True

    def skip(self, packets: Iterable[Any]) -> None:
        """Take in what packets say of others, and write no entries of their own."""
        self._events = False
        self.add(packets)
        self._events = True

    def add(self, packets: Iterable[Any]) -> None:
        """Write the entries of packets."""
        for packet in packets:
            try:
                self._packet(packet, packet.WhichOneof("data"))
            except schema.DECODE_ERRORS:
                self._lose(d.DAMAGED_PACKET)

    def _lose(self, defect: str) -> None:
        self.lost += 1
        self._counts.add(defect)

    def _packet(self, packet: Any, kind: str | None) -> None:
        number = packet.trusted_packet_sequence_id
        sequence = self._sequences.get(number)
        if sequence is None:
            sequence = self._sequences[number] = Sequence(number, self._counts)
        if packet.sequence_flags & schema.CLEARED or packet.incremental_state_cleared:
            sequence.clear()
        if packet.trace_packet_defaults:
            sequence.take_defaults(packet.trace_packet_defaults)
        if packet.interned_data:
            sequence.take_names(packet.interned_data)
        if kind == "track_event":
            time = self._time(packet, sequence)
            if self._events:
                self._track_event(packet.track_event, time, sequence)
        elif kind == "track_descriptor":
            self.places.describe(packet.track_descriptor)
        elif kind == "gpu_render_stage_event":
            time = self._time(packet, sequence)
            if self._events:
                self._stage(packet.gpu_render_stage_event, time, sequence)
        elif kind == "gpu_counter_event":
            time = self._time(packet, sequence)
            if self._events:
                self._gpu_counters(packet.gpu_counter_event, time, sequence)
        elif kind == "clock_snapshot":
            self.clocks.snapshot(number, packet.clock_snapshot)
        elif kind in _COMPRESSED:
            self._inflate(packet, str(kind))
        else:
            self._other(packet, kind)

    def _other(self, packet: Any, kind: str | None) -> None:
        if kind == "thread_descriptor":
            self.places.thread(packet.thread_descriptor)
        elif kind == "process_descriptor":
            self.places.process(packet.process_descriptor)
        elif kind in _NO_EVENTS and self._events:
            self.system_packets += kind == "ftrace_events"

    def _inflate(self, packet: Any, kind: str) -> None:
        text = inflated(packet, kind, min(MOST_INFLATED, self._left))
        if text is None:
            self._lose(d.DAMAGED_PACKET)
            return
        self._left -= len(text)
        for each in schema.Trace.FromString(text).packet:
            inner = each.WhichOneof("data")
            if inner in _COMPRESSED:
                self._lose(d.DAMAGED_PACKET)
            else:
                self._packet(each, inner)

    def _time(self, packet: Any, sequence: Sequence) -> int | None:
        """Nanoseconds after ``base``; None if unknown."""
        clock = packet.timestamp_clock_id or sequence.clock
        time = self.clocks.time(sequence.number, clock, packet.timestamp)
        if time is None or not packet.HasField("timestamp"):
            return None
        if self.base is None and -LARGEST_NS < time < LARGEST_NS:
            self.base = time
        time -= self.base or 0
        return time if -LARGEST_NS < time < LARGEST_NS else None

    def _track_event(self, event: Any, time: int | None, sequence: Sequence) -> None:
        kind = event.type
        uuid = event.track_uuid or sequence.track
        if kind not in (schema.BEGIN, schema.END, schema.INSTANT, schema.COUNTER):
            self._counts.add(d.NOT_READ)
            return
        if time is None:
            self._lose(d.NO_TIME)
            return
        if event.extra_counter_values or event.extra_double_counter_values:
            self._extra_counters(event, time, sequence)
        if kind == schema.END:
            self.slices.add(time, uuid, sequence.number, -1)
            if event.flow_ids or event.terminating_flow_ids:
                self._flows(event, self.places.of(uuid), time, "")
            return
        if kind == schema.COUNTER:
            is_double = event.HasField("double_counter_value")
            value = event.double_counter_value if is_double else event.counter_value
            self._counter(uuid, value, time, b"")
            return
        fields = sequence.fields.of(event.debug_annotations)
        name = event.name or sequence.names.get(event.name_iid, b"")
        place = self.places.of(uuid)
        category, json = self._category(event, sequence)
        if not category:
            category = category_of(text_of(name), fields, place.is_overhead)
            json = b'"cat":%b,' % _encode(category) if category else b""
        if kind == schema.BEGIN:
            self.slices.add(time, uuid, sequence.number, self.entries)
        self._write(
            b'{"ph":"%b","name":%b,%b%b,"ts":%b,"dur":0,"args":{%b}}'
            % (
                b"X" if kind == schema.BEGIN else b"i",
                self._quoted[name],
                json,
                place.json,
                _micros(time),
                fields,
            )
        )
        if (
            event.flow_ids
            or event.terminating_flow_ids
            or event.flow_ids_old
            or event.terminating_flow_ids_old
        ):
            self._flows(event, place, time, category)

    def _write(self, text: bytes) -> None:
        self.texts.append(text)
        self.entries += 1

    def _category(self, event: Any, sequence: Sequence) -> tuple[str, bytes]:
        """An event's category and the field of its entry; of several the one that has a role."""
        numbers = event.category_iids
        if numbers:
            text = b",".join([sequence.categories.get(number, b"") for number in numbers])
        elif event.categories:
            text = b",".join(event.categories)
        else:
            return "", b""
        known = self._categories.get(text)
        if known is None:
            names = text_of(text).split(",")
            category = next((name for name in names if role_of(name) is not None), text_of(text))
            known = category, b'"cat":%b,' % _encode(category) if category else b""
            if len(self._categories) < 1 << 16:
                self._categories[text] = known
        return known

    def _flows(self, event: Any, place: Place, time: int, category: str) -> None:
        """Kineto has one category for launches and their work, one for forward and backward."""
        role = role_of(category) if category else None
        kind = (
            b"fwdbwd"
            if category == "cpu_op"
            else b"ac2g"
            if category in _DEVICE or (role is not None and role.name == "RUNTIME")
            else b"flow"
        )
        for phase, numbers in (
            (b"t", (*event.flow_ids, *event.flow_ids_old)),
            (b"f", (*event.terminating_flow_ids, *event.terminating_flow_ids_old)),
        ):
            for number in numbers:
                self._write(
                    b'{"ph":"%b","id":%d,"name":"%b","cat":"%b",%b,"ts":%b}'
                    % (phase, number % _BIG, kind, kind, place.json, _micros(time))
                )

    def _extra_counters(self, event: Any, time: int, sequence: Sequence) -> None:
        whole, real = sequence.counters
        for uuids, values in (
            (event.extra_counter_track_uuids or whole, event.extra_counter_values),
            (event.extra_double_counter_track_uuids or real, event.extra_double_counter_values),
        ):
            for uuid, value in zip(uuids, values, strict=False):
                self._counter(uuid, value, time, b"")

    def _counter(self, uuid: int, value: float, time: int, label: bytes) -> None:
        counter = self.places.counter(uuid)
        value *= counter.scale
        if counter.incremental:
            counter.total = value = counter.total + value
        self._sample(_encode(counter.name), self.places.of(uuid), value, time)

    def _sample(self, name: bytes, place: Place, value: float, time: int) -> None:
        self._write(
            b'{"ph":"C","name":%b,%b,"ts":%b,"args":{"":%b}}'
            % (name, place.json, _micros(time), _encode(value))
        )

    def _stage(self, event: Any, time: int | None, sequence: Sequence) -> None:
        if time is None:
            self._lose(d.NO_TIME)
            return
        name, category, place, fields = device.stage_entry(
            event, sequence.device, sequence.names, self.places
        )
        self._write(
            b'{"ph":"X","name":%b,"cat":%b,%b,"ts":%b,"dur":%b,"args":{%b}}'
            % (
                _encode(name),
                category,
                place.json,
                _micros(time),
                _micros(min(event.duration, LONGEST_NS + 1)),
                fields,
            )
        )

    def _gpu_counters(self, event: Any, time: int | None, sequence: Sequence) -> None:
        gpu, samples = device.counter_samples(event, sequence.device)
        if time is None:
            self._lose(d.NO_TIME)
            return
        place = self.places.of_gpu(gpu)
        for name, value in samples:
            self._sample(_encode(name), place, value, time)


def _micros(time: int) -> bytes:
    """Decimal microseconds of nanoseconds."""
    if time >= 0:
        return b"%d.%03d" % divmod(time, 1000)
    return b"-%d.%03d" % divmod(-time, 1000)
