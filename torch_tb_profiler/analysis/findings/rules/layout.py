"""Copies that put a tensor into another order in memory: ``contiguous`` and ``reshape`` that had to copy,
conversions between channels first and last.

Evidence: ``aten::contiguous``, ``aten::reshape``, ``aten::flatten`` that the program calls, with an ``aten::clone``
beneath them that copies, the outermost of them, at least four per step, by names alone, those that files of PyTorch
call left out; on a device what they launch, and the kernels of libraries that turn channels first into last or back.
On a host also elementwise operators of two tensors that lie in different orders, where strides were recorded. Change:
the copies take no time, those operators as long per element as others. Likely: a layout that all operators accept has
to exist.
"""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.figures.source_lines import OTHERS, line_ranks
from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import calls_gone, own_time_takes, together
from torch_tb_profiler.analysis.findings.operators import (
    beneath,
    most_named,
    outermost,
    read_arguments,
    tensors,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.roles import Role

FEWEST = 4
"""Copies by operators per step, below which no layout flips again and again."""
_ORDERS = re.compile(r"aten::(?:contiguous|reshape|flatten|_reshape_copy|reshape_as)$")
_ATEN = re.compile(r"aten::")
_CLONE = re.compile(r"aten::(?:clone|_reshape_copy)$")
_COPY = re.compile(r"aten::copy_$")
_ELEMENTWISE = re.compile(
    r"aten::(?:mul|add|sub|div|mul_|add_|sub_|div_|where|maximum|minimum|\w+_backward|relu|clamp_min)$"
)
LONG = 100_000
"""ns from which on an elementwise operator is more than its call."""
_TURNS = re.compile(
    r"nchw_?to_?nhwc|nhwc_?to_?nchw|tensorTransform|transpose_(?:NCHW|NHWC)|batched_transpose_\w*_dword",
    re.I,
)


def _claim(context: RuleContext) -> Candidate | None:
    host = ordering(context)
    if context.per_step(host) < FEWEST:
        host = host[:0]
    work = context.work.take(context.work.kernel)
    inside = context.home(work.launch, host) >= 0
    turns = context.named(work.row, _TURNS.search)
    work = work.take(inside | turns)
    if not len(host) and not len(work.row):
        return None
    row = work.row if context.has_device else host
    mixed, factor = (
        _mixed(context) if len(host) and not context.has_device else (host[:0], np.ones(0))
    )
    count = context.per_step(host) + context.per_step(work.row[turns[inside | turns]])
    return Candidate(
        row,
        *context.times(row),
        {"copies": count, "mixed": context.per_step(mixed)},
        {"names": most_named(context, host if len(host) else work.row)},
        edit=together(calls_gone(host, work.row), own_time_takes(mixed, factor)),
    )


def _mixed(context: RuleContext) -> tuple[Ints, Array]:
    """Elementwise operators of two tensors of one shape in different orders, and the share of their time that they take per
    element where the orders are the same: the median of the trace.
    """
    rows = context.within(context.rows_named(context.operators, _ELEMENTWISE.match))
    rows = rows[context.trace["spans"]["dur"][rows] >= LONG]
    rows = np.asarray(rows[~np.isin(rows, context.parent)])
    calls = read_arguments(context, rows)
    found = [(row, *_orders(calls[row])) for row in rows.tolist() if row in calls]
    time = {row: int(context.trace["spans"]["dur"][row]) for row, _, _ in found}
    usual = [time[row] / elements for row, elements, orders in found if elements and orders == 1]
    differ = [(row, elements) for row, elements, orders in found if elements and orders > 1]
    if not usual or not differ:
        return rows[:0], np.ones(0)
    rate = float(np.median(usual))
    factor = [min(rate * elements / time[row], 1.0) for row, elements in differ]
    return np.array([row for row, _ in differ], np.int64), np.array(factor)


def _orders(call: Call) -> tuple[int, int]:
    """Elements of the largest tensors of a call, and in how many orders those of their shape lie in memory."""
    own = [tensor for tensor in tensors(call) if tensor.strides and len(tensor.shape) > 1]
    if not own:
        return 0, 0
    largest = max(own, key=lambda tensor: tensor.elements)
    same = [tensor.strides or () for tensor in own if tensor.shape == largest.shape]
    # Dimensions of one element may have any stride.
    long = [at for at, size in enumerate(largest.shape) if size > 1]
    orders = {tuple(np.argsort([-of[at] for at in long], kind="stable").tolist()) for of in same}
    return largest.elements, len(orders)


def ordering(context: RuleContext) -> Ints:
    """Rows of the operators that copied a tensor into another order, within the windows."""
    copies = context.rows_named(context.operators, _COPY.match)
    above = np.unique(context.parent[copies])
    clones = above[above >= 0]
    clones = context.rows_named(clones, _CLONE.match)
    is_order = context.named(context.operators, _ORDERS.match)
    orders = context.operators[is_order]
    if not len(orders) or not len(clones):
        return np.zeros(0, np.int64)
    # What an operator copies by itself the program cannot leave out.
    others = context.operators[~is_order & context.named(context.operators, _ATEN.match)]
    orders = orders[~beneath(context, others)[orders]]
    home = context.home(clones, orders)
    row = context.within(outermost(context, np.unique(home[home >= 0])))
    return row[~_of_torch(context, row)]


def _of_torch(context: RuleContext, row: Ints) -> Mask:
    """Which operators a Python file of PyTorch calls, in which nobody keeps another layout."""
    spans = context.trace["spans"]
    python = spans["role"] == Role.PYTHON
    rank = np.where(
        python, line_ranks(context.trace.strings, spans["name"][python])[spans["name"]], 0
    )
    caller = climb(context.parent, row, rank > 0)
    return np.asarray((caller >= 0) & (rank[caller] == OTHERS))


RULE = Rule(
    place=171,
    claim=_claim,
    title="Tensors are copied to another memory layout",
    action="Keep one memory layout",
    fact="{copies} layout copies per {step}",
    sentence="""{copies} copies per {step} put tensors into another memory layout{at}; without them the {step} is {gain} ({share}) shorter.""",
    attempt="""Keep one layout: drop permute(...).contiguous() where the next operator takes strides, broadcast along the
    channels (weight.view(-1, 1, 1)) instead of moving them, or convert model and input once with
    to(memory_format=torch.channels_last).""",
    caveat="An operator that needs its input contiguous copies by itself; view() then fails without the copy.",
    views=("overview", "operator", "kernel", "module"),
    certainty="likely",
    cause="Copies to another memory layout cost {gain} of {the_step}",
    without="In one layout",
    links=(
        ("Channels last", links.TUTORIALS + "intermediate/memory_format_tutorial.html"),
        ("Tensor.contiguous", links.DOCS + "generated/torch.Tensor.contiguous.html"),
    ),
    details=(
        ("names", "Most of the time is in {names}."),
        (
            "mixed",
            "{mixed} operators per {step} read tensors of different layouts, which slows them.",
        ),
    ),
    reach=Reach(0.5, 1.5),
    numbers={
        "copies": ("Copies", "count"),
        "mixed": ("Operators of tensors in different layouts", "count"),
    },
)
