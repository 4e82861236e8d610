"""Loops of small operators: stretches of a thread in which the program calls the same operators again and again.

::

    main   [select][linear][tanh][select][linear][tanh][select]…[stack]        [Select…][Tanh…][Addmm…]…
           └────────────────────── forward ───────────────────┘                └ backward, by number ┘

A stretch ends where a name did not occur among the last ``RECENT`` calls and does not occur among the next ones, where
a step ends and after ``PAUSE``. Layers repeat as well, so a stretch with products is a loop only where these share
their weights: the engine evaluates far more products than it accumulates gradients, or modules are called again.
Where neither is known, each round must begin with taking an element out of a tensor.

What remains with one call instead: one round, and the work of all others. An operator's own time up to
``OVERHEAD`` times that of operators which only make views is what a call costs, what is beyond it is work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.intervals import Intervals, measure, union
from torch_tb_profiler.analysis.arrays.nesting import climb
from torch_tb_profiler.analysis.findings.case import Case
from torch_tb_profiler.analysis.findings.edits import rows_mask
from torch_tb_profiler.analysis.module.forwards import EVALUATE
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.roles import Role

RECENT = 32
"""Calls among which a name must occur again."""
PAUSE = 1_000_000
"""ns; two calls further apart are of no loop of small operators."""
ROUNDS = 16
"""Rounds from which on a stretch is a loop."""
UNKNOWN_ROUNDS = 64
"""The same where products may have weights of their own: no usual network has so many layers."""
TAKING = 1 / 12
"""Share of calls that take elements out, at least, where nothing tells whether products share their weights."""
SHARED = 4
"""Products for each weight, from which on they share it."""
OVERHEAD = 4
_VIEWS = re.compile(
    r"aten::(?:t|transpose|as_strided|select|slice|view|detach|expand|unsqueeze|squeeze|permute|alias|narrow)$"
)
_TAKES = re.compile(
    r"aten::(?:select|slice|narrow|item|_local_scalar_dense|index|unbind|index_select|__getitem__)$"
)
_PRODUCTS = re.compile(
    r"aten::(?:linear|matmul|mm|bmm|addmm|baddbmm|addmv|mv|einsum|bilinear|convolution|conv\w+"
    r"|embedding|layer_norm|rms_norm|batch_norm|group_norm|instance_norm|prelu|(?:lstm|gru|rnn\w*)(?:_cell)?"
    r"|scaled_dot_product_attention)$|(?!aten::)"
)
"""Operators that may have weights; those that PyTorch does not define may, too."""
_PRODUCT_BACKWARD = re.compile(
    re.escape(EVALUATE) + r"(?:Addmm|Mm|Bmm|Baddbmm|Mv|\w*Conv\w*|Embedding|Native\w*Norm)Backward"
)
_TAKE_BACKWARD = re.compile(
    re.escape(EVALUATE)
    + r"(?:Select|Slice|Unbind|Narrow|Index|IndexSelect|Split|Stack|Cat)\w*Backward"
)
_ACCUMULATE = EVALUATE + "torch::autograd::AccumulateGrad"


@dataclass(frozen=True)
class Loops:
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


def find_loops(case: Case) -> Loops | None:
    """The loops of the program's thread; None without any."""
    row = outermost(case)
    if len(row) < ROUNDS:
        return None
    stretch = _stretches(case, row)
    first, stop = _bounds(stretch)
    parts = [
        (a, b, rounds)
        for a, b in zip(first.tolist(), stop.tolist(), strict=True)
        if (rounds := _rounds(case, row[a:b])) >= ROUNDS
    ]
    if not parts:
        return None
    work = _Work.of(case)
    parts = [part for part in parts if _is_loop(case, work, row, *part)]
    return _loops(case, work, row, parts) if parts else None


def outermost(case: Case) -> Ints:
    """Operators that the program's thread calls from Python: not from another one, nor from an optimizer, the
    DataLoader or another region.
    """
    spans, parent = case.trace["spans"], case.facts["span_links"]["parent"]
    row = case.within(case.operators[spans["track"][case.operators] == case.main_track])
    names = case.names
    region = np.flatnonzero((spans["role"] == Role.OPERATOR) | (spans["role"] == Role.ANNOTATION))
    region = region[(names.region & (names.step < 0))[spans["name"][region]]]
    called = rows_mask(case.scene, np.concatenate((row, region)))
    return np.asarray(row[climb(parent, parent[row], called) < 0])


def _stretches(case: Case, row: Ints) -> Ints:
    """Number of the stretch of each call, −1 in none."""
    spans = case.trace["spans"]
    name, n = spans["name"][row], len(row)
    engine = case.named(row, lambda text: text.startswith(EVALUATE))
    order = np.argsort(name, kind="stable")
    near = np.zeros(n + 1, np.bool_)
    near[1:-1] = (np.diff(name[order]) == 0) & (np.diff(order) <= RECENT)
    again = np.zeros(n, np.bool_)
    again[order] = near[:-1] | near[1:]
    again &= ~engine
    start, end = case.times(row)
    step = case.facts["span_links"]["step"][row]
    new = np.ones(n, np.bool_)
    new[1:] = (step[1:] != step[:-1]) | (start[1:] - end[:-1] > PAUSE) | ~again[:-1]
    return np.where(again, np.cumsum(new), -1)


def _bounds(stretch: Ints) -> tuple[Ints, Ints]:
    """First and last (excluded) position of each stretch that is long enough."""
    edge = np.flatnonzero(np.diff(stretch, prepend=-2, append=-2))
    first, stop = edge[:-1], edge[1:]
    kept = (stretch[first] >= 0) & (stop - first >= 2 * ROUNDS)
    return first[kept], stop[kept]


def _rounds(case: Case, row: Ints) -> int:
    """How often the loop goes round: most operators are called once in each."""
    return int(np.median(np.unique(case.trace["spans"]["name"][row], return_counts=True)[1]))


@dataclass(frozen=True)
class _Work:
    """Operators on all threads: rows, self time beyond what a call costs, and backward functions."""

    row: Ints
    beyond: Array
    function: Ints
    sequence: Ints
    number: Ints
    accumulated: float

    @classmethod
    def of(cls, case: Case) -> _Work:
        """From the trace."""
        spans, parent = case.trace["spans"], case.facts["span_links"]["parent"].astype(np.int64)
        row = case.operators
        own = spans["dur"][row].astype(np.float64)
        inner = parent[row] >= 0
        called = np.bincount(parent[row[inner]], weights=own[inner], minlength=spans.n)
        own = own - called[row]
        views = own[case.named(row, _VIEWS.match)]
        base = float(np.median(views)) if len(views) else 500.0
        beyond = np.maximum(own - OVERHEAD * base, 0) if not len(case.work.row) else 0 * own
        # Gradients of the rounds are summed, and put in place among zeros: one call does neither.
        engine = case.named(row, lambda text: text.startswith(EVALUATE))
        beyond[engine | rows_mask(case.scene, row[engine])[parent[row]] & _sums(case, row)] = 0
        args = case.trace["operator_args"]
        sequence = np.full(spans.n, -1, np.int64)
        sequence[args["span"]] = args["sequence"]
        function = row[engine & (sequence[row] >= 0)]
        summed = case.within(row[case.named(row, lambda text: text == _ACCUMULATE)])
        return cls(
            row,
            beyond,
            function,
            sequence,
            sequence[function],
            len(summed) / max(len(case.steps), 1),
        )

    def inside(self, case: Case, track: int, start: int, end: int) -> float:
        """Work of operators of a thread within some time, ns."""
        spans = case.trace["spans"]
        a, b = np.searchsorted(spans["start"][self.row], (start, end))
        return float(self.beyond[a:b][spans["track"][self.row[a:b]] == track].sum())


def _sums(case: Case, row: Ints) -> Mask:
    return case.named(row, re.compile(r"aten::add_?$").match)


def _backward(work: _Work, row: Ints, after: int) -> Ints:
    """Backward functions of the calls of a stretch: those whose number was given out within it."""
    low = work.sequence[row]
    low = low[low >= 0]
    if not len(low):
        return np.zeros(0, np.int64)
    high = after if after >= 0 else int(low.max()) + 1
    return work.function[(work.number >= low.min()) & (work.number < high)]


def _after(work: _Work, row: Ints, stop: int) -> int:
    """The number that the first call behind a stretch found; −1 unknown."""
    later = work.sequence[row[stop : stop + RECENT]]
    later = later[later >= 0]
    return int(later[0]) if len(later) else -1


def _is_loop(case: Case, work: _Work, row: Ints, first: int, stop: int, rounds: int) -> bool:
    own = row[first:stop]
    products = own[case.named(own, _PRODUCTS.match)]
    if len(products) < rounds / 2:
        return True
    functions = _backward(work, own, _after(work, row, stop))
    again = int(case.named(functions, _PRODUCT_BACKWARD.match).sum())
    if work.accumulated and again >= len(products) / 2:
        return again >= SHARED * work.accumulated
    distinct = _modules(case, products)
    if distinct:
        return len(products) >= SHARED * distinct
    takes = int(case.named(own, _TAKES.match).sum())
    return rounds >= UNKNOWN_ROUNDS and takes >= TAKING * len(own)


def _modules(case: Case, row: Ints) -> int:
    """In how many distinct modules some calls are; 0 where modules are not known."""
    paths = case.insight["paths"]
    if not (paths["kind"] == PathKind.MODULE).any():
        return 0
    path = np.append(case.insight["span_paths"]["path"], np.int32(-1))[row]
    return len(np.unique(np.append(paths["parent"], np.int32(-1))[path]))


def _loops(case: Case, work: _Work, row: Ints, parts: list[tuple[int, int, int]]) -> Loops:
    spans = case.trace["spans"]
    found: list[tuple[int, int, int, float]] = []
    rounds, backward = [], 0
    for first, stop, number in parts:
        own = row[first:stop]
        begin, end = int(spans["start"][own[0]]), int((spans["start"] + spans["dur"])[own[-1]])
        track = int(spans["track"][own[0]])
        left = _remaining(end - begin, work.inside(case, track, begin, end), number)
        found.append((track, begin, end, left))
        rounds.append(number)
        function = _backward(work, own, _after(work, row, stop))
        gone = case.named(function, _TAKE_BACKWARD.match)
        for one, vanishes in zip(function.tolist(), gone.tolist(), strict=True):
            begin, length, track = (int(spans[key][one]) for key in ("start", "dur", "track"))
            does = 0.0 if vanishes else work.inside(case, track, begin, begin + length)
            found.append((track, begin, begin + length, _remaining(length, does, number)))
            backward += length
    track, begin, end, left = (np.array(column) for column in zip(*found, strict=True))
    return Loops(
        np.concatenate([row[a:b] for a, b, _ in parts]),
        np.concatenate([np.full(b - a, i) for i, (a, b, _) in enumerate(parts)]),
        np.array(rounds),
        track,
        begin,
        end,
        left,
        backward,
    )


def _remaining(length: int, work: float, rounds: int) -> float:
    """Share of the time of a loop that remains with one call: its work, and one round of the rest."""
    does = min(work, length)
    return (does + (length - does) / rounds) / length if length else 1.0


def idle_share(case: Case, start: Ints, end: Ints) -> float:
    """Share of some time in which the device waits for the host; 1 without one."""
    if not len(case.work.row):
        return 1.0
    time: Intervals = union(start, end)
    gaps = case.gaps.take(case.gaps.for_host)
    return float(measure(time, gaps.start, gaps.end).sum()) / max(time.length, 1)
