"""Write a trace as a list, one event a line: ``thread kind name@begin+length [eID] [cID] [{more
arguments}]``, times in microseconds.

::

    123       note  ProfilerStep#1@100+300 e1
    123       op    aten::mm@120+50 e2
    123       call  cudaLaunchKernel@130+5 e2 c7
    gpu 0:7   kernel gemm@140+60 e2 c7 {"grid": [1, 1, 1]}

``e`` is the ``External id``, ``c`` the ``correlation``; ``gpu D:S`` is stream S of device D. This
is how the reference on the original plugin notes the inputs of its tests, so that these can stand
here line by line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.builders.drawn import Event, trace_of
from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.store.model import Facts, Trace

CATEGORY = {
    "op": "cpu_op",
    "note": "user_annotation",
    "call": "cuda_runtime",
    "kernel": "kernel",
    "copy": "gpu_memcpy",
    "set": "gpu_memset",
    "shadow": "gpu_user_annotation",
    "frame": "python_function",
}
_LINE = re.compile(
    r"(?P<thread>gpu"
    r" \d+:\d+|\S+)\s+(?P<kind>[a-z]+)\s+(?P<name>.+?)@(?P<ts>[\d.]+)\+(?P<dur>[\d.]+)"
    r"(?:\s+e(?P<external>\d+))?(?:\s+c(?P<correlation>\d+))?(?:\s+(?P<more>\{.*\}))?$"
)
PID = 13721


def listed(text: str) -> list[Event]:
    """The entries of ``traceEvents`` of a list."""
    return [_event(line.strip()) for line in text.splitlines() if line.strip()]


def _event(line: str) -> Event:
    match = _LINE.match(line)
    assert match, f"not an event: {line!r}"
    arguments: dict[str, Any] = {}
    for key, name in (("external", "External id"), ("correlation", "correlation")):
        if match[key] is not None:
            arguments[name] = int(match[key])
    pid: int = PID
    tid: int | str = int(match["thread"]) if match["thread"].isdigit() else match["thread"]
    if match["thread"].startswith("gpu "):
        device, stream = (int(part) for part in match["thread"][4:].split(":"))
        pid, tid = device, f"stream {stream}"
        arguments |= {"device": device, "stream": stream}
    arguments |= json.loads(match["more"] or "{}")
    return {
        "ph": "X",
        "cat": CATEGORY[match["kind"]],
        "name": match["name"],
        "pid": pid,
        "tid": tid,
        "ts": float(match["ts"]),
        "dur": float(match["dur"]),
        "args": arguments,
    }


def trace_listed(text: str, **header: Any) -> Trace:
    """The stored trace of a list."""
    return trace_of(listed(text), **header)


def facts_listed(text: str, **header: Any) -> Facts:
    """The facts of a list."""
    return derive(trace_listed(text, **header))
