"""Traces that hypothesis makes up: short times, so that everything meets everything, in
nanoseconds.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.builders.drawn import Event
from tests.builders.loop import span

NAMES = ("aten::mm", "aten::add", "ADD", "Straße", "gemm<float>", "ncclDevKernel_AllReduce", "")
CATEGORIES = (
    "cpu_op",
    "python_function",
    "user_annotation",
    "cuda_runtime",
    "kernel",
    "gpu_memcpy",
    "cuda_sync",
)
ON_DEVICE = ("kernel", "gpu_memcpy", "cuda_sync")
LAST = 40


def _event(category: str, name: str, thread: int, start: int, dur: int, shapes: str) -> Event:
    device = category in ON_DEVICE
    args: dict[str, Any] = (
        {"device": thread, "stream": 7, "grid": [thread, 1, 1]}
        if device
        else {"Input Dims": shapes}
    )
    return span(
        category,
        name,
        thread if device else 100,
        7 if device else thread,
        start / 1000,
        dur / 1000,
        **args,
    )


def _point(phase: str, name: str, time: int, value: int) -> Event:
    return {
        "ph": phase,
        "cat": "x",
        "name": name,
        "pid": 100,
        "tid": 1,
        "ts": time / 1000,
        "s": "t",
        "args": {"value": value},
    }


spans = st.builds(
    _event,
    st.sampled_from(CATEGORIES),
    st.sampled_from(NAMES),
    st.integers(1, 2),
    st.integers(0, LAST),
    st.integers(0, 12),
    st.sampled_from(["[[2, 3]]", "[[2, 3], [3, 4]]", "[]"]),
)
points = st.builds(
    _point,
    st.sampled_from("iC"),
    st.sampled_from(NAMES),
    st.integers(-3, LAST + 5),
    st.integers(0, 3),
)
traces = st.builds(
    lambda spans, points: spans + points,
    st.lists(spans, min_size=1, max_size=25),
    st.lists(points, max_size=6),
)
"""The entries of a trace."""
windows = st.tuples(st.integers(0, LAST + 15), st.integers(1, LAST + 15)).map(
    lambda x: (x[0], x[0] + x[1])
)
"""Begin and end of a window that is not empty."""
