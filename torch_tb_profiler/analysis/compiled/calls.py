"""Calls of what torch.compile made: fused kernels, and what compiled graphs call of libraries.

::

    Torch-Compiled Region: 0/0
      ## Call CompiledFxGraph fal4… ##        graph fal4…
        triton_poi_fused_add_relu_0           a call
        ## inductor_kernel:…mm.default:2 ##   a mark: no call, whatever it encloses
          extern_kernels.mm                   a call (of a library)
            aten::mm
    triton_poi_fused_add_cos_sin_0            a call, of an unknown graph
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, scatter, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.device_causes import latest_before
from torch_tb_profiler.analysis.facts.host_names import distinct, name_mask
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.hardware.fused_names import BACKENDS, fused_name
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, unique_values
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

_GRAPH = regex(r"## Call CompiledFxGraph (\S+) ##")
_MARK = regex(r"## .* ##\Z", re.DOTALL)
_REGION = regex(r"Torch-Compiled Region: (\S+)")
_FUNCTION, _BACKWARD = "CompiledFunction", "CompiledFunctionBackward"


class CompiledCalls(msgspec.Struct, frozen=True):
    """Arrays of shape (calls,), ordered by row.

    row: of spans: the host call; of a fused kernel without one, the kernel.
    within: row of the run of its graph, −1 unknown.
    graph: name of the annotation of its graph, −1 unknown.
    region: name of the region around it, −1 unknown.
    device: ns of device work launched within it; −1 if the trace has no device work.
    """

    row: Ints
    within: Ints
    graph: Ints
    region: Ints
    device: Ints


def compiled_calls(trace: Trace, facts: Facts) -> CompiledCalls:
    """All calls of a trace; none if nothing was compiled."""
    spans, links = trace["spans"], facts["span_links"]
    name, role = spans["name"], spans["role"]
    fused, graphs, regions, marks = _kinds(trace)
    if not (fused.any() or graphs.any()):
        none = np.zeros(0, np.int64)
        return CompiledCalls(none, none, none, none, none)
    parent = links["parent"]
    around = {
        key: nearest(parent, wanted[name] & (role != Role.DEVICE_ANNOTATION))
        for key, wanted in (("graph", graphs), ("region", regions))
    }
    operator = (role == Role.OPERATOR) & (graphs | ~marks)[name]
    # Python frames may stand in between.
    outer = nearest(parent, operator | (graphs[name] & (role == Role.ANNOTATION)))
    outer = np.append(outer, -1)[parent]
    direct = operator & (outer >= 0) & graphs[name[outer]] & ~regions[name]
    is_call = (operator & fused[name]) | direct
    call = nearest(parent, is_call)
    work = np.flatnonzero(np.isin(role, DEVICE_ROLES))
    launcher = np.append(call, -1)[links["operator"][work]]
    device = np.zeros(spans.n, np.int64)
    np.add.at(device, launcher[launcher >= 0], spans["dur"][work[launcher >= 0]])
    # What a graph calls besides kernels makes tensors and views; without a device, any may compute.
    if len(work):
        is_call &= fused[name] | (device > 0)
    alone = work[(launcher < 0) & fused[name[work]]]
    device[alone] = spans["dur"][alone]
    row = unique_values(np.flatnonzero(is_call), alone)
    place = {
        key: np.where(at[row] >= 0, name[at[row]], -1).astype(np.int64)
        for key, at in around.items()
    }
    region = np.where(
        place["region"] >= 0,
        place["region"],
        _regions_of_backward(trace, facts, around["region"])[row],
    )
    device = device[row] if len(work) else np.full(len(row), -1)
    return CompiledCalls(row, around["graph"][row], place["graph"], region, device)


def _regions_of_backward(trace: Trace, facts: Facts, region: Array) -> Ints:
    """Per span within the backward of a compiled function, the name of its forward's region; −1
    elsewhere. Both have one sequence number.
    """
    spans, arguments = trace["spans"], trace["operator_args"]
    row, number = arguments["span"].astype(np.int64), arguments["sequence"]
    name = spans["name"][row]
    made = name_mask(trace.strings, name, lambda text: text.startswith(_FUNCTION))[name]
    undone = name_mask(trace.strings, name, lambda text: text.startswith(_BACKWARD))[name]
    forward = np.flatnonzero(made & ~undone & (number >= 0) & (region[row] >= 0))
    backward = np.flatnonzero(undone & (number >= 0))
    start = spans["start"]
    tied = latest_before(
        number[forward], start[row[forward]], number[backward], start[row[backward]]
    )
    backward, forward = backward[tied >= 0], forward[tied[tied >= 0]]
    of_function = scatter(spans.n + 1, row[backward], spans["name"][region[row[forward]]])
    is_function = mask_of(spans.n, row[backward])
    return of_function[nearest(facts["span_links"]["parent"], is_function)]


def _kinds(trace: Trace) -> Array:
    """Of strings (and −1): names of fused kernels, of graphs, of regions, of marks; bool of shape (4, strings + 1)."""
    kinds = np.zeros((4, len(trace.strings) + 1), np.bool_)
    for number in distinct(trace["spans"]["name"], trace.strings):
        text = trace.strings[number]
        fused = fused_name(text)
        kinds[0, number] = fused is not None and fused.backend != "extern"
        kinds[1, number] = _GRAPH.match(text) is not None
        kinds[2, number] = _REGION.match(text) is not None
        kinds[3, number] = _MARK.match(text) is not None
    return kinds


def graph_of(text: str) -> str:
    """The key of a graph in the name of its annotation; empty without one."""
    match = _GRAPH.match(text)
    return match[1] if match else ""


def region_of(text: str) -> str:
    """The frame and number of a compiled region, like ``0/0``, in its name; empty without one."""
    match = _REGION.match(text)
    return match[1] if match else ""


COMPILED = display_spec("""
compiled: One row per graph and kernel that torch.compile made or called.
    name       code      Kernel           -         Name of the kernel or library call.
    graph      code      Graph            optional  Key of its graph in the cache; None unknown.
    region     code      Region           optional  The compiled region, frame and number; None unknown.
    backend    category  Backend          optional  What it is written in; `library` of calls that were not generated.
    kind       category  Kind             optional  Kind of generated kernel, as pointwise or template; None if its name does not tell.
    fused      code      Fused operators  optional  The operators that it computes, by its name.
    calls      count     Calls            -         Number of calls.
    device_ns  time      Device           optional  Device time; of host kernels unknown.
    host_ns    time      Host             optional  Time of the calls on the host.
""")


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
