"""What rocprofv3 writes of one process: ``.pftrace``, ``results.json``, and the database of rocpd.

::

    THREAD 0       [hipLaunchKernel 1]                                     call
    STREAM [0]                       {gemm 1      }  {HOST_TO_DEVICE 100}  kernel, copy of an agent
                   0    10          100          300  400              450 µs
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.builders.databases import DatabaseFile
from tests.builders.perfetto import PerfettoFile

COPY_KINDS = (
    "MEMORY_COPY_NONE",
    "MEMORY_COPY_HOST_TO_HOST",
    "MEMORY_COPY_HOST_TO_DEVICE",
    "MEMORY_COPY_DEVICE_TO_HOST",
    "MEMORY_COPY_DEVICE_TO_DEVICE",
)
_CALL_KINDS = {"hip_api": "HIP_RUNTIME_API", "hsa_api": "HSA_CORE_API", "rccl_api": "RCCL_API"}
HOST_AGENT = 0
"""Number of the host among the agents."""


@dataclass(frozen=True)
class Call:
    """A call on the host, times in ns; ``category``: hip_api, hsa_api, rccl_api, or marker_api for a range."""

    name: str
    begin: int
    length: int
    correlation: int
    category: str = "hip_api"
    thread: int = 4242


@dataclass(frozen=True)
class Kernel:
    """A kernel: ``groups`` of ``size`` work items each, in three dimensions."""

    name: str
    begin: int
    length: int
    correlation: int
    agent: int = 1
    stream: int = 0
    queue: int = 1
    groups: tuple[int, int, int] = (2, 1, 1)
    size: tuple[int, int, int] = (256, 1, 1)


@dataclass(frozen=True)
class Copy:
    """A copy of so many bytes; ``kind``: its place in ``COPY_KINDS``."""

    begin: int
    length: int
    correlation: int
    kind: int = 2
    amount: int = 4096
    agent: int = 1
    stream: int = 0

    @property
    def ends(self) -> tuple[int, int]:
        """Numbers of the agents that it comes from and goes to."""
        host_to, _, to_host = COPY_KINDS[self.kind].removeprefix("MEMORY_COPY_").partition("_TO_")
        return (
            HOST_AGENT if host_to == "HOST" else self.agent,
            HOST_AGENT if to_host == "HOST" else self.agent,
        )


Record = Call | Kernel | Copy


def three_launches(begin: int = 1_000_000_000) -> list[Record]:
    """Three times a launch, a kernel of 200 µs and a copy of 50 µs, 1 ms apart."""
    found: list[Record] = []
    for k in range(3):
        at = begin + k * 1_000_000
        found += [
            Call("hipLaunchKernel", at, 10_000, k + 1),
            Kernel("void gemm<float>(float*)", at + 100_000, 200_000, k + 1),
            Copy(at + 400_000, 50_000, 100 + k),
        ]
    return found


def pftrace(
    records: Sequence[Record], *, by_queue: bool = False, pid: int = 4242, agent: str = "Agent-"
) -> bytes:
    """The Perfetto file; ``by_queue``: with a track per queue in place of streams; ``agent``: what an agent
    is called, which old versions do not.
    """
    main = next((r.thread for r in records if isinstance(r, Call)), pid)
    file = PerfettoFile()
    file.process(10, pid, "python")
    tracks: dict[object, int] = {}
    for record in records:
        track = _track(record, by_queue)
        is_new = track not in tracks
        uuid = tracks.setdefault(track, 11 + len(tracks))
        if is_new:
            if isinstance(record, Call) and record.thread == main:
                file.thread(uuid, pid, record.thread, "python", parent=10)
            elif isinstance(record, Call):
                file.track(uuid, name=f"THREAD {uuid} ({record.thread})")
            else:
                file.track(uuid, name=str(track))
        end = record.begin + record.length
        args: dict[str, Any] = {
            "begin_ns": record.begin,
            "end_ns": end,
            "delta_ns": record.length,
            "kind": 11,
            "corr_id": record.correlation,
        }
        name, category = _named(record)
        if isinstance(record, Kernel):
            args |= {
                "agent": _called(agent, record.agent),
                "queue": record.queue,
                "kernel_id": 17,
                "VGPR_Count": 32,
                "LDS_Block_Size": 1024,
                "workgroup_size": _product(record.size),
                "grid_size": _product(record.size) * _product(record.groups),
                "stream_ID": record.stream,
            }
        elif isinstance(record, Copy):
            args |= {
                "src_agent": _called(agent, record.ends[0]),
                "dst_agent": _called(agent, record.ends[1]),
                "copy_bytes": record.amount,
                "stream_ID": record.stream,
            }
        file.begin(uuid, record.begin, name, category, args, flows=[record.correlation])
        file.end(uuid, end)
    return file.data()


def results(
    records: Sequence[Record],
    *,
    pid: int = 4242,
    first_kind: int = 1,
    streams: bool = True,
    described: bool = True,
) -> dict[str, Any]:
    """One process of ``results.json``; ``first_kind``: of the kinds of records, which differ by version;
    ``streams``: whether work says its stream; ``described``: whether agents, names and kernels are.
    """
    kinds = {key: first_kind + k for k, key in enumerate((*_CALL_KINDS, "marker_api"))}
    operations: dict[str, list[str]] = {key: [] for key in kinds}
    symbols: dict[str, int] = {}
    found: dict[str, list[dict[str, Any]]] = {
        key: [] for key in ("kernel_dispatch", *kinds, "memory_copy")
    }
    messages = []
    for record in records:
        row: dict[str, Any] = {
            "size": 64,
            "thread_id": record.thread if isinstance(record, Call) else 4242,
            "correlation_id": {"internal": record.correlation, "external": 0},
            "start_timestamp": record.begin,
            "end_timestamp": record.begin + record.length,
        }
        if isinstance(record, Call):
            name = record.name
            if record.category == "marker_api":
                messages.append({"key": record.correlation, "value": name})
                name = "roctxThreadRangeA"
            if name not in operations[record.category]:
                operations[record.category].append(name)
            operation = operations[record.category].index(name)
            row |= {"kind": kinds[record.category], "operation": operation}
            found[record.category].append(row)
            continue
        if streams:
            row["stream_id"] = {"handle": record.stream}
        if isinstance(record, Kernel):
            items = [g * s for g, s in zip(record.groups, record.size, strict=True)]
            row |= {
                "kind": 90,
                "operation": 1,
                "dispatch_info": {
                    "agent_id": {"handle": _handle(record.agent)},
                    "queue_id": {"handle": record.queue},
                    "kernel_id": symbols.setdefault(record.name, len(symbols) + 1),
                    "dispatch_id": 1,
                    "private_segment_size": 0,
                    "group_segment_size": 1024,
                    "workgroup_size": dict(zip("xyz", record.size, strict=True)),
                    "grid_size": dict(zip("xyz", items, strict=True)),
                },
            }
            found["kernel_dispatch"].append(row)
        else:
            source, target = map(_handle, record.ends)
            row |= {
                "kind": 0,
                "operation": record.kind,
                "src_agent_id": {"handle": source},
                "dst_agent_id": {"handle": target},
                "bytes": record.amount,
            }
            found["memory_copy"].append(row)
    named = [{"kind": "MEMORY_COPY", "operations": list(COPY_KINDS)}]
    named += [{"kind": "NONE", "operations": []}] * (first_kind - 1)
    named += [{"kind": _CALL_KINDS.get(key, key), "operations": operations[key]} for key in kinds]
    agents = sorted({HOST_AGENT} | {r.agent for r in records if not isinstance(r, Call)})
    described_as = {
        "agents": [
            {
                "id": {"handle": _handle(agent)},
                "type": 1 if agent == HOST_AGENT else 2,
                "logical_node_id": agent,
                "cu_count": 304,
                "product_name": "AMD Instinct MI300X",
            }
            for agent in agents
        ],
        "strings": {"buffer_records": named, "marker_api": messages},
        "kernel_symbols": [
            {"kernel_id": 0},
            *(
                {"kernel_id": k, "formatted_kernel_name": name, "arch_vgpr_count": 32}
                for name, k in symbols.items()
            ),
        ],
    }
    return {
        "metadata": {"pid": pid, "init_time": 1, "fini_time": 9, "command": ["/usr/bin/python"]},
        **(described_as if described else {}),
        "buffer_records": found,
    }


def rocpd(
    path: Path,
    records: Sequence[Record],
    *,
    pid: int = 4242,
    ending: str = "_00e1f2_7a",
    ppid: int = 1,
    environment: dict[str, str] | None = None,
) -> None:
    """The database; ``ending``: of the names of its tables; ``environment``: variables of the process."""
    strings: dict[str, int] = {}
    with DatabaseFile(path) as file:
        for kind, columns in _ROCPD.items():
            file.create(f"rocpd_{kind}{ending}", ["id INTEGER PRIMARY KEY", *columns.split()])

        def add(kind: str, **row: Any) -> None:
            file.insert(f"rocpd_{kind}{ending}", {f'"{key}"': value for key, value in row.items()})

        def string(text: str) -> int:
            if text not in strings:
                strings[text] = len(strings) + 1
                add("string", id=strings[text], string=text)
            return strings[text]

        add("metadata", tag="schema_version", value="3")
        add(
            "info_process",
            id=1,
            pid=pid,
            ppid=ppid,
            command="/usr/bin/python train.py",
            environment=json.dumps(environment or {}),
        )
        agents = sorted({HOST_AGENT} | {r.agent for r in records if not isinstance(r, Call)})
        for agent in agents:
            kind = "CPU" if agent == HOST_AGENT else "GPU"
            add(
                "info_agent",
                id=_handle(agent),
                type=kind,
                logical_index=agent,
                name="gfx942",
                product_name="AMD Instinct MI300X",
                extdata=json.dumps({"cu_count": 304}),
            )
        for name, used in (
            ("stream", {r.stream for r in records if not isinstance(r, Call)}),
            ("queue", {r.queue for r in records if isinstance(r, Kernel)}),
        ):
            for number in used:
                add(f"info_{name}", id=number + 50, name=f"{name.title()} {number}")
        threads: dict[int, int] = {}
        symbols: dict[str, int] = {}
        for number, record in enumerate(records, 1):
            name, category = _named(record)
            marker = category == "marker_api"
            add(
                "event",
                id=number,
                category_id=string(_ROCPD_CATEGORIES.get(category, category.upper())),
                stack_id=record.correlation,
                extdata=json.dumps({"message": name} if marker else {}),
            )
            row: dict[str, Any] = {"pid": 1, "event_id": number}
            row |= {"start": record.begin, "end": record.begin + record.length}
            if isinstance(record, Call):
                thread = threads.setdefault(record.thread, len(threads) + 1)
                add("region", tid=thread, name_id=string("roctxRangeA" if marker else name), **row)
                continue
            row["stream_id"] = record.stream + 50
            if isinstance(record, Copy):
                source, target = map(_handle, record.ends)
                row |= {"src_agent_id": source, "dst_agent_id": target, "size": record.amount}
                add("memory_copy", name_id=string(name), **row)
                continue
            row |= {"agent_id": _handle(record.agent), "queue_id": record.queue + 50}
            row |= {"group_segment_size": 1024}
            for axis, groups, size in zip("xyz", record.groups, record.size, strict=True):
                row |= {f"grid_size_{axis}": groups * size, f"workgroup_size_{axis}": size}
            symbol = symbols.setdefault(name, len(symbols) + 1)
            add("kernel_dispatch", kernel_id=symbol, **row)
        for name, symbol in symbols.items():
            add("info_kernel_symbol", id=symbol, display_name=name, arch_vgpr_count=32)
        for tid, thread in threads.items():
            add("info_thread", id=thread, tid=tid)


_AXES = " ".join(f"{what}_size_{axis}" for what in ("grid", "workgroup") for axis in "xyz")
_ROCPD = {
    "metadata": "tag value",
    "string": "string",
    "info_process": "pid ppid command environment",
    "info_thread": "tid",
    "info_agent": "type logical_index name product_name extdata",
    "info_stream": "name",
    "info_queue": "name",
    "info_kernel_symbol": "display_name arch_vgpr_count",
    "event": "category_id stack_id correlation_id extdata",
    "region": 'pid tid start "end" name_id event_id',
    "kernel_dispatch": f'pid agent_id kernel_id queue_id stream_id start "end" group_segment_size {_AXES} event_id',
    "memory_copy": 'pid start "end" name_id dst_agent_id src_agent_id size queue_id stream_id event_id',
}
"""Table → its columns beside the id."""
_ROCPD_CATEGORIES = {
    "hip_api": "HIP_RUNTIME_API_EXT",
    "hsa_api": "HSA_CORE_API",
    "marker_api": "MARKER_CORE_RANGE_API",
}


def _handle(agent: int) -> int:
    return agent * 8 + 3


def _track(record: Record, by_queue: bool) -> object:
    if isinstance(record, Call):
        return record.thread
    if not by_queue:
        return f'STREAM [" {record.stream} "] '
    if isinstance(record, Kernel):
        return f"COMPUTE AGENT [{record.agent}] QUEUE [{record.queue}] (GPU)"
    return f"COPY to AGENT [{record.ends[1]}] THREAD [0] (GPU)"


def _called(agent: str, number: int) -> str | int:
    return f"{agent}{number}" if agent else number


def _named(record: Record) -> tuple[str, str]:
    if isinstance(record, Copy):
        return COPY_KINDS[record.kind], "memory_copy"
    return record.name, record.category if isinstance(record, Call) else "kernel_dispatch"


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]
