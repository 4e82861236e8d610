"""The table of compiled kernels."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.compiled.calls import (
    compiled_calls,
    graph_of,
    region_of,
)
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.fused_names import BACKENDS, fused_name
from torch_tb_profiler.store.display import DisplayColumn, DisplaySpec, DisplayTable
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

_C = DisplayColumn
_GRAPH = "Key of its graph in the cache; None unknown."
_REGION = "The compiled region, frame and number; None unknown."
_BACKEND = "What it is written in; `library` of calls that were not generated."
_KIND = "Kind of generated kernel, as pointwise or template; None if its name does not tell."
_FUSED = "The operators that it computes, by its name."
_DEVICE = "Device time; of host kernels unknown."
COMPILED = DisplaySpec(
    "compiled",
    "One row per graph and kernel that torch.compile made or called.",
    (
        _C("name", "code", "Kernel", "Name of the kernel or library call."),
        _C("graph", "code", "Graph", _GRAPH, optional=True),
        _C("region", "code", "Region", _REGION, optional=True),
        _C("backend", "category", "Backend", _BACKEND, optional=True),
        _C("kind", "category", "Kind", _KIND, optional=True),
        _C("fused", "code", "Fused operators", _FUSED, optional=True),
        _C("calls", "count", "Calls", "Number of calls."),
        _C("device_ns", "time", "Device", _DEVICE, optional=True),
        _C("host_ns", "time", "Host", "Time of the calls on the host.", optional=True),
    ),
)


def compiled_table(trace: Trace, facts: Facts, selection: Selection) -> DisplayTable:
    """One row per compiled kernel; the largest device time first, then host time."""
    calls = compiled_calls(trace, facts)
    spans, links = trace["spans"], facts["span_links"]
    chosen = mask(selection, links["step"][calls.row])
    row, graph, region, device = (
        column[chosen] for column in (calls.row, calls.graph, calls.region, calls.device)
    )
    name = spans["name"][row].astype(np.int64)
    first, group = group_rows((name, graph, region))
    n = len(first)
    is_host = spans["role"][row] == Role.OPERATOR
    host = sum_by(group, n, np.where(is_host, spans["dur"][row], 0))
    names = trace.strings.many(name[first])
    keys = [graph_of(trace.strings[int(number)]) for number in graph[first]]
    regions = [region_of(trace.strings[int(number)]) for number in region[first]]
    fused = [fused_name(text) for text in names]
    table = COMPILED.build(
        trace.strings,
        name=names,
        graph=[key or None for key in keys],
        region=[region or None for region in regions],
        backend=[BACKENDS.get(of.backend if of else "", "library") for of in fused],
        kind=[(of.kind or None) if of else None for of in fused],
        fused=[_functions(text) for text in names],
        calls=np.bincount(group, minlength=n),
        device_ns=sum_by(group, n, device) if (device >= 0).all() else np.full(n, -1),
        host_ns=np.where(sum_by(group, n, is_host.astype(np.int64)) > 0, host, -1),
    )
    return table.take(np.lexsort((-host, -table["device_ns"])))


def _functions(name: str) -> str | None:
    """What a kernel computes, by its name."""
    fused = fused_name(name)
    functions = fused.functions if fused else (name.rpartition("::")[2],)
    return ", ".join(functions) or None
