"""A one-hot matrix multiplied by a table: of each row of the product all but one term are zero, and it is a row of the table,
which a lookup reads.

Evidence: ``aten::one_hot``, or a ``scatter_`` of one number per row, then nothing but conversions and views, then a product.
Where shapes were recorded, its left operand has as many elements as the one-hot matrix and as many columns. Where
not: ``one_hot`` and a plain ``matmul``; all such take at least as long as the shorter of fills and
conversions, since they read the same matrices, and no longer than both, as after small matrices of labels; none
where another one-hot matrix precedes, because the product is then of these two. Change: the matrix, its
conversion, the product and that of the backward are gone. Likely. Wrong where the matrix is used elsewhere, too.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.findings.backward_calls import PAUSE
from torch_tb_profiler.analysis.findings.edits import calls_gone
from torch_tb_profiler.analysis.findings.operators import (
    beneath,
    launched_in,
    most_named,
    read_arguments,
)
from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Ints, unique_values

NEAR = 6
"""Operators from the one-hot matrix to the product at most, conversions and views between."""
_ONE_HOT, _MATMUL = "aten::one_hot", "aten::matmul"
_MADE = regex(r"aten::(?:one_hot|scatter_)$")
_BETWEEN = regex(
    r"aten::(?:to|_to_copy|type_as|view|reshape|flatten|contiguous|squeeze|unsqueeze)$"
)
_PRODUCT = regex(r"aten::(?:matmul|mm|bmm|addmm|linear|einsum)$")
_FILL = regex(r"aten::zeros$")
_SCATTER = regex(r"aten::scatter_$")
_BACKWARD = regex(r"autograd::engine::evaluate_function: \w*(?:Mm|Bmm|Addmm)Backward0$")


def _claim(context: RuleContext) -> Candidate | None:
    row = context.program_calls
    chains = _chains(context, row)
    if not chains:
        return None
    calls = context.backward_calls
    # The product's backward: up to the number that what follows the product finds.
    backward = [
        calls.within(calls.after(row[last : last + 1]), calls.after(row[last + 1 : last + 4]))
        for _, last in chains
    ]
    later = unique_values(np.concatenate(backward))
    later = context.rows_named(later, _BACKWARD.match)
    places = np.concatenate([np.arange(first, last + 1) for first, last in chains])
    every = unique_values(row[places], later)
    work, _ = launched_in(context, every)
    start, end = context.times(every)
    products = row[[last for _, last in chains]]
    return Candidate(
        every,
        start,
        end,
        {
            "matrices": len(chains) / len(context.steps),
            "wasted": int((end - start).sum()) / len(context.steps),
        },
        {"product": most_named(context, products)},
        edit=calls_gone(every, work.row),
    )


def _chains(context: RuleContext, row: Ints) -> list[tuple[int, int]]:
    """Positions in ``row`` of one-hot matrices and of the products with them."""
    chains = [
        (first, last)
        for first in np.flatnonzero(context.named(row, _MADE.match)).tolist()
        if (last := _product_after(context, row, first)) > first
    ]
    if not chains:
        return []
    made, product = (row[[chain[at] for chain in chains]] for at in (0, 1))
    inside = context.operators[beneath(context, made)[context.operators]]
    scatter = context.rows_named(inside, _SCATTER.match)
    matrices, calls = read_arguments(context, scatter), read_arguments(context, product)
    home = context.home(scatter, made)
    scattered = dict(zip(home.tolist(), scatter.tolist(), strict=True))
    found, unknown = [], []
    for first, last in chains:
        call = calls.get(int(row[last]))
        matrix = matrices.get(scattered.get(int(row[first]), -1))
        if call is None:
            unknown.append((first, last))
        elif matrix is not None and _fits(matrix, call):
            found.append((first, last))
    return found + _plain(context, row, unknown)


def _product_after(context: RuleContext, row: Ints, first: int) -> int:
    """Position of the product that follows a one-hot matrix with conversions and views between; −1 none."""
    chain = row[first : first + NEAR]
    names = [context.trace.strings[int(name)] for name in context.trace["spans"]["name"][chain]]
    last = next((n for n, name in enumerate(names) if n and not _BETWEEN.match(name)), 0)
    start, end = context.times(chain[: last + 1])
    if not _PRODUCT.match(names[last]) or (start[1:] - end[:-1] > PAUSE).any():
        return -1
    return first + last


def _fits(scatter: Call, product: Call) -> bool:
    """Whether the product's left operand is the one-hot matrix: one number per row, not a tensor of such."""
    matrix, index = scatter.tensor(0), scatter.tensor(2)
    left = product.tensor(1 if product.tensor(2) and len(product.inputs) > 3 else 0)
    if left is None or matrix is None or index is None or not matrix.shape or not left.shape:
        return False
    single = index.shape == (*matrix.shape[:-1], 1) and scatter.tensor(3) is None
    return single and left.elements == matrix.elements and left.shape[-1] == matrix.shape[-1] > 1


def _plain(context: RuleContext, row: Ints, chains: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that look so where no shapes were recorded."""
    strings, names = context.trace.strings, context.trace["spans"]["name"][row]

    def alone(first: int, last: int) -> bool:
        chain = [strings[int(name)] for name in names[max(first - NEAR, 0) : last + 1]]
        return (
            chain.count(_ONE_HOT) == 1
            and strings[int(names[first])] == _ONE_HOT
            and chain[-1] == _MATMUL
        )

    chains = [chain for chain in chains if alone(*chain)]
    if not chains:
        return []
    dur = context.trace["spans"]["dur"]
    made = row[[first for first, _ in chains]]
    inside = context.operators[beneath(context, made)[context.operators]]
    fill = int(dur[context.rows_named(inside, _FILL.match)].sum())
    converted = sum(int(dur[row[first + 1 : last]].sum()) for first, last in chains)
    product = int(dur[row[[last for _, last in chains]]].sum())
    reads = fill and min(fill, converted or fill) <= product <= fill + converted
    return chains if reads else []


QUESTION = Question(__name__)
QUESTION.state("one_hot_product", 174, _claim, certainty="likely", reach=Reach(0.6, 1.3))
