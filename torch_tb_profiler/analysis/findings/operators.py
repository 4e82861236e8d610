"""What the rules know of operators: their recorded arguments, where they were called, and their own time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import costliest, group_rows, positions_of
from torch_tb_profiler.analysis.arrays.intervals import window_at
from torch_tb_profiler.analysis.arrays.nesting import nearest, with_ancestors
from torch_tb_profiler.analysis.facts.host_names import name_mask
from torch_tb_profiler.analysis.figures.kernels import short_name
from torch_tb_profiler.analysis.findings.candidate import Candidate
from torch_tb_profiler.analysis.findings.edits import calls_gone, host_takes_each, work_scaled
from torch_tb_profiler.analysis.findings.rule_context import RuleContext, Work
from torch_tb_profiler.analysis.what_if.simulation import Edit
from torch_tb_profiler.hardware.call import Call, Tensor, read_call
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints, Mask, unique_values
from torch_tb_profiler.store.roles import DEVICE_ROLES

LEAST_OWN_NS = 10_000
"""ns of an operator's own time on the host, below which it is mostly its call."""

_MASKS = regex(r"aten::(?:bernoulli_?|native_dropout|_fused_dropout)$")
_DROPOUT = regex(
    r"aten::(?:(?:feature_|alpha_|feature_alpha_)?dropout_?|native_dropout|_fused_dropout)$"
)


def own_times(context: RuleContext) -> Ints:
    """Of each span, the time that no span beneath it takes, ns; int64 of shape (spans,)."""
    spans, parent = context.trace["spans"], context.parent
    own = spans["dur"].astype(np.int64)
    inner = np.flatnonzero(parent >= 0)
    np.subtract.at(own, parent[inner], spans["dur"][inner])
    return np.maximum(own, 0)


def calls_where(
    context: RuleContext, mentions: Callable[[str], object], says: Callable[[Call], object]
) -> Ints:
    """Rows of operators whose recorded types are a text that ``mentions`` something, and whose arguments
    satisfy ``says``; asked once per distinct arguments.
    """
    table, texts = context.trace["operator_args"], context.trace.strings
    if not table.n:
        return np.zeros(0, np.int64)
    place = np.flatnonzero(name_mask(texts, table["types"], mentions)[table["types"]])
    columns = [table[key][place] for key in ("dims", "types")]
    first, group = group_rows(columns)
    chosen = np.zeros(len(first), np.bool_)
    for number, row in enumerate(first.tolist()):
        numbers = (int(column[row]) for column in columns)
        call = read_call("", *(texts[one] if one >= 0 else "" for one in numbers))
        chosen[number] = call is not None and bool(says(call))
    return np.asarray(table["span"][place[chosen[group]]].astype(np.int64))


def read_arguments(context: RuleContext, rows: Ints) -> dict[int, Call]:
    """What some operators were called with, by row of spans; those whose shapes were not recorded are left out."""
    table, texts = context.trace["operator_args"], context.trace.strings
    place = positions_of(table["span"], rows)
    rows, place = rows[place >= 0], place[place >= 0]
    columns = [table[key][place] for key in ("dims", "types", "strides", "concrete")]
    columns.insert(0, context.trace["spans"]["name"][rows])
    first, group = group_rows(columns)
    calls = []
    for row in first.tolist():
        numbers = (int(column[row]) for column in columns)
        calls.append(read_call(*(texts[number] if number >= 0 else "" for number in numbers)))
    found = zip(rows.tolist(), (calls[number] for number in group.tolist()), strict=True)
    return {row: call for row, call in found if call is not None}


def launched_in(context: RuleContext, calls: Ints) -> tuple[Work, Ints]:
    """The device work that was launched in some calls, and the position of its call among them (ascending)."""
    home = context.home(context.work.launch, calls)
    return context.work.take(home >= 0), positions_of(np.sort(calls), home[home >= 0])


def launched_during(context: RuleContext, track: Array, start: Ints, end: Ints) -> Mask:
    """Which of the device's work was launched in stretches of threads; those of a thread do not overlap."""
    spans, launch = context.trace["spans"], context.work.launch
    width = int(spans["start"][-1]) + 1
    first = track.astype(np.int64) * width
    order = np.argsort(first + start, kind="stable")
    begin, until = (first + start)[order], (first + np.minimum(end, width))[order]
    called = spans["track"][launch].astype(np.int64) * width + spans["start"][launch]
    return np.asarray((launch >= 0) & (window_at(begin, until, called) >= 0))


def times_of_calls(context: RuleContext, calls: Ints) -> Array:
    """ns of each of some calls (ascending): of the device work that they launched, where there is none their own."""
    work, call = launched_in(context, calls)
    if len(work.row):
        return np.bincount(call, weights=work.end - work.start, minlength=len(calls))
    return context.trace["spans"]["dur"][calls].astype(np.float64)


def calls_take(context: RuleContext, calls: Ints, factor: Array) -> Edit:
    """Each of some calls (ascending), none within another, takes ``factor`` times as long: the device work that they
    launched, where there is none they themselves.
    """
    work, call = launched_in(context, calls)
    return work_scaled(work.row, factor[call]) if len(work.row) else host_takes_each(calls, factor)


def calls_for_nothing(
    context: RuleContext, calls: Ints, numbers: dict[str, float], **more: Any
) -> Candidate:
    """Calls that need not be: what they launch on a device, else themselves, and as their change neither takes time."""
    work, _ = launched_in(context, calls)
    row = work.row if context.has_device else calls
    return Candidate(row, *context.times(row), numbers, edit=calls_gone(calls, work.row), **more)


def tensors(call: Call) -> Iterator[Tensor]:
    """All tensors among the arguments of a call, those in lists too."""
    for argument in call.inputs:
        if isinstance(argument, Tensor):
            yield argument
        else:
            yield from argument or ()


def holds_type(*types: str) -> Callable[[Call], bool]:
    """Whether a call gets a tensor of one of some element types that is no single number."""
    return lambda call: any(tensor.shape and tensor.dtype in types for tensor in tensors(call))


def beneath(context: RuleContext, outer: Ints) -> Mask:
    """Which spans are among ``outer`` or lie within one of them, on the same thread; bool of shape
    (spans,).
    """
    return np.asarray(nearest(context.parent, context.mask(outer)) >= 0)


def outermost(context: RuleContext, rows: Ints) -> Ints:
    """Those of some spans that lie in no other of them."""
    return outside(context, rows, rows)


def outside(context: RuleContext, rows: Ints, others: Ints) -> Ints:
    """Those of some spans that lie in none of ``others``, themselves aside."""
    return rows[context.home(context.parent[rows], others) < 0]


def launching(context: RuleContext) -> Mask:
    """Which spans launched device work, or hold one that did; bool of shape (spans,)."""
    launches = context.mask(context.work.launch[context.work.launch >= 0])
    return with_ancestors(context.parent, launches)


def most_named(context: RuleContext, rows: Ints, time: Ints | None = None) -> str:
    """The name of most of some spans by ``time``, ns (None: their length); of a kernel without its types."""
    spans = context.trace["spans"]
    time = spans["dur"][rows] if time is None else time
    most, _ = costliest(spans["name"][rows], time)
    first = rows[most][0]
    text = context.name_of(first)
    return short_name(text) if spans["role"][first] in DEVICE_ROLES else text


def active_dropout(context: RuleContext) -> Ints:
    """The outermost operators of dropout that make a mask, rows of spans."""
    dropout = context.rows_named(context.operators, _DROPOUT.match)
    if not len(dropout):
        return dropout
    masks = context.rows_named(context.operators, _MASKS.match)
    makes = unique_values(context.home(masks, dropout))
    return context.within(outermost(context, makes[makes >= 0]))
