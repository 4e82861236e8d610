"""Loops of small operators: stretches of a thread in which the program calls the same operators again and again.

::

    main   [select][linear][tanh][select][linear][tanh][select]…[stack]        [Select…][Tanh…][Addmm…]…
           └────────────────────── forward ───────────────────┘                └ backward, by number ┘

A stretch ends where a name did not occur among the last ``RECENT`` calls and does not occur among the next ones, where
a step ends and after ``PAUSE``. Layers repeat as well, so a stretch with products is a loop only where these share
their weights: the engine evaluates far more products than it accumulates gradients, or modules are called again.
Where neither is known, each round must begin with taking an element out of a tensor.

What remains with one call instead: one round, and the work of all others. An operator's own time up to
``OVERHEAD`` (of products ``PRODUCT_OVERHEAD``) times that of operators which only make views is what a call costs, what is
beyond it is work.
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import expand_ranges, picked
from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, union
from torch_tb_profiler.analysis.findings.backward_calls import PAUSE, BackwardCalls
from torch_tb_profiler.analysis.findings.rule_context import RuleContext
from torch_tb_profiler.analysis.module.forwards import EVALUATE
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.insight_schema import PathKind

RECENT = 32
"""Calls among which a name must occur again."""
ROUNDS = 16
"""Rounds from which on a stretch is a loop."""
UNKNOWN_ROUNDS, UNKNOWN_CALLS = 40, 16
"""Rounds and calls of a loop where products may have weights of their own, and most calls of a round: hardly a network has so many layers
of so few calls. In each round an element is taken out.
"""
SHARED = 4
"""Products for each weight, from which on they share it."""
OVERHEAD, PRODUCT_OVERHEAD = 5, 10
"""Times what operators take that only make views: results are allocated and their shapes checked, and libraries of products
prepare more.
"""
SMALL = 0.5
"""Share of the time of half of the loops that work may take."""
_VIEWS = regex(
    r"aten::(?:t|transpose|as_strided|select|slice|view|detach|expand|unsqueeze|squeeze|permute|alias|narrow)$"
)
_TAKES = regex(r"aten::(?:select|slice|narrow|item|_local_scalar_dense|index|index_select)$")
_PRODUCTS = regex(
    r"aten::(?:linear|matmul|mm|bmm|addmm|baddbmm|addmv|mv|einsum|bilinear|_?\w*convolution|conv\w+"
    r"|embedding|layer_norm|rms_norm|batch_norm|group_norm|instance_norm|prelu|(?:lstm|gru|rnn\w*)(?:_cell)?"
    r"|scaled_dot_product_attention)$|(?!aten::)"
)
"""Operators that may have weights; those that PyTorch does not define may, too."""
_PRODUCT_BACKWARD = regex(
    re.escape(EVALUATE) + r"(?:Addmm|Mm|Bmm|Baddbmm|Mv|\w*Conv\w*|Embedding|Native\w*Norm)Backward"
)
_TAKE_BACKWARD = regex(
    re.escape(EVALUATE)
    + r"(?:Select|Slice|Unbind|Narrow|Index|IndexSelect|Split|Stack|Cat)\w*Backward"
)
_ENGINES = regex(r"autograd::engine::|torch\.(?:distributed|autograd)|torch::|aten::as_strided$")
"""Calls that the program does not make itself: backward functions and their hooks."""
_SUMS = regex(r"aten::add_?$")
_ACCUMULATE = EVALUATE + "torch::autograd::AccumulateGrad"


class Loops(msgspec.Struct, frozen=True):
    """Loops of small operators.

    row: outermost operators of all forward stretches, in order. stretch: number of the stretch of each.
    track, start, end: stretches and the backward functions that belong to them, ns. factor: of their time, what
    remains. backward: ns of all backward functions of the loops.
    """

    row: Ints
    stretch: Ints
    rounds: Ints
    track: Ints
    start: Ints
    end: Ints
    factor: Array
    backward: int


def find_loops(context: RuleContext) -> Loops | None:
    """The loops of the program's thread; None without any."""
    row = context.program_calls
    if len(row) < ROUNDS:
        return None
    stretch = _stretches(context, row)
    parts = [
        (a, b, rounds)
        for a, b in _joined(context, row, *_bounds(stretch))
        if (rounds := _rounds(context, row[a:b])) >= ROUNDS
    ]
    if not parts:
        return None
    work = CallWork.of(context)
    parts = [part for part in parts if _is_loop(context, work, row, *part)]
    return _loops(context, work, row, parts) if parts else None


def _stretches(context: RuleContext, row: Ints) -> Ints:
    """Number of the stretch of each call, −1 in none."""
    spans = context.trace["spans"]
    name, n = spans["name"][row], len(row)
    engine = context.named(row, _ENGINES.match)
    order = np.argsort(name, kind="stable")
    near = np.zeros(n + 1, np.bool_)
    near[1:-1] = (np.diff(name[order]) == 0) & (np.diff(order) <= RECENT)
    again = np.zeros(n, np.bool_)
    again[order] = near[:-1] | near[1:]
    again &= ~engine
    start, end = context.times(row)
    step = context.facts["span_links"]["step"][row]
    new = np.ones(n, np.bool_)
    new[1:] = (step[1:] != step[:-1]) | (start[1:] - end[:-1] > PAUSE) | ~again[:-1]
    return np.where(again, np.cumsum(new), -1)


def _bounds(stretch: Ints) -> tuple[Ints, Ints]:
    """First and last (excluded) position of each stretch that is long enough."""
    edge = np.flatnonzero(np.diff(stretch, prepend=-2, append=-2))
    first, stop = edge[:-1], edge[1:]
    kept = (stretch[first] >= 0) & (stop - first >= 2 * ROUNDS)
    return first[kept], stop[kept]


def _joined(context: RuleContext, row: Ints, first: Ints, stop: Ints) -> list[tuple[int, int]]:
    """Stretches of a step between which there is nothing but a pause, no longer than both of them, are one."""
    start, end = context.times(row)
    step = context.facts["span_links"]["step"][row]
    joined: list[tuple[int, int]] = []
    for a, b in zip(first.tolist(), stop.tolist(), strict=True):
        if joined and joined[-1][1] == a and step[a] == step[a - 1]:
            begin = joined[-1][0]
            pause = start[a] - end[a - 1]
            if 2 * pause <= end[b - 1] - start[begin]:
                joined[-1] = begin, b
                continue
        joined.append((a, b))
    return joined


def _rounds(context: RuleContext, row: Ints) -> int:
    """How often the loop goes round: most operators are called once in each."""
    return int(np.median(np.unique(context.trace["spans"]["name"][row], return_counts=True)[1]))


class CallWork(msgspec.Struct, frozen=True):
    """What operators do beyond what a call costs: ``before[i]`` ns in all calls before the i-th, ordered by ``key``, which
    is (track, begin) as one number; ``width``: of a track. backward: functions; accumulated: gradients per step.
    """

    key: Ints
    before: Array
    width: int
    backward: BackwardCalls
    accumulated: float

    @classmethod
    def of(cls, context: RuleContext) -> CallWork:
        """From the trace."""
        spans, parent = context.trace["spans"], context.parent
        row = context.operators
        own = spans["dur"][row].astype(np.float64)
        inner = parent[row] >= 0
        called = np.bincount(parent[row[inner]], weights=own[inner], minlength=spans.n)
        own = own - called[row]
        views = own[context.named(row, _VIEWS.match)]
        base = float(np.median(views)) if len(views) else float(own.min())
        costs = base * np.where(context.named(row, _PRODUCTS.match), PRODUCT_OVERHEAD, OVERHEAD)
        # With a device the host only calls.
        beyond = np.zeros(len(row)) if context.has_device else np.maximum(own - costs, 0)
        # Gradients of the rounds are summed, and put in place among zeros: one call does neither.
        engine = context.named(row, lambda text: text.startswith(EVALUATE))
        in_engine = np.append(context.mask(row[engine]), np.False_)[parent[row]]
        beyond[engine | in_engine & context.named(row, _SUMS.match)] = 0
        summed = context.within(context.rows_named(row, lambda text: text == _ACCUMULATE))
        width = int(spans["start"][-1]) + 1
        key = spans["track"][row].astype(np.int64) * width + spans["start"][row]
        order = np.argsort(key, kind="stable")
        before = np.concatenate(([0.0], np.cumsum(beyond[order])))
        each = len(summed) / max(len(context.steps), 1)
        return cls(key[order], before, width, context.backward_calls, each)

    def inside(self, track: Array, start: Ints, end: Ints) -> Array:
        """Work of calls that begin in stretches of threads, ns."""
        first = track.astype(np.int64) * self.width
        a, b = (
            np.searchsorted(self.key, first + np.minimum(time, self.width)) for time in (start, end)
        )
        return np.asarray(self.before[b] - self.before[a])


def _backward(work: CallWork, row: Ints, first: int, stop: int) -> Ints:
    """Backward functions of the calls of a stretch."""
    calls = work.backward
    low = calls.after(row[first:stop])
    high = calls.after(row[stop : stop + RECENT])
    last = int(calls.sequence[row[first:stop]].max()) + 1
    return calls.within(low, high if high >= 0 else last)


def _is_loop(
    context: RuleContext, work: CallWork, row: Ints, first: int, stop: int, rounds: int
) -> bool:
    own = row[first:stop]
    products = context.rows_named(own, _PRODUCTS.match)
    if len(products) < rounds / 2:
        return True
    functions = _backward(work, row, first, stop)
    again = int(context.named(functions, _PRODUCT_BACKWARD.match).sum())
    if work.accumulated and again >= len(products) / 2:
        return again >= SHARED * work.accumulated
    distinct = _modules(context, products)
    if distinct:
        return len(products) >= SHARED * distinct
    takes = int(context.named(own, _TAKES.match).sum())
    return rounds >= UNKNOWN_ROUNDS and takes >= rounds and len(own) <= UNKNOWN_CALLS * rounds


def _modules(context: RuleContext, row: Ints) -> int:
    """In how many distinct modules some calls are; 0 where modules are not known."""
    paths = context.insight["paths"]
    if not (paths["kind"] == PathKind.MODULE).any():
        return 0
    path = picked(context.insight["span_paths"]["path"], row)
    return len(np.unique(picked(paths["parent"], path)))


def _loops(
    context: RuleContext, work: CallWork, row: Ints, parts: list[tuple[int, int, int]]
) -> Loops | None:
    first, stop, rounds = (np.array(column) for column in zip(*parts, strict=True))
    functions = [_backward(work, row, a, b) for a, b, _ in parts]
    function = np.concatenate(functions)
    of = np.concatenate(
        (np.arange(len(first)), np.repeat(np.arange(len(first)), [*map(len, functions)]))
    )
    start, end = context.times(np.concatenate((row[first], function)))
    end[: len(first)] = context.times(row[stop - 1])[1]
    start[len(first) :] = work.backward.begins(function)
    track = context.trace["spans"]["track"][np.concatenate((row[first], function))]
    does = np.minimum(work.inside(track, start, end), end - start)
    does[len(first) :][context.named(function, _TAKE_BACKWARD.match)] = 0
    left = does + (end - start - does) / rounds[of]
    # Where work takes more than the calls, they are not small.
    if np.median(np.bincount(of, left) / np.bincount(of, end - start)) > SMALL:
        return None
    return Loops(
        row[expand_ranges(first, stop - first)],
        np.repeat(np.arange(len(first)), stop - first),
        rounds,
        track,
        start,
        end,
        left / np.maximum(end - start, 1),
        int((end - start)[len(first) :].sum()),
    )


def idle_share(context: RuleContext, start: Ints, end: Ints) -> float:
    """Share of some time in which the device waits for the host; 1 without one."""
    if not context.has_device:
        return 1.0
    time: Intervals = union(start, end)
    gaps = context.gaps.take(context.gaps.for_host)
    return float(measure(time, gaps.start, gaps.end).sum()) / max(time.length, 1)
