"""Files of nvprof and nvvp (``nvprof -o profile.nvprof``) → ``Trace``: a table per kind of record.

Markers have separate begin and end rows, linked by ``id``; threads are in ``objectId``, the bytes of
``CUpti_ActivityObjectKindId``: process (4), thread (4 or 8). Times are Unix ns. Sources:
``cupti_activity.h``; the tables of ``libcuinj64`` of nvprof 11.8; ``parse_nvprof_trace`` of
``torch/autograd/profiler_legacy.py``, where markers with a name are begins and others ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.importers.sqlite.builder import TraceBuilder, header_of
from torch_tb_profiler.importers.sqlite.call_names import driver_call, runtime_call
from torch_tb_profiler.importers.sqlite.counters import NVPROF_TABLES as COUNTER_TABLES
from torch_tb_profiler.importers.sqlite.counters import allocations
from torch_tb_profiler.importers.sqlite.database import CHUNK_ROWS, MISSING, Database, Rows, Texts
from torch_tb_profiler.importers.sqlite.demangle import demangled
from torch_tb_profiler.importers.sqlite.device_work import DeviceWork, Dialect
from torch_tb_profiler.importers.sqlite.ranges import Ranges, mark_name
from torch_tb_profiler.importers.sqlite.unread import count_unread
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_KIND = "CUPTI_ACTIVITY_KIND_"
_KERNELS = (_KIND + "CONCURRENT_KERNEL", _KIND + "KERNEL")
_COPIES = (_KIND + "MEMCPY", _KIND + "MEMCPY2")
_MEMSETS, _SYNCHRONISATIONS = _KIND + "MEMSET", _KIND + "SYNCHRONIZATION"
_CALLS = {
    _KIND + "RUNTIME": ("cuda_runtime", runtime_call),
    _KIND + "DRIVER": ("cuda_driver", driver_call),
}
_GRAPHS, _MARKERS, _OVERHEADS = _KIND + "GRAPH_TRACE", _KIND + "MARKER", _KIND + "OVERHEAD"
TABLES = (
    *_KERNELS,
    *_COPIES,
    _MEMSETS,
    _GRAPHS,
    _SYNCHRONISATIONS,
    *_CALLS,
    _MARKERS,
    _OVERHEADS,
    *COUNTER_TABLES,
)
_MEMORY_KINDS = {
    0: "Unknown",
    1: "Pageable",
    2: "Pinned",
    3: "Device",
    4: "Array",
    5: "Managed",
    6: "Device Static",
    7: "Managed Static",
}
_OVERHEAD_NAMES = {
    0: "Unknown",
    1: "Driver Compiler",
    1 << 16: "Buffer Flush",
    2 << 16: "Instrumentation",
    3 << 16: "Resource",
    4 << 16: "Runtime Triggered Module Loading",
    5 << 16: "Lazy Function Loading",
    6 << 16: "Command Buffer Full",
    7 << 16: "Activity Buffer Request",
    8 << 16: "UVM Activity Init",
}
"""``CUpti_ActivityOverheadKind`` as Kineto spells it."""
_INSTANT, _START, _END = _FLAGS = 1, 2, 4
_PROCESS_OBJECT, _THREAD_OBJECT, _STREAM_OBJECT = 1, 2, 5
"""``CUpti_ActivityObjectKind``: the bytes are process and thread, else device, context and stream."""
_LOW32 = (1 << 32) - 1


def read_nvprof(database: Database, builder: TraceBuilder) -> Trace:
    """The trace of an nvprof file."""
    return _NvprofReader(database, builder).read()


class _NvprofReader:
    def __init__(self, database: Database, builder: TraceBuilder) -> None:
        self._database, self._builder = database, builder
        self._texts = Texts(database, "StringTable", "_id_", none=0)
        self._header, multiprocessors = self._properties()
        contexts = database.numbers(_KIND + "CONTEXT", "contextId", "deviceId")
        dialect = Dialect(
            ("name",),
            self._kernel_names,
            _MEMORY_KINDS,
            "memoryKind",
            "type",
            lambda pid: pid,
            multiprocessors,
            contexts,
        )
        self._work = DeviceWork(builder, dialect)

    def read(self) -> Trace:
        self._database.expect(TABLES)
        self._names()
        for table in _KERNELS:
            self._work.kernels(table)
        for table in _COPIES:
            self._work.copies(table)
        self._work.memsets(_MEMSETS)
        self._work.graphs(_GRAPHS)
        self._work.synchronisations(_SYNCHRONISATIONS)
        for table in _CALLS:
            self._calls(table)
        self._overheads()
        self._markers()
        allocations(self._builder)
        count_unread(self._database, TABLES, self._builder.counts)
        return self._builder.trace(self._header)

    def _kernel_names(self, numbers: Ints) -> list[str]:
        distinct, inverse = np.unique(numbers, return_inverse=True)
        names = [demangled(self._texts.text(number)) for number in distinct.tolist()]
        return [names[i] for i in inverse.tolist()]

    def _calls(self, table: str) -> None:
        builder, (category, name_of) = self._builder, _CALLS[table]
        for rows, ordinal in builder.chunks(
            table, ["cbid", "start", "end", "processId", "threadId", "correlationId"]
        ):
            columns = rows.numbers
            names = builder.names_of(
                lambda n: "call without a number" if n == MISSING else name_of(n), columns["cbid"]
            )
            link = builder.owners.correlations(columns["processId"], columns["correlationId"])
            track = self._threads(columns["processId"], columns["threadId"])
            start, end = columns["start"], columns["end"]
            builder.spans(
                ordinal, start, end, names, category, track, Role.RUNTIME, correlation=link
            )

    def _threads(self, process: Ints, thread: Ints) -> Array:
        """Tracks of threads; thread ids have 32 bits, signed or unsigned."""
        return self._builder.threads(process, np.where(thread == MISSING, MISSING, thread & _LOW32))

    def _objects(self, kinds: Ints, objects: list[bytes]) -> Array:
        """Tracks of the objects in ``objectId``."""
        known: dict[tuple[int, bytes], tuple[int, int]] = {}
        for kind, raw in set(zip(kinds.tolist(), objects, strict=True)):
            process = (
                int.from_bytes(raw[:4], "little", signed=True)
                if len(raw) >= 4 and kind in (_PROCESS_OBJECT, _THREAD_OBJECT, MISSING)
                else MISSING
            )
            thread = (
                int.from_bytes(raw[4:8], "little")
                if len(raw) >= 8 and kind in (_THREAD_OBJECT, MISSING)
                else MISSING
            )
            known[kind, raw] = process, thread
        places = np.array(
            [known[key] for key in zip(kinds.tolist(), objects, strict=True)], np.int64
        ).reshape(-1, 2)
        return self._threads(places[:, 0], places[:, 1])

    def _overheads(self) -> None:
        builder = self._builder
        for rows, ordinal in builder.chunks(
            _OVERHEADS, ["overheadKind", "objectKind", "start", "end"], blobs=["objectId"]
        ):
            columns = rows.numbers
            names = builder.names_of(
                lambda kind: _OVERHEAD_NAMES.get(kind, "Overhead"), columns["overheadKind"]
            )
            track = self._objects(columns["objectKind"], rows.blobs["objectId"])
            start, end = columns["start"], columns["end"]
            builder.spans(ordinal, start, end, names, "overhead", track, Role.OVERHEAD)

    def _markers(self) -> None:
        builder = self._builder
        columns = ["flags", "timestamp", "id", "objectKind", "name", "domain"]
        chunks = builder.chunks(_MARKERS, columns, blobs=["objectId"])
        parts = [self._marker_columns(rows, ordinal) for rows, ordinal in chunks]
        if not parts:
            return
        markers = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        parts.clear()
        begin, end = self._pairs(markers)
        ranges = Ranges(builder)
        for first in range(0, len(begin), CHUNK_ROWS):
            row, last = begin[first : first + CHUNK_ROWS], end[first : first + CHUNK_ROWS]
            texts = self._texts.texts(markers["name"][row])
            domains = self._texts.texts(markers["domain"][row])
            ranges.add(
                markers["ordinal"][row],
                markers["time"][row],
                markers["time"][last],
                texts,
                markers["track"][row],
                domains,
            )
        ranges.finish()
        row = np.flatnonzero(markers["kind"] == _INSTANT)
        domains, texts = (self._texts.texts(markers[key][row]) for key in ("domain", "name"))
        names = builder.names(map(mark_name, domains, texts))
        builder.instants(
            markers["ordinal"][row], markers["time"][row], names, "nvtx", markers["track"][row], "i"
        )

    def _marker_columns(self, rows: Rows, ordinal: Ints) -> dict[str, Array]:
        numbers = rows.numbers
        flags, named = numbers["flags"], numbers["name"] > 0
        kind = np.select([flags & flag != 0 for flag in _FLAGS], _FLAGS)
        # Without flags, a marker with a name is a begin.
        kind = np.where((flags == MISSING) | (kind == 0), np.where(named, _START, _END), kind)
        return {
            "ordinal": ordinal,
            "time": numbers["timestamp"],
            "id": numbers["id"],
            "kind": kind.astype(np.int8),
            "name": numbers["name"],
            "domain": np.where(numbers["domain"] > 0, numbers["domain"], MISSING),
            "track": self._objects(numbers["objectKind"], rows.blobs["objectId"]),
        }

    def _pairs(self, markers: dict[str, Array]) -> tuple[Ints, Ints]:
        """Rows of begins and of their ends: for each id a begin and the end that follows it."""
        row = np.flatnonzero((markers["kind"] != _INSTANT) & (markers["time"] != MISSING))
        self._builder.counts.add(d.NO_TIME, int((markers["kind"] != _INSTANT).sum()) - len(row))
        ends = markers["kind"] == _END
        keys = (markers["ordinal"], ends, markers["time"], markers["id"])
        order = row[np.lexsort([key[row] for key in keys])]
        identity, ending = markers["id"][order], ends[order]
        paired = np.flatnonzero(~ending[:-1] & ending[1:] & (identity[:-1] == identity[1:]))
        self._builder.counts.add(d.UNMATCHED_BEGIN, int((~ends[row]).sum()) - len(paired))
        self._builder.counts.add(d.UNMATCHED_END, int(ends[row].sum()) - len(paired))
        begin, end = order[paired], order[paired + 1]
        by_place = np.argsort(begin, kind="stable")
        return begin[by_place], end[by_place]

    def _names(self) -> None:
        """Names of threads and processes, and of streams, whose tracks come later."""
        for rows in self._database.rows(_KIND + "NAME", ["objectKind", "name"], blobs=["objectId"]):
            named = self._texts.texts(rows.numbers["name"])
            for kind, raw, text in zip(
                rows.numbers["objectKind"].tolist(), rows.blobs["objectId"], named, strict=True
            ):
                first, second, third = (
                    int.from_bytes(raw[offset : offset + 4], "little", signed=not offset)
                    for offset in (0, 4, 8)
                )
                if text and kind == _STREAM_OBJECT and len(raw) >= 12:
                    self._builder.own_names[MISSING, second, third] = text
                elif text and len(raw) >= 8 and kind in (_PROCESS_OBJECT, _THREAD_OBJECT):
                    self._builder.name(
                        "thread_name" if kind == _THREAD_OBJECT else "process_name",
                        (first, str(second)),
                        text,
                    )

    def _properties(self) -> tuple[dict[str, Any], dict[int, int]]:
        """The header, and the multiprocessors of each device by its number."""
        keys = {
            "globalMemorySize": "totalGlobalMem",
            "numMultiprocessors": "numSms",
            "computeCapabilityMajor": "computeMajor",
            "computeCapabilityMinor": "computeMinor",
            "numThreadsPerWarp": "warpSize",
            "maxThreadsPerBlock": "maxThreadsPerBlock",
            "maxRegistersPerBlock": "regsPerBlock",
            "maxRegistersPerMultiprocessor": "regsPerMultiprocessor",
            "maxSharedMemoryPerBlock": "sharedMemPerBlock",
            "maxSharedMemoryPerMultiprocessor": "sharedMemPerMultiprocessor",
        }
        devices: dict[int, dict[str, Any]] = {}
        for rows in self._database.rows(_KIND + "DEVICE", ["id", "name", *keys]):
            for i, (number, name) in enumerate(rows.tuples("id", "name")):
                described = {"id": number, "name": self._texts.text(name)}
                devices[number] = described | rows.properties(i, keys)
        devices.pop(MISSING, None)
        return header_of("nvprof", [devices[number] for number in sorted(devices)])
