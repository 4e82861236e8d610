"""Draw a trace as text; one column is a microsecond.

::

    main    [ProfilerStep#1                          ]
    main      [aten::mm            ]
    main        <cudaLaunchKernel #7>
    gpu 7             {gemm #7   }

=========  =====================================  ===========================
drawn      what it is                             category
=========  =====================================  ===========================
[name]     operator                               cpu_op
(name)     annotation                             user_annotation
<name #c>  runtime call with correlation c        cuda_runtime
{name #c}  kernel with correlation c              kernel, gpu_memcpy, gpu_memset
/name/     Python frame                           python_function
=========  =====================================  ===========================

A span begins at its first bracket and ends behind its last one. The first word of a line is the
thread; ``gpu S`` is stream S of device 0, ``gpu D:S`` of device D. Names that do not fit are given
by ``names={"a": "aten::mm"}``, further arguments by ``args={"aten::mm": {...}}``, both by the text
drawn. ``ProfilerStep#N`` is an annotation whatever its brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from torch_tb_profiler.analysis.facts.derive import derive
from torch_tb_profiler.importers import read_trace
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.sources.streams import TextInMemory
from torch_tb_profiler.store.model import Facts, Trace

_KINDS = {
    "[": ("]", "cpu_op"),
    "(": (")", "user_annotation"),
    "<": (">", "cuda_runtime"),
    "{": ("}", "kernel"),
    "/": ("/", "python_function"),
}
_LINE = re.compile(r"(gpu \d+(?::\d+)?|\S+)(.*)")
_CORRELATION = re.compile(r"(.*?)\s*#(\d+)$")
_PID = 100

Event = dict[str, Any]


def events(
    drawing: str,
    names: Mapping[str, str] | None = None,
    args: Mapping[str, Mapping[str, Any]] | None = None,
    scale: int = 1,
) -> list[Event]:
    """The entries of ``traceEvents`` of a drawing; ``scale`` is the microseconds of one column."""
    found: list[Event] = []
    threads: dict[str, int] = {}
    for line in filter(str.strip, drawing.splitlines()):
        match = _LINE.match(line.strip())
        assert match, f"no thread in front of {line!r}"
        label = match.group(1)
        track = _place(label, threads)
        indent = len(line) - len(line.lstrip())
        for begin, end, kind, text in _spans(line):
            found.append(
                _event(
                    begin - indent, end - indent, kind, text, track, names or {}, args or {}, scale
                )
            )
    return found


def _place(label: str, threads: dict[str, int]) -> tuple[int, int, int | None]:
    """(pid, tid, device)."""
    if label.startswith("gpu "):
        device, _, stream = label[4:].rpartition(":")
        return int(device or 0), int(stream), int(device or 0)
    return _PID, threads.setdefault(label, 1 + len(threads)), None


def _spans(line: str) -> Iterable[tuple[int, int, str, str]]:
    column = _LINE.match(line.strip()).end(1) + len(line) - len(line.lstrip())  # type: ignore[union-attr]
    while column < len(line):
        if line[column] in _KINDS:
            end = line.index(_KINDS[line[column]][0], column + 1)
            yield column, end + 1, line[column], line[column + 1 : end].strip()
            column = end + 1
        else:
            column += 1


def _event(
    begin: int,
    end: int,
    kind: str,
    text: str,
    track: tuple[int, int, int | None],
    names: Mapping[str, str],
    args: Mapping[str, Mapping[str, Any]],
    scale: int,
) -> Event:
    pid, tid, device = track
    category = _KINDS[kind][1]
    arguments: dict[str, Any] = {}
    drawn, match = text, _CORRELATION.match(text)
    if match and kind in "<{":
        drawn = match.group(1)
        arguments["correlation"] = int(match.group(2))
    name = names.get(drawn, drawn)
    if name.startswith("ProfilerStep#"):
        category = "user_annotation" if device is None else "gpu_user_annotation"
    if category == "kernel" and name.startswith("Memcpy"):
        category = "gpu_memcpy"
    if category == "kernel" and name.startswith("Memset"):
        category = "gpu_memset"
    if device is not None:
        arguments |= {"device": device, "stream": tid}
    arguments |= args.get(text, args.get(drawn, {}))
    return {
        "ph": "X",
        "cat": arguments.pop("cat", category),
        "name": name,
        "pid": pid,
        "tid": tid,
        "ts": begin * scale,
        "dur": (end - begin) * scale,
        "args": arguments,
    }


def text_of(listed: Iterable[Event], **header: Any) -> str:
    """The JSON text of a trace with these entries."""
    return json.dumps({"schemaVersion": 1, **header, "traceEvents": list(listed)})


def trace_of(listed: Iterable[Event], **header: Any) -> Trace:
    """The stored trace of these entries, imported from their JSON text."""
    return read_trace(TextInMemory(text_of(listed, **header).encode()), Settings())


def draw(
    drawing: str,
    names: Mapping[str, str] | None = None,
    args: Mapping[str, Mapping[str, Any]] | None = None,
    scale: int = 1,
    **header: Any,
) -> Trace:
    """The stored trace of a drawing."""
    return trace_of(events(drawing, names, args, scale), **header)


def facts_drawn(drawing: str, *more: Any, **options: Any) -> Facts:
    """The facts of a drawing; further arguments as of ``draw``."""
    return derive(draw(drawing, *more, **options))
