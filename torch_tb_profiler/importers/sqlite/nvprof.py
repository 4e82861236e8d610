"""What nvprof and nvvp write (``nvprof -o profile.nvprof``) → ``Trace``: CUPTI's records, a table
of each kind.

Markers are written begin and end apart, tied by ``id``; a thread is ``objectId``, the bytes of
CUPTI's ``CUpti_ActivityObjectKindId``: process (4), thread (4 or 8). Times are nanoseconds since
1970. Sources: ``cupti_activity.h``; the tables that ``libcuinj64`` of nvprof 11.8 makes;
``parse_nvprof_trace`` of ``torch/autograd/profiler_legacy.py``, which takes a marker with a name
for a begin and one without for an end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.importers.sqlite.call_names import driver_call, runtime_call
from torch_tb_profiler.importers.sqlite.counters import NVPROF_TABLES as COUNTER_TABLES
from torch_tb_profiler.importers.sqlite.counters import allocations
from torch_tb_profiler.importers.sqlite.database import CHUNK_ROWS, MISSING, Database, Rows, Texts
from torch_tb_profiler.importers.sqlite.demangle import demangled
from torch_tb_profiler.importers.sqlite.device_work import DeviceWork, Dialect
from torch_tb_profiler.importers.sqlite.filling import PROFILER, Filling
from torch_tb_profiler.importers.sqlite.ranges import Ranges
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
_INSTANT, _START, _END = 1, 2, 4
_PROCESS_OBJECT, _THREAD_OBJECT, _STREAM_OBJECT = 1, 2, 5
"""``CUpti_ActivityObjectKind``; 3 and 4 are devices and contexts. The bytes are process and thread,
else device, context and stream.
"""
_LOW32 = (1 << 32) - 1


def read_nvprof(database: Database, filling: Filling) -> Trace:
    """The trace of a file of nvprof."""
    return _File(database, filling).read()


class _File:
    def __init__(self, database: Database, filling: Filling) -> None:
        self._database, self._filling = database, filling
        self._texts = Texts(database, "StringTable", "_id_", none=0)
        self._header, multiprocessors = self._properties()
        contexts: dict[int, int] = {}
        for rows in database.rows(_KIND + "CONTEXT", ["contextId", "deviceId"]):
            contexts.update(
                zip(
                    rows.numbers["contextId"].tolist(),
                    rows.numbers["deviceId"].tolist(),
                    strict=True,
                )
            )
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
        self._work = DeviceWork(database, filling, dialect)

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
        allocations(self._database, self._filling)
        count_unread(self._database, TABLES, self._filling.counts)
        return self._filling.trace(self._header)

    def _kernel_names(self, numbers: Ints) -> list[str]:
        distinct, of = np.unique(numbers, return_inverse=True)
        names = [demangled(self._texts.one(number)) for number in distinct.tolist()]
        return [names[place] for place in of.tolist()]

    def _calls(self, table: str) -> None:
        filling, (category, name_of) = self._filling, _CALLS[table]
        filling.begin(table)
        for rows in self._database.rows(
            table, ["cbid", "start", "end", "processId", "threadId", "correlationId"]
        ):
            found = rows.numbers
            numbers, of = np.unique(found["cbid"], return_inverse=True)
            names = filling.names(
                ["call without a number" if n == MISSING else name_of(n) for n in numbers.tolist()]
            )[of]
            # Device work does not tell its process, so ids are those of the whole file.
            correlation = filling.correlations(np.full(rows.count, MISSING), found["correlationId"])
            track = self._threads(found["processId"], found["threadId"])
            filling.spans(
                filling.ordinals(rows),
                found["start"],
                found["end"],
                names,
                category,
                track,
                Role.RUNTIME,
                correlation=correlation,
            )

    def _threads(self, process: Ints, thread: Ints) -> Array:
        """Tracks of threads. The number of a thread is 32 bits wide, with or without a sign."""
        return self._filling.threads(process, np.where(thread == MISSING, MISSING, thread & _LOW32))

    def _objects(self, kinds: Ints, objects: list[bytes]) -> Array:
        """Tracks of what ``objectId`` names."""
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
        filling = self._filling
        filling.begin(_OVERHEADS)
        for rows in self._database.rows(
            _OVERHEADS, ["overheadKind", "objectKind", "start", "end"], blobs=["objectId"]
        ):
            found = rows.numbers
            kinds, of = np.unique(found["overheadKind"], return_inverse=True)
            names = filling.names(
                [_OVERHEAD_NAMES.get(kind, "Overhead") for kind in kinds.tolist()]
            )[of]
            track = self._objects(found["objectKind"], rows.blobs["objectId"])
            filling.spans(
                filling.ordinals(rows),
                found["start"],
                found["end"],
                names,
                "overhead",
                track,
                Role.OVERHEAD,
            )

    def _markers(self) -> None:
        filling = self._filling
        filling.begin(_MARKERS)
        parts: list[dict[str, Array]] = []
        for rows in self._database.rows(
            _MARKERS,
            ["flags", "timestamp", "id", "objectKind", "name", "domain"],
            blobs=["objectId"],
        ):
            parts.append(self._marker_columns(rows))
        if not parts:
            return
        found = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        parts.clear()
        begin, end = self._pairs(found)
        ranges = Ranges(filling)
        for first in range(0, len(begin), CHUNK_ROWS):
            row, last = begin[first : first + CHUNK_ROWS], end[first : first + CHUNK_ROWS]
            texts, domains = (
                self._texts.many(found["name"][row]),
                self._texts.many(found["domain"][row]),
            )
            ranges.add(
                found["ordinal"][row],
                found["time"][row],
                found["time"][last],
                texts,
                found["track"][row],
                domains,
            )
        ranges.finish()
        row = np.flatnonzero(found["kind"] == _INSTANT)
        pairs = zip(
            self._texts.many(found["domain"][row]),
            self._texts.many(found["name"][row]),
            strict=True,
        )
        names = filling.names(
            ": ".join(filter(None, (domain, text or "mark without a text")))
            for domain, text in pairs
        )
        filling.instants(
            found["ordinal"][row], found["time"][row], names, "nvtx", found["track"][row], "i"
        )

    def _marker_columns(self, rows: Rows) -> dict[str, Array]:
        numbers = rows.numbers
        flags, named = numbers["flags"], numbers["name"] > 0
        kind = np.where(
            flags & _INSTANT,
            _INSTANT,
            np.where(flags & _START, _START, np.where(flags & _END, _END, 0)),
        )
        # Files that were written without flags: what has a name begins.
        kind = np.where((flags == MISSING) | (kind == 0), np.where(named, _START, _END), kind)
        return {
            "ordinal": self._filling.ordinals(rows),
            "time": numbers["timestamp"],
            "id": numbers["id"],
            "kind": kind.astype(np.int8),
            "name": numbers["name"],
            "domain": np.where(numbers["domain"] > 0, numbers["domain"], MISSING),
            "track": self._objects(numbers["objectKind"], rows.blobs["objectId"]),
        }

    def _pairs(self, found: dict[str, Array]) -> tuple[Ints, Ints]:
        """Rows of begins and of their ends: of each id a begin and the end right behind it."""
        row = np.flatnonzero((found["kind"] != _INSTANT) & (found["time"] != MISSING))
        self._filling.counts.add(d.NO_TIME, int((found["kind"] != _INSTANT).sum()) - len(row))
        ends = found["kind"] == _END
        order = row[
            np.lexsort((found["ordinal"][row], ends[row], found["time"][row], found["id"][row]))
        ]
        tied = (
            ~ends[order[:-1]]
            & ends[order[1:]]
            & (found["id"][order[:-1]] == found["id"][order[1:]])
        )
        at = np.flatnonzero(tied)
        self._filling.counts.add(d.UNMATCHED_BEGIN, int((~ends[row]).sum()) - len(at))
        self._filling.counts.add(d.UNMATCHED_END, int(ends[row].sum()) - len(at))
        begin, end = order[at], order[at + 1]
        by_place = np.argsort(begin, kind="stable")
        return begin[by_place], end[by_place]

    def _names(self) -> None:
        """The names of threads and processes, and of streams, whose tracks are still to come."""
        for rows in self._database.rows(_KIND + "NAME", ["objectKind", "name"], blobs=["objectId"]):
            named = self._texts.many(rows.numbers["name"])
            for kind, raw, text in zip(
                rows.numbers["objectKind"].tolist(), rows.blobs["objectId"], named, strict=True
            ):
                first, second, third = (
                    int.from_bytes(raw[at : at + 4], "little", signed=not at) for at in (0, 4, 8)
                )
                if text and kind == _STREAM_OBJECT and len(raw) >= 12:
                    self._filling.own_names[MISSING, second, third] = text
                elif text and len(raw) >= 8 and kind in (_PROCESS_OBJECT, _THREAD_OBJECT):
                    self._filling.name(
                        "thread_name" if kind == _THREAD_OBJECT else "process_name",
                        (first, str(second)),
                        text,
                    )

    def _properties(self) -> tuple[dict[str, Any], dict[int, int]]:
        """The header in Kineto's words, and the number of multiprocessors by device id."""
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
            for i, number in enumerate(rows.numbers["id"].tolist()):
                told = {
                    key: int(rows.numbers[column][i])
                    for column, key in keys.items()
                    if rows.numbers[column][i] != MISSING
                }
                devices[number] = {
                    "id": number,
                    "name": self._texts.one(int(rows.numbers["name"][i])),
                    **told,
                }
        devices.pop(MISSING, None)
        header: dict[str, Any] = {PROFILER: "nvprof"}
        if devices:
            header["deviceProperties"] = [devices[number] for number in sorted(devices)]
        return header, {
            number: told["numSms"] for number, told in devices.items() if told.get("numSms", 0) > 0
        }
