"""Products in an order that needs far more arithmetic than another one gives.

::

    x [16, 900]   A [900, 900]   B [900, 900]
    x @ (A @ B)   2·(900·900·900 + 16·900·900) = 1.48 GFLOP
    (x @ A) @ B   2·(16·900·900 + 16·900·900)  = 0.05 GFLOP       the same numbers

    x @ (W + A @ B)   A [900, 8]: makes all of [900, 900] twice, for 16 rows
    x @ W + (x @ A) @ B

Evidence: two products of matrices of which the second reads what the first makes, as its left or its right operand, with nothing but other views
of it, or sums and multiples of a number, in between, and nothing else that reads it later; the FLOPs in both orders, the batch included. Change:
both, with their backward, take the share that the cheaper order needs, where it needs half at most; of a sum the first product and what stands
between do, and the second one stays. Likely. Wrong where the first product is kept for later steps.
"""

from __future__ import annotations

import math
from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.findings.rule import Candidate, Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, blocks, calls_of, costliest_places
from torch_tb_profiler.analysis.reasons.uses import How
from torch_tb_profiler.hardware.results import Shape

MOST = 0.5
"""FLOPs of the cheaper order ÷ those of the recorded one, at most."""
BETWEEN = 4
"""Calls between two products, at most."""
_SUMS, _SCALES = ("add", "sub"), ("mul", "div")
_PRODUCTS = frozenset(("aten::mm", "aten::bmm", "aten::matmul", "aten::linear"))


class _Pair(msgspec.Struct, frozen=True):
    """Positions of the calls that the other order replaces, and the share of their FLOPs that it needs; the shapes of the three matrices as they
    stand; whether the product of the left two is the first; whether another matrix is added to that one.
    """

    calls: tuple[int, ...]
    share: float
    shapes: tuple[Shape, Shape, Shape]
    leads: bool
    added: bool


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    product = context.named(calls.row, _PRODUCTS.__contains__)
    known: dict[int, list[_Pair]] = {}
    by_place: dict[int, list[_Pair]] = {}
    for place, alike in blocks(calls.step, calls.kind):
        if alike not in known:
            numbers = pairwise(np.flatnonzero(product[place]).tolist())
            kind = calls.kind[place].tolist()
            known[alike] = [pair for two in numbers if (pair := _pair(calls, kind, *two))]
        for pair in known[alike]:
            replaced = tuple(place[list(pair.calls)].tolist())
            own = msgspec.structs.replace(pair, calls=replaced)
            by_place.setdefault(int(calls.line[replaced[0]]), []).append(own)
    found = costliest_places(context, by_place.values(), lambda own: _cost(calls, own))
    return [_candidate(calls, own) for own in found]


def _pair(calls: Calls, kind: list[int], first: int, second: int) -> _Pair | None:
    """What two products of a step, of which the calls are of these kinds, are together."""
    uses = calls.uses
    if second - first > 1 + BETWEEN:
        return None
    a, b = (_matrices(calls, kind[at]) for at in (first, second))
    between = [uses[kind[at]] for at in range(first + 1, second)]
    if a is None or b is None:
        return None
    made = (*a[0][:-1], a[1][-1])
    linear = _linear_of(calls, kind, range(first + 1, second), made)
    if linear is None:
        return None
    seen = {made, *(one.makes for one in between if one)}
    if b[0] in seen and a[1][:-2] == b[1][:-2]:
        # (A B) C against A (B C).
        shapes, leads = (a[0], a[1], b[1]), True
        other = _flops(a[1], b[1]) + _flops(a[0], (*b[1][:-2], a[0][-1], b[1][-1]))
    elif b[1] in seen:
        # C (A B) against (C A) B.
        shapes, leads = (b[0], a[0], a[1]), False
        other = _flops(b[0], a[0]) + _flops((*b[0][:-1], a[0][-1]), a[1])
    else:
        return None
    later = (uses[at] for at in kind[second + 1 : second + 200])
    replaced = (first, *linear) if linear else (first, second)
    now = _flops(*a) + (0 if linear else _flops(*b))
    if other > MOST * now or any(use is not None and made in use.reads for use in later):
        return None
    return _Pair(replaced, other / now, shapes, leads, bool(linear))


def _linear_of(calls: Calls, kind: list[int], between: range, made: Shape) -> list[int] | None:
    """The calls between two products that are sums or multiples of a number; None where there are others but views."""
    found = []
    for at in between:
        use, call = calls.uses[kind[at]], calls.distinct[kind[at]]
        if use is None or call is None:
            return None
        name = call.name.removeprefix("aten::").rstrip("_")
        scaled = name in _SCALES and len(use.reads) == 1
        if (name in _SUMS or scaled) and use.how == How.EACH and use.makes == made:
            found.append(at)
        elif use.how != How.VIEW:
            return None
    return found


def _matrices(calls: Calls, kind: int) -> tuple[Shape, Shape] | None:
    """The operands of a product as matrices, the right one as it is multiplied."""
    call = calls.distinct[kind] if calls.distinct else None
    a, b = (call.tensor(0), call.tensor(1)) if call else (None, None)
    if call is None or a is None or b is None or len(a.shape) < 2 or len(b.shape) < 2:
        return None
    right = (*b.shape[:-2], b.shape[-1], b.shape[-2]) if call.name == "aten::linear" else b.shape
    return (a.shape, right) if a.shape[-1] == right[-2] else None


def _flops(a: Shape, b: Shape) -> int:
    """Twice the products of a matrix or a batch of them, and of one."""
    return 2 * math.prod(a) * b[-1]


def _cost(calls: Calls, found: list[_Pair]) -> float:
    return sum((1 - one.share) * int(calls.cost[list(one.calls)].sum()) for one in found)


def _candidate(calls: Calls, found: list[_Pair]) -> Candidate:
    factor = {at: one.share for one in found for at in one.calls}
    chosen = np.array(sorted(factor), np.int64)
    share = np.array([factor[at] for at in chosen.tolist()])
    chief = max(found, key=lambda one: int(calls.cost[list(one.calls)].sum()))
    left, middle, right = (str(list(shape)) for shape in chief.shapes)
    orders = f"({left} × {middle}) × {right}", f"{left} × ({middle} × {right})"
    order, better = orders if chief.leads else orders[::-1]
    if chief.added:
        # Another matrix is added to the first product.
        sums = f"({left} × {middle} + W) × {right}", f"{left} × (W + {middle} × {right})"
        order, better = sums[not chief.leads], f"{better} + the product with W"
    numbers = {"less": 1 / chief.share, "pairs": len(found) / len(calls.context.steps)}
    return calls.claim(chosen, share, numbers, {"order": order, "better": better})


QUESTION = Question(__name__)
QUESTION.state("costly_order", 243, _claim, certainty="likely", reach=Reach(0.6, 1.3))
