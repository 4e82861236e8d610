"""Packets → entries of a Chrome trace, as JSON: what one says and the other is the same from here on.

::

    begin of a slice      {"ph":"X", …, "dur":0}    its duration is known when all ends are (``pairs``)
    instant, counter      {"ph":"i", …}  {"ph":"C", …, "args":{"":5}}
    id of a flow          {"ph":"t", …}             whether it is the first one is known at the end

Times are microseconds after ``base``, the first time of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from torch_tb_profiler.importers.decimal_text import LARGEST_NS, LONGEST_NS
from torch_tb_profiler.importers.perfetto import schema
from torch_tb_profiler.importers.perfetto.device import counter_samples, stage_entry
from torch_tb_profiler.importers.perfetto.packets import inflated
from torch_tb_profiler.importers.perfetto.places import (
    TrackDescriptors,
    TrackThread,
    json_text,
    text_of,
)
from torch_tb_profiler.importers.perfetto.rocprof import translated
from torch_tb_profiler.importers.perfetto.schema import BOOTTIME, OWN_CLOCKS, REALTIME
from torch_tb_profiler.importers.perfetto.sequences import (
    Categories,
    Category,
    Quoted,
    Sequence,
    Sequences,
    Slices,
    all_names,
)
from torch_tb_profiler.importers.perfetto.slice_columns import Run, plain_runs
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

MOST_INFLATED = 16 << 20
"""Bytes that one packet may inflate to; Perfetto compresses half a megabyte together."""
MOST_TEXTS = 1 << 15
"""Entries that wait in ``texts``."""
_ID_RANGE = 1 << 63
_OF_LAUNCHES = (*DEVICE_ROLES, Role.RUNTIME)
_COMPRESSED = frozenset(("compressed_packets", "zstd_compressed_packets"))
_Key = tuple[int, int]
_MOST = 1 << 62
_WALL_NS = 10**18
"""September 2001: no machine has been up for that long, so later times are wall-clock times."""


class Clocks:
    """Times of packets → nanoseconds of one clock, by what snapshots say of the clocks of a trace.

    ::

        snapshot    boot 1000   wall 1719000000000001000   own 0 (in units of 10 ns)
        packet      own 7       ─▶   1000 + (7 − 0) · 10 = 1070 ns of the boot clock

    An incremental clock states how much later a packet is than the one before of its sequence.
    """

    def __init__(self) -> None:
        self._offset: dict[_Key, int] = {}
        """Trace time less the clock's time, ns."""
        self._unit: dict[_Key, int] = {}
        self._last: dict[_Key, int] = {}
        """Time of the last packet, in the units of an incremental clock."""
        self._wall: int | None = None
        self.plain = True
        """Whether timestamps of the boot clock, the usual one, are trace times."""

    def snapshot(self, sequence: int, snapshot: Any) -> None:
        """Take in readings of several clocks at one moment."""
        read: dict[_Key, int] = {}
        for clock in snapshot.clocks:
            key = self._key(sequence, clock.clock_id)
            self._unit[key] = unit = clock.unit_multiplier_ns or 1
            read[key] = clock.timestamp * unit
            if clock.is_incremental:
                self._last[key] = clock.timestamp
        now = self._trace_time(read, (0, snapshot.primary_trace_clock))
        for key, value in read.items():
            self._offset[key] = now - value
            if key == (0, REALTIME) and self._wall is None:
                self._wall = value - now
        boot = (0, BOOTTIME)
        self.plain = (
            not self._offset.get(boot) and self._unit.get(boot, 1) == 1 and boot not in self._last
        )

    def _trace_time(self, read: dict[_Key, int], primary: _Key) -> int:
        boot = (0, BOOTTIME)
        if boot in read:
            return read[boot]
        for key, value in read.items():
            if key in self._offset:
                return value + self._offset[key]
        return read.get(primary, next(iter(read.values()), 0))

    def _key(self, sequence: int, clock: int) -> _Key:
        return (sequence if clock in OWN_CLOCKS else 0, clock)

    def time(self, sequence: int, clock: int, value: int) -> int | None:
        """Trace time in ns of a packet's timestamp; None if its clock is unknown."""
        key = self._key(sequence, clock)
        if key in self._last:
            self._last[key] = value = (self._last[key] + value) % (1 << 64)
        offset = self._offset.get(key)
        if offset is None:
            # Without snapshots all packets have the same one of the system's clocks.
            return value if clock < OWN_CLOCKS.start else None
        time = value * self._unit[key] + offset
        return time if -_MOST < time < _MOST else None

    def wall(self, time: int) -> int | None:
        """Nanoseconds since 1970 of a trace time; None unknown."""
        if self._wall is not None:
            return time + self._wall
        return time if time >= _WALL_NS else None


class Translation:
    """Entries of the packets of a trace, one after the other.

    Attributes:
        entries: those written so far, in ``texts`` and before.
        lost: events that became no entry; they are counted as defects, too.
        base: ns of trace time; None until the first event.
        system_packets: those of the operating system (ftrace).
    """

    def __init__(
        self,
        counts: DefectCounts,
        most_inflated: int,
        base: int | None = None,
        whole: bool = False,
    ) -> None:
        """``whole``: write all arguments, also those that become no column."""
        self.base = base
        self.texts: list[str] = []
        self.entries = self.lost = self.system_packets = 0
        self.places, self.clocks, self.slices = TrackDescriptors(), Clocks(), Slices()
        self._counts, self._left = counts, most_inflated
        self._sequences = Sequences(counts, whole)
        self._quoted, self._categories = Quoted(), Categories()
        self._open: list[tuple[int, int, int, int]] = []
        """Begins and ends that are not in ``slices`` yet."""
        self._writes = True

    def skip(self, packets: Iterable[Any]) -> None:
        """Take in what packets say of others, and write no entries of their own."""
        self._writes = False
        for _ in self.add(packets):
            pass
        self._writes = True

    def add(
        self, packets: Iterable[Any], text: bytes = b"", within: bool = False
    ) -> Iterator[None]:
        """Write the entries of packets; pauses when there are so many that they should be taken.

        ``text``: the packets as they stand in the file, if that is known; ``within``: they were
        compressed.
        """
        runs = {run.start: run for run in plain_runs(text)} if text and self._writes else {}
        skipped = 0
        for number, packet in enumerate(packets):
            if number < skipped:
                continue
            if number in runs and (end := self._plain(runs[number])):
                skipped = end
                continue
            try:
                inner = self._packet(packet, within)
                those = schema.Trace.FromString(inner).packet if inner else ()
            except schema.DECODE_ERRORS:
                self._lose(d.DAMAGED_PACKET)
                continue
            if inner and those:
                yield from self.add(those, inner, within=True)
            if len(self.texts) > MOST_TEXTS:
                yield
        self._close()

    def _close(self) -> None:
        self.slices.extend(self._open)
        self._open.clear()

    def _plain(self, run: Run) -> int:
        """Write the slices of a run of packets at once; where it ends, 0 if they are to come one by one."""
        sequence = self._sequences[run.sequence]
        time = run.time
        if self.base is None and time[0]:
            self.base = int(time[0])
        base = self.base or 0
        if sequence.clock != schema.BOOTTIME or not self.clocks.plain or not base:
            return 0
        if int(time.max()) - base >= LARGEST_NS or base - int(time.min()) >= LARGEST_NS:
            return 0
        categories = {
            number: self._categories[sequence.categories.get(number, b"")]
            for number in set(run.category)
        }
        if not all(category.stored_only for category in categories.values()):
            return 0
        after = (time - base).tolist()
        self._close()
        self.slices.extend_run(after, run, self.entries)
        quoted, names = self._quoted, sequence.names
        named = {
            number: f'"name":{quoted[text]},' if (text := names.get(number, b"")) else ""
            for number in set(run.name)
        }
        places = {uuid: self.places.of(uuid).json for uuid in set(run.track)}
        fields = sequence.stored.numbers(*run.annotations)
        first = run.first
        for row, name, category in zip(run.begins, run.name, run.category, strict=True):
            ns = after[row]
            micros = f"{ns // 1000}.{ns % 1000:03d}" if ns >= 0 else _micros(ns)
            args = ",".join(filter(None, fields[first[row] : first[row + 1]]))
            args = f',"args":{{{args}}}' if args else ""
            self.texts.append(
                f'{{"ph":"X",{named[name]}{categories[category].json}{places[run.track[row]]},"ts":{micros},"dur":0{args}}}'
            )
        self.entries += len(run.begins)
        return run.stop

    def _lose(self, defect: str) -> None:
        self.lost += 1
        self._counts.add(defect)

    def _packet(self, packet: Any, within: bool) -> bytes | None:
        """Take in a packet; the text of those within it, if any."""
        number = packet.trusted_packet_sequence_id
        sequence = self._sequences[number]
        if packet.sequence_flags & schema.CLEARED or packet.incremental_state_cleared:
            sequence.clear()
        if packet.trace_packet_defaults:
            sequence.take_defaults(packet.trace_packet_defaults)
        if packet.interned_data:
            sequence.take_names(packet.interned_data)
        kind = packet.WhichOneof("data")
        if kind == "track_event":
            self._track_event(packet, sequence)
        elif kind == "gpu_render_stage_event":
            self._stage(packet, sequence)
        elif kind == "gpu_counter_event":
            self._gpu_counters(packet, sequence)
        elif kind == "track_descriptor":
            self.places.describe(packet.track_descriptor)
        elif kind == "clock_snapshot":
            self.clocks.snapshot(number, packet.clock_snapshot)
        elif kind == "thread_descriptor":
            self.places.thread(packet.thread_descriptor)
        elif kind == "process_descriptor":
            self.places.process(packet.process_descriptor)
        elif kind in _COMPRESSED:
            return self._inflated(packet, kind, within)
        else:
            self.system_packets += kind == "ftrace_events"
        return None

    def _inflated(self, packet: Any, kind: str, within: bool) -> bytes | None:
        text = None if within else inflated(packet, kind, min(MOST_INFLATED, self._left))
        if text is None:
            self._lose(d.DAMAGED_PACKET)
            return None
        self._left -= len(text)
        return text

    def _time(self, packet: Any, sequence: Sequence) -> int | None:
        """Nanoseconds after ``base``; None if unknown, which is counted."""
        time: int | None = packet.timestamp
        clock = packet.timestamp_clock_id or sequence.clock
        if clock != schema.BOOTTIME or not self.clocks.plain:
            time = self.clocks.time(sequence.number, clock, packet.timestamp)
        if not self._writes:
            return None
        if time and -LARGEST_NS < time < LARGEST_NS:
            if self.base is None:
                self.base = time
            return time - self.base
        if time == 0 and packet.HasField("timestamp"):
            self.base = self.base or 0
            return -self.base
        self._lose(d.NO_TIME)
        return None

    def _track_event(self, packet: Any, sequence: Sequence) -> None:
        event = packet.track_event
        time = self._time(packet, sequence)
        if time is None:
            return
        kind = event.type
        uuid = event.track_uuid or sequence.track
        if kind == schema.END:
            self._open.append((time, uuid, sequence.number, -1))
        elif kind == schema.BEGIN:
            self._open.append((time, uuid, sequence.number, self.entries))
            self._named(event, "X", time, uuid, sequence)
        elif kind == schema.INSTANT:
            self._named(event, "i", time, uuid, sequence)
        elif kind == schema.COUNTER:
            is_real = event.HasField("double_counter_value")
            self._counter(
                uuid, event.double_counter_value if is_real else event.counter_value, time
            )
        else:
            self._counts.add(d.NOT_READ)
        if event.extra_counter_values or event.extra_double_counter_values:
            self._extra_counters(event, time, sequence)

    def _named(self, event: Any, phase: str, time: int, uuid: int, sequence: Sequence) -> None:
        """Write an event that has a name and arguments, and its flows."""
        name = event.name or sequence.names.get(event.name_iid, b"")
        place = self.places.of(uuid)
        category = self._categories[all_names(event, sequence)]
        is_slice = phase == "X"
        columns_only = category.stored_only or category.foreign
        known = sequence.stored if is_slice and columns_only else sequence.fields
        fields = known.of(event.debug_annotations)
        if is_slice and not category.name:
            guess = _category_of(text_of(name), fields, place.is_overhead)
            category = self._categories[guess.encode()]
        elif category.foreign and (is_slice or fields):
            place, fields = translated(category.name, text_of(name), fields, place, self.places)
        micros = f"{time // 1000}.{time % 1000:03d}" if time >= 0 else _micros(time)
        named = f'"name":{self._quoted[name]},' if name else ""
        args = f',"args":{{{fields}}}' if fields else ""
        self.entries += 1
        self.texts.append(
            f'{{"ph":"{phase}",{named}{category.json}{place.json},"ts":{micros},"dur":0{args}}}'
        )
        if (
            event.flow_ids
            or event.terminating_flow_ids
            or event.flow_ids_old
            or event.terminating_flow_ids_old
        ):
            self._flows(event, place, time, category)

    def _write(self, text: str) -> None:
        self.texts.append(text)
        self.entries += 1

    def _flows(self, event: Any, place: TrackThread, time: int, category: Category) -> None:
        """Kineto has one category for launches and their work, and one for forward and backward."""
        kind = "fwdbwd" if category.role == Role.OPERATOR else "flow"
        if category.role in _OF_LAUNCHES:
            kind = "ac2g"
        rest = f'"name":"{kind}","cat":"{kind}",{place.json},"ts":{_micros(time)}}}'
        for phase, numbers in (
            ("t", (*event.flow_ids, *event.flow_ids_old)),
            ("f", (*event.terminating_flow_ids, *event.terminating_flow_ids_old)),
        ):
            for number in numbers:
                self._write(f'{{"ph":"{phase}","id":{number % _ID_RANGE},{rest}')

    def _extra_counters(self, event: Any, time: int, sequence: Sequence) -> None:
        whole, real = sequence.counters
        for uuids, values in (
            (event.extra_counter_track_uuids or whole, event.extra_counter_values),
            (event.extra_double_counter_track_uuids or real, event.extra_double_counter_values),
        ):
            for uuid, value in zip(uuids, values, strict=False):
                self._counter(uuid, value, time)

    def _counter(self, uuid: int, value: float, time: int) -> None:
        counter = self.places.counter(uuid)
        value *= counter.scale
        if counter.incremental:
            counter.total = value = counter.total + value
        self._sample(counter.name, self.places.of(uuid), value, time)

    def _sample(self, name: str, place: TrackThread, value: float, time: int) -> None:
        self._write(
            f'{{"ph":"C","name":{json_text(name)},{place.json},"ts":{_micros(time)},"args":{{"":{json_text(value)}}}}}'
        )

    def _stage(self, packet: Any, sequence: Sequence) -> None:
        time = self._time(packet, sequence)
        if time is None:
            return
        event = packet.gpu_render_stage_event
        name, category, place, fields = stage_entry(
            event, sequence.device, sequence.names, self.places
        )
        dur = _micros(min(event.duration, LONGEST_NS + 1))
        self._write(
            f'{{"ph":"X","name":{json_text(name)},{self._categories[category.encode()].json}{place.json},'
            f'"ts":{_micros(time)},"dur":{dur},"args":{{{fields}}}}}'
        )

    def _gpu_counters(self, packet: Any, sequence: Sequence) -> None:
        event = packet.gpu_counter_event
        gpu, samples = counter_samples(event, sequence.device)
        time = self._time(packet, sequence)
        if time is None:
            return
        place = self.places.of_gpu(gpu)
        for name, value in samples:
            self._sample(name, place, value, time)


def _micros(time: int) -> str:
    """Decimal microseconds of nanoseconds."""
    sign = "-" if time < 0 else ""
    return f"{sign}{abs(time) // 1000}.{abs(time) % 1000:03d}"


_COLLECTIVE = regex(r"\w+:\w")
"""``nccl:all_reduce``: an annotation with shapes."""
_DRIVER = regex(r"(?:cu|hip)[A-Z]")
_COPY = regex(r"mem(cpy|set)", re.IGNORECASE)


def _category_of(name: str, fields: str, is_overhead: bool) -> str:
    """Kineto's category of an event that PyTorch wrote without one; ``""`` where nothing tells. ``fields``: the event's
    arguments as JSON. The first versions with ``.pftrace`` wrote no categories, later ones none for synchronization
    and overhead.
    """
    if is_overhead:
        return "overhead"
    if not fields:
        return ""
    if '"cuda_sync_kind":' in fields:
        return "cuda_sync"
    if '"cbid":' in fields:
        return "cuda_driver" if _DRIVER.match(name) else "cuda_runtime"
    if '"Python id":' in fields:
        return "python_function"
    if '"External id":' in fields and '"Ev Idx":' in fields:
        return _host_category(name, fields)
    if '"device":' in fields and '"stream":' in fields and '"correlation":' in fields:
        copy = _COPY.match(name)
        if copy:
            return f"gpu_mem{copy[1].lower()}"
        return "kernel" if '"grid":' in fields else ""
    return ""


def _host_category(name: str, fields: str) -> str:
    if "::" in name or '"Sequence number":' in fields:
        return "cpu_op"
    shaped = '"Input Dims":' in fields or '"Input type":' in fields
    return "cpu_op" if shaped and not _COLLECTIVE.match(name) else "user_annotation"
