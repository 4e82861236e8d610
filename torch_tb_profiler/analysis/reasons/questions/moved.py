"""Time that goes into moving data instead of computing: copies, conversions, other layouts, transfers between host and device.

::

    x.permute(0, 2, 3, 1).contiguous()      [permute][clone ▇▇▇▇ copy_]     layout: every element is read and written, none is new
    model(x.half()).float()                 [to ▇▇][linear ▇][to ▇▇]        conversions: there and back
    batch.to("cuda")                        host [Memcpy ▇▇▇▇▇▇]            blocking_copy: the host stages what is not pinned
                                            gpu  ..........[HtoD ▇▇]        exposed_copies: nothing runs beside it

Of each copy one test speaks: a deep copy, a bucket of gradients, an order in memory and a type are no mere copy of a tensor.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.intervals import intersect, measure, subtract
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.figures.source_lines import OTHERS
from torch_tb_profiler.analysis.findings.edits import (
    calls_gone,
    together,
    work_takes,
)
from torch_tb_profiler.analysis.findings.gaps import LATENCY, Work
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Question,
    Reach,
    RuleContext,
)
from torch_tb_profiler.analysis.what_if.model import Scene
from torch_tb_profiler.analysis.what_if.replay import Durations
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.element_types import kind, precision
from torch_tb_profiler.hardware.kernel_names import HOST_COPY, TO_DEVICE
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values
from torch_tb_profiler.store.insight_schema import PathCause
from torch_tb_profiler.store.roles import Role

QUESTION = Question(__name__)
LONG = 100_000
"""ns that a call that copies takes beyond its launch."""
REPEATS = 10
"""Equal copies in one step, from which on they are repeated ones."""
FEWEST = 4
"""Copies by operators per step, below which no layout flips again and again."""
MANY = 8
"""Conversions per step from which on they are repeated ones."""
_COPYING_CALLS = regex(r"(?:cuda|cu|hip|xpu|musa|aclrt?)Memcpy\w*$")
_PAGEABLE = regex(r"Memcpy .*Pageable")
_WITHIN = regex(r"Memcpy ?D(?:to|2)D|CopyDeviceToDevice|MEMORY_COPY_DEVICE_TO_DEVICE")
_BUCKET = regex(
    r"torch\.distributed\.ddp\.reducer::(?:copy_bucket_to_grad|copy_grad_to_bucket|mul_out)$"
)
_BUFFERS = regex(r"_broadcast_coalesced")
"""DistributedDataParallel's broadcast of buffers."""
_DEEP = regex(r"(?:.*/)?copy\.py\(\d+\): deepcopy$")
_ATEN = regex(r"aten::")
_COPY = regex(r"aten::copy_$")
_COPIES = regex(r"aten::(?:clone|copy_|_foreach_copy_)$")
_CLONE = regex(r"aten::(?:clone|_reshape_copy)$")
_ORDERS = regex(r"aten::(?:contiguous|reshape|flatten|_reshape_copy|reshape_as)$")
_CONVERSIONS = regex(r"aten::(?:to|_to_copy|type_as|copy_|contiguous|clone)$|ToCopyBackward\d$")
_NODE = regex(r"autograd::engine::evaluate_function")
_TURNS = regex(
    r"nchw_?to_?nhwc|nhwc_?to_?nchw|tensorTransform|transpose_(?:NCHW|NHWC)|batched_transpose_\w*_dword",
    re.I,
)


@QUESTION.rule(81, certainty="likely", reach=Reach(0.4, 1.3), of_device=True)
def blocking_copy(context: RuleContext) -> Claims:
    """Calls that copy and hold the host for long although the device has nothing to do: copies of pageable memory are
    staged by the host.

    Evidence: calls of the runtime that copy, of at least 100 µs, and the idle time of the device within them, less what
    their own copies take there. Change: they return at once, and their copies take what they took. Likely.
    """
    length, steps = context.spans["dur"], len(context.steps)
    row = context.runtime_calls(_COPYING_CALLS)
    held = context.idle_in(row[length[row] >= LONG], context.gaps)
    if not len(held.row):
        return None
    call, number = np.unique(held.row, return_inverse=True)
    longest = call[np.bincount(number, weights=held.end - held.start).argmax()]
    numbers = {
        "copies": len(call) / steps,
        "held": intersect(held.time, context.judged).length / steps,
        "longest": int(length[longest]),
    }
    edit = together(context.time_gone(held), _at_once(call))
    return Candidate(held, numbers, {"called": context.name_of(longest)}, edit=edit)


def _at_once(call: Ints) -> Edit:
    """Calls wait for nothing, and what they launched begins as soon as work does on an idle device."""

    def edit(scene: Scene, durations: Durations) -> None:
        waiting = scene.graph.points.call
        durations.waits[(waiting >= 0) & np.isin(waiting, call)] = False
        own = np.isin(scene.graph.work.launch, call)
        durations.latency[own] = np.minimum(durations.latency[own], LATENCY)

    return edit


@QUESTION.rule(88)
def bucket_copies(context: RuleContext) -> Claims:
    """Copies of gradients into the buckets of DistributedDataParallel and back.

    Evidence: what its reducer's regions of these names do, on a device what they launch. Change: they take no time:
    gradients that are views of the buckets are not copied. Certain.
    """
    host = _bucketed(context)
    return _gone(context, host, context.launched_in(host)[0], {"copies": context.per_step(host)})


def _gone(
    context: RuleContext, calls: Ints, work: Work, numbers: dict[str, float], **more: Any
) -> Candidate | None:
    """Calls that need not be, and device work of theirs: that, else themselves; neither takes time."""
    shown = context.pieces(work.row if context.has_device else calls)
    found = Candidate(shown, numbers, edit=calls_gone(calls, work.row), **more)
    return found if len(shown.row) else None


def _bucketed(context: RuleContext) -> Ints:
    return context.within(context.rows_named(context.calls, _BUCKET.match))


@QUESTION.rule(170, certainty="likely", of_device=True)
def repeated_copies(context: RuleContext) -> Claims:
    """Time in which only copies from the host run that repeat one of the same size and place (the operator or Python frame around
    their launch) of the same step, the first left out; at least ten.

    Change: they take no time. Likely: the data may differ.
    """
    copies = context.copies(TO_DEVICE)
    links, python = context.facts["span_links"], context.spans["role"] == Role.PYTHON
    in_frame = climb(context.parent, copies.launch, python) >= 0
    copies = copies.take((links["operator"][copies.row] >= 0) | in_frame)
    paths = context.insight["span_paths"]
    origin = paths["path"] if paths.n == context.spans.n else links["operator"]
    size = device_arguments(context.trace, copies.row, ("bytes",))["bytes"].astype(np.int64)
    first, group = group_rows((links["step"][copies.row], size, origin[copies.row]))
    again = (np.bincount(group, minlength=len(first)) >= REPEATS)[group] & (size > 0)
    again[first] = False
    return _alone(context, copies.take(again), {"bytes": int(size[again].max(initial=0))})


@QUESTION.rule(171, certainty="likely", reach=Reach(0.5, 1.5))
def layout(context: RuleContext) -> Claims:
    """Copies that put a tensor into another order in memory: ``contiguous`` and ``reshape`` that had to copy,
    conversions between channels first and last.

    Evidence: ``aten::contiguous``, ``aten::reshape``, ``aten::flatten`` that the program calls, with an ``aten::clone``
    beneath them that copies, the outermost of them, at least four per step, by names alone, those that files of PyTorch
    call left out; on a device what they launch, and the kernels of libraries that turn channels first into last or back.
    Change: the copies take no time. Likely: a layout that all operators accept has to exist.
    """
    host = _ordering(context)
    if context.per_step(host) < FEWEST:
        host = host[:0]
    work = context.work.take(context.work.kernel)
    inside = context.home(work.launch, host) >= 0
    turns = context.named(work.row, _TURNS.search)
    work = work.take(inside | turns)
    if not len(host) and not len(work.row):
        return None
    count = context.per_step(host) + context.per_step(work.row[turns[inside | turns]])
    names = {"names": context.most_named(host if len(host) else work.row)}
    return _gone(context, host, work, {"copies": count}, words=names)


def _ordering(context: RuleContext) -> Ints:
    """Rows of the operators that copied a tensor into another order, within the windows."""
    copies = context.rows_named(context.operators, _COPY.match)
    above = unique_values(context.parent[copies])
    clones = context.rows_named(above[above >= 0], _CLONE.match)
    is_order = context.named(context.operators, _ORDERS.match)
    orders = context.operators[is_order]
    # What an operator copies by itself the program cannot leave out.
    others = context.operators[~is_order & context.named(context.operators, _ATEN.match)]
    orders = orders[~context.beneath(others)[orders]]
    home = context.home(clones, orders)
    row = context.within(context.outermost(unique_values(home[home >= 0])))
    # In what a Python file of PyTorch calls, nobody keeps another layout.
    caller = climb(context.parent, row, context.rank > 0)
    return np.asarray(row[(caller < 0) | (context.rank[caller] != OTHERS)])


@QUESTION.rule(172, certainty="likely", reach=Reach(0.4, 1.3))
def tensor_copies(context: RuleContext) -> Claims:
    """Tensors that the program copies as they are: ``clone`` and ``copy_`` that it calls itself, copies within a device.

    Evidence: ``aten::clone``, ``aten::copy_`` under no other operator, in no deep copy and no bucket of gradients, which have their own rules; on a device
    what they launch but copies from and to the host, and all copies from device to device. Of calls whose types were recorded only those
    that do not convert. Change: they take no time. Likely: a copy may be needed.
    """
    host = _own(context)
    work = context.work
    launched = context.home(work.launch, host) >= 0
    is_copy = context.spans["role"][work.row] == Role.MEMCPY
    within = is_copy & context.named(work.row, _WITHIN.match)
    hosted = is_copy & context.named(work.row, HOST_COPY.match)
    work = work.take(within | launched & ~hosted)
    if context.has_device:
        # A call that copies from or to the host is none of these.
        launch = context.work.launch[hosted]
        mixed = context.home(launch, host)
        host = host[~np.isin(host, mixed)]
    row = work.row if context.has_device else host
    if not len(row):
        return None
    names = {"names": context.most_named(host if len(host) else row)}
    return _gone(context, host, work, {"copies": context.per_step(row)}, words=names)


def _own(context: RuleContext) -> Ints:
    """Rows of copies that the program calls itself, within the windows."""
    rows = context.within(context.rows_named(context.operators, _COPIES.match))
    rows = context.outside(rows, context.operators)
    frames = context.of_role(Role.PYTHON)
    deep = context.outermost(context.within(context.rows_named(frames, _DEEP.match)))
    others = np.concatenate((deep, _bucketed(context), context.rows_named(frames, _BUFFERS.search)))
    rows = rows[~context.beneath(others)[rows]]
    return np.asarray(rows[~np.isin(rows, context.calls_where(bool, _of_two_types))])


def _of_two_types(call: Call) -> bool:
    types = [tensor.dtype for tensor in map(call.tensor, range(2)) if tensor is not None]
    return len(set(types)) > 1


@QUESTION.rule(175, certainty="likely", reach=Reach(0.4, 1.4))
def conversions(context: RuleContext) -> Claims:
    """Tensors that are converted from one floating type to another and back, in each step.

    Evidence: ``aten::copy_`` between two floating types with the outermost ``aten::to``, ``aten::_to_copy`` … around it,
    where types were recorded, at least eight per step; on a device what they launch. Change: they take no time. Likely where at
    least half of those of the forward pass convert as many tensors of a shape there as back; else theoretical: automatic mixed
    precision converts each weight once.
    """
    copies = context.rows_named(context.operators, _COPY.match)
    copies = copies[context.mask(context.calls_where(_has_two, _converts))[copies]]
    copies = context.within(copies)
    if context.per_step(copies) < MANY:
        return None
    calls = context.rows_named(context.operators, _CONVERSIONS.match)
    around = unique_values(context.home(copies, context.outermost(calls)))
    host = around[around >= 0]
    back = _there_and_back(context, copies)
    return _gone(
        context,
        host,
        context.launched_in(host)[0],
        {"conversions": context.per_step(copies), "back": back / len(context.steps)},
        words={"types": _types(context, copies)},
        certainty="likely" if back else "theoretical",
    )


def _has_two(types: str) -> bool:
    return len(set(re.findall(r'"([^"]*)"', types)) - {"Scalar", ""}) > 1


def _pair(call: Call) -> tuple[str, str]:
    """The types of source and result of a copy."""
    result, source = call.tensor(0), call.tensor(1)
    return (source.dtype if source else ""), (result.dtype if result else "")


def _converts(call: Call) -> bool:
    types, result = _pair(call), call.tensor(0)
    floats = all(kind(one) == "float" for one in types)
    different = precision(types[0]) != precision(types[1])
    return result is not None and bool(result.shape) and floats and different


def _there_and_back(context: RuleContext, copies: Ints) -> int:
    """How many of the forward pass convert a tensor back of a shape that others convert there, if that is the rule."""
    nodes = context.rows_named(context.operators, _NODE.match)
    forward = copies[~context.beneath(nodes)[copies]] if len(nodes) else copies
    found: Counter[tuple[object, ...]] = Counter()
    for call in context.read_arguments(forward).values():
        shape = call.tensor(0)
        source, result = _pair(call)
        found[(shape.shape if shape else (), source, result)] += 1
    pairs = sum(
        min(count, found[(shape, result, source)])
        for (shape, source, result), count in found.items()
    )
    return pairs if len(forward) and 2 * pairs >= len(forward) else 0


def _types(context: RuleContext, copies: Ints) -> str:
    pairs = Counter(_pair(call) for call in context.read_arguments(copies).values())
    [(types, _)] = pairs.most_common(1)
    return " to ".join(precision(one) or one for one in types)


@QUESTION.rule(180, certainty="likely", causes=(PathCause.MEMCPY,), of_device=True)
def exposed_copies(context: RuleContext) -> Claims:
    """Time in which the device runs copies between host and device and nothing else.

    Change: the copies are shorter by what other work could hide of them, at most all of its time. Likely.
    """
    copies = context.copies(HOST_COPY)
    pageable = context.named(copies.row, _PAGEABLE.match)
    if not len(copies.row):
        return None
    numbers = {"pageable": float(np.mean(pageable)), "longest": int(copies.lengths.max())}
    if rate := context.copy_rate(copies):
        numbers["rate"] = rate
    found = _alone(context, copies, numbers)
    others = subtract(context.work.time, found.shown.time)
    hidden = intersect(context.windows, others).length
    taken = int(measure(context.windows, found.shown.start, found.shown.end).sum())
    left = max(1 - hidden / taken, 0.0) if taken else 0.0
    return replace(found, edit=work_takes(copies.row, copies.lengths * left))


def _alone(context: RuleContext, copies: Work, numbers: dict[str, float]) -> Candidate:
    """The time in which of all device work only these copies ran; without them as the change."""
    return Candidate(
        context.alone(copies),
        {"copies": context.per_step(copies.row), **numbers},
        edit=work_takes(copies.row, 0),
    )
