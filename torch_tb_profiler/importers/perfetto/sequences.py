"""What packets of one sequence say for those that follow: names by number, defaults.

::

    packet   interned: event name 3 = "aten::mm"       defaults: track 8
    packet   begin, name 3                             ─▶ a slice "aten::mm" on track 8
    packet   incremental state cleared                 ─▶ both are forgotten
"""

from __future__ import annotations

from array import array
from typing import Any

from torch_tb_profiler.importers.perfetto import rocprof, schema
from torch_tb_profiler.importers.perfetto.annotations import STORED, Fields
from torch_tb_profiler.importers.perfetto.device import Interned
from torch_tb_profiler.importers.perfetto.places import json_text, text_of
from torch_tb_profiler.importers.perfetto.slice_columns import Run
from torch_tb_profiler.store.defects import DefectCounts
from torch_tb_profiler.store.roles import Role, role_of

_MOST_KEPT = 1 << 16
_WHOLE = (None, Role.COUNTER_RANGE)
"""Roles of slices of which all arguments are read."""


class Category:
    """A category: its name, its field of an entry, and whether only the arguments of columns matter.

    ``foreign``: its arguments have names of rocprofv3.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.role = role_of(name) if name else None
        self.json = f'"cat":{json_text(name)},' if name else ""
        self.foreign = name in rocprof.CATEGORIES
        self.stored_only = self.role not in _WHOLE and not self.foreign


class Quoted(dict[bytes, str]):
    """Text of a message → JSON, remembered."""

    def __missing__(self, text: bytes) -> str:
        if len(self) >= _MOST_KEPT:
            self.clear()
        self[text] = json = json_text(text_of(text))
        return json


class Categories(dict[bytes, Category]):
    """Categories of an event, with commas between → the one that has a role, else all of them."""

    def __missing__(self, text: bytes) -> Category:
        names = text_of(text).split(",")
        known = [name for name in names if role_of(name) is not None]
        category = Category(known[0] if known else text_of(text))
        if len(self) < _MOST_KEPT:
            self[text] = category
        return category


class Sequence:
    """The state of a sequence of packets."""

    def __init__(self, number: int, counts: DefectCounts, whole: bool) -> None:
        """``whole``: ``stored`` has all arguments, too, also those that become no column."""
        self.number = number
        self.names: dict[int, bytes] = {}
        self.categories: dict[int, bytes] = {}
        self.argument_names: dict[int, bytes] = {}
        self.argument_texts: dict[int, bytes] = {}
        self.fields = Fields(counts, self.argument_names, self.argument_texts)
        wanted = None if whole else STORED
        self.stored = Fields(counts, self.argument_names, self.argument_texts, wanted)
        self.device = Interned()
        self._set_defaults()

    def _set_defaults(self) -> None:
        self.clock = schema.BOOTTIME
        self.track = 0
        self.counters: tuple[list[int], list[int]] = ([], [])

    def clear(self) -> None:
        """Forget everything."""
        for table in (self.names, self.categories, self.argument_names, self.argument_texts):
            table.clear()
        self.fields.forget()
        self.stored.forget()
        self.device = Interned()
        self._set_defaults()

    def take_names(self, data: bytes) -> None:
        """Take in interned data."""
        interned = schema.InternedData.FromString(data)
        for table, entries in (
            (self.names, interned.event_names),
            (self.categories, interned.event_categories),
            (self.argument_names, interned.debug_annotation_names),
            (self.argument_texts, interned.debug_annotation_string_values),
        ):
            table.update((entry.iid, entry.name) for entry in entries)
        if interned.debug_annotation_names or interned.debug_annotation_string_values:
            self.fields.forget()
            self.stored.forget()
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


class Sequences(dict[int, Sequence]):
    """Sequences by number."""

    def __init__(self, counts: DefectCounts, whole: bool) -> None:
        self._counts, self._whole = counts, whole

    def __missing__(self, number: int) -> Sequence:
        sequence = self[number] = Sequence(number, self._counts, self._whole)
        return sequence


class Slices:
    """Begins and ends of slices, in the order of the file."""

    def __init__(self) -> None:
        self.time, self.track, self.sequence, self.entry = (array("q") for _ in range(4))
        """``entry``: number of the begin's entry; −1 of an end."""
        self._tracks: dict[int, int] = {}

    def extend(self, slices: list[tuple[int, int, int, int]]) -> None:
        """Put (time, uuid of the track, sequence, entry) of several behind the others."""
        if not slices:
            return
        time, uuid, sequence, entry = zip(*slices, strict=True)
        number = self._tracks
        self.time.extend(time)
        self.track.extend([number.setdefault(each, len(number)) for each in uuid])
        self.sequence.extend(sequence)
        self.entry.extend(entry)

    def extend_run(self, time: list[int], run: Run, entry: int) -> None:
        """Put those of a run behind the others; ``entry``: number of its first begin's entry."""
        entries = [-1] * len(time)
        for position, row in enumerate(run.begins):
            entries[row] = entry + position
        number = self._tracks
        self.time.extend(time)
        self.track.extend([number.setdefault(uuid, len(number)) for uuid in run.track])
        self.sequence.extend([run.sequence] * len(time))
        self.entry.extend(entries)


def all_names(event: Any, sequence: Sequence) -> bytes:
    """The categories of an event, with commas between."""
    numbers = event.category_iids
    if numbers:
        known = sequence.categories
        if len(numbers) == 1:
            return known.get(numbers[0], b"")
        return b",".join([known.get(number, b"") for number in numbers])
    return b",".join(event.categories)
