"""Traces for the timeline: each has one thing that is hard to draw, with times that a test can say."""

from __future__ import annotations

from typing import Any

from tests.e2e.traces import Event, event, kernel_args

NS = 0.001
MAIN, SEND = "train.py(12): main", "model.py(30): forward"
MODULE = "nn.Module: Linear_0"
GEMM, RELU = "gemm_kernel", "relu_kernel"


def frame(
    name: str, start: float, dur: float, number: int, parent: int | None, **more: Any
) -> Event:
    """A Python frame as torch writes it."""
    return event(
        "python_function",
        name,
        start,
        dur,
        100,
        100,
        **{"Python id": number, "Python parent id": parent, **more},
    )


def call(
    name: str, number: int, start: float, kernel: str, kernel_start: float, kernel_dur: float
) -> list[Event]:
    """An operator of 80 µs that launches one kernel after 20 µs."""
    shapes = [[64, 32], [32, 16]]
    return [
        event(
            "cpu_op",
            name,
            start,
            80,
            100,
            100,
            **{"External id": number, "Input Dims": shapes, "Input type": ["float", "float"]},
        ),
        event(
            "cuda_runtime",
            "cudaLaunchKernel",
            start + 20,
            10,
            100,
            100,
            correlation=number,
            **{"External id": number},
        ),
        {
            "ph": "s",
            "id": number,
            "pid": 100,
            "tid": 100,
            "ts": start + 20,
            "cat": "ac2g",
            "name": "ac2g",
        },
        event("kernel", kernel, kernel_start, kernel_dur, 0, 7, **kernel_args(number)),
        {
            "ph": "f",
            "id": number,
            "pid": 0,
            "tid": 7,
            "ts": kernel_start,
            "cat": "ac2g",
            "name": "ac2g",
            "bp": "e",
        },
    ]


def chain(calls: int = 12) -> dict[str, Any]:
    """A Python line → a module → an operator → a launch → a kernel, some times over; the third
    product is the slowest.
    """
    events: list[Event] = [frame(MAIN, 0, 1000 * calls + 500, 1, None)]
    for i in range(calls):
        start = 1000.0 * i + 100
        events += [
            frame(MODULE, start, 700, 10 * i + 10, 1, **{"Python module id": 0}),
            frame(SEND, start + 10, 600, 10 * i + 11, 10 * i + 10),
            *call("aten::mm", 2 * i + 1, start + 20, GEMM, start + 60, 300 if i != 2 else 410),
            *call("aten::relu", 2 * i + 2, start + 120, RELU, start + 480, 40),
        ]
    return whole(events)


def overlap() -> dict[str, Any]:
    """Two kernels of one stream of which the second begins while the first runs, and a third after
    both.
    """
    return whole(
        [
            *call("aten::mm", 1, 0, "first_kernel", 100, 300),
            *call("aten::mm", 2, 100, "second_kernel", 250, 300),
            *call("aten::mm", 3, 200, "third_kernel", 700, 100),
        ]
    )


def one_ns_apart() -> dict[str, Any]:
    """Kernels of 6 ns with 1 ns between them, in the middle of a second."""
    at = 500_000.0
    return whole(
        [
            *call("aten::mm", 1, 0, "early_kernel", 100, 300),
            event("kernel", "left_kernel", at, 6 * NS, 0, 7, **kernel_args(11)),
            event("kernel", "right_kernel", at + 7 * NS, 6 * NS, 0, 7, **kernel_args(12)),
            *call("aten::mm", 2, 999_000, "late_kernel", 999_100, 300),
        ]
    )


LEFT_END_NS, RIGHT_START_NS = 500_000_006, 500_000_007
"""Ends of the gap of ``one_ns_apart``, ns after its first event."""


def whole(events: list[Event]) -> dict[str, Any]:
    """A file with these events."""
    process = [
        {"ph": "M", "name": "process_name", "pid": 100, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
        {
            "ph": "M",
            "name": "thread_name",
            "pid": 100,
            "tid": 100,
            "args": {"name": "thread 100 (main)"},
        },
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}},
    ]
    return {
        "schemaVersion": 1,
        "baseTimeNanoseconds": 1_700_000_000_000_000_000,
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
        "traceEvents": [*process, *events],
    }
