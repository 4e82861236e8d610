"""Tables for people, one row per call or record, with texts instead of numbers: ``select name, dur from kernels``.

Each is declared as those of the store are, and computed from them when a statement names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.earlier_work import step_lengths
from torch_tb_profiler.analysis.facts.flags import StepFlag
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.sql.readable_schema import (
    ALLOCATIONS,
    ANNOTATIONS,
    COLLECTIVES,
    COPIES,
    COUNTERS,
    CRITICAL_PATH,
    EVENTS,
    FRAMES,
    ITERATIONS,
    KERNELS,
    MEMORY,
    OPERATORS,
    RUNTIME,
    SAMPLES,
    STEPS,
)
from torch_tb_profiler.store.columns import Array, Ints, Table, TableSpec
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

_COUNTER = ord("C")
_STEP_FLAGS = {"cold": StepFlag.COLD, "odd": StepFlag.ODD, "cut": StepFlag.PART}


class Data(msgspec.Struct, frozen=True):
    """What statements are answered from; ``insight`` is called once a statement needs it."""

    trace: Trace
    facts: Facts
    insight: Callable[[], Insight]


class Readable(msgspec.Struct, frozen=True):
    """A table for people; ``insight``: whether it is made from the insight."""

    spec: TableSpec
    columns: Callable[[Data], Mapping[str, Any]]
    insight: bool = False

    def build(self, data: Data) -> Table:
        """Its rows."""
        return self.spec.build(**self.columns(data))


def _at(values: Array, row: Array) -> Array:
    """``values[row]``, −1 where the row is −1."""
    return np.append(values, values.dtype.type(-1))[row]


def _calls(data: Data, row: Ints | slice) -> dict[str, Any]:
    """The columns that all tables of events have, for rows of spans."""
    trace, links = data.trace, data.facts["span_links"]
    spans, tracks = trace["spans"], trace["tracks"]
    start, dur, track = (spans[key][row] for key in ("start", "dur", "track"))
    return {
        "id": np.arange(spans.n, dtype=np.int32)[row],
        "name": spans["name"][row],
        "start": start,
        "dur": dur,
        "stop": start + dur,
        "process": _at(tracks["pid"], track),
        "thread": _at(tracks["tid"], track),
        "step": links["step"][row],
    }


def _of_role(data: Data, *roles: Role) -> Ints:
    return np.flatnonzero(np.isin(data.trace["spans"]["role"], roles))


def _events(data: Data) -> dict[str, Any]:
    spans, links = data.trace["spans"], data.facts["span_links"]
    return _calls(data, slice(None)) | {
        **{key: spans[key] for key in ("category", "role", "correlation")},
        "thread_name": _at(data.trace["tracks"]["thread_name"], spans["track"]),
        **{key: links[key] for key in ("parent", "launch", "operator")},
    }


def _device_work(data: Data, row: Ints, arguments: tuple[str, ...]) -> dict[str, Any]:
    spans, links = data.trace["spans"], data.facts["span_links"]
    operator, launch = links["operator"][row], links["launch"][row]
    calls = _calls(data, row)
    del calls["process"], calls["thread"]
    return calls | {
        "operator": _at(spans["name"], operator),
        "operator_id": operator,
        "launch": launch,
        "launch_name": _at(spans["name"], launch),
        "launch_start": _at(spans["start"], launch),
        "launch_dur": _at(spans["dur"], launch),
        **device_arguments(data.trace, row, arguments),
    }


def _kernels(data: Data) -> dict[str, Any]:
    arguments = tuple(column.name for column in KERNELS.columns[-8:])
    return _device_work(data, _of_role(data, Role.KERNEL), arguments)


def _copies(data: Data) -> dict[str, Any]:
    row = _of_role(data, Role.MEMCPY, Role.MEMSET)
    work = _device_work(data, row, ("device", "stream", "bytes"))
    return work | {"kind": data.trace["spans"]["role"][row]}


def _operators(data: Data) -> dict[str, Any]:
    trace, links = data.trace, data.facts["span_links"]
    spans, row = trace["spans"], _of_role(data, Role.OPERATOR)
    inside = _sums(links["parent"], spans["dur"], spans.n)
    device = np.isin(spans["role"], DEVICE_ROLES)
    launched = _sums(links["operator"][device], spans["dur"][device], spans.n)
    return _calls(data, row) | {
        "self_dur": np.maximum(spans["dur"][row] - inside[row], 0),
        "device_self": launched[row],
        "parent": links["parent"][row],
        **{
            key: operator_arguments(trace, column)[row]
            for key, column in (("shapes", "dims"), ("dtypes", "types"), ("sequence", "sequence"))
        },
    }


def _sums(key: Array, values: Array, n: int) -> Ints:
    """The sum of the values of each key from 0 to n; exact below 2^53 ns, 104 days."""
    known = key >= 0
    return np.bincount(key[known], values[known], n).astype(np.int64)


def _runtime(data: Data) -> dict[str, Any]:
    spans, links = data.trace["spans"], data.facts["span_links"]
    row = _of_role(data, Role.RUNTIME)
    device = np.isin(spans["role"], DEVICE_ROLES)
    operator, launch = links["operator"][row], links["launch"][device]
    return _calls(data, row) | {
        "operator": _at(spans["name"], operator),
        "operator_id": operator,
        "correlation": spans["correlation"][row],
        "launched": np.bincount(launch[launch >= 0], minlength=spans.n)[row],
    }


def _regions(*roles: Role) -> Callable[[Data], dict[str, Any]]:
    def columns(data: Data) -> dict[str, Any]:
        row = _of_role(data, *roles)
        return _calls(data, row) | {"parent": data.facts["span_links"]["parent"][row]}

    return columns


def _annotations(data: Data) -> dict[str, Any]:
    role = data.trace["spans"]["role"][_of_role(data, Role.ANNOTATION, Role.DEVICE_ANNOTATION)]
    made = _regions(Role.ANNOTATION, Role.DEVICE_ANNOTATION)(data)
    return made | {"on_device": role == Role.DEVICE_ANNOTATION}


def _steps(data: Data) -> dict[str, Any]:
    steps = data.facts["steps"]
    kept = {column.name for column in STEPS.columns} & {
        column.name for column in steps.spec.columns
    }
    return {
        "step": np.arange(steps.n),
        **{name: steps[name] for name in kept},
        "dur": step_lengths(steps),
        "stop": steps["end"],
        **{name: steps["flags"] & flag > 0 for name, flag in _STEP_FLAGS.items()},
    }


def _memory(data: Data) -> dict[str, Any]:
    memory, tracks = data.trace["memory"], data.trace["tracks"]
    kept = (
        "time",
        "device_type",
        "device",
        "address",
        "bytes",
        "allocated",
        "reserved",
        "category",
    )
    return {name: memory[name] for name in kept} | {"thread": _at(tracks["tid"], memory["track"])}


def _allocations(data: Data) -> dict[str, Any]:
    insight = data.insight()
    blocks, devices, nodes = (
        insight[name] for name in ("allocations", "memory_devices", "memory_nodes")
    )
    begin, end = blocks["begin"], blocks["end"]
    return {
        "device_type": _at(devices["type"], blocks["device"]),
        "device": _at(devices["id"], blocks["device"]),
        "bytes": blocks["bytes"],
        "start": begin,
        "dur": np.where((begin >= 0) & (end >= 0), end - begin, -1),
        "stop": end,
        "operator": _at(nodes["name"], blocks["node"]),
        "operator_id": _at(nodes["event"], blocks["node"]),
        "line": blocks["line"],
        "category": blocks["category"],
    }


def _collectives(data: Data) -> dict[str, Any]:
    table = data.insight()["collectives"]
    same = (
        "library",
        "group_size",
        "dtype",
        "bytes",
        "sequence",
        "peer",
        "start",
        "step",
        "exposed",
    )
    return {name: table[name] for name in same} | {
        "id": table["event"],
        "name": table["kind"],
        "dur": table["end"] - table["start"],
        "stop": table["end"],
        "process_group": table["group"],
    }


def _critical_path(data: Data) -> dict[str, Any]:
    insight = data.insight()
    path, sums = insight["critical_path"], insight["critical_path_steps"]
    return {
        **{name: path[name] for name in ("step", "start", "cause", "event")},
        "dur": path["end"] - path["start"],
        "stop": path["end"],
        **{name: _at(sums[name], path["group"]) for name in ("name", "operator", "line", "module")},
    }


def _iterations(data: Data) -> dict[str, Any]:
    table, steps = data.facts["iterations"], data.facts["steps"]
    step = table["step"]
    start, end = steps["start"][step], steps["end"][step]
    kept = {column.name for column in ITERATIONS.columns} & {c.name for c in table.spec.columns}
    return {name: table[name] for name in kept} | {
        "start": start,
        "dur": step_lengths(steps)[step],
        "stop": end,
    }


def _counters(data: Data) -> dict[str, Any]:
    table, spans = data.trace["counter_args"], data.trace["spans"]
    row = table["span"]
    return {
        "id": row,
        **{name: spans[name][row] for name in ("name", "start", "dur")},
        "counter": table["counter"],
        "value": table["value"],
    }


def _samples(data: Data) -> dict[str, Any]:
    table, tracks = data.trace["instants"], data.trace["tracks"]
    row = np.flatnonzero(table["phase"] == _COUNTER)
    track = table["track"][row]
    return {name: table[name][row] for name in ("time", "name", "args")} | {
        "process": _at(tracks["pid"], track),
        "process_label": _at(tracks["process_label"], track),
    }


READABLE: dict[str, Readable] = {
    table.spec.name: table
    for table in (
        Readable(STEPS, _steps),
        Readable(KERNELS, _kernels),
        Readable(OPERATORS, _operators),
        Readable(RUNTIME, _runtime),
        Readable(COPIES, _copies),
        Readable(ANNOTATIONS, _annotations),
        Readable(FRAMES, _regions(Role.PYTHON)),
        Readable(EVENTS, _events),
        Readable(CRITICAL_PATH, _critical_path, insight=True),
        Readable(COLLECTIVES, _collectives, insight=True),
        Readable(MEMORY, _memory),
        Readable(ALLOCATIONS, _allocations, insight=True),
        Readable(ITERATIONS, _iterations),
        Readable(COUNTERS, _counters),
        Readable(SAMPLES, _samples),
    )
}
"""By name, those asked for most first."""
