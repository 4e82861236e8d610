"""Databases of AMD's rocprofv3 (``…_results.db``, its default output) → ``Trace``.

::

    rocpd_kernel_dispatch_<id>   agent, kernel, stream, event ─┐
    rocpd_region_<id>            thread, name, event ──────────┤ the same stack id: a launch and its work
    rocpd_event_<id>             category, stack id  ◀─────────┘

Every recording of a file has tables of its own, whose names end in its id. ``grid_size`` counts work items.

Source: ``rocpd_tables.sql`` and ``data_views.sql`` of rocprofiler-sdk (ROCm/rocm-systems), schema 3.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import numpy as np

from torch_tb_profiler.importers.sqlite.builder import TraceBuilder, header_of
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, mapped
from torch_tb_profiler.importers.sqlite.stated_ranks import add_variables, variables_in
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import ROLE_OF_CATEGORY, Role
from torch_tb_profiler.untrusted import json_value

_TABLE = regex(
    r"rocpd_(?:kernel_dispatch|memory_copy|region|memory_allocate|sample)(|_\w+)",
    re.IGNORECASE | re.ASCII,
)
_CATEGORIES = (
    (regex("MARKER", re.IGNORECASE), "marker_api"),
    (regex("HIP", re.IGNORECASE), "hip_api"),
    (regex("HSA", re.IGNORECASE), "hsa_api"),
    (regex("RCCL", re.IGNORECASE), "rccl_api"),
    (regex("ROCDECODE", re.IGNORECASE), "rocdecode_api"),
    (regex("ROCJPEG", re.IGNORECASE), "rocjpeg_api"),
)
"""Category of an event → that of the other files of rocprofv3."""
_UNREAD = (
    ("sample", d.NOT_READ),
    ("memory_allocate", d.NOT_READ),
    ("pmc_event", d.METRICS_NOT_READ),
)
_LAST_NUMBER = regex(r"(\d{1,9})\D*$", re.ASCII)
_GRID = tuple(f"grid_size_{axis}" for axis in "xyz")
_GROUP = tuple(f"workgroup_size_{axis}" for axis in "xyz")


def recordings(database: Database) -> list[str]:
    """What the names of the tables of each recording end in."""
    found = (_TABLE.fullmatch(table) for table in database.tables)
    return list(dict.fromkeys(match[1] for match in found if match))


def read_rocpd(database: Database, builder: TraceBuilder) -> Trace:
    """Read all recordings of a file."""
    endings = recordings(database)
    database.expect(
        [
            f"rocpd_{kind}{ending}"
            for ending in endings
            for kind in ("event", "kernel_dispatch", "memory_copy", "region")
        ]
    )
    devices: dict[int, dict[str, object]] = {}
    for number, ending in enumerate(endings):
        recording = _Recording(database, builder, ending, number)
        recording.read()
        devices |= recording.devices
    header, _ = header_of("rocprofv3", list(devices.values()))
    return builder.trace(header)


class _Recording:
    """The tables of one recording, the ``number``-th of its file."""

    def __init__(self, database: Database, builder: TraceBuilder, ending: str, number: int) -> None:
        self._database, self._builder = database, builder
        self._ending, self._number = ending, number
        self._strings = self._texts("string", "string")
        self._symbols = self._texts("info_kernel_symbol", "display_name", "kernel_name")
        self._registers = self._numbers("info_kernel_symbol", "arch_vgpr_count")
        self._agents = self._numbers("info_agent", "logical_index")
        self._streams = self._named_numbers("info_stream")
        self._queues = self._named_numbers("info_queue")
        self._pids = self._numbers("info_process", "pid")
        self._started = self._numbers("info_process", "ppid")
        self._tids = self._numbers("info_thread", "tid")
        self.devices: dict[int, dict[str, object]] = {}
        """As ``deviceProperties`` of Kineto's traces, by device."""
        self._hosts: set[int] = set()
        self._describe_agents()

    def read(self) -> None:
        """Add everything to the builder."""
        self._read_events()
        self._kernels()
        self._copies()
        self._regions()
        self._name_processes()
        for kind, defect in _UNREAD:
            self._builder.counts.add(defect, self._database.about(self._table(kind)))

    def _table(self, kind: str) -> str:
        return f"rocpd_{kind}{self._ending}"

    def _texts(self, kind: str, *columns: str) -> dict[int, str]:
        return self._database.texts(self._table(kind), "id", *columns)

    def _numbers(self, kind: str, column: str) -> dict[int, int]:
        return self._database.numbers(self._table(kind), "id", column)

    def _named_numbers(self, kind: str) -> dict[int, int]:
        """The number that a stream or queue is called by, else its id."""
        found = {}
        for number, name in self._texts(kind, "name").items():
            match = _LAST_NUMBER.search(name)
            found[number] = int(match[1]) if match else number
        return found

    def _describe_agents(self) -> None:
        table = self._table("info_agent")
        texts = ("type", "product_name", "name", "extdata")
        for rows in self._database.rows(table, ["id", "logical_index"], texts):
            for number, index, kind, product, name, more in rows.tuples(
                "id", "logical_index", *texts
            ):
                if kind == "CPU":
                    self._hosts.add(number)
                    continue
                device = number if index == MISSING else index
                self.devices[device] = {"id": device, "name": product or name}
                units = _compute_units(more)
                if units > 0:
                    self.devices[device]["numSms"] = units

    def _read_events(self) -> None:
        """The category and the stack of every event, ordered by id."""
        numbers = ("id", "category_id", "stack_id", "correlation_id")
        parts = [rows.numbers for rows in self._database.rows(self._table("event"), numbers)]
        columns = {
            name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0, np.int64)
            for name in numbers
        }
        order = np.argsort(columns["id"], kind="stable")
        self._event = columns["id"][order]
        self._category = columns["category_id"][order]
        stack, own = columns["stack_id"][order], columns["correlation_id"][order]
        self._stack = np.where(stack > 0, stack, own)

    def _of_events(self, column: Ints, events: Ints) -> Ints:
        """The values of events by their ids; ``MISSING`` unknown."""
        if not len(column):
            return np.full(len(events), MISSING)
        at = np.minimum(np.searchsorted(self._event, events), len(column) - 1)
        return np.where(self._event[at] == events, column[at], MISSING)

    def _correlations(self, process: Ints, events: Ints) -> Ints:
        stack = self._of_events(self._stack, events)
        # Ids count anew in each process, and in each recording of one.
        own = self._process(process) + (self._number << 32)
        return self._builder.owners.correlations(own, stack)

    def _device(self, agent: Ints) -> Ints:
        def of(number: int) -> int:
            index = self._agents.get(number, MISSING)
            return number if index == MISSING else index

        return mapped(of, agent)

    def _lanes(self, stream: Ints, queue: Ints) -> Ints:
        """The stream, else the queue; −1 unknown."""
        of_stream = _renamed(self._streams, stream)
        of_queue = _renamed(self._queues, queue)
        lane = np.where(stream == MISSING, of_queue, of_stream)
        return np.where(lane < 0, -1, lane)

    def _process(self, process: Ints) -> Ints:
        return _renamed(self._pids, process)

    def _kernels(self) -> None:
        builder, table = self._builder, self._table("kernel_dispatch")
        numbers = (
            *("pid", "agent_id", "kernel_id", "queue_id", "stream_id", "start", "end", "event_id"),
            *("group_segment_size", *_GRID, *_GROUP),
        )
        for rows, ordinal in builder.chunks(table, numbers):
            of = rows.numbers
            device = self._device(of["agent_id"])
            stream = self._lanes(of["stream_id"], of["queue_id"])
            builder.spans(
                ordinal,
                of["start"],
                of["end"],
                builder.names_of(lambda n: self._symbols.get(n) or f"kernel {n}", of["kernel_id"]),
                "kernel_dispatch",
                self._tracks(device, of["pid"], stream),
                Role.KERNEL,
                correlation=self._correlations(of["pid"], of["event_id"]),
                device={
                    "device": device,
                    "stream": stream,
                    "grid": builder.tuples(*(_groups(of[g], of[s]) for g, s in zip(_GRID, _GROUP, strict=True))),
                    "block": builder.tuples(*(of[name] for name in _GROUP)),
                    "registers": mapped(lambda n: self._registers.get(n, MISSING), of["kernel_id"]),
                    "shared_memory": of["group_segment_size"],
                },
            )  # fmt: skip

    def _tracks(self, device: Ints, process: Ints, stream: Ints) -> Array:
        context = np.full(len(device), self._number)
        return self._builder.streams(device, self._process(process), context, stream)

    def _copies(self) -> None:
        builder, table = self._builder, self._table("memory_copy")
        numbers = (
            *("pid", "start", "end", "name_id", "dst_agent_id", "src_agent_id"),
            *("size", "queue_id", "stream_id", "event_id"),
        )
        for rows, ordinal in builder.chunks(table, numbers):
            of = rows.numbers
            to_host = np.isin(of["dst_agent_id"], list(self._hosts)) | (
                of["dst_agent_id"] == MISSING
            )
            device = self._device(np.where(to_host, of["src_agent_id"], of["dst_agent_id"]))
            stream = self._lanes(of["stream_id"], of["queue_id"])
            builder.spans(
                ordinal,
                of["start"],
                of["end"],
                builder.names_of(lambda n: self._strings.get(n) or "memory copy", of["name_id"]),
                "memory_copy",
                self._tracks(device, of["pid"], stream),
                Role.MEMCPY,
                correlation=self._correlations(of["pid"], of["event_id"]),
                device={"device": device, "stream": stream, "bytes": of["size"]},
            )

    def _regions(self) -> None:
        builder, table = self._builder, self._table("region")
        messages = self._messages()
        for rows, ordinal in builder.chunks(
            table, ("pid", "tid", "start", "end", "name_id", "event_id")
        ):
            of = rows.numbers
            category = self._categories(self._of_events(self._category, of["event_id"]))
            track = builder.threads(self._process(of["pid"]), _renamed(self._tids, of["tid"]))
            named = zip(of["event_id"].tolist(), of["name_id"].tolist(), strict=True)
            builder.spans(
                ordinal,
                of["start"],
                of["end"],
                builder.names(
                    messages.get(event) or self._strings.get(name) or "call"
                    for event, name in named
                ),
                builder.categories(category),
                track,
                np.array([ROLE_OF_CATEGORY.get(name, Role.RUNTIME) for name in category], np.uint8),
                correlation=self._correlations(of["pid"], of["event_id"]),
            )

    def _categories(self, numbers: Ints) -> Sequence[str]:
        known: dict[int, str] = {}
        for number in np.unique(numbers).tolist():
            text = self._strings.get(number, "")
            named = (category for pattern, category in _CATEGORIES if pattern.match(text))
            known[number] = next(named, text.lower() or "region")
        return [known[number] for number in numbers.tolist()]

    def _messages(self) -> dict[int, str]:
        """The texts of markers by event: calls of ROCTx have the name of the call, too."""
        markers = [n for n, text in self._strings.items() if _CATEGORIES[0][0].match(text)]
        if not markers:
            return {}
        found: dict[int, str] = {}
        where = f"[category_id] IN ({', '.join(map(str, markers))})"
        for rows in self._database.rows(self._table("event"), ["id"], ["extdata"], where=where):
            for event, text in rows.tuples("id", "extdata"):
                message = _value_in(text, "message")
                if isinstance(message, str):
                    found[event] = message
        return found

    def _name_processes(self) -> None:
        owners = self._builder.owners
        for number, command in self._texts("info_process", "command").items():
            pid = self._pids.get(number, number)
            program = os.path.basename(command.split(" ")[0])
            if program and pid != MISSING:
                self._builder.name("process_name", (pid, ""), program)
                owners.names[pid] = program
        for number, pid in self._pids.items():
            owners.parents[pid] = self._started.get(number, MISSING)
        environments = self._texts("info_process", "environment", "extdata")
        add_variables(
            owners,
            {self._pids.get(n, n): variables_in(text) for n, text in environments.items() if text},
        )


def _renamed(known: Mapping[int, int], column: Ints) -> Ints:
    """What numbers stand for, or they themselves."""

    def of(number: int) -> int:
        return known.get(number, number)

    return mapped(of, column)


def _groups(items: Ints, size: Ints) -> Ints:
    """Groups that hold so many work items; ``MISSING`` unknown."""
    known = (items > 0) & (size > 0)
    return np.where(known, -(-items // np.where(known, size, 1)), MISSING)


def _value_in(text: str, key: str) -> object:
    value = json_value(text)
    return value.get(key) if isinstance(value, dict) else None


def _compute_units(text: str) -> int:
    value = _value_in(text, "cu_count")
    return value if type(value) is int and 0 < value < 1 << 31 else -1
