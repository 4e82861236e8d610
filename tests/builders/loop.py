"""A training loop of one process, as PyTorch records it: the base from which odd recordings are made.

Each step of 1 ms::

    main     [ProfilerStep#1                                     ]
    main          [aten::mm  ]    [aten::relu]    <synchronize  >
    stream 7             {gemm_kernel      }    {relu_kernel}
             0    100    300 400  500         600 700 750       1000 µs
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Event = dict[str, Any]

BASE_NS = 1_700_000_000_000_000_000
"""``baseTimeNanoseconds`` of a recording that says nothing else."""
FIRST_US = 5_000_000_000
"""Begin of the first step after that, in microseconds."""
STEP_US = 1000


def span(category: str, name: Any, pid: Any, tid: Any, ts: Any, dur: Any, **args: Any) -> Event:
    """One complete event; whoever tests what is wrong with one may pass anything."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def process(pid: int, name: str, label: str) -> list[Event]:
    """What Kineto writes about a process."""
    return [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}},
        {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": label}},
    ]


def launched(
    operator: str,
    kernel: str,
    at: float,
    host_us: float,
    begins: float,
    device_us: float,
    correlation: int,
    *,
    pid: int = 100,
    device: int = 0,
    stream: int = 7,
    external: int | None = None,
) -> list[Event]:
    """An operator, the launch 50 µs (or a fifth of it) into it, the kernel, and the arrow between them."""
    external = external if external is not None else correlation + 2
    launch = at + min(50, host_us / 5)
    return [
        span("cpu_op", operator, pid, pid, at, host_us, **{"External id": external}),
        span(
            "cuda_runtime",
            "cudaLaunchKernel",
            pid,
            pid,
            launch,
            10,
            **{"External id": external, "cbid": 211, "correlation": correlation},
        ),
        span(
            "kernel",
            kernel,
            device,
            stream,
            begins,
            device_us,
            **{
                "External id": external,
                "device": device,
                "context": 1,
                "stream": stream,
                "correlation": correlation,
                "grid": [132, 1, 1],
                "block": [256, 1, 1],
            },
        ),
        {
            "ph": "s",
            "id": correlation,
            "pid": pid,
            "tid": pid,
            "ts": launch,
            "cat": "ac2g",
            "name": "ac2g",
        },
        {
            "ph": "f",
            "id": correlation,
            "pid": device,
            "tid": stream,
            "ts": begins,
            "cat": "ac2g",
            "name": "ac2g",
            "bp": "e",
        },
    ]


def step(
    number: int,
    at: float,
    *,
    pid: int = 100,
    device: int = 0,
    correlation: int | None = None,
    mark: bool = True,
    gemm_us: float = 400,
) -> list[Event]:
    """One step of the base; its two launches have ``correlation`` (twice the number less one) and the next."""
    first = 2 * number - 1 if correlation is None else correlation
    found = (
        [span("user_annotation", f"ProfilerStep#{number}", pid, pid, at, STEP_US)] if mark else []
    )
    found += launched(
        "aten::mm", "gemm_kernel", at + 100, 200, at + 300, gemm_us, first, pid=pid, device=device
    )
    found += launched(
        "aten::relu",
        "relu_kernel",
        at + 400,
        100,
        at + 300 + gemm_us,
        50,
        first + 1,
        pid=pid,
        device=device,
    )
    found.append(
        span(
            "cuda_runtime",
            "cudaDeviceSynchronize",
            pid,
            pid,
            at + 600,
            200,
            correlation=9000 + number,
        )
    )
    return found


def loop(
    steps: int = 3,
    *,
    first: int = 1,
    pid: int = 100,
    device: int = 0,
    begin_us: float = FIRST_US,
    marks: bool = True,
) -> list[Event]:
    """The events of ``steps`` steps."""
    found = process(pid, "python", "CPU") + process(device, "python", f"GPU {device}")
    for k in range(steps):
        found += step(first + k, begin_us + k * STEP_US, pid=pid, device=device, mark=marks)
    return found


def document(
    events: Iterable[Event],
    *,
    rank: int | None = None,
    world: int | None = None,
    base_ns: int | None = BASE_NS,
    **more: Any,
) -> dict[str, Any]:
    """The file as Kineto writes it; with ``rank`` and ``world`` it has ``distributedInfo``."""
    head: dict[str, Any] = {
        "schemaVersion": 1,
        "deviceProperties": [
            {"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132, "computeMajor": 9}
        ],
        "displayTimeUnit": "ms",
    }
    if base_ns is not None:
        head["baseTimeNanoseconds"] = base_ns
    if rank is not None:
        head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    return {**head, **more, "traceEvents": list(events)}
