"""SQLite exports of Nsight Systems (``nsys export --type sqlite``) → ``Trace``.

Tables are there only where something of theirs was recorded, and columns differ by version: each is read as far as it is present. Times are
nanoseconds after the begin of the session. Source: the schema in Nsight Systems' User Guide (SQLite Schema Reference and Event Values, 2021.5 to 2025.6).
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from torch_tb_profiler.importers.sqlite.call_names import plain_name
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Texts, distinct_rows
from torch_tb_profiler.importers.sqlite.device_work import DeviceWork, Dialect
from torch_tb_profiler.importers.sqlite.filling import PROFILER, Filling
from torch_tb_profiler.importers.sqlite.ranges import Ranges
from torch_tb_profiler.importers.sqlite.unread import count_unread
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_KERNELS = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")
_COPIES, _MEMSETS = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
_GRAPHS, _SYNCHRONISATIONS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
_CALLS, _NVTX, _METRICS = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "GPU_METRICS"
_OTHER_CALLS = {
    "CUBLAS_EVENTS": "cublas", "CUDNN_EVENTS": "cudnn", "OSRT_API": "osrt", "MPI_P2P_EVENTS": "mpi", "MPI_COLLECTIVES_EVENTS": "mpi",
    "MPI_START_WAIT_EVENTS": "mpi", "MPI_OTHER_EVENTS": "mpi", "UCP_EVENTS": "ucx", "UCP_SUBMIT_EVENTS": "ucx", "UCP_PROGRESS_EVENTS": "ucx",
}
"""Calls that are part of whatever makes them: they are shown, and no figure counts them."""
_MEMORY = "CUDA_GPU_MEMORY_USAGE_EVENTS"
_DEVICE_MEMORY, _ALLOCATION = 2, 0
_OVERHEADS = ("PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD")
_DIAGNOSTICS = "DIAGNOSTIC_EVENT"
TABLES = (*_KERNELS, _COPIES, _MEMSETS, _GRAPHS, _SYNCHRONISATIONS, _CALLS, *_OTHER_CALLS, *_OVERHEADS, _NVTX, _METRICS, _MEMORY, _DIAGNOSTICS)
_MEMORY_KINDS = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed", 5: "Device Static", 6: "Managed Static", 7: "Unknown"}
_CATEGORY, _MARK, _THREAD_NAME, _PUSH_POP, _START_END, _DOMAIN, _DOMAIN_END = 33, 34, 39, 59, 60, 75, 76
_NAMING = (_CATEGORY, _DOMAIN, _DOMAIN_END)
"""Kinds of rows that name what others belong to."""
_INFORMATION = 1
"""The severity of what is no warning."""
_DRIVER_CLASS = 1
_LONGEST_VERSION = 60
_MOST_BYTES = 1 << 48
_LOW24 = (1 << 24) - 1


def read_nsight(database: Database, filling: Filling) -> Trace:
    """The trace of an export."""
    return _Export(database, filling).read()


def _process(global_id: Ints) -> Ints:
    """The process of a ``globalPid`` or ``globalTid``: bits 24 to 47."""
    return np.where(global_id == MISSING, MISSING, (global_id >> 24) & _LOW24)


class _Export:
    def __init__(self, database: Database, filling: Filling) -> None:
        self._database, self._filling = database, filling
        self._texts = Texts(database, "StringIds", "id")
        self._gpus = self._gpus_of_processes()
        self._header, multiprocessors = self._properties()
        kinds = {**_MEMORY_KINDS, **self._labels("ENUM_CUDA_MEM_KIND")}
        names = ("demangledName", "shortName", "mangledName")
        dialect = Dialect(names, self._texts.many, kinds, "memKind", "syncType", _process, multiprocessors, gpus=self._gpus)
        self._work = DeviceWork(database, filling, dialect)

    def read(self) -> Trace:
        database = self._database
        database.expect(TABLES)
        for table in _KERNELS:
            self._work.kernels(table)
        self._work.copies(_COPIES)
        self._work.memsets(_MEMSETS)
        self._work.graphs(_GRAPHS)
        self._work.synchronisations(_SYNCHRONISATIONS)
        self._calls()
        for table, category in _OTHER_CALLS.items():
            self._named_calls(table, category, Role.OTHER)
        for table in _OVERHEADS:
            self._named_calls(table, "overhead", Role.OVERHEAD)
        self._nvtx()
        self._metrics()
        self._memory()
        self._diagnostics()
        self._names()
        self._work.tell_processes()
        count_unread(database, TABLES, self._filling.counts)
        return self._filling.trace(self._header)

    def _labels(self, table: str) -> dict[int, str]:
        found: dict[int, str] = {}
        for rows in self._database.rows(table, ["id"], ["label"]):
            found.update((i, text) for i, text in zip(rows.numbers["id"].tolist(), rows.texts["label"], strict=True) if text)
        return found

    def _calls(self) -> None:
        filling = self._filling
        filling.begin(_CALLS)
        for rows in self._database.rows(_CALLS, ["start", "end", "globalTid", "correlationId", "nameId", "eventClass"]):
            found = rows.numbers
            process = _process(found["globalTid"])
            numbers, of = np.unique(found["nameId"], return_inverse=True)
            names = [plain_name(self._texts.one(n)) or "call without a name" for n in numbers.tolist()]
            # Calls of the driver are named cu…; those of the runtime cuda….
            driver = np.array([name.startswith("cu") and not name.startswith("cuda") for name in names], np.bool_)[of]
            runtime, low = filling.categories(("cuda_runtime", "cuda_driver"))
            filling.spans(
                filling.ordinals(rows), found["start"], found["end"], filling.names(names)[of],
                np.where(driver | (found["eventClass"] == _DRIVER_CLASS), low, runtime).astype(np.int32), self._threads(found["globalTid"]), Role.RUNTIME,
                correlation=filling.correlations(process, found["correlationId"]),
            )

    def _threads(self, thread: Ints, mark: str = "") -> Array:
        return self._filling.threads(_process(thread), np.where(thread == MISSING, MISSING, thread & _LOW24), mark)

    def _named_calls(self, table: str, category: str, role: Role) -> None:
        filling = self._filling
        filling.begin(table)
        for rows in self._database.rows(table, ["start", "end", "globalTid", "nameId", "textId"]):
            found = rows.numbers
            # MPI and UCX have their names where ranges have their texts.
            numbers, of = np.unique(np.where(found["nameId"] == MISSING, found["textId"], found["nameId"]), return_inverse=True)
            names = filling.names([plain_name(self._texts.one(n)) or category for n in numbers.tolist()])[of]
            filling.spans(filling.ordinals(rows), found["start"], found["end"], names, category, self._threads(found["globalTid"]), role)

    def _domains(self) -> dict[tuple[int, int], str]:
        """(process, id of a domain) → its name."""
        found = {}
        if "eventType" in self._database.columns(_NVTX):
            for rows in self._database.rows(_NVTX, ["globalTid", "domainId", "textId"], ["text"], where=f"[eventType] = {_DOMAIN}"):
                texts = self._texts_of(rows.texts["text"], rows.numbers["textId"])
                keys = zip(_process(rows.numbers["globalTid"]).tolist(), rows.numbers["domainId"].tolist(), strict=True)
                found.update({key: text for key, text in zip(keys, texts, strict=True) if text})
        return found

    def _texts_of(self, texts: list[str], numbers: Ints) -> list[str]:
        """The text of an event, else the registered one that it names."""
        if (numbers == MISSING).all():
            return texts
        return [text or registered for text, registered in zip(texts, self._texts.many(numbers), strict=True)]

    def _nvtx(self) -> None:
        filling, ranges, domains = self._filling, Ranges(self._filling), self._domains()
        typed = "eventType" in self._database.columns(_NVTX)
        filling.begin(_NVTX)
        for rows in self._database.rows(_NVTX, ["start", "end", "eventType", "globalTid", "textId", "domainId"], ["text"]):
            found, ordinal = rows.numbers, filling.ordinals(rows)
            kind = found["eventType"] if typed else np.where(found["end"] == MISSING, _MARK, _PUSH_POP)
            known = np.flatnonzero(np.isin(kind, (_MARK, _THREAD_NAME, _PUSH_POP, _START_END)))
            filling.counts.add(d.NOT_READ, rows.count - len(known) - int(np.isin(kind, _NAMING).sum()))
            texts = self._texts_of([rows.texts["text"][i] for i in known.tolist()], found["textId"][known])
            process, domain = _process(found["globalTid"][known]).tolist(), found["domainId"][known].tolist()
            of_domain = [domains.get(key, "") for key in zip(process, domain, strict=True)]
            for number, mark in ((_PUSH_POP, ""), (_START_END, " ranges")):
                open_ = (kind[known] == number) & (found["end"][known] == MISSING)
                filling.counts.add(d.UNMATCHED_BEGIN, int(open_.sum()))
                at = np.flatnonzero((kind[known] == number) & ~open_)
                row = known[at]
                chosen, within = [texts[i] for i in at.tolist()], [of_domain[i] for i in at.tolist()]
                ranges.add(ordinal[row], found["start"][row], found["end"][row], chosen, self._threads(found["globalTid"][row], mark), within)
            at = np.flatnonzero(kind[known] == _MARK)
            row = known[at]
            marks = [": ".join(filter(None, (of_domain[i], texts[i] or "mark without a text"))) for i in at.tolist()]
            filling.instants(ordinal[row], found["start"][row], filling.names(marks), "nvtx", self._threads(found["globalTid"][row]), "i")
            for i in np.flatnonzero(kind[known] == _THREAD_NAME).tolist():
                self._name_thread(int(found["globalTid"][known[i]]), texts[i])
        ranges.finish()

    def _metrics(self) -> None:
        """Samples of the GPU's counters. The low byte of ``typeId`` is the GPU."""
        filling, names = self._filling, dict[tuple[int, int], str]()
        for rows in self._database.rows("TARGET_INFO_GPU_METRICS", ["typeId", "metricId"], ["metricName"]):
            names.update(zip(zip(rows.numbers["typeId"].tolist(), rows.numbers["metricId"].tolist(), strict=True), rows.texts["metricName"], strict=True))
        filling.begin(_METRICS)
        for rows in self._database.rows(_METRICS, ["timestamp", "typeId", "metricId", "value"]):
            columns = [rows.numbers[c] for c in ("typeId", "metricId", "value")]
            distinct, of = distinct_rows(*columns)
            written = []
            for kind, metric, value in distinct:
                name = names.get((kind, metric)) or names.get((MISSING, metric)) or f"metric {metric}"
                written.append(b"" if value == MISSING else json.dumps({name: value}, separators=(",", ":")).encode())
            kinds, which = np.unique(columns[0], return_inverse=True)
            places = [("" if kind == MISSING else kind & 0xFF, "GPU metrics") for kind in kinds.tolist()]
            tracks = filling.gathered.tracks.column(places)[which]
            called = np.full(rows.count, filling.gathered.texts["GPU metrics"], np.int32)
            samples = filling.texts(written)[of]
            filling.instants(filling.ordinals(rows), rows.numbers["timestamp"], called, "hardware_counters", tracks, "C", samples)

    def _memory(self) -> None:
        """Memory that the processes hold of each device (``--cuda-memory-usage``), as a counter: for PyTorch's allocator it is what is reserved."""
        filling, columns = self._filling, ("start", "deviceId", "bytes", "memKind", "memoryOperationType")
        filling.begin(_MEMORY)
        parts: list[dict[str, Ints]] = []
        for rows in self._database.rows(_MEMORY, columns):
            size = rows.numbers["bytes"]
            chosen = np.isin(rows.numbers["memKind"], (_DEVICE_MEMORY, MISSING)) & (size >= 0) & (size < _MOST_BYTES)
            parts.append({"ordinal": filling.ordinals(rows)[chosen], **{c: rows.numbers[c][chosen] for c in columns}})
        if not parts:
            return
        found = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        for device in np.unique(found["deviceId"]).tolist():
            row = np.flatnonzero(found["deviceId"] == device)
            row = row[np.argsort(found["start"][row], kind="stable")]
            held = np.cumsum(np.where(found["memoryOperationType"][row] == _ALLOCATION, found["bytes"][row], -found["bytes"][row]))
            # What is given back was taken before the recording, if not in it.
            before = max(0, -int(held.min()))
            samples = filling.texts(json.dumps({"bytes": value}).encode() for value in (held + before).tolist())
            name = filling.names(["Memory of the device, at least" if before else "Memory of the device"])
            track = filling.gathered.tracks.column([("" if device == MISSING else device, "memory")])
            n = len(row)
            filling.instants(found["ordinal"][row], found["start"][row], name.repeat(n), "device_memory", track.repeat(n), "C", samples)

    def _diagnostics(self) -> None:
        """What the profiler said while it recorded, as marks; warnings and errors are counted."""
        filling = self._filling
        filling.begin(_DIAGNOSTICS)
        for rows in self._database.rows(_DIAGNOSTICS, ["timestamp", "severity", "globalPid"], ["text"]):
            found, ordinal = rows.numbers, filling.ordinals(rows)
            filling.counts.add(d.PROFILER_WARNING, int((found["severity"] > _INFORMATION).sum()))
            timed = np.flatnonzero(found["timestamp"] != MISSING)
            names = filling.names(f"Nsight Systems: {rows.texts['text'][i]}" for i in timed.tolist())
            track = filling.threads(_process(found["globalPid"][timed]), np.full(len(timed), MISSING))
            filling.instants(ordinal[timed], found["timestamp"][timed], names, "diagnostics", track, "i")

    def _names(self) -> None:
        for rows in self._database.rows("ThreadNames", ["globalTid", "nameId"]):
            for thread, text in zip(rows.numbers["globalTid"].tolist(), self._texts.many(rows.numbers["nameId"]), strict=True):
                self._name_thread(thread, text)
        for rows in self._database.rows("PROCESSES", ["globalPid", "pid"], ["name"]):
            process = np.where(rows.numbers["globalPid"] == MISSING, rows.numbers["pid"], _process(rows.numbers["globalPid"]))
            for number, text in zip(process.tolist(), rows.texts["name"], strict=True):
                if number != MISSING and text:
                    self._filling.name("process_name", (number, ""), text.replace("\\", "/").rpartition("/")[2] or text)

    def _name_thread(self, thread: int, text: str) -> None:
        if thread == MISSING or not text:
            return
        place = ((thread >> 24) & _LOW24, str(thread & _LOW24))
        self._filling.name("thread_name", place, text)
        self._filling.name("thread_name", (place[0], place[1] + " ranges"), f"{text} (start/end ranges)")

    def _properties(self) -> tuple[dict[str, Any], dict[int, int]]:
        """The header in Kineto's words, and the number of multiprocessors by device id."""
        header: dict[str, Any] = {PROFILER: f"Nsight Systems {self._version()}".rstrip()}
        for rows in self._database.rows("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs"]):
            began = int(rows.numbers["utcEpochNs"][0])
            if 0 < began < 1 << 62:
                header["baseTimeNanoseconds"] = began
        devices = [{**gpu, "id": number} for number, gpu in self._devices()]
        if devices:
            header["deviceProperties"] = devices
        return header, {gpu["id"]: gpu["numSms"] for gpu in devices if gpu.get("numSms", 0) > 0}

    def _version(self) -> str:
        for rows in self._database.rows("META_DATA_EXPORT", [], ["name", "value"]):
            return dict(zip(rows.texts["name"], rows.texts["value"], strict=True)).get("EXPORT_PRODUCT_VERSION", "")[:_LONGEST_VERSION]
        return ""

    def _gpus_of_processes(self) -> dict[tuple[int, int], int]:
        """(process, CUDA's device id) → GPU of the machine, if processes mean different GPUs by one id, as ``CUDA_VISIBLE_DEVICES`` makes them; else none."""
        found: dict[tuple[int, int], int] = {}
        for rows in self._database.rows("TARGET_INFO_CUDA_DEVICE", ["pid", "cudaId", "gpuId"]):
            for pid, cuda, gpu in zip(*(rows.numbers[c].tolist() for c in ("pid", "cudaId", "gpuId")), strict=True):
                if MISSING not in (pid, cuda, gpu):
                    found[pid, cuda] = gpu
        return found if len({(cuda, gpu) for (_, cuda), gpu in found.items()}) > len({cuda for _, cuda in found}) else {}

    def _devices(self) -> list[tuple[int, dict[str, Any]]]:
        """CUDA's device ids and what is known of each. ``TARGET_INFO_CUDA_DEVICE`` ties them to the GPUs of the machine, process by process."""
        keys = {
            "totalMemory": "totalGlobalMem", "smCount": "numSms", "computeMajor": "computeMajor", "computeMinor": "computeMinor",
            "threadsPerWarp": "warpSize", "maxThreadsPerBlock": "maxThreadsPerBlock", "maxRegistersPerBlock": "regsPerBlock",
            "maxRegistersPerSm": "regsPerMultiprocessor", "maxShmemPerBlock": "sharedMemPerBlock", "maxShmemPerSm": "sharedMemPerMultiprocessor",
            "maxShmemPerBlockOptin": "sharedMemPerBlockOptin",
        }
        gpus: dict[int, dict[str, Any]] = {}
        for rows in self._database.rows("TARGET_INFO_GPU", ["id", "cuDevice", *keys], ["name"]):
            for i, number in enumerate(rows.numbers["id"].tolist()):
                told = {key: int(rows.numbers[column][i]) for column, key in keys.items() if rows.numbers[column][i] != MISSING}
                gpus[number if number != MISSING else i] = {"name": rows.texts["name"][i], **told}
        if self._gpus:
            return sorted(gpus.items())
        found: dict[int, dict[str, Any]] = {}
        for rows in self._database.rows("TARGET_INFO_CUDA_DEVICE", ["gpuId", "cudaId", "numMultiprocessors"]):
            for gpu, cuda, count in zip(*(rows.numbers[c].tolist() for c in ("gpuId", "cudaId", "numMultiprocessors")), strict=True):
                if cuda != MISSING:
                    found.setdefault(cuda, {**({} if count == MISSING else {"numSms": count}), **gpus.get(gpu, {})})
        return sorted((found or gpus).items())
