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

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, blocks, calls_of
from torch_tb_profiler.analysis.reasons.uses import How
from torch_tb_profiler.hardware.results import Shape
from torch_tb_profiler.store.columns import Ints

MOST = 0.5
"""FLOPs of the cheaper order ÷ those of the recorded one, at most."""
BETWEEN = 4
"""Calls between two products, at most."""
_SUMS, _SCALES = ("add", "sub"), ("mul", "div")
_PRODUCTS = frozenset(("aten::mm", "aten::bmm", "aten::matmul", "aten::linear"))


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    product = context.named(calls.row, _PRODUCTS.__contains__)

    def look(place: Ints) -> list[tuple[list[int], float, dict[str, str]]]:
        two = pairwise(np.flatnonzero(product[place]).tolist())
        kind = calls.kind[place].tolist()
        return [pair for first, second in two if (pair := _pair(calls, kind, first, second))]

    parts = []
    for place, pairs in blocks(calls.step, [calls.kind], look):
        for numbers, share, words in pairs:
            own = place[numbers].tolist()
            part = Part(dict.fromkeys(own, share), {"less": 1 / share}, words, {"pairs": 1})
            parts.append((int(calls.line[own[0]]), part))
    return calls.claims(parts)


def _pair(
    calls: Calls, kind: list[int], first: int, second: int
) -> tuple[list[int], float, dict[str, str]] | None:
    """Of two products of a step, of which the calls are of these kinds: which calls another order replaces, the share of their FLOPs that it needs, and
    both orders in words.
    """
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
    leads = b[0] in seen and a[1][:-2] == b[1][:-2]
    if leads:
        # (A B) C against A (B C).
        shapes = a[0], a[1], b[1]
        other = _flops(a[1], b[1]) + _flops(a[0], (*b[1][:-2], a[0][-1], b[1][-1]))
    elif b[1] in seen:
        # C (A B) against (C A) B.
        shapes = b[0], a[0], a[1]
        other = _flops(b[0], a[0]) + _flops((*b[0][:-1], a[0][-1]), a[1])
    else:
        return None
    later = (uses[at] for at in kind[second + 1 : second + 200])
    now = _flops(*a) + (0 if linear else _flops(*b))
    if other > MOST * now or any(use is not None and made in use.reads for use in later):
        return None
    left, middle, right = (str(list(shape)) for shape in shapes)
    orders = f"({left} × {middle}) × {right}", f"{left} × ({middle} × {right})"
    order, better = orders if leads else orders[::-1]
    if linear:
        # Another matrix is added to the first product.
        sums = f"({left} × {middle} + W) × {right}", f"{left} × (W + {middle} × {right})"
        order, better = sums[not leads], f"{better} + the product with W"
    replaced = [first, *linear] if linear else [first, second]
    return replaced, other / now, {"order": order, "better": better}


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


QUESTION = Question(__name__)
QUESTION.state("costly_order", 243, _claim, certainty="likely", reach=Reach(0.6, 1.3))
