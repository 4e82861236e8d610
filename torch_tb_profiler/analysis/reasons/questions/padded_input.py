"""Input that is padded to a length which nothing in it has: most of what is worked on is padding.

::

    ids = zeros(16, 128)                              or  pad(text, (0, 128 − len(text)))
    ids[0, :13] = …   ids[1, :24] = …   ids[2, :7] = …    the longest is 24
    embedding [16, 128] → linear [16, 128, 64] → …        work on 128 of which 24 are needed: 81 % of it is for padding

Evidence: a new tensor of which only parts that begin at 0 are written, each shorter than half of one dimension, or paddings to that length; and
the calls after it that work on that dimension, as far as shapes tell, views that merge it with another one included. Change: these take
the share that the longest part is of the dimension, with their backward. Likely. Wrong where a fixed shape is needed, as by a captured graph.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, blocks, calls_of
from torch_tb_profiler.analysis.reasons.uses import How
from torch_tb_profiler.hardware.results import Shape
from torch_tb_profiler.store.columns import Ints

MOST_FILLED = 0.5
"""Share of the dimension that the longest part may fill."""
FEWEST = 2
"""Parts or paddings in a step."""
_PADS = ("aten::pad", "aten::constant_pad_nd")
_FILLS = ("aten::zeros", "aten::full", "aten::new_zeros", "aten::new_full", "aten::zeros_like")
_WRITES = ("aten::copy_", "aten::index_put_", "aten::fill_")


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    names = context.trace.strings.many(calls.name)
    if not calls.distinct or not any(name in (*_PADS, *_FILLS) for name in names):
        return None

    def look(place: Ints) -> list[tuple[int, int, list[int]]]:
        return [
            (length, longest, np.searchsorted(place, [at, *works]).tolist())
            for at, length, longest, shape in _padded(calls, names, place)
            if (works := _works_on(calls, names, place[place > at], length, shape))
        ]

    padded = [
        (longest, length, *place[numbers].tolist())
        for place, found in blocks(calls.step, [calls.kind], look)
        for length, longest, numbers in found
    ]
    if not padded:
        return None
    # What is said is of the longest part.
    longest, length, at, *_ = max(padded, key=lambda one: one[0])
    line = int(calls.line[at])
    why = f"It is padded in {context.facts.strings[line]}" if line >= 0 else ""
    told = {"length": length, "longest": longest, "padding": 1 - longest / length}
    return calls.claims(
        (0, Part(dict.fromkeys(works, part / whole), told, {"why": why}))
        for part, whole, _, *works in padded
    )


def _padded(calls: Calls, names: list[str], place: Ints) -> list[tuple[int, int, int, Shape]]:
    """Of each dimension of a step that is padded: the last call that does, its length, the longest part, and the shape that it is in."""
    longest: dict[int, tuple[int, int, int, Shape]] = {}
    filled: Shape | None = None
    for at in place.tolist():
        use, call = calls.use(at), calls.distinct[calls.kind[at]]
        if use is None or call is None:
            continue
        if names[at] in _FILLS and use.makes:
            filled = use.makes
        length = size = 0
        shape: Shape = ()
        if names[at] in _PADS and use.reads and (pads := call.integers(1)):
            size, shape = use.reads[0][-1], (*use.reads[0][:-1], use.reads[0][-1] + sum(pads[:2]))
            length = shape[-1]
        elif names[at] == "aten::slice" and filled and use.how == How.PART and use.makes:
            axis = (call.integers(1) or (0,))[0] % len(use.makes)
            length, size = use.reads[0][axis], use.makes[axis]
            shape = filled
            if call.value(2) or length not in filled or call.value(4) not in (1, None):
                filled, length = None, 0
        elif filled and filled in use.reads and names[at] not in _WRITES and use.how != How.PART:
            filled = None
        if length > size:
            count, before = longest.get(length, (0, 0, 0, ()))[1:3] if length in longest else (0, 0)
            longest[length] = at, count + 1, max(before, size), shape
    return [
        (at, length, most, shape)
        for length, (at, count, most, shape) in longest.items()
        if count >= FEWEST and 0 < most <= MOST_FILLED * length
    ]


def _works_on(calls: Calls, names: list[str], place: Ints, length: int, shape: Shape) -> list[int]:
    """The calls that work on a dimension of some length, from the tensor of a shape on, and on what is made of it."""
    values: set[Shape] = {shape}
    found = []
    for number, at in enumerate(place.tolist()):
        use = calls.use(at)
        if use is None:
            continue
        # Of long lists of tensors no shapes are recorded.
        told = not use.reads or any(length in one for one in use.reads)
        joined = names[at] in ("aten::stack", "aten::cat") and told
        if not joined and not any(one in values for one in use.reads):
            continue
        found.append(at)
        made = [use.makes] if use.makes else []
        if not made and number + 1 < len(place):
            later = calls.use(place[number + 1])
            made = list(later.reads) if later else []
        values.update(one for one in made if any(n and n % length == 0 for n in one))
    return found


QUESTION = Question(__name__)
QUESTION.state("padded_input", 239, _claim, certainty="likely", reach=Reach(0.6, 1.3))
