"""Traces of the legacy ``torch.autograd.profiler``: events without categories; the process tells.

::

    {"name": "aten::mm", "ph": "X", "pid": "CPU functions", "tid": 1, …}      an operator
    {"name": "aten::mm", "ph": "X", "pid": "CUDA functions", "tid": 0, …}     its work on device 0 (up to PyTorch 1.7)
    {"ph": "s", "cat": "cpu_to_cuda", "id": 4, …} {"ph": "f", …}              from the operator to it

With ``use_cuda`` that work is the time between two events around the operator, which encloses that
of the operators called::

    host     [aten::conv2d       [aten::cudnn_convolution   ]]
    device   (aten::conv2d   {aten::cudnn_convolution   }    )       only the innermost counts as a kernel

Source: ``EventList.export_chrome_trace`` in ``torch/autograd/profiler.py`` (0.4 to 1.7) and
``profiler_util.py`` (later; without device events).
"""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.importers.events import Event
from torch_tb_profiler.importers.intel_scopes import begins_with
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role

_HOST = "CPU functions"
_PROCESS = regex(r"\w+ functions")
_FLOW = "cpu_to_"
_NUMBER = regex(r"\d{1,8}", re.ASCII)
_COPY = regex(r"\bmem(cpy|set)", re.IGNORECASE)


def legacy_category(event: Event) -> str | None:
    """Kineto's category for an event without one; None if the legacy profiler did not write it."""
    if event.pid == _HOST:
        return "cpu_op"
    if not isinstance(event.pid, str) or _PROCESS.fullmatch(event.pid) is None:
        return None
    copy = _COPY.search(event.name or "")
    return f"gpu_mem{copy.group(1).lower()}" if copy else "kernel"


def tie_legacy(trace: Trace) -> Trace:
    """The trace with device work linked to operators by their flows; other traces unchanged."""
    flows, spans = trace["flows"], trace["spans"]
    rows = np.flatnonzero(begins_with(trace, flows["category"], _FLOW))
    work = np.flatnonzero((spans["role"] >= Role.KERNEL) & (spans["role"] <= Role.MEMSET))
    if not len(rows) or not len(work):
        return trace
    operator = _operators(trace, rows, work)
    external = spans["external"].copy()
    known = operator >= 0
    external[work[known]] = external[operator[known]] = operator[known] + 1
    role, of_same_name = spans["role"].copy(), spans["name"][work] == spans["name"][operator]
    role[_enclosing(trace, work[known & of_same_name])] = Role.DEVICE_ANNOTATION
    arguments = trace["device_args"]
    tables = {
        **trace.tables,
        "spans": spans.replace(external=external, role=role),
        "device_args": arguments.replace(device=_devices(trace, arguments["span"])),
    }
    return replace(trace, tables=tables)


def _operators(trace: Trace, rows: Ints, work: Ints) -> Ints:
    """For each piece of work the row of the operator at the other end of its flow, −1 none.

    Among operators that begin together, the one with the work's name.
    """
    spans, flows = trace["spans"], trace["flows"]
    name = spans["name"].tolist()
    calls: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in np.flatnonzero(spans["role"] == Role.OPERATOR).tolist():
        calls[int(spans["track"][row]), int(spans["start"][row])].append(row)
    waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, row in enumerate(work.tolist()):
        waiting[int(spans["track"][row]), int(spans["start"][row])].append(position)
    begins: dict[int, tuple[int, int]] = {}
    operator = np.full(len(work), -1, np.int64)
    flow_ends = zip(
        *(flows[key][rows].tolist() for key in ("phase", "id", "track", "time")), strict=True
    )
    for phase, number, track, time in sorted(flow_ends, key=lambda flow: flow[0] != ord("s")):
        if phase == ord("s"):
            begins[number] = track, time
        elif (
            number in begins
            and waiting.get((track, time))
            and (callers := calls.get(begins[number]))
        ):
            position = waiting[track, time].pop(0)
            same = [row for row in callers if name[row] == name[work[position]]]
            operator[position] = (same or callers)[-1]
    return operator


def _enclosing(trace: Trace, rows: Ints) -> list[int]:
    """The rows (of rows in table order) that enclose a later one of their track."""
    spans = trace["spans"].take(rows)
    open_: dict[int, list[tuple[int, int]]] = defaultdict(list)
    enclosing: set[int] = set()
    columns = (rows, spans["track"], spans["start"], spans["start"] + spans["dur"])
    for row, track, start, end in zip(*(c.tolist() for c in columns), strict=True):
        stack = open_[track]
        while stack and stack[-1][1] <= start:
            stack.pop()
        if stack and end <= stack[-1][1]:
            enclosing.add(stack[-1][0])
        stack.append((row, end))
    return sorted(enclosing)


def _devices(trace: Trace, rows: Ints) -> Array:
    """The device of each piece of work: its thread's number."""
    texts = trace.strings.many(trace["tracks"]["tid"])
    numbers = [int(text) if _NUMBER.fullmatch(text) else -1 for text in texts]
    return np.array(numbers, np.int64)[trace["spans"]["track"][rows]]
