"""Dense gradients of an embedding's table of which a step reads few rows: the fill with zeros, and what the optimizer
does to all rows.

Evidence: ``aten::embedding_dense_backward`` (or that of a bag) whose fill takes most of it; where shapes were recorded
also every other operator that gets a tensor of the table's shape outside the lookup, lists by the
table's share of their elements; where not, in each ``Optimizer.step``, of each operator's calls as many as there are
tables that take at least half as long as the fill, which writes the table once; the rest of the backward then tells
how many rows are read. None where the table is the
weight of a product as well (tied weights): that makes its gradient dense. Change: these take the share
of the rows that are read. Likely.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from torch_tb_profiler.analysis.findings.rule import Candidate, Question, Reach, RuleContext
from torch_tb_profiler.hardware.call import Call
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints

MOST = 0.5
"""Share of the backward that the fill takes from which on few rows are read, and of the rows beyond which many are."""
_BACKWARD = regex(r"aten::(?:embedding_dense|_embedding_bag_dense)_backward$")
_FILL = regex(r"aten::(?:zeros|new_zeros|zeros_like|zero_|fill_)$")
_LOOKUP = regex(r"aten::(?:embedding|_embedding_bag|embedding_bag|index_select)$")
_PRODUCT = regex(r"aten::(?:mm|addmm|bmm|baddbmm|linear|matmul)$")
_NODE = regex(r"autograd::engine::evaluate_function: \w*Embedding\w*Backward")
_SUM = regex(r"aten::add_?$")
Shape = tuple[int, ...]


def _claim(context: RuleContext) -> Candidate | None:
    backward = context.rows_named(context.operators, _BACKWARD.match)
    backward = context.outermost(context.within(backward))
    if not len(backward):
        return None
    inside = context.operators[context.beneath(backward)[context.operators]]
    fill = context.outermost(context.rows_named(inside, _FILL.match))
    if not len(fill) or _is_tied(context, backward):
        return None
    tables = _tables(context, backward, fill)
    if tables:
        found = _by_shape(context, tables)
        if found is None:
            return None
        row, factor = found
    else:
        filling, whole = (float(context.times_of_calls(row).sum()) for row in (fill, backward))
        if filling < MOST * whole:
            return None
        # To add to a row reads two and writes one, to fill it writes one.
        used = max(whole - filling, 0.0) / (3 * filling)
        row = np.concatenate((fill, _by_time(context, backward, fill)))
        factor = np.full(len(row), used)
    order = np.argsort(row, kind="stable")
    row, factor = row[order], factor[order]
    lost = float((context.times_of_calls(row) * (1 - factor)).sum())
    numbers = {"dense": lost / len(context.steps)}
    if tables:
        shape = max(tables, key=lambda shape: shape[0] * (1 - tables[shape]))
        numbers |= {"rows": shape[0], "used": tables[shape] * shape[0]}
    work, _ = context.launched_in(row)
    shown = work.row if len(work.row) else row
    return Candidate(context.pieces(shown), numbers, edit=context.calls_take(row, factor))


def _is_tied(context: RuleContext, backward: Ints) -> bool:
    """Whether each of these gradients is added to another one, as that of a product with the same table."""
    nodes = context.rows_named(context.operators, _NODE.match)
    added = context.rows_named(context.operators, _SUM.match)
    home = context.home(added, np.concatenate((nodes, backward)))
    return bool(np.isin(home, nodes).sum() >= len(backward))


def _tables(context: RuleContext, backward: Ints, fill: Ints) -> dict[Shape, float]:
    """Shape of each table → share of its rows that are read at most; empty where shapes were not recorded."""
    inner = context.operators[context.beneath(fill)[context.operators]]
    home = context.home(inner, backward)
    calls, own = context.read_arguments(backward), context.read_arguments(inner)
    tables: dict[Shape, float] = {}
    for row, outer in zip(inner.tolist(), home.tolist(), strict=True):
        filled, call = own.get(row), calls.get(outer)
        table = next(filled.every, None) if filled else None
        indices = call.tensor(1) if call else None
        if table is None or indices is None or not table.shape or not table.shape[0]:
            continue
        share = min(indices.elements / table.shape[0], 1.0)
        tables[table.shape] = max(share, tables.get(table.shape, 0.0))
    return {shape: share for shape, share in tables.items() if share <= MOST}


def _by_shape(context: RuleContext, tables: dict[Shape, float]) -> tuple[Ints, Array] | None:
    """Operators that get a tensor of the shape of a table, and the share of their time that remains; None where one is a
    product with it.
    """

    def holds(call: Call) -> bool:
        return any(tensor.shape in tables for tensor in call.every)

    def turned(call: Call) -> bool:
        return holds(call) or any(tensor.shape[::-1] in tables for tensor in call.every)

    products = context.rows_named(context.operators, _PRODUCT.match)
    if np.isin(products, context.calls_where(bool, turned)).any():
        return None
    lookups = context.rows_named(context.operators, _LOOKUP.match)
    row = context.within(np.intersect1d(context.calls_where(bool, holds), context.operators))
    row = context.outermost(row[~context.beneath(lookups)[row]])
    calls = context.read_arguments(row)
    return row, np.array([_left(calls[one], tables) for one in row.tolist()])


def _left(call: Call, tables: dict[Shape, float]) -> float:
    """The share of the time of a call that remains if of a table only the rows that are read are touched."""
    for argument in call.inputs:
        if isinstance(argument, tuple):
            elements = [math.prod(tensor.shape) for tensor in argument]
            gone = [
                count * (1 - tables.get(tensor.shape, 1.0))
                for count, tensor in zip(elements, argument, strict=True)
            ]
            if any(gone):
                return 1 - sum(gone) / sum(elements)
        elif argument is not None and argument.shape in tables:
            return tables[argument.shape]
    return 1.0


def _by_time(context: RuleContext, backward: Ints, fill: Ints) -> Ints:
    """Operators of the optimizers that take as long as something that touches a whole table: of each name in a region
    the shortest such ones, as many as tables.
    """
    region = context.within(context.updates)
    if not len(region):
        return region
    inside = context.outermost(context.operators[context.beneath(region)[context.operators]])
    time = context.times_of_calls(inside)
    long = np.flatnonzero(time >= MOST * context.times_of_calls(fill).mean())
    inside, time = inside[long], time[long]
    home = context.home(inside, region)
    allowed = max(1, round(len(backward) / len(context.steps)))
    taken: Counter[tuple[int, int]] = Counter()
    chosen = []
    for place in np.argsort(time, kind="stable").tolist():
        key = int(home[place]), int(context.spans["name"][inside[place]])
        if taken[key] < allowed:
            taken[key] += 1
            chosen.append(place)
    return inside[np.array(sorted(chosen), np.int64)]


QUESTION = Question(__name__)
QUESTION.state("dense_embedding", 86, _claim, certainty="likely", reach=Reach(0.6, 1.3))
