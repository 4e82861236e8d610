"""Tables of single calls and samples, with texts instead of numbers: ``select name, dur from kernels``.

Each is declared as those of the store are, and computed from them when a statement names it. What Python has a table of is not
among them: statements ask that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.sql.readable_schema import (
    COPIES,
    COUNTERS,
    EVENTS,
    KERNELS,
    OPERATORS,
    SAMPLES,
)
from torch_tb_profiler.store.columns import Array, Ints, Table, TableSpec
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role
from torch_tb_profiler.tables.source import TableSource

_COUNTER = ord("C")


class Readable(msgspec.Struct, frozen=True):
    """A table for people."""

    spec: TableSpec
    columns: Callable[[TableSource], Mapping[str, Any]]

    def build(self, data: TableSource) -> Table:
        """Its rows."""
        return self.spec.build(**self.columns(data))


def _at(values: Array, row: Array) -> Array:
    """``values[row]``, −1 where the row is −1."""
    return np.append(values, values.dtype.type(-1))[row]


def _calls(data: TableSource, row: Ints | slice) -> dict[str, Any]:
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


def _of_role(data: TableSource, *roles: Role) -> Ints:
    return np.flatnonzero(np.isin(data.trace["spans"]["role"], roles))


def _events(data: TableSource) -> dict[str, Any]:
    spans, links = data.trace["spans"], data.facts["span_links"]
    return _calls(data, slice(None)) | {
        **{key: spans[key] for key in ("category", "role", "correlation")},
        "thread_name": _at(data.trace["tracks"]["thread_name"], spans["track"]),
        **{key: links[key] for key in ("parent", "launch", "operator")},
    }


def _device_work(data: TableSource, row: Ints, arguments: tuple[str, ...]) -> dict[str, Any]:
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


def _kernels(data: TableSource) -> dict[str, Any]:
    arguments = tuple(column.name for column in KERNELS.columns[-8:])
    return _device_work(data, _of_role(data, Role.KERNEL), arguments)


def _copies(data: TableSource) -> dict[str, Any]:
    row = _of_role(data, Role.MEMCPY, Role.MEMSET)
    work = _device_work(data, row, ("device", "stream", "bytes"))
    return work | {"kind": data.trace["spans"]["role"][row]}


def _operators(data: TableSource) -> dict[str, Any]:
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


def _counters(data: TableSource) -> dict[str, Any]:
    table, spans = data.trace["counter_args"], data.trace["spans"]
    row = table["span"]
    return {
        "id": row,
        **{name: spans[name][row] for name in ("name", "start", "dur")},
        "counter": table["counter"],
        "value": table["value"],
    }


def _samples(data: TableSource) -> dict[str, Any]:
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
        Readable(KERNELS, _kernels),
        Readable(OPERATORS, _operators),
        Readable(COPIES, _copies),
        Readable(EVENTS, _events),
        Readable(COUNTERS, _counters),
        Readable(SAMPLES, _samples),
    )
}
"""By name, those asked for most first."""
