"""Machinery that runs and that nothing recorded needs: checks of gradients, random masks, gradients, searches, optimizers made anew.

Evidence, by what it is:

- anomaly detection: backward functions check their gradients for NaN (``aten::_is_any_true`` called by
  ``autograd::engine::evaluate_function``, which nothing else does), and operators of the forward pass keep the Python stack
  (``format_stack`` called by an operator);
- dropout that makes a mask, or calls what does, where nothing has a backward pass; with it goes all but the products of attention that
  takes its plain path on a host because of it;
- gradients that are filled with zeros beneath ``Optimizer.zero_grad`` and added to beneath ``AccumulateGrad``;
- gradients that no optimizer takes: ``AccumulateGrad`` of at least ``FEWEST`` parameters per step whose shape no operator in any
  ``Optimizer.step`` gets, or more of a shape in one backward pass than parameters of it are updated (of those the last), after the last
  one that some operator there gets; only where all that an optimizer does is known (its
  operators have their shapes, long lists are not, all device work is theirs, and they touch no other shapes than parameters have). Shapes
  that the program itself writes in place count as updated::

      updated in a step        2 of (64, 64)
      one backward pass        AccumulateGrad (64, 64)  ×4: two are of a model that nobody trains

- optimizers that are made in each step: in every ``Optimizer.step`` at least one tensor per parameter is filled with zeros, as else in the first
  alone; where Python was recorded, ``Optimizer.__init__`` ran as well;
- ``find_unused_parameters=True`` of DistributedDataParallel where every parameter is used: it searches the graph in each forward pass, marks each
  parameter in its hook, sends the marks (one more all_reduce) and reads one per parameter; as many gradients as parameters are copied.

Change: all of that takes no time. Certain; gradients that no optimizer takes and optimizers made anew are likely, as is dropout
unless sequence numbers tell that gradients were off. Wrong where what uses it was not recorded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.findings.candidate import Certainty
from torch_tb_profiler.analysis.findings.edits import calls_gone, together
from torch_tb_profiler.analysis.findings.rule import (
    Candidate,
    Claims,
    Pieces,
    Question,
    RuleContext,
)
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.results import Shape
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, Mask, unique_values
from torch_tb_profiler.store.roles import Role

FEWEST = 4
"""Parameters per step without an update from which on they are frozen layers."""
_DOCS = "https://docs.pytorch.org/docs/stable/"
_CHECKS = regex(r"aten::(?:isnan|_is_any_true|item)$")
_SURE = "aten::_is_any_true"
_NODE = regex(r"autograd::engine::evaluate_function")
_STACK = regex(r"(?:^|.*/)traceback\.py\(\d+\): format_stack$")
_PLAIN = regex(r"aten::_scaled_dot_product_attention_math$")
_PRODUCT = regex(r"aten::(?:bmm|baddbmm)$")
_ZERO = regex(r"aten::(?:zero_|_foreach_zero_)$")
_SUM = regex(r"aten::add_?$")
_GRADIENT = regex(r"torch::autograd::AccumulateGrad$")
_LIST = regex(r"aten::_(?:foreach|fused)_")
_STATE = regex(r"aten::(?:zeros_like|new_zeros|zeros)$")
_MADE = regex(r"(?:^|.*/)torch/optim/\w+\.py\(\d+\): __init__$")
_WRITES = regex(r"aten::(?:_foreach_)?(?:add|sub|copy|lerp|addcdiv|addcmul)_$")
_REDUCER = "torch.distributed.ddp.reducer::"
_HOOKED = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"


class _Machine(msgspec.Struct, frozen=True):
    """What runs in vain: calls (rows of spans), device work that goes with them, and parts of other calls."""

    calls: Ints
    numbers: dict[str, float]
    work: Ints | None = None
    parts: Pieces | None = None
    certainty: Certainty = "certain"


def _claim(context: RuleContext) -> Claims:
    found = ((kind, find(context), texts) for kind, (find, *texts) in _MACHINES.items())
    return [
        _candidate(
            context, machine, {"what": kind, "action": action, "attempt": attempt, "source": source}
        )
        for kind, machine, (action, attempt, source) in found
        if machine is not None
    ]


def _candidate(context: RuleContext, machine: _Machine, words: dict[str, str]) -> Candidate:
    work = context.launched_in(machine.calls)[0].row if machine.work is None else machine.work
    edit = calls_gone(machine.calls, work)
    shown = context.pieces(work if context.has_device and len(work) else machine.calls)
    if machine.parts is not None:
        edit = together(edit, context.time_gone(machine.parts))
        shown += machine.parts
    return Candidate(shown, machine.numbers, words, certainty=machine.certainty, edit=edit)


def _anomaly(context: RuleContext) -> _Machine | None:
    spans, parent = context.spans, context.parent
    checks = context.rows_named(context.of_role(Role.OPERATOR), _CHECKS.match)
    checks = checks[parent[checks] >= 0]
    checks = checks[context.named(parent[checks], _NODE.match)]
    sure = context.rows_named(checks, _SURE.__eq__)
    checks = checks[np.isin(parent[checks], parent[sure])]
    stacks = context.rows_named(context.of_role(Role.PYTHON), _STACK.match)
    stacks = stacks[parent[stacks] >= 0]
    stacks = stacks[spans["role"][parent[stacks]] == Role.OPERATOR]
    if not len(checks) and not len(stacks):
        return None
    return _Machine(
        unique_values(checks, stacks),
        {"checks": context.per_step(sure), "stacks": context.per_step(stacks)},
    )


def _dropout(context: RuleContext) -> _Machine | None:
    if len(context.training.differentiated) or context.training.backward.any():
        return None
    row = context.active_dropout
    if not len(row):
        return None
    attention = context.within(context.rows_named(context.operators, _PLAIN.match))
    attention = unique_values(context.home(row, attention)) if not context.has_device else row[:0]
    attention = attention[attention >= 0]
    sequence = context.trace["operator_args"]["sequence"]
    told = bool(len(sequence)) and not (sequence >= 0).any()
    return _Machine(
        row,
        {"masks": context.per_step(row), "attention": context.per_step(attention)},
        context.work.row[context.home(context.operator_of(context.work.row), row) >= 0],
        _without_products(context, attention) if len(attention) else None,
        "certain" if told else "likely",
    )


def _without_products(context: RuleContext, calls: Ints) -> Pieces:
    """The time of some calls between the products in them."""
    inside = context.operators[context.beneath(calls)[context.operators]]
    product = context.rows_named(inside, _PRODUCT.match)
    home = context.home(product, calls)
    row, begin, until = [], [], []
    for one in calls.tolist():
        own_start, own_end = context.times(np.sort(product[home == one]))
        start, end = context.times(np.array([one]))
        begin.append(np.append(start, own_end))
        until.append(np.append(own_start, end))
        row.append(np.full(len(own_end) + 1, one))
    return Pieces(np.concatenate(row), np.concatenate(begin), np.concatenate(until))


def _zeros(context: RuleContext) -> _Machine | None:
    zeros = context.rows_named(context.operators, _ZERO.match)
    named = context.rows_named(context.calls, lambda name: name.startswith("Optimizer.zero_grad#"))
    region = context.within(named)
    zeros = context.outermost(zeros[context.beneath(region)[zeros]]) if len(region) else region
    if not len(zeros):
        return None
    nodes = context.rows_named(context.operators, _GRADIENT.match)
    sums = context.within(context.rows_named(context.operators, _SUM.match))
    sums = context.outermost(sums[context.home(sums, nodes) >= 0])
    return _Machine(
        np.sort(np.concatenate((zeros, sums))),
        {"fills": context.per_step(zeros), "sums": context.per_step(sums)},
    )


def _frozen(context: RuleContext) -> _Machine | None:
    gradients = _gradients(context)
    if len(gradients) < FEWEST or len(context.collectives):
        return None
    touched, own = _touched(context), context.read_arguments(gradients)
    given = [next(own[row].every, None) if row in own else None for row in gradients.tolist()]
    shapes: list[Shape] = [tensor.shape for tensor in given if tensor is not None]
    if not touched or len(shapes) < len(given) or not touched.keys() <= set(shapes):
        return None
    free, seen = _written(context), Counter[tuple[int, Shape]]()
    used = np.zeros(len(gradients), np.bool_)
    forward = context.program_calls[~context.training.backward[context.program_calls]]
    # Between two backward passes the program itself calls something.
    passes = context.begun(forward, context.spans["start"][gradients]).tolist()
    for at, (number, shape) in enumerate(zip(passes, shapes, strict=True)):
        used[at] = (
            shape in free or math.prod(shape) <= 1 or seen[number, shape] < touched.get(shape, 0)
        )
        seen[number, shape] += 1
    row, unused = _between(context, gradients, used)
    steps = len(context.steps)
    if len(unused) < FEWEST * steps:
        return None
    numbers = {"frozen": len(unused) / steps, "updated": int(used.sum()) / steps}
    return _Machine(row, numbers, certainty="likely")


def _gradients(context: RuleContext) -> Ints:
    """The accumulations of gradients of parameters."""
    return context.within(context.rows_named(context.operators, _GRADIENT.match))


def _touched(context: RuleContext) -> dict[Shape, float]:
    """Shapes that the optimizers' operators get, and of how many parameters per step: as many as each of the operators that get
    all of them gets first. Empty where that is not known of all.
    """
    region = context.updates
    if not len(region):
        return {}
    inside = context.outermost(context.operators[context.beneath(region)[context.operators]])
    calls = context.read_arguments(inside)
    listed = context.named(inside, _LIST.match).tolist()
    for row, several in zip(inside.tolist(), listed, strict=True):
        if several and (row not in calls or not isinstance(calls[row].inputs[0], tuple)):
            return {}
    if len(context.launched_in(inside)[0].row) < len(context.launched_in(region)[0].row):
        return {}
    every = {one.shape for call in calls.values() for one in call.every if one.elements > 1}
    first: dict[str, Counter[Shape]] = {}
    for row, call in calls.items():
        first.setdefault(context.name_of(row), Counter()).update(_first(call))
    complete = [shapes for shapes in first.values() if every <= shapes.keys()]
    steps = len(context.steps)
    return {
        shape: min((shapes[shape] for shapes in complete), default=math.inf) / steps
        for shape in every
    }


def _written(context: RuleContext) -> set[Shape]:
    """Shapes that the program writes in place by itself."""
    calls = context.read_arguments(context.rows_named(context.program_calls, _WRITES.match))
    return {shape for call in calls.values() for shape in _first(call)}


def _first(call: Call) -> list[Shape]:
    """Shapes of the tensors that a call gets first: of one, or of a list."""
    first = call.inputs[0] if call.inputs else None
    several = first if isinstance(first, tuple) else (first,)
    return [one.shape for one in several if one is not None]


def _state(context: RuleContext) -> _Machine | None:
    filled = context.rows_named(context.operators, _STATE.match)
    filled = context.within(context.outermost(filled[context.beneath(context.updates)[filled]]))
    gradients = _gradients(context)
    made = context.within(context.rows_named(context.of_role(Role.PYTHON), _MADE.match))
    step, steps = context.facts["span_links"]["step"], len(context.steps)
    least = max(len(gradients) / steps, FEWEST)
    often = np.bincount(step[filled], minlength=1)
    told = len(unique_values(step[made])) == steps or not len(context.of_role(Role.PYTHON))
    if steps < 2 or np.count_nonzero(often >= least) < steps or not told:
        return None
    return _Machine(
        filled,
        {"states": len(filled) / steps},
        parts=context.pieces(context.outermost(made)) if len(made) else None,
        certainty="likely",
    )


def _between(context: RuleContext, gradients: Ints, used: Mask) -> tuple[Ints, Ints]:
    """The engine's calls between the last gradient of a step that is used and the last one that is not; and the accumulations
    among them.
    """
    start, step = context.spans["start"], context.facts["span_links"]["step"]
    first, last = (context.last_begin(gradients[one]) for one in (used, ~used))
    last[last == np.iinfo(np.int64).max] = 0

    def inside(row: Ints) -> Ints:
        after = start[row] > first[step[row]]
        return np.asarray(row[after & (start[row] <= last[step[row]])])

    return inside(context.within(context.backward_functions)), inside(gradients)


def _search(context: RuleContext) -> _Machine | None:
    def count(name: str) -> int:
        return len(context.within(context.rows_named(context.calls, name.__eq__)))

    searches = (f"{_REDUCER}search_unused_parameters").__eq__
    search = context.within(context.rows_named(context.calls, searches))
    if not len(search):
        return None
    marked, read = _marks(context)
    used = count("torch::distributed::reducer::mul_out") or count("torch::autograd::AccumulateGrad")
    total = count(f"{_REDUCER}copy_bucket_to_grad") or len(context.within(read)) // 2
    if not total or used != total:
        return None
    sent, call = _sent(context, search, read)
    numbers = {"parameters": total / len(search), "searches": len(search) / len(context.steps)}
    numbers["sent"] = float(len(sent) > 0)
    return _Machine(np.concatenate((search, marked, read, call)), numbers, sent)


def _marks(context: RuleContext) -> tuple[Ints, Ints]:
    """Of each parameter ``marks[i] = 1`` in its hook, and ``marks[i].item()`` before its gradient is copied: rows of both."""
    spans, parent, calls = context.spans, context.parent, context.of_role(Role.OPERATOR)
    calls = calls[np.lexsort((spans["start"][calls], parent[calls], spans["track"][calls]))]
    above, track = parent[calls], spans["track"][calls]
    names = "aten::select", "aten::fill_", "aten::item", f"{_REDUCER}copy_bucket_to_grad", _HOOKED
    select, fill, item, copy, hooked = (context.named(calls, name.__eq__) for name in names)
    beside = (above[1:] == above[:-1]) & (track[1:] == track[:-1])

    def before(some: Mask) -> Mask:
        """Which calls have one of some as the next beside them."""
        return np.append(some[1:] & beside, np.False_)

    filled = fill & np.append(context.mask(calls[hooked]), np.False_)[above] & (above >= 0)
    marked = filled | (select & before(filled))
    read = item & np.append(np.False_, (select & before(item))[:-1])
    # One after the other, or each before its copy: a single ``x[i].item()`` is the user's.
    read &= before(copy) | before(select) | np.append(np.False_, copy[:-1] & beside)
    return calls[marked], calls[read | (select & before(read))]


def _sent(context: RuleContext, search: Ints, read: Ints) -> tuple[Ints, Ints]:
    """``(event, call)`` of the all_reduce that sends the marks: the last one between a search and the first mark that is
    read; of gradients alone there is one less.
    """
    table, spans = context.insight["collectives"], context.spans
    mine = (table["kind"] == context.insight.strings.number("all_reduce")) & (table["host"] >= 0)
    row = np.flatnonzero(mine)
    begin = spans["start"][table["host"][row]]
    row, begin = row[np.argsort(begin, kind="stable")], np.sort(begin, kind="stable")
    searched, seen = np.sort(spans["start"][search]), np.sort(spans["start"][read])
    if not len(row) or not len(seen):
        return row[:0], row[:0]
    first = seen[np.minimum(np.searchsorted(seen, searched), len(seen) - 1)]
    low, high = (np.searchsorted(begin, time) for time in (searched, first))
    several = high - low >= 2
    last = row[high[several] - 1]
    types = context.insight.strings.many(table["dtype"][last])
    last = last[np.array([not text or "int" in text.lower() for text in types], np.bool_)]
    return table["event"][last].astype(np.int64), table["host"][last].astype(np.int64)


_MACHINES: dict[str, tuple[Callable[[RuleContext], _Machine | None], str, str, str]] = {
    "anomaly detection": (
        _anomaly,
        "Turn anomaly detection off",
        "Remove torch.autograd.set_detect_anomaly(True) or detect_anomaly(): it is for finding a NaN, not for training.",
        f"Anomaly detection\n{_DOCS}autograd.html#torch.autograd.set_detect_anomaly",
    ),
    "dropout without a backward pass": (
        _dropout,
        "Call model.eval() before inference",
        """Call model.eval() before inference, or pass dropout_p=0.0 (scaled_dot_product_attention) and training=self.training
    (functional.dropout): torch.no_grad() alone leaves dropout on.""",
        f"Module.eval\n{_DOCS}generated/torch.nn.Module.html#torch.nn.Module.eval",
    ),
    "filling gradients with zeros": (
        _zeros,
        "Set gradients to None, not zero",
        "Call zero_grad(set_to_none=True), the default: the backward pass then sets the gradients.",
        f"zero_grad\n{_DOCS}generated/torch.optim.Optimizer.zero_grad.html",
    ),
    "computing gradients that nobody uses": (
        _frozen,
        "Freeze layers for autograd, too",
        """Freeze them for autograd, too: backbone.requires_grad_(False), and call it under torch.no_grad() where nothing in
    front of it is trained.""",
        f"Setting requires_grad\n{_DOCS}notes/autograd.html#setting-requires-grad",
    ),
    "making the optimizer anew": (
        _state,
        "Make the optimizer once",
        """Make the optimizer once, before the loop: each new one begins without the averages and counts of the one before, so that
    the model is trained differently, too.""",
        "Constructing an optimizer\nhttps://docs.pytorch.org/docs/stable/optim.html#constructing-it",
    ),
    "searching for unused parameters": (
        _search,
        "Set find_unused_parameters=False",
        """Leave find_unused_parameters=False (the default). Where some parameters go unused, but the same ones in every
    {step}, static_graph=True finds them once; gradient_as_bucket_view=True saves the copies of the gradients, too.""",
        f"find_unused_parameters and static_graph\n{_DOCS}generated/torch.nn.parallel.DistributedDataParallel.html",
    ),
}
"""What finds each, what to do, what to try, and title and address of the page that says so."""
QUESTION = Question(__name__)
QUESTION.state("machinery_without_use", 56, _claim)
