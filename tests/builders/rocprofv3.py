"""What rocprofv3 writes of one process: ``.pftrace``, and ``results.json``.

::

    THREAD 0       [hipLaunchKernel 1]                                     call
    STREAM [0]                       {gemm 1      }  {HOST_TO_DEVICE 100}  kernel, copy of an agent
                   0    10          100          300  400              450 µs
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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


def pftrace(records: Sequence[Record], *, by_queue: bool = False, pid: int = 4242) -> bytes:
    """The Perfetto file; ``by_queue``: with a track per queue in place of streams."""
    file = PerfettoFile()
    file.process(10, pid, "python")
    tracks: dict[object, int] = {}
    for record in records:
        uuid = tracks.setdefault(_track(record, by_queue), 11 + len(tracks))
        if uuid == 10 + len(tracks):
            if isinstance(record, Call):
                file.thread(uuid, pid, record.thread, "python", parent=10)
            else:
                file.track(uuid, name=str(_track(record, by_queue)))
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
                "agent": record.agent,
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
                "src_agent": record.ends[0],
                "dst_agent": record.ends[1],
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


def _handle(agent: int) -> int:
    return agent * 8 + 3


def _track(record: Record, by_queue: bool) -> object:
    if isinstance(record, Call):
        return record.thread
    if not by_queue:
        return f"STREAM [{record.stream}] "
    if isinstance(record, Kernel):
        return f"COMPUTE AGENT [{record.agent}] QUEUE [{record.queue}] (GPU)"
    return f"COPY to AGENT [{record.ends[1]}] THREAD [0] (GPU)"


def _named(record: Record) -> tuple[str, str]:
    if isinstance(record, Copy):
        return COPY_KINDS[record.kind], "memory_copy"
    return record.name, record.category if isinstance(record, Call) else "kernel_dispatch"


def _product(sizes: tuple[int, int, int]) -> int:
    return sizes[0] * sizes[1] * sizes[2]
