"""Small traces for the browser: three steps on one thread and one stream, the second step twice as
long.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.builders.loop import span

Event = dict[str, Any]

STACK = "train.py(12): forward;model.py(30): block;main.py(3): <module>"
KERNEL = "void cutlass::gemm_kernel<float, 128>(Params)"


def event(
    category: str, name: str, ts: float, dur: float, pid: int | str, tid: int | str, **args: Any
) -> Event:
    """A complete event; times in µs."""
    return span(category, name, pid, tid, ts, dur, **args)


def step(number: int, start: float, scale: float) -> list[Event]:
    """One step: a matrix product that launches one kernel, and a rectifier that launches another."""
    first, second = 10 * number, 10 * number + 1
    return [
        event("user_annotation", f"ProfilerStep#{number}", start, 400 * scale, 100, 100),
        event(
            "cpu_op",
            "aten::mm",
            start + 20,
            100,
            100,
            100,
            **{"External id": first, "Input Dims": [[64, 32], [32, 16]], "Call stack": STACK},
        ),
        event(
            "cuda_runtime",
            "cudaLaunchKernel",
            start + 40,
            10,
            100,
            100,
            correlation=first,
            **{"External id": first},
        ),
        event("kernel", KERNEL, start + 60, 200 * scale, 0, 7, **kernel_args(first)),
        event(
            "cpu_op",
            "aten::relu",
            start + 140,
            50,
            100,
            100,
            **{"External id": second, "Input Dims": [[64, 16]]},
        ),
        event(
            "cuda_runtime",
            "cudaLaunchKernel",
            start + 150,
            10,
            100,
            100,
            correlation=second,
            **{"External id": second},
        ),
        event("kernel", "relu_kernel", start + 60 + 200 * scale, 40, 0, 7, **kernel_args(second)),
    ]


def kernel_args(correlation: int) -> dict[str, Any]:
    """What Kineto writes beside a kernel."""
    return {
        "device": 0,
        "context": 1,
        "stream": 7,
        "correlation": correlation,
        "External id": correlation,
        "registers per thread": 32,
        "shared memory": 1024,
        "blocks per SM": 0.5,
        "grid": [64, 1, 1],
        "block": [128, 1, 1],
        "est. achieved occupancy %": 40,
    }


def trace(first_step: int = 3) -> dict[str, Any]:
    """A whole file."""
    events = [
        e
        for i, (start, scale) in enumerate(((1000, 1), (2000, 2), (3000, 1)))
        for e in step(first_step + i, start, scale)
    ]
    return {
        "schemaVersion": 1,
        "deviceProperties": [
            {
                "id": 0,
                "name": "Example GPU",
                "totalGlobalMem": 16 << 30,
                "computeMajor": 8,
                "computeMinor": 0,
                "numSms": 80,
            }
        ],
        "traceEvents": events,
    }


def write(path: Path, content: dict[str, Any] | str) -> Path:
    """Write a trace (or a text that is none) and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path
