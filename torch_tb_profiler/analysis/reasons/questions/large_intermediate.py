"""A large tensor that is made by broadcasting only to be summed at once, where a product of matrices gives the sum without it.

::

    d = a[:, None] - b[None]     [500, 1, 64], [1, 400, 64] → [500, 400, 64]     200 times what it is made of
    d = d.pow(2)                 [500, 400, 64]
    d = d.sum(-1)                [500, 400]                                      → torch.cdist(a, b), or a² − 2ab + b²

Evidence: an elementwise call whose result has eight times the elements of each of its inputs, then only sums, differences, products,
powers and absolute values of that shape, then a call that reads it whole and makes what has an eighth of the elements at most, and nothing else that reads
it. Change: all of these take ``LEFT`` of their time, with their backward. Likely. Wrong where no product of matrices, no distance and no
smaller broadcast gives the same.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from torch_tb_profiler.analysis.findings.rule import Candidate, Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, calls_of, costliest_places
from torch_tb_profiler.analysis.reasons.uses import How, Use
from torch_tb_profiler.hardware.results import Shape
from torch_tb_profiler.store.columns import unique_values

TIMES = 8
"""Elements of the large tensor ÷ those of what it is made of, and of what is made of it."""
LEFT = 0.15
"""Time of the product of matrices ÷ that of the passes over the large tensor; a guess that two pairs of programs bear out."""
FAR = 60
"""Calls after it that are looked at."""
_LINEAR = frozenset(
    f"aten::{n}{e}"
    for n in ["mul", "sub", "add", "rsub", "pow", "square", "neg", "div", "abs"]
    for e in ("", "_")
)


class _Large(msgspec.Struct, frozen=True):
    """Positions of the calls, the one that makes the tensor first; its shape, and how many times the elements of its inputs it has."""

    calls: list[int]
    shape: Shape
    times: float


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    times = np.array([_times(use) if use else 0.0 for use in calls.uses])
    if not (times >= TIMES).any():
        return None
    by_place: dict[int, list[_Large]] = {}
    for at in np.flatnonzero(times[calls.kind] >= TIMES).tolist():
        found = _followed(context, calls, at, float(times[calls.kind[at]]))
        if found is not None:
            by_place.setdefault(int(calls.line[at]), []).append(found)
    places = costliest_places(context, by_place.values(), lambda own: _cost(calls, own))
    return [_candidate(calls, own) for own in places]


def _times(use: Use) -> float:
    if use.how != How.EACH or not use.makes or not use.reads:
        return 0.0
    return math.prod(use.makes) / max(max(map(math.prod, use.reads)), 1)


def _followed(context: RuleContext, calls: Calls, at: int, times: float) -> _Large | None:
    """What is done with the result of a call, where that is summed in the end."""
    strings, first = context.trace.strings, calls.uses[calls.kind[at]]
    if first is None or first.makes is None or strings[int(calls.name[at])] not in _LINEAR:
        return None
    found, ended = [at], False
    for place in range(at + 1, min(at + FAR, len(calls.row))):
        use = calls.uses[calls.kind[place]]
        if calls.step[place] != calls.step[at] or use is None or first.makes not in use.reads:
            continue
        if ended:
            return None
        found.append(place)
        if use.how == How.EACH and strings[int(calls.name[place])] in _LINEAR:
            continue
        ended = use.how == How.WHOLE and use.makes is not None
        if not ended or TIMES * math.prod(use.makes or ()) > math.prod(first.makes):
            return None
    return _Large(found, first.makes, times) if ended else None


def _cost(calls: Calls, found: list[_Large]) -> int:
    return int(calls.cost[[at for one in found for at in one.calls]].sum())


def _candidate(calls: Calls, found: list[_Large]) -> Candidate:
    chosen = unique_values(np.array([at for one in found for at in one.calls], np.int64))
    chief = max(found, key=lambda one: _cost(calls, [one]))
    texts = calls.context.trace.strings
    names = dict.fromkeys(texts[int(calls.name[at])] for at in chief.calls)
    return calls.claim(
        chosen,
        np.full(len(chosen), LEFT),
        {"times": chief.times, "calls": len(chosen) / len(calls.context.steps)},
        {"shape": str(list(chief.shape)), "names": ", ".join(names)},
    )


QUESTION = Question(__name__)
QUESTION.state("large_intermediate", 245, _claim, certainty="likely", reach=Reach(0.5, 1.3))
