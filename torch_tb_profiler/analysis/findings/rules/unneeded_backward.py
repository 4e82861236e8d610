"""Gradients of parameters that no optimizer updates, such as those of a frozen backbone: the backward pass goes on through
layers only to compute them.

Evidence: shapes. ``AccumulateGrad`` of at least four parameters per step whose shape no operator in any
``Optimizer.step`` gets, after the last one of a shape that some operator there gets. Only where all that an optimizer does
is known: its operators have their shapes, long lists are not, all device work is theirs, and they touch
no other shapes than parameters have (flattened or sharded ones do). Shapes that the program itself writes in place
count as updated. Change: the functions of the backward pass between the two are gone. Likely. Wrong where the program
reads these gradients.
"""

from __future__ import annotations

import math
import re

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.operators import (
    beneath,
    launched_in,
    outermost,
    read_arguments,
    tensors,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.store.columns import Ints, Mask

FEWEST = 4
"""Parameters per step without an update from which on they are frozen layers."""
_GRADIENT = re.compile(r"torch::autograd::AccumulateGrad$")
_STEP = re.compile(r"Optimizer\.step#")
_LIST = re.compile(r"aten::_(?:foreach|fused)_")
_WRITES = re.compile(r"aten::(?:_foreach_)?(?:add|sub|copy|lerp|addcdiv|addcmul)_$")
Shape = tuple[int, ...]


def _claim(context: RuleContext) -> Candidate | None:
    gradients = context.within(context.rows_named(context.operators, _GRADIENT.match))
    if len(gradients) < FEWEST or len(context.collectives):
        return None
    touched = _touched(context)
    own = read_arguments(context, gradients)
    shapes = [next(tensors(own[row]), None) if row in own else None for row in gradients.tolist()]
    if not touched or None in shapes:
        return None
    shape: list[Shape] = [tensor.shape for tensor in shapes if tensor is not None]
    if not touched <= set(shape):
        return None
    known = touched | _written(context)
    used = np.array([one in known or math.prod(one) <= 1 for one in shape])
    row, unused = _between(context, gradients, used)
    if len(unused) < FEWEST * len(context.steps):
        return None
    work, _ = launched_in(context, row)
    start, end = context.times(row)
    steps = len(context.steps)
    return Candidate(
        row,
        start,
        end,
        {
            "frozen": len(unused) / steps,
            "updated": int(used.sum()) / steps,
            "unused": int((end - start).sum()) / steps,
        },
        edit=calls_gone(row, work.row),
    )


def _touched(context: RuleContext) -> set[Shape]:
    """Shapes that the optimizers' operators get; empty where that is not known of all."""
    region = context.rows_named(context.calls, _STEP.match)
    if not len(region):
        return set()
    inside = outermost(context, context.operators[beneath(context, region)[context.operators]])
    calls = read_arguments(context, inside)
    listed = context.named(inside, _LIST.match).tolist()
    for row, several in zip(inside.tolist(), listed, strict=True):
        if several and (row not in calls or not isinstance(calls[row].inputs[0], tuple)):
            return set()
    if len(launched_in(context, inside)[0].row) < len(launched_in(context, region)[0].row):
        return set()
    return {one.shape for call in calls.values() for one in tensors(call) if one.elements > 1}


def _written(context: RuleContext) -> set[Shape]:
    """Shapes that the program writes in place by itself."""
    row = context.program_calls
    calls = read_arguments(context, context.rows_named(row, _WRITES.match))
    first = (call.inputs[0] for call in calls.values() if call.inputs)
    several = (one if isinstance(one, tuple) else (one,) for one in first)
    return {one.shape for some in several for one in some if one is not None}


def _between(context: RuleContext, gradients: Ints, used: Mask) -> tuple[Ints, Ints]:
    """The engine's calls between the last gradient of a step that is used and the last one that is not; and the accumulations
    among them.
    """
    spans, step = context.trace["spans"], context.facts["span_links"]["step"]
    first = np.full(context.facts["steps"].n + 1, np.iinfo(np.int64).max)
    last = np.zeros(len(first), np.int64)
    mine, begin = step[gradients], spans["start"][gradients]
    first[np.unique(mine[used])] = 0
    np.maximum.at(first, mine[used], begin[used])
    np.maximum.at(last, mine[~used], begin[~used])

    def inside(row: Ints) -> Ints:
        start = spans["start"][row]
        return np.asarray(row[(start > first[step[row]]) & (start <= last[step[row]])])

    engine = context.backward_functions
    return inside(context.within(engine)), inside(gradients)


RULE = Rule(
    place=143,
    claim=_claim,
    title="Gradients of frozen layers are computed",
    action="Freeze layers for autograd, too",
    fact="gradients of {frozen} parameters that nobody updates",
    sentence="""In each {step} the backward pass computes gradients of {frozen} parameters that no optimizer updates{at}:
    gradients that nobody uses, of layers that are frozen. With requires_grad=False for them the {step} is {gain}
    ({share}) shorter.""",
    attempt="""Freeze them for autograd, too: backbone.requires_grad_(False), and call it under torch.no_grad() where nothing in
    front of it is trained.""",
    caveat="""Parameters that an optimizer updates in steps that were not recorded need their gradients, as does a program that
    reads them.""",
    views=("overview", "operator", "module"),
    certainty="likely",
    cause="Gradients that nobody uses take {unused} of {the_step}",
    without="With requires_grad=False",
    links=(
        (
            "Setting requires_grad",
            links.DOCS + "notes/autograd.html#setting-requires-grad",
        ),
    ),
    details=(("updated", "Parameters that are updated: {updated}."),),
    reach=Reach(0.7, 1.5),
    numbers={
        "frozen": ("Parameters without an update", "count"),
        "updated": ("Gradients that are used", "count"),
        "unused": ("Time in the backward pass for them", "ns"),
    },
)
