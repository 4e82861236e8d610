"""SQLite exports of Nsight Systems (``nsys export --type sqlite``) → ``Trace``.

Tables exist only if something was recorded for them, and columns differ by version: whatever is
present is read. Times are nanoseconds since the session began. Sources: the output of ``nsys export
--lazy=false`` of 2022.4.2 and 2023.4.4; for later versions the schema in Nsight Systems' User Guide
(up to 2025.6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.importers.sqlite.builder import TraceBuilder, header_of
from torch_tb_profiler.importers.sqlite.call_names import plain_name
from torch_tb_profiler.importers.sqlite.captured_nodes import TABLES as CAPTURE_TABLES
from torch_tb_profiler.importers.sqlite.captured_nodes import Captures
from torch_tb_profiler.importers.sqlite.counters import NSIGHT_TABLES as COUNTER_TABLES
from torch_tb_profiler.importers.sqlite.counters import gpu_metrics, memory_usage, network_metrics
from torch_tb_profiler.importers.sqlite.database import MISSING, Database, Rows, Texts
from torch_tb_profiler.importers.sqlite.device_work import DeviceWork, Dialect
from torch_tb_profiler.importers.sqlite.global_ids import process_of, thread_of
from torch_tb_profiler.importers.sqlite.ranges import Ranges, mark_name
from torch_tb_profiler.importers.sqlite.stated_ranks import communicators, read_ranks
from torch_tb_profiler.importers.sqlite.unread import count_unread
from torch_tb_profiler.store import defects as d
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_KERNELS = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")
_COPIES, _MEMSETS = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
_GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_SYNCHRONISATIONS = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
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
"""Library calls: shown, but part of their callers and counted in no figure."""
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
_CATEGORY, _MARK, _THREAD_NAME, _PUSH_POP, _START_END = 33, 34, 39, 59, 60
_DOMAIN, _DOMAIN_END = 75, 76
_NAMING = (_CATEGORY, _DOMAIN, _DOMAIN_END)
"""Kinds of rows that name domains and categories."""
_INFORMATION = 1
"""The highest severity that is not a warning."""
_DRIVER_CLASS = 1
_MESSAGE_CLASSES = (10, 11, 12, 31, 32, 33, 34, 35, 36)
"""Of ``ENUM_NSYS_EVENT_CLASS``: begin, end and failure of tracing CUDA, OS, cuDNN, cuBLAS; no calls."""
_META_DATA = ("META_DATA_EXPORT", "EXPORT_META_DATA")
"""The second is the name up to version 2022.4."""
_LONGEST_VERSION = 60


def read_nsight(database: Database, builder: TraceBuilder) -> Trace:
    """The trace of an export."""
    return _NsightReader(database, builder).read()


class _NsightReader:
    def __init__(self, database: Database, builder: TraceBuilder) -> None:
        self._database, self._builder = database, builder
        self._texts = Texts(database, "StringIds", "id")
        self._gpus = self._gpus_of_processes()
        self._header, multiprocessors = self._properties()
        labels = database.texts("ENUM_CUDA_MEM_KIND", "id", "label").items()
        kinds = {**_MEMORY_KINDS, **{number: label for number, label in labels if label}}
        names = ("demangledName", "shortName", "mangledName")
        self._captures = Captures(builder)
        self._made = list(communicators(database, self._texts))
        dialect = Dialect(
            names,
            self._texts.texts,
            kinds,
            "memKind",
            "syncType",
            process_of,
            multiprocessors,
            gpus=self._gpus,
            captures=self._captures,
        )
        self._work = DeviceWork(builder, dialect)

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
        gpu_metrics(database, self._builder)
        network_metrics(database, self._builder)
        memory_usage(self._builder)
        self._diagnostics()
        self._names()
        read_ranks(database, self._builder.owners, self._made)
        count_unread(database, TABLES, self._builder.counts)
        return self._builder.trace(self._header)

    def _calls(self) -> None:
        builder = self._builder
        for rows, ordinal in builder.chunks(
            _CALLS, ["start", "end", "globalTid", "correlationId", "nameId", "eventClass"]
        ):
            numbers = rows.numbers
            process, call = process_of(numbers["globalTid"]), ~self._message_rows(rows, ordinal)
            name_ids, inverse = np.unique(numbers["nameId"], return_inverse=True)
            names = [
                plain_name(self._texts.text(n)) or "call without a name" for n in name_ids.tolist()
            ]
            # Driver calls are named cu…, runtime calls cuda….
            by_name = [name.startswith("cu") and not name.startswith("cuda") for name in names]
            driver = np.array(by_name, np.bool_)[inverse] | (numbers["eventClass"] == _DRIVER_CLASS)
            category = builder.categories(("cuda_runtime", "cuda_driver"))[driver.astype(np.int8)]
            correlation = builder.owners.correlations(process, numbers["correlationId"])
            builder.spans(
                ordinal[call],
                numbers["start"][call],
                numbers["end"][call],
                builder.names(names)[inverse][call],
                category[call],
                self._threads(numbers["globalTid"])[call],
                Role.RUNTIME,
                correlation=correlation[call],
            )

    def _message_rows(self, rows: Rows, ordinal: Ints) -> Mask:
        """Mask of the rows that are messages of the profiler, which become instants."""
        messages: Mask = np.isin(rows.numbers["eventClass"], _MESSAGE_CLASSES)
        self._add_messages(
            ordinal[messages],
            rows.numbers["start"][messages],
            self._texts.texts(rows.numbers["nameId"][messages]),
            rows.numbers["globalTid"][messages],
        )
        return messages

    def _add_messages(self, ordinal: Ints, time: Ints, texts: list[str], process: Ints) -> None:
        names = self._builder.names(f"Nsight Systems: {text}" for text in texts)
        track = self._builder.threads(process_of(process), np.full(len(time), MISSING))
        self._builder.instants(ordinal, time, names, "diagnostics", track, "i")

    def _threads(self, thread: Ints, mark: str = "") -> Array:
        return self._builder.threads(process_of(thread), thread_of(thread), mark)

    def _named_calls(self, table: str, category: str, role: Role) -> None:
        builder = self._builder
        for rows, ordinal in builder.chunks(
            table, ["start", "end", "globalTid", "nameId", "textId", "eventClass"]
        ):
            numbers = rows.numbers
            call = ~self._message_rows(rows, ordinal)
            # MPI and UCX use textId for their names.
            names = builder.names_of(
                lambda number: plain_name(self._texts.text(number)) or category,
                np.where(numbers["nameId"] == MISSING, numbers["textId"], numbers["nameId"]),
            )
            track = self._threads(numbers["globalTid"])
            start, end = numbers["start"], numbers["end"]
            builder.spans(
                ordinal[call], start[call], end[call], names[call], category, track[call], role
            )

    def _named(self, kind: int, *keys: str) -> dict[tuple[int, ...], str]:
        """(process, further columns) → name, from the rows that name domains or categories."""
        names: dict[tuple[int, ...], str] = {}
        if "eventType" in self._database.columns(_NVTX):
            for rows in self._database.rows(
                _NVTX, ["globalTid", "textId", *keys], ["text"], where=f"[eventType] = {kind}"
            ):
                texts = self._texts_of(rows.texts["text"], rows.numbers["textId"])
                process = process_of(rows.numbers["globalTid"]).tolist()
                named = zip(process, rows.tuples(*keys), texts, strict=True)
                names.update({(number, *key): text for number, key, text in named if text})
        return names

    def _texts_of(self, texts: list[str], numbers: Ints) -> list[str]:
        """The text of each event, or the registered text that it refers to."""
        if (numbers == MISSING).all():
            return texts
        return [
            text or registered
            for text, registered in zip(texts, self._texts.texts(numbers), strict=True)
        ]

    def _nvtx(self) -> None:
        sizes = {each.name: each.size for each in self._made}
        builder, ranges = self._builder, Ranges(self._builder, sizes)
        domains = self._named(_DOMAIN, "domainId")
        categories = self._named(_CATEGORY, "domainId", "category")
        typed = "eventType" in self._database.columns(_NVTX)
        closing = self._database.value("SELECT duration FROM ANALYSIS_DETAILS")
        columns = ["start", "end", "eventType", "globalTid", "textId", "domainId", "category"]
        for rows, ordinal in builder.chunks(_NVTX, [*columns, "jsonTextId"], ["text", "jsonText"]):
            numbers = rows.numbers
            untyped = np.where(numbers["end"] == MISSING, _MARK, _PUSH_POP)
            kind = numbers["eventType"] if typed else untyped
            known = np.flatnonzero(np.isin(kind, (_MARK, _THREAD_NAME, _PUSH_POP, _START_END)))
            naming = int(np.isin(kind, _NAMING).sum())
            builder.counts.add(d.NOT_READ, rows.count - len(known) - naming)
            texts = self._texts_of(
                [rows.texts["text"][i] for i in known.tolist()], numbers["textId"][known]
            )
            payloads = self._texts_of(rows.texts["jsonText"], numbers["jsonTextId"])
            process = process_of(numbers["globalTid"][known])
            domain, category = numbers["domainId"][known], numbers["category"][known]
            of_domain = [
                domains.get(key, "") for key in zip(process.tolist(), domain.tolist(), strict=True)
            ]
            # Ranges without text may have a category, as Python stack samples do.
            keys = zip(texts, process.tolist(), domain.tolist(), category.tolist(), strict=True)
            texts = [text or categories.get((p, d, c), "") for text, p, d, c in keys]
            # Ranges still open get the end of the session, which is not their own.
            ends = (MISSING, closing if isinstance(closing, int) else MISSING)
            open_ = np.isin(numbers["end"][known], ends)
            for kind_number, mark in ((_PUSH_POP, ""), (_START_END, " ranges")):
                of_kind = kind[known] == kind_number
                builder.counts.add(d.UNMATCHED_BEGIN, int((of_kind & open_).sum()))
                selected = np.flatnonzero(of_kind & ~open_)
                row = known[selected]
                ranges.add(
                    ordinal[row],
                    numbers["start"][row],
                    numbers["end"][row],
                    [texts[i] for i in selected.tolist()],
                    self._threads(numbers["globalTid"][row], mark),
                    [of_domain[i] for i in selected.tolist()],
                    [payloads[i] for i in row.tolist()],
                )
            selected = np.flatnonzero(kind[known] == _MARK)
            row = known[selected]
            builder.instants(
                ordinal[row],
                numbers["start"][row],
                builder.names(mark_name(of_domain[i], texts[i]) for i in selected.tolist()),
                "nvtx",
                self._threads(numbers["globalTid"][row]),
                "i",
            )
            for i in np.flatnonzero(kind[known] == _THREAD_NAME).tolist():
                self._name_thread(int(numbers["globalTid"][known[i]]), texts[i])
        ranges.finish()

    def _diagnostics(self) -> None:
        """The profiler's messages, as instants; warnings and errors are counted."""
        builder = self._builder
        for rows, ordinal in builder.chunks(
            _DIAGNOSTICS, ["timestamp", "severity", "globalPid"], ["text"]
        ):
            numbers = rows.numbers
            builder.counts.add(d.PROFILER_WARNING, int((numbers["severity"] > _INFORMATION).sum()))
            timed = np.flatnonzero(numbers["timestamp"] != MISSING)
            self._add_messages(
                ordinal[timed],
                numbers["timestamp"][timed],
                [rows.texts["text"][i] for i in timed.tolist()],
                numbers["globalPid"][timed],
            )

    def _stream_names(self) -> None:
        columns = ["processId", "contextId", "streamId"]
        for rows in self._database.rows("TARGET_INFO_NVTX_CUDA_STREAM", columns, ["name"]):
            keys = rows.tuples(*columns)
            self._builder.own_names.update(zip(keys, rows.texts["name"], strict=True))

    def _names(self) -> None:
        for rows in self._database.rows("ThreadNames", ["globalTid", "nameId"]):
            texts = self._texts.texts(rows.numbers["nameId"])
            for thread, text in zip(rows.numbers["globalTid"].tolist(), texts, strict=True):
                self._name_thread(thread, text)
        for rows in self._database.rows("PROCESSES", ["globalPid", "pid"], ["name"]):
            process = np.where(
                rows.numbers["globalPid"] == MISSING,
                rows.numbers["pid"],
                process_of(rows.numbers["globalPid"]),
            )
            for number, text in zip(process.tolist(), rows.texts["name"], strict=True):
                if number != MISSING and text:
                    name = text.replace("\\", "/").rpartition("/")[2] or text
                    self._builder.name("process_name", (number, ""), name)
                    self._builder.owners.names[number] = name

    def _name_thread(self, thread: int, text: str) -> None:
        if thread == MISSING or not text:
            return
        process, number = (int(of(np.array([thread]))[0]) for of in (process_of, thread_of))
        self._builder.name("thread_name", (process, str(number)), text)
        self._builder.name(
            "thread_name", (process, f"{number} ranges"), f"{text} (start/end ranges)"
        )

    def _properties(self) -> tuple[dict[str, Any], dict[int, int]]:
        """The header, and the multiprocessors of each device by its number."""
        devices = [{**gpu, "id": number} for number, gpu in self._devices()]
        header, multiprocessors = header_of(f"Nsight Systems {self._version()}".rstrip(), devices)
        for rows in self._database.rows("TARGET_INFO_SESSION_START_TIME", ["utcEpochNs"]):
            began = int(rows.numbers["utcEpochNs"][0])
            if 0 < began < 1 << 62:
                header["baseTimeNanoseconds"] = began
        return header, multiprocessors

    def _version(self) -> str:
        for table in _META_DATA:
            for rows in self._database.rows(table, [], ["name", "value"]):
                values: dict[str, str] = dict(rows.tuples("name", "value"))
                return values.get("EXPORT_PRODUCT_VERSION", "")[:_LONGEST_VERSION]
        return ""

    def _gpus_of_processes(self) -> dict[tuple[int, int], int]:
        """(process, CUDA device id) → GPU, if ``CUDA_VISIBLE_DEVICES`` makes processes differ."""
        gpus: dict[tuple[int, int], int] = {}
        for rows in self._database.rows("TARGET_INFO_CUDA_DEVICE", ["pid", "cudaId", "gpuId"]):
            for pid, cuda, gpu in rows.tuples("pid", "cudaId", "gpuId"):
                if MISSING not in (pid, cuda, gpu):
                    gpus[pid, cuda] = gpu
        distinct = {(cuda, gpu) for (_, cuda), gpu in gpus.items()}
        return gpus if len(distinct) > len({cuda for _, cuda in gpus}) else {}

    def _devices(self) -> list[tuple[int, dict[str, Any]]]:
        """(CUDA device id, properties); ``TARGET_INFO_CUDA_DEVICE`` links them to the GPUs."""
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
            for i, (number, name) in enumerate(rows.tuples("id", "name")):
                properties = {"name": name, **rows.properties(i, keys)}
                gpus[i if number == MISSING else number] = properties
        if self._gpus:
            return sorted(gpus.items())
        devices: dict[int, dict[str, Any]] = {}
        columns = ["gpuId", "cudaId", "numMultiprocessors"]
        for rows in self._database.rows("TARGET_INFO_CUDA_DEVICE", columns):
            for gpu, cuda, count in rows.tuples(*columns):
                if cuda != MISSING:
                    counted = {} if count == MISSING else {"numSms": count}
                    devices.setdefault(cuda, counted | gpus.get(gpu, {}))
        return sorted((devices or gpus).items())
