"""Work on input that holds the same values several times: repeated, expanded into a copy, or cut into overlapping windows.

::

    x = images.repeat_interleave(6, 0)     8 images, each six times     copy
    y = body(x)                            conv2d, relu, conv2d … on 48 of which 8 differ
                                           → 5 of 6 parts of all that were for nothing: body(images).repeat_interleave(6, 0)

Evidence: an operator that makes a tensor of ``n`` elements by a copy from one that stores ``n / k`` (strides of 0 or overlapping ones, k ≥ 2), and
the calls after it whose inputs have the repeated dimension through it alone, until one sums over it or needs another tensor of
that length. Change: these take a k-th of their time, the copy none. Likely; theoretical where they draw random numbers.
Wrong where what is repeated is changed in place.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import positions_of
from torch_tb_profiler.analysis.findings.candidate import Certainty
from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, calls_of
from torch_tb_profiler.analysis.reasons.uses import DRAWS, How, Use
from torch_tb_profiler.hardware.results import Shape

LEAST = 2
"""Times that input must be repeated."""
FAR = 400
"""Calls after the copy that are followed."""


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    if not any(calls.uses):
        return None
    found = _copied(context, calls).items()
    return calls.claims(_part(calls, at, often, copied) for at, (often, copied) in found)


def _copied(context: RuleContext, calls: Calls) -> dict[int, tuple[float, Shape]]:
    """Positions of calls that do nothing but copy a tensor whose elements are stored fewer times: how often each is, and the shape of the copy."""
    operators = context.on_main(context.within(context.operators))
    copies = context.rows_named(operators, lambda text: text in ("aten::copy_", "aten::clone"))
    own = context.home(copies, calls.row).astype(np.int64)
    place = positions_of(calls.row, own)
    alone = np.array([use is not None and len(use.reads) == 1 for use in calls.uses])
    kept = (place >= 0) & alone[calls.kind[place]]
    kept &= 2 * context.spans["dur"][copies] >= context.spans["dur"][own]
    arguments = context.read_arguments(copies[kept])
    often: dict[int, tuple[float, Shape]] = {}
    # Arguments that are alike are one object.
    for number, call in {id(call): call for call in arguments.values()}.items():
        source = call.tensor(int(call.name == "aten::copy_"))
        if source and source.strides and source.elements >= LEAST * max(source.stored, 1):
            often[number] = source.elements / max(source.stored, 1), source.shape
    each = zip(copies[kept].tolist(), place[kept].tolist(), strict=True)
    return {at: often[one] for row, at in each if (one := id(arguments.get(row))) in often}


def _part(calls: Calls, at: int, often: float, copied: Shape) -> tuple[tuple[int, int], Part]:
    """A call that copies, with what works on its copy in its step; its place."""
    own = calls.use(at)
    made = own.makes if own and own.makes else copied
    before = own.reads[0] if own else made
    before = (1,) * (len(made) - len(before)) + before
    longer = [axis for axis, (a, b) in enumerate(zip(made, before, strict=False)) if a > b]
    axis = longer[0] if len(longer) == 1 and len(made) == len(before) else -1
    values, after = {made: 1}, []
    for place in range(at + 1, min(at + FAR, len(calls.row))):
        use = calls.use(place)
        if use is None or calls.step[place] != calls.step[at]:
            continue
        if not _only_repeated(use, values, made, axis):
            continue
        if use.how != How.PART:
            after.append(place)
        for shape in _results(calls, place, use):
            if 0 <= axis < len(shape) and shape[axis] == made[axis]:
                values[shape] = values.get(shape, 0) + 1
    names = dict.fromkeys(map(calls.text, sorted(after, key=lambda one: -int(calls.cost[one]))))
    words = {"what": calls.text(at), "shape": str(list(made)), "after": ", ".join(list(names)[:3])}
    drawn: Certainty | None = "theoretical" if any(map(DRAWS.search, names)) else None
    left = dict.fromkeys([at, *after], 1 / often)
    part = Part(left, {"times": often}, words, {"copies": 1}, drawn)
    return (int(calls.line[at]), int(calls.name[at])), part


def _only_repeated(use: Use, values: dict[Shape, int], made: Shape, axis: int) -> bool:
    """Whether a call reads repeated values, and no other tensor that differs along them."""
    mine = [shape for shape in use.reads if shape in values]
    others = [shape for shape in use.reads if shape not in values]
    if not mine or any(mine.count(shape) > values[shape] for shape in mine):
        return False
    return not any(made[axis] in shape for shape in others) if axis >= 0 else not others


def _results(calls: Calls, place: int, use: Use) -> list[Shape]:
    """The shape of what a call makes; where it is not known, those that the next call reads."""
    if use.makes is not None:
        return [use.makes]
    later = calls.use(place + 1) if place + 1 < len(calls.row) else None
    return (
        [] if later is None else [shape for shape in later.reads if len(shape) == len(use.reads[0])]
    )


QUESTION = Question(__name__)
QUESTION.state("repeated_input", 242, _claim, certainty="likely", reach=Reach(0.6, 1.3))
