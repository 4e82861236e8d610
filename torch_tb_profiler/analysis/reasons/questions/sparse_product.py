"""Products with a matrix that is nearly all zeros: an adjacency matrix or a mask that is made dense and filled in few places, a one-hot matrix.

::

    a = zeros(2400, 2400)        5.8 million elements
    a[rows, columns] = 1         takes 0.2 ms: at most 100,000 elements can have been written, 1.7 %
    a @ x                        2 · 2400 · 2400 · 32 FLOPs, nearly all of them by zero

Evidence: shapes and order. A matrix that is filled with zeros in the step; elements written to it by indices, of which a core writes
``PER_ELEMENT`` ns each at least (``one_hot`` does both, and writes one for each index; on a device it alone counts); nothing else that could make
other elements but conversions, products and powers of itself; then a product that reads a matrix of that shape. Change: the fill and the
products, with their backward, take ``COST`` times the share that is written. Likely. Wrong where the matrix of that shape is another one.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from torch_tb_profiler.analysis.facts.header import integer
from torch_tb_profiler.analysis.findings.rule import Claims, Question, Reach, RuleContext
from torch_tb_profiler.analysis.reasons.calls import Calls, Part, calls_of
from torch_tb_profiler.analysis.reasons.uses import How
from torch_tb_profiler.hardware.results import Shape
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import unique_values

PER_ELEMENT = 2.0
"""ns that a core needs at least to write one element by its index."""
COST = 8
"""Time of a product with a sparse matrix for each element ÷ that of a dense one."""
MOST = 0.5 / COST
"""Share that may be written at most."""
_ONE_HOT = "aten::one_hot"
_ZEROS = regex(r"aten::(?:new_)?zeros(?:_like)?$|aten::zero_$")
_WRITES = regex(r"aten::(?:index_put_|scatter_|scatter_add_|index_add_|fill_diagonal_)$")
_KEEPS = regex(r"aten::(?:mul|div|neg|abs|pow|square|sqrt|relu)_?$")
_PRODUCT = regex(r"aten::(?:mm|bmm|matmul|addmm|baddbmm|linear)$")


class _Matrix(msgspec.Struct):
    """Positions of the calls that make a matrix; elements that are written at most; positions of its products."""

    made: list[int]
    written: float = 0.0
    products: list[int] = msgspec.field(default_factory=list)


def _claim(context: RuleContext) -> Claims:
    calls = calls_of(context)
    names = context.trace.strings.many(calls.name)
    zeros = not context.has_device and any(map(_WRITES.match, set(names)))
    if not any(calls.uses) or not (zeros or _ONE_HOT in names):
        return None
    parts = []
    for step in unique_values(calls.step).tolist():
        place = np.flatnonzero(calls.step == step)
        for shape, matrix in _matrices(context, calls, names, place.tolist()):
            share = matrix.written / math.prod(shape)
            if matrix.products and 0 < share <= MOST:
                left = dict.fromkeys([*matrix.made, *matrix.products], COST * share)
                counts = {"calls": len(matrix.products)}
                parts.append(
                    (0, Part(left, {"written": share}, {"shape": str(list(shape))}, counts))
                )
    return calls.claims(parts)


def _matrices(
    context: RuleContext, calls: Calls, names: list[str], place: list[int]
) -> list[tuple[Shape, _Matrix]]:
    """The matrices of a step that are filled with zeros and written to by indices alone, by their shapes."""
    threads = integer(context.trace.header.get("intra_op_threads")) or 1
    length = context.spans["dur"][calls.row]
    open_, found = dict[Shape, _Matrix](), list[tuple[Shape, _Matrix]]()
    for at in place:
        use, name = calls.use(at), names[at]
        if use is None:
            continue
        if name == _ONE_HOT or _ZEROS.match(name):
            read = next(iter(use.reads), ())
            shape = use.makes or (read if name != _ONE_HOT else ())
            if len(shape) > 1:
                open_[shape] = _Matrix([at], math.prod(read) if name == _ONE_HOT else 0.0)
                found.append((shape, open_[shape]))
            continue
        mine = [shape for shape in use.reads if shape in open_]
        written = use.makes if use.makes in open_ else None
        if mine and _WRITES.match(name):
            matrix = open_[mine[0]]
            # How long a device writes is not how long the call takes.
            per = 0.0 if calls.context.has_device else PER_ELEMENT
            matrix.written += threads * int(length[at]) / per if per else math.inf
            matrix.made.append(at)
        elif mine and _PRODUCT.match(name) and use.makes not in open_:
            open_[mine[0]].products.append(at)
        elif written is not None and mine and (use.how == How.VIEW or _KEEPS.match(name)):
            # Converted, or multiplied by itself, it stays what it is.
            open_[written].made.append(at)
        elif written is not None and use.how not in (How.VIEW, How.PART):
            # Another matrix of the shape.
            del open_[written]
    return found


QUESTION = Question(__name__)
QUESTION.state("sparse_product", 238, _claim, certainty="likely", reach=Reach(0.5, 1.3))
