"""Attributes the backward pass to the modules whose forward it differentiates.

::

    main     /nn.Module: Linear_0      /  /nn.Module: ReLU_0/   [evaluate_function: ReluBackward0][evaluate_function: AddmmBackward0][…AccumulateGrad]
    main       [aten::addmm, number 7 ]     [aten::relu, 8]              8 ─▶ ReLU_0                   7 ─▶ Linear_0                 as the one before

A backward operator finds its forward by a flow (category ``fwdbwd``), else by sequence number: every
operator carries the number that the next graph node will get, so the last one that starts with a
number created the node (torch's ``generateForwardBackwardLinks``). Functions without a number
(``AccumulateGrad``, hooks) run right after the operator that made their gradient and belong with it.

A collective in a function without a number reduces the gradients of a whole bucket of parameters:
it belongs to no module, whichever parameter's gradient was the last one.

A module that runs again within the backward pass (checkpoints) goes where the last forward call of
its name went. Its operators stay within it, and so does their backward.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked, positions_of
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.device_causes import latest_before
from torch_tb_profiler.analysis.module.forwards import Functions, forwards, functions_of
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store import insight_schema as schema
from torch_tb_profiler.store.columns import Array, Ints, Mask, Table, unique_values
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Trace

_LIKE_ANOTHER, _UNTIED, _OUTSIDE, _TIED = 0, 1, 2, 3
_COUNTED = {"tied": _TIED, "untied": _UNTIED, "outside": _OUTSIDE}


class Backward(msgspec.Struct, frozen=True):
    """Arrays of shape (nodes,).

    backward: whether it runs in the backward pass.
    parent: position of the node that it is attributed to; −1 none.
    given: where ``parent`` is −1, the named module that it is attributed to; −1 none.
    functions: the table ``backward_functions``.
    counts: backward functions with a module, without a known forward, with a forward outside
        modules.
    """

    backward: Mask
    parent: Array
    given: Array
    functions: Table
    counts: dict[str, int]


def attribute_backward(trace: Trace, nodes: Nodes, written: Array, collective: Mask) -> Backward:
    """Attribute the backward functions to the modules of their forwards.

    ``written``: the named module that each node says it is in (``Module Hierarchy``); −1 none.
    ``collective``: whether each node is a collective.
    """
    n = len(nodes.row)
    inside = nearest(nodes.parent, written >= 0)
    # Only the outermost such node moves beneath the module.
    says = (written >= 0) & ((nodes.parent < 0) | (inside[nodes.parent] < 0))
    parent, given = np.where(says, -1, nodes.parent), np.where(says, written, -1)
    functions = functions_of(trace, nodes)
    if not len(functions.position):
        none = schema.BACKWARD_FUNCTIONS.empty()
        return Backward(np.zeros(n, np.bool_), parent, given, none, dict.fromkeys(_COUNTED, 0))
    forward = forwards(trace, nodes, functions)
    written = np.where(inside >= 0, written[inside], -1)
    state, home, module, maker = _homes(nodes, functions, forward, written)
    tied = functions.position[state == _TIED]
    parent[tied], given[tied] = home[state == _TIED], module[state == _TIED]
    _attribute_reruns(trace, nodes, functions, parent, given)
    reduces = _reductions(nodes, functions, collective)
    parent[reduces], given[reduces] = -1, -1
    counts = {key: int((state == value).sum()) for key, value in _COUNTED.items()}
    table = _table(nodes, functions, maker, reduces)
    return Backward(functions.around >= 0, parent, given, table, counts)


def _table(nodes: Nodes, functions: Functions, maker: Ints, reduces: Ints) -> Table:
    """The table ``backward_functions``. ``maker``: node of the forward operator of each function, −1 none."""
    node = unique_values(functions.position, reduces)
    forward = np.full(len(nodes.row), -1)
    forward[functions.position] = picked(nodes.row, maker)
    forward[reduces] = -1
    return schema.BACKWARD_FUNCTIONS.build(span=nodes.row[node], forward=forward[node])


def _reductions(nodes: Nodes, functions: Functions, collective: Mask) -> Ints:
    """Outermost collectives in functions without a number."""
    unnumbered = mask_of(len(nodes.row) + 1, functions.position[~functions.numbered])
    outermost = np.append(nearest(nodes.parent, collective), -1)[nodes.parent] < 0
    return np.flatnonzero(collective & outermost & unnumbered[functions.around])


def _homes(
    nodes: Nodes, functions: Functions, forward: Ints, written: Array
) -> tuple[Array, Ints, Ints, Ints]:
    """``(state, node, module, operator)``: per backward function its state, the node or named module of
    its forward, and the node of the forward operator itself; −1 none.
    """
    position = functions.position
    n = len(position)
    state = np.where(functions.numbered, _UNTIED, _LIKE_ANOTHER).astype(np.int8)
    module, outer = nearest(nodes.parent, nodes.kind == PathKind.MODULE), functions.around
    home = np.full(n, -1, np.int64)
    home_written = np.full(n, -1, np.int64)
    known = np.flatnonzero(forward >= 0)
    maker = forward[known]
    # A forward within the backward pass belongs with the function around it, unless a module runs
    # again in between.
    in_module = module[maker] > outer[maker]
    again = ~in_module & (outer[maker] >= 0)
    beside = ~in_module & ~again & (written[maker] >= 0)
    home[known] = np.where(in_module, module[maker], -1)
    home_written[known] = np.where(beside, written[maker], -1)
    state[known] = np.where(in_module | beside, _TIED, np.where(again, _LIKE_ANOTHER, _OUTSIDE))
    link = preceding(nodes, functions)
    link[known[again]] = np.searchsorted(position, outer[maker[again]])
    unlinked = (state == _LIKE_ANOTHER) & (link < 0)
    state[unlinked] = _UNTIED
    representative = nearest(link, state != _LIKE_ANOTHER)
    module, operator = home_written[representative], forward[representative]
    return state[representative], home[representative], module, operator


def preceding(nodes: Nodes, functions: Functions) -> Ints:
    """The previous backward function on the same thread and call, else the enclosing; −1 none."""
    position = functions.position
    outer = nodes.parent[position]
    order = np.lexsort((outer, functions.track[position]))
    before = np.full(len(position), -1, np.int64)
    track, call = functions.track[position][order], outer[order]
    follows = np.flatnonzero((track[1:] == track[:-1]) & (call[1:] == call[:-1])) + 1
    before[order[follows]] = order[follows - 1]
    around = np.append(functions.around, -1)[outer]
    return np.where(before >= 0, before, positions_of(position, around))


def _attribute_reruns(
    trace: Trace, nodes: Nodes, functions: Functions, parent: Array, given: Array
) -> None:
    """Attribute modules that run again within the backward pass like their last forward call."""
    is_module = nodes.kind == PathKind.MODULE
    backward = functions.around >= 0
    rerun = np.flatnonzero(is_module & backward)
    if not len(rerun):
        return
    outer = nodes.parent[rerun]
    # A rerun within another rerun stays there.
    rerun = rerun[nearest(nodes.parent, is_module)[outer] < functions.around[outer]]
    first = np.flatnonzero(is_module & ~backward)
    name = trace["spans"]["name"][nodes.row].astype(np.int64)
    start = trace["spans"]["start"][nodes.row]
    before = np.append(first, len(parent))[
        latest_before(name[first], start[first], name[rerun], start[rerun])
    ]
    rerun, before = rerun[before < rerun], before[before < rerun]
    parent[rerun], given[rerun] = parent[before], given[before]
