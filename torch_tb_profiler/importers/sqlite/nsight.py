"""SQLite exports of Nsight Systems (``nsys export --type sqlite``) → ``Trace``.

Tables are there only where something of theirs was recorded, and columns differ by version: each is
read as far as it is present. Times are nanoseconds after the begin of the session. Sources: what
``nsys export --lazy=false`` of 2022.4.2 and 2023.4.4 writes, which makes every table; for what came
later the schema in Nsight Systems' User Guide (SQLite Schema Reference and Event Values, up to
2025.6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.importers.sqlite.call_names import plain_name
from torch_tb_profiler.importers.sqlite.captures import TABLES as CAPTURE_TABLES
from torch_tb_profiler.importers.sqlite.captures import Captures
from torch_tb_profiler.importers.sqlite.counters import NSIGHT_TABLES as COUNTER_TABLES
from torch_tb_profiler.importers.sqlite.counters import gpu_metrics, memory_usage, network_metrics
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Rows, Texts
from torch_tb_profiler.importers.sqlite.device_work import DeviceWork, Dialect
from torch_tb_profiler.importers.sqlite.filling import PROFILER, Filling
from torch_tb_profiler.importers.sqlite.global_ids import process_of, thread_of
from torch_tb_profiler.importers.sqlite.ranges import Ranges
from torch_tb_profiler.importers.sqlite.unread import count_unread
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_KERNELS = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")
_COPIES, _MEMSETS = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
_GRAPHS, _SYNCHRONISATIONS = (
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
)
_CALLS, _NVTX = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
_OTHER_CALLS = {
    "CUBLAS_EVENTS": "cublas",
    "CUDNN_EVENTS": "cudnn",
    "OSRT_API": "osrt",
    "MPI_P2P_EVENTS": "mpi",
    "MPI_COLLECTIVES_EVENTS": "mpi",
    "MPI_START_WAIT_EVENTS": "mpi",
    "MPI_OTHER_EVENTS": "mpi",
    "UCP_EVENTS": "ucx",
    "UCP_SUBMIT_EVENTS": "ucx",
    "UCP_PROGRESS_EVENTS": "ucx",
}
"""Calls that are part of whatever makes them: they are shown, and no figure counts them."""
_OVERHEADS = ("PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD")
_DIAGNOSTICS = "DIAGNOSTIC_EVENT"
TABLES = (
    *_KERNELS,
    _COPIES,
    _MEMSETS,
    _GRAPHS,
    _SYNCHRONISATIONS,
    _CALLS,
    *_OTHER_CALLS,
    *_OVERHEADS,
    _NVTX,
    *COUNTER_TABLES,
    _DIAGNOSTICS,
    *CAPTURE_TABLES,
)
_MEMORY_KINDS = {
    0: "Pageable",
    1: "Pinned",
    2: "Device",
    3: "Array",
    4: "Managed",
    5: "Device Static",
    6: "Managed Static",
    7: "Unknown",
}
_CATEGORY, _MARK, _THREAD_NAME, _PUSH_POP, _START_END, _DOMAIN, _DOMAIN_END = (
    33,
    34,
    39,
    59,
    60,
    75,
    76,
)
_NAMING = (_CATEGORY, _DOMAIN, _DOMAIN_END)
"""Kinds of rows that name what others belong to."""
_INFORMATION = 1
"""The severity of what is no warning."""
_DRIVER_CLASS = 1
_SAID_CLASSES = (10, 11, 12, 31, 32, 33, 34, 35, 36)
"""Of ``ENUM_NSYS_EVENT_CLASS``: the begin and the end of tracing (and its failure) of CUDA, the
operating system, cuDNN and cuBLAS. They are no calls.
"""
_META_DATA = ("META_DATA_EXPORT", "EXPORT_META_DATA")
"""The second is its name up to version 2022.4."""
_LONGEST_VERSION = 60


def read_nsight(database: Database, filling: Filling) -> Trace:
    """The trace of an export."""
    return _Export(database, filling).read()


class _Export:
    def __init__(self, database: Database, filling: Filling) -> None:
        self._database, self._filling = database, filling
        self._texts = Texts(database, "StringIds", "id")
        self._gpus = self._gpus_of_processes()
        self._header, multiprocessors = self._properties()
        kinds = {**_MEMORY_KINDS, **self._labels("ENUM_CUDA_MEM_KIND")}
        names = ("demangledName", "shortName", "mangledName")
        self._captures = Captures(database, filling)
        dialect = Dialect(
            names,
            self._texts.many,
            kinds,
            "memKind",
            "syncType",
            process_of,
            multiprocessors,
            gpus=self._gpus,
            captures=self._captures,
        )
        self._ranged: set[int] = set()
        """Processes that wrote ranges."""
        self._work = DeviceWork(database, filling, dialect)

    def read(self) -> Trace:
        database = self._database
        database.expect(TABLES)
        self._captures.read()
        self._stream_names()
        for table in _KERNELS:
            self._work.kernels(table)
        self._work.copies(_COPIES)
        self._work.memsets(_MEMSETS)
        self._work.graphs(_GRAPHS)
        self._captures.finish()
        self._work.synchronisations(_SYNCHRONISATIONS)
        self._calls()
        for table, category in _OTHER_CALLS.items():
            self._named_calls(table, category, Role.OTHER)
        for table in _OVERHEADS:
            self._named_calls(table, "overhead", Role.OVERHEAD)
        self._nvtx()
        gpu_metrics(database, self._filling)
        network_metrics(database, self._filling)
        memory_usage(database, self._filling)
        self._diagnostics()
        self._names()
        self._work.tell_processes(self._ranged)
        count_unread(database, TABLES, self._filling.counts)
        return self._filling.trace(self._header)

    def _labels(self, table: str) -> dict[int, str]:
        found: dict[int, str] = {}
        for rows in self._database.rows(table, ["id"], ["label"]):
            found.update(
                (i, text)
                for i, text in zip(rows.numbers["id"].tolist(), rows.texts["label"], strict=True)
                if text
            )
        return found

    def _calls(self) -> None:
        filling = self._filling
        filling.begin(_CALLS)
        for rows in self._database.rows(
            _CALLS, ["start", "end", "globalTid", "correlationId", "nameId", "eventClass"]
        ):
            found, ordinal = rows.numbers, filling.ordinals(rows)
            process, call = process_of(found["globalTid"]), ~self._said(rows, ordinal)
            numbers, of = np.unique(found["nameId"], return_inverse=True)
            names = [
                plain_name(self._texts.one(n)) or "call without a name" for n in numbers.tolist()
            ]
            # Calls of the driver are named cu…; those of the runtime cuda….
            driver = np.array(
                [name.startswith("cu") and not name.startswith("cuda") for name in names], np.bool_
            )[of]
            runtime, low = filling.categories(("cuda_runtime", "cuda_driver"))
            category = np.where(
                driver | (found["eventClass"] == _DRIVER_CLASS), low, runtime
            ).astype(np.int32)
            correlation = filling.correlations(process, found["correlationId"])
            filling.spans(
                ordinal[call],
                found["start"][call],
                found["end"][call],
                filling.names(names)[of][call],
                category[call],
                self._threads(found["globalTid"])[call],
                Role.RUNTIME,
                correlation=correlation[call],
            )

    def _said(self, rows: Rows, ordinal: Ints) -> Mask:
        """Which rows of a chunk are no calls but what the profiler says; they become marks of their
        process.
        """
        said: Mask = np.isin(rows.numbers["eventClass"], _SAID_CLASSES)
        self._say(
            ordinal[said],
            rows.numbers["start"][said],
            self._texts.many(rows.numbers["nameId"][said]),
            rows.numbers["globalTid"][said],
        )
        return said

    def _say(self, ordinal: Ints, time: Ints, texts: list[str], process: Ints) -> None:
        names = self._filling.names(f"Nsight Systems: {text}" for text in texts)
        self._filling.instants(
            ordinal,
            time,
            names,
            "diagnostics",
            self._filling.threads(process_of(process), np.full(len(time), MISSING)),
            "i",
        )

    def _threads(self, thread: Ints, mark: str = "") -> Array:
        return self._filling.threads(process_of(thread), thread_of(thread), mark)

    def _named_calls(self, table: str, category: str, role: Role) -> None:
        filling = self._filling
        filling.begin(table)
        for rows in self._database.rows(
            table, ["start", "end", "globalTid", "nameId", "textId", "eventClass"]
        ):
            found, ordinal = rows.numbers, filling.ordinals(rows)
            call = ~self._said(rows, ordinal)
            # MPI and UCX have their names where ranges have their texts.
            numbers, of = np.unique(
                np.where(found["nameId"] == MISSING, found["textId"], found["nameId"]),
                return_inverse=True,
            )
            names = filling.names(
                [plain_name(self._texts.one(n)) or category for n in numbers.tolist()]
            )[of]
            track = self._threads(found["globalTid"])
            filling.spans(
                ordinal[call],
                found["start"][call],
                found["end"][call],
                names[call],
                category,
                track[call],
                role,
            )

    def _named(self, kind: int, *keys: str) -> dict[tuple[int, ...], str]:
        """(process, further columns) → name, of the rows that name domains or categories."""
        found: dict[tuple[int, ...], str] = {}
        if "eventType" in self._database.columns(_NVTX):
            for rows in self._database.rows(
                _NVTX, ["globalTid", "textId", *keys], ["text"], where=f"[eventType] = {kind}"
            ):
                texts = self._texts_of(rows.texts["text"], rows.numbers["textId"])
                columns = (
                    process_of(rows.numbers["globalTid"]),
                    *(rows.numbers[key] for key in keys),
                )
                found.update(
                    (key, text)
                    for key, text in zip(
                        zip(*(c.tolist() for c in columns), strict=True), texts, strict=True
                    )
                    if text
                )
        return found

    def _texts_of(self, texts: list[str], numbers: Ints) -> list[str]:
        """The text of an event, else the registered one that it names."""
        if (numbers == MISSING).all():
            return texts
        return [
            text or registered
            for text, registered in zip(texts, self._texts.many(numbers), strict=True)
        ]

    def _nvtx(self) -> None:
        filling, ranges = self._filling, Ranges(self._filling)
        domains, categories = (
            self._named(_DOMAIN, "domainId"),
            self._named(_CATEGORY, "domainId", "category"),
        )
        typed, closing = (
            "eventType" in self._database.columns(_NVTX),
            self._database.value("SELECT duration FROM ANALYSIS_DETAILS"),
        )
        filling.begin(_NVTX)
        for rows in self._database.rows(
            _NVTX,
            ["start", "end", "eventType", "globalTid", "textId", "domainId", "category"],
            ["text"],
        ):
            found, ordinal = rows.numbers, filling.ordinals(rows)
            kind = (
                found["eventType"] if typed else np.where(found["end"] == MISSING, _MARK, _PUSH_POP)
            )
            known = np.flatnonzero(np.isin(kind, (_MARK, _THREAD_NAME, _PUSH_POP, _START_END)))
            filling.counts.add(
                d.NOT_READ, rows.count - len(known) - int(np.isin(kind, _NAMING).sum())
            )
            texts = self._texts_of(
                [rows.texts["text"][i] for i in known.tolist()], found["textId"][known]
            )
            process, domain, category = (
                process_of(found["globalTid"][known]),
                found["domainId"][known],
                found["category"][known],
            )
            of_domain = [
                domains.get(key, "") for key in zip(process.tolist(), domain.tolist(), strict=True)
            ]
            # What has no text may have a category: the samples of Python's stack do.
            keys = zip(texts, process.tolist(), domain.tolist(), category.tolist(), strict=True)
            texts = [text or categories.get((p, d, c), "") for text, p, d, c in keys]
            self._ranged.update(np.unique(process[kind[known] == _PUSH_POP]).tolist())
            for number, mark in ((_PUSH_POP, ""), (_START_END, " ranges")):
                # What was open at the end of the recording gets that end: long after the program,
                # and no end of its own.
                open_ = (kind[known] == number) & np.isin(
                    found["end"][known], (MISSING, closing if isinstance(closing, int) else MISSING)
                )
                filling.counts.add(d.UNMATCHED_BEGIN, int(open_.sum()))
                at = np.flatnonzero((kind[known] == number) & ~open_)
                row = known[at]
                chosen, within = (
                    [texts[i] for i in at.tolist()],
                    [of_domain[i] for i in at.tolist()],
                )
                ranges.add(
                    ordinal[row],
                    found["start"][row],
                    found["end"][row],
                    chosen,
                    self._threads(found["globalTid"][row], mark),
                    within,
                )
            at = np.flatnonzero(kind[known] == _MARK)
            row = known[at]
            marks = [
                ": ".join(filter(None, (of_domain[i], texts[i] or "mark without a text")))
                for i in at.tolist()
            ]
            filling.instants(
                ordinal[row],
                found["start"][row],
                filling.names(marks),
                "nvtx",
                self._threads(found["globalTid"][row]),
                "i",
            )
            for i in np.flatnonzero(kind[known] == _THREAD_NAME).tolist():
                self._name_thread(int(found["globalTid"][known[i]]), texts[i])
        ranges.finish()

    def _diagnostics(self) -> None:
        """What the profiler said while it recorded, as marks; warnings and errors are counted."""
        filling = self._filling
        filling.begin(_DIAGNOSTICS)
        for rows in self._database.rows(
            _DIAGNOSTICS, ["timestamp", "severity", "globalPid"], ["text"]
        ):
            found, ordinal = rows.numbers, filling.ordinals(rows)
            filling.counts.add(d.PROFILER_WARNING, int((found["severity"] > _INFORMATION).sum()))
            timed = np.flatnonzero(found["timestamp"] != MISSING)
            self._say(
                ordinal[timed],
                found["timestamp"][timed],
                [rows.texts["text"][i] for i in timed.tolist()],
                found["globalPid"][timed],
            )

    def _stream_names(self) -> None:
        for rows in self._database.rows(
            "TARGET_INFO_NVTX_CUDA_STREAM", ["processId", "contextId", "streamId"], ["name"]
        ):
            keys = zip(
                *(rows.numbers[c].tolist() for c in ("processId", "contextId", "streamId")),
                strict=True,
            )
            self._filling.own_names.update(zip(keys, rows.texts["name"], strict=True))

    def _names(self) -> None:
        for rows in self._database.rows("ThreadNames", ["globalTid", "nameId"]):
            for thread, text in zip(
                rows.numbers["globalTid"].tolist(),
                self._texts.many(rows.numbers["nameId"]),
                strict=True,
            ):
                self._name_thread(thread, text)
        for rows in self._database.rows("PROCESSES", ["globalPid", "pid"], ["name"]):
            process = np.where(
                rows.numbers["globalPid"] == MISSING,
                rows.numbers["pid"],
                process_of(rows.numbers["globalPid"]),
            )
            for number, text in zip(process.tolist(), rows.texts["name"], strict=True):
                if number != MISSING and text:
                    self._filling.name(
                        "process_name",
                        (number, ""),
                        text.replace("\\", "/").rpartition("/")[2] or text,
                    )

    def _name_thread(self, thread: int, text: str) -> None:
        if thread == MISSING or not text:
            return
        process, number = (
            int(part[0]) for part in (process_of(np.array([thread])), thread_of(np.array([thread])))
        )
        place = (process, str(number))
        self._filling.name("thread_name", place, text)
        self._filling.name(
            "thread_name", (place[0], place[1] + " ranges"), f"{text} (start/end ranges)"
        )

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
        for table in _META_DATA:
            for rows in self._database.rows(table, [], ["name", "value"]):
                return dict(zip(rows.texts["name"], rows.texts["value"], strict=True)).get(
                    "EXPORT_PRODUCT_VERSION", ""
                )[:_LONGEST_VERSION]
        return ""

    def _gpus_of_processes(self) -> dict[tuple[int, int], int]:
        """(process, CUDA's device id) → GPU of the machine, if processes mean different GPUs by one
        id, as ``CUDA_VISIBLE_DEVICES`` makes them; else none.
        """
        found: dict[tuple[int, int], int] = {}
        for rows in self._database.rows("TARGET_INFO_CUDA_DEVICE", ["pid", "cudaId", "gpuId"]):
            for pid, cuda, gpu in zip(
                *(rows.numbers[c].tolist() for c in ("pid", "cudaId", "gpuId")), strict=True
            ):
                if MISSING not in (pid, cuda, gpu):
                    found[pid, cuda] = gpu
        return (
            found
            if len({(cuda, gpu) for (_, cuda), gpu in found.items()})
            > len({cuda for _, cuda in found})
            else {}
        )

    def _devices(self) -> list[tuple[int, dict[str, Any]]]:
        """CUDA's device ids and what is known of each. ``TARGET_INFO_CUDA_DEVICE`` ties them to the
        GPUs of the machine, process by process.
        """
        keys = {
            "totalMemory": "totalGlobalMem",
            "smCount": "numSms",
            "computeMajor": "computeMajor",
            "computeMinor": "computeMinor",
            "threadsPerWarp": "warpSize",
            "maxThreadsPerBlock": "maxThreadsPerBlock",
            "maxRegistersPerBlock": "regsPerBlock",
            "maxRegistersPerSm": "regsPerMultiprocessor",
            "maxShmemPerBlock": "sharedMemPerBlock",
            "maxShmemPerSm": "sharedMemPerMultiprocessor",
            "maxShmemPerBlockOptin": "sharedMemPerBlockOptin",
        }
        gpus: dict[int, dict[str, Any]] = {}
        for rows in self._database.rows("TARGET_INFO_GPU", ["id", "cuDevice", *keys], ["name"]):
            for i, number in enumerate(rows.numbers["id"].tolist()):
                told = {
                    key: int(rows.numbers[column][i])
                    for column, key in keys.items()
                    if rows.numbers[column][i] != MISSING
                }
                gpus[number if number != MISSING else i] = {"name": rows.texts["name"][i], **told}
        if self._gpus:
            return sorted(gpus.items())
        found: dict[int, dict[str, Any]] = {}
        for rows in self._database.rows(
            "TARGET_INFO_CUDA_DEVICE", ["gpuId", "cudaId", "numMultiprocessors"]
        ):
            for gpu, cuda, count in zip(
                *(rows.numbers[c].tolist() for c in ("gpuId", "cudaId", "numMultiprocessors")),
                strict=True,
            ):
                if cuda != MISSING:
                    found.setdefault(
                        cuda,
                        {**({} if count == MISSING else {"numSms": count}), **gpus.get(gpu, {})},
                    )
        return sorted((found or gpus).items())
