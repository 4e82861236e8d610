"""Tensors that are converted from one floating type to another and back, in each step.

Evidence: ``aten::copy_`` between two floating types with the outermost ``aten::to``, ``aten::_to_copy`` … around it,
where types were recorded, at least eight per step; on a device what they launch. Change: they take no time. Likely where at
least half of those of the forward pass convert as many tensors of a shape there as back; else theoretical: automatic mixed
precision converts each weight once.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from torch_tb_profiler.analysis.findings import links
from torch_tb_profiler.analysis.findings.operators import (
    beneath,
    calls_for_nothing,
    calls_where,
    outermost,
    read_arguments,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Reach, Rule, RuleContext
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.hardware.element_types import kind, precision
from torch_tb_profiler.store.columns import Ints

MANY = 8
"""Conversions per step from which on they are repeated ones."""
_COPY = re.compile(r"aten::copy_$")
_CALLS = re.compile(r"aten::(?:to|_to_copy|type_as|copy_|contiguous|clone)$|ToCopyBackward\d$")
_NODE = re.compile(r"autograd::engine::evaluate_function")


def _claim(context: RuleContext) -> Candidate | None:
    copies = context.rows_named(context.operators, _COPY.match)
    copies = context.within(np.intersect1d(copies, calls_where(context, _has_two, _converts)))
    if context.per_step(copies) < MANY:
        return None
    calls = context.rows_named(context.operators, _CALLS.match)
    around = np.unique(context.home(copies, outermost(context, calls)))
    host = around[around >= 0]
    back = _there_and_back(context, copies)
    found = calls_for_nothing(
        context,
        host,
        {"conversions": context.per_step(copies), "back": back / len(context.steps)},
        words={"types": _types(context, copies)},
        certainty="likely" if back else "theoretical",
    )
    return found if len(found.row) else None


def _has_two(types: str) -> bool:
    return len(set(re.findall(r'"([^"]*)"', types)) - {"Scalar", ""}) > 1


def _pair(call: Call) -> tuple[str, str]:
    """The types of source and result of a copy."""
    result, source = call.tensor(0), call.tensor(1)
    return (source.dtype if source else ""), (result.dtype if result else "")


def _converts(call: Call) -> bool:
    types = _pair(call)
    shape = call.tensor(0)
    return (
        shape is not None
        and bool(shape.shape)
        and all(kind(one) == "float" for one in types)
        and precision(types[0]) != precision(types[1])
    )


def _there_and_back(context: RuleContext, copies: Ints) -> int:
    """How many of the forward pass convert a tensor back of a shape that others convert there, if that is the rule."""
    nodes = context.rows_named(context.operators, _NODE.match)
    forward = copies[~beneath(context, nodes)[copies]] if len(nodes) else copies
    found: Counter[tuple[object, ...]] = Counter()
    for call in read_arguments(context, forward).values():
        shape = call.tensor(0)
        source, result = _pair(call)
        found[(shape.shape if shape else (), source, result)] += 1
    pairs = sum(
        min(count, found[(shape, result, source)])
        for (shape, source, result), count in found.items()
    )
    return pairs if len(forward) and 2 * pairs >= len(forward) else 0


def _types(context: RuleContext, copies: Ints) -> str:
    pairs = Counter(_pair(call) for call in read_arguments(context, copies).values())
    [(types, _)] = pairs.most_common(1)
    return " to ".join(precision(one) or one for one in types)


RULE = Rule(
    place=175,
    claim=_claim,
    title="Tensors are converted between floating types",
    action="Stay in one floating type",
    fact="{conversions} conversions per {step}",
    sentence="""{conversions} conversions per {step} turn tensors from one floating type into another{at}; without them
    the {step} is {gain} ({share}) shorter.""",
    attempt="""Stay in one type: leave out pairs of .float() and .half(), hold the weights in the type that computes
    (model.to(torch.bfloat16)), put one autocast around the whole forward pass.""",
    caveat="Sums, norms and losses in float32 keep their digits; automatic mixed precision converts on purpose.",
    views=("overview", "operator", "kernel"),
    certainty="likely",
    cause="Conversions between floating types take {gain} of {the_step}",
    without="Without conversions",
    links=(links.AMP,),
    details=(
        ("types", "Most are from {types}."),
        ("back", "{back} of them turn a tensor back."),
    ),
    reach=Reach(0.4, 1.4),
    numbers={
        "conversions": ("Conversions", "count"),
        "back": ("Of those, back again", "count"),
    },
)
