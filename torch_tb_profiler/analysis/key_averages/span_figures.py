"""What a single event took: its own time, memory and FLOPs, for every row of spans.

::

    [aten::linear              ]     self 60 ns, of 100        memory + 64 while it was open
      [aten::addmm     ]             self 40 ns                FLOPs of its own shapes
              + 64 bytes
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, sum_by
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.analysis.key_averages.allocations import allocated_within
from torch_tb_profiler.analysis.key_averages.call_stacks import backward_calls
from torch_tb_profiler.analysis.key_averages.function_events import is_asynchronous
from torch_tb_profiler.analysis.key_averages.groups import BACKWARD_FUNCTION, USER_SCOPE
from torch_tb_profiler.hardware.call import read_call
from torch_tb_profiler.hardware.work import model_of, work_of
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import DEVICE_ROLES, Role

_SIGNATURE = ("dims", "types", "strides", "concrete")


class SpanFigures(msgspec.Struct, frozen=True):
    """Arrays of shape (spans,); −1 unknown.

    own: ns; of host spans without those that they call directly, of others their duration.
    memory: ``(known, host bytes, device bytes)``: allocated less released while a host span was
        open; ``known`` is a mask, all False if no allocations were recorded.
    flops: of an operator with a performance model, by its recorded shapes.
    is_async: may end on another thread than it began on.
    scope: ``at::RecordScope`` as far as a file tells, see ``groups.scopes``.
    """

    own: Ints
    memory: tuple[Mask, Ints, Ints]
    flops: Ints
    is_async: Mask
    scope: Ints


def span_figures(trace: Trace, facts: Facts) -> SpanFigures:
    """The figures of every span."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    device = np.isin(spans["role"], (*DEVICE_ROLES, Role.DEVICE_ANNOTATION))
    inner = np.flatnonzero(parent >= 0)
    called = sum_by(parent[inner], spans.n, spans["dur"][inner])
    title = name_mask(trace.strings, spans["name"], is_asynchronous)[spans["name"]]
    return SpanFigures(
        np.where(device, spans["dur"], np.maximum(spans["dur"] - called, 0)),
        _memory(trace, device),
        _flops(trace),
        np.asarray(title & ~device),
        _scope(trace, parent),
    )


def _scope(trace: Trace, parent: Array) -> Ints:
    spans, operator = trace["spans"], trace["spans"]["role"] == Role.OPERATOR
    thread = operator_arguments(trace, "forward_thread")[:-1]
    scope = np.where(spans["role"] == Role.ANNOTATION, USER_SCOPE, -1)
    scope[backward_calls(trace.strings, spans["name"], parent, thread, operator)] = (
        BACKWARD_FUNCTION
    )
    return scope


def _memory(trace: Trace, device: Mask) -> tuple[Mask, Ints, Ints]:
    spans, nothing = trace["spans"], np.zeros(trace["spans"].n, np.int64)
    if not trace["memory"].n:
        return np.zeros(spans.n, np.bool_), nothing, nothing
    start = spans["start"]
    (host, accelerator), _ = allocated_within(trace, start, start + spans["dur"])
    return ~device, host, accelerator


def _flops(trace: Trace) -> Ints:
    arguments, spans, strings = trace["operator_args"], trace["spans"], trace.strings
    flops = np.full(spans.n, -1, np.int64)
    name = spans["name"][arguments["span"]]
    modelled = name_mask(strings, name, lambda text: model_of(text) is not None)
    rows = np.flatnonzero((arguments["dims"] >= 0) & modelled[name])
    if not len(rows):
        return flops
    columns: list[Array] = [name[rows], *(arguments[key][rows] for key in _SIGNATURE)]
    first, group = group_rows(columns)
    each = []
    for numbers in zip(*(column[first].tolist() for column in columns), strict=True):
        call = read_call(*(strings[number] if number >= 0 else "" for number in numbers))
        work = work_of(call) if call is not None else None
        each.append(-1 if work is None else work.flops)
    flops[arguments["span"][rows]] = np.array(each, np.int64)[group]
    return flops
