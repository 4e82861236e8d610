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

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, calls_of
from torch_tb_profiler.analysis.reasons.uses import How, Use

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


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    times = np.array([_times(use) if use else 0.0 for use in calls.uses])
    if not (times >= TIMES).any():
        return None
    parts = []
    for at in np.flatnonzero(times[calls.kind] >= TIMES).tolist():
        if found := _followed(calls, at):
            names = ", ".join(dict.fromkeys(map(calls.text, found)))
            words = {"shape": str(list(calls.uses[calls.kind[at]].makes)), "names": names}
            left = dict.fromkeys(found, LEFT)
            parts.append(
                (int(calls.line[at]), Part(left, {"times": float(times[calls.kind[at]])}, words))
            )
    return calls.claims(parts)


def _times(use: Use) -> float:
    if use.how != How.EACH or not use.makes or not use.reads:
        return 0.0
    return math.prod(use.makes) / max(max(map(math.prod, use.reads)), 1)


def _followed(calls: Calls, at: int) -> list[int]:
    """A call that makes a large tensor, and what is done with that, where it is summed in the end; else none."""
    first = calls.use(at)
    if first is None or first.makes is None or calls.text(at) not in _LINEAR:
        return []
    found, ended = [at], False
    for place in range(at + 1, min(at + FAR, len(calls.row))):
        use = calls.use(place)
        if calls.step[place] != calls.step[at] or use is None or first.makes not in use.reads:
            continue
        if ended:
            return []
        found.append(place)
        if use.how == How.EACH and calls.text(place) in _LINEAR:
            continue
        ended = use.how == How.WHOLE and use.makes is not None
        if not ended or TIMES * math.prod(use.makes or ()) > math.prod(first.makes):
            return []
    return found if ended else []


QUESTION = Question(__name__)
QUESTION.state("large_intermediate", 245, _claim, certainty="likely", reach=Reach(0.5, 1.3))
