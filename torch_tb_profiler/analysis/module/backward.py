"""Where the backward pass is laid: at the module whose forward it undoes.

::

    main     /nn.Module: Linear_0      /  /nn.Module: ReLU_0/   [evaluate_function: ReluBackward0][evaluate_function: AddmmBackward0][…AccumulateGrad]
    main       [aten::addmm, number 7 ]     [aten::relu, 8]              8 ─▶ ReLU_0                   7 ─▶ Linear_0                 as the one before

A backward operator knows its forward by an arrow (category ``fwdbwd``), else by its sequence
number: every operator carries the number that the next node of the graph will get, so the last one
that begins with a number made the node (torch's ``generateForwardBackwardLinks``). What has no
number of its own (``AccumulateGrad``, hooks) runs right after the operator that made its gradient,
and belongs where that one does.

A module that runs again within the backward pass (checkpoints) belongs to the backward of the
module of its name: it is laid where its last forward call before is laid. Its operators stay within
it, and what undoes these is laid at it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.attribution import latest_before
from torch_tb_profiler.analysis.module.forwards import Functions, forwards, functions_of
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Trace

_LIKE_ANOTHER, _UNTIED, _OUTSIDE, _TIED = 0, 1, 2, 3


@dataclass(frozen=True)
class Backward:
    """Attributes, arrays of shape (nodes,).

    backward: whether it runs in the backward pass.
    parent: position of the node that it is laid at; −1 none.
    given: where ``parent`` is −1, the row of the written modules that it is laid at; −1 none.
    counts: backward functions laid at a module, without a known forward, with one outside modules.
    """

    backward: Mask
    parent: Array
    given: Array
    counts: dict[str, int]


def lay_backward(trace: Trace, nodes: Nodes, written: Array) -> Backward:
    """Lay the backward functions at the modules of their forwards.

    Args:
        written: of every node the written module that it says to be in (``Module Hierarchy``); −1
            none.
    """
    n = len(nodes.row)
    inside = nearest(nodes.parent, written >= 0)
    # The outermost one that says so stands beneath the module, those beneath it where they are.
    says = (written >= 0) & ((nodes.parent < 0) | (inside[nodes.parent] < 0))
    parent, given = np.where(says, -1, nodes.parent), np.where(says, written, -1)
    functions = functions_of(trace, nodes)
    counts = {"tied": 0, "untied": 0, "outside": 0}
    if not len(functions.position):
        return Backward(np.zeros(n, np.bool_), parent, given, counts)
    forward = forwards(trace, nodes, functions)
    home = _homes(nodes, functions, forward, np.where(inside >= 0, written[inside], -1))
    tied = functions.position[home.state == _TIED]
    parent[tied], given[tied] = home.node[home.state == _TIED], home.written[home.state == _TIED]
    backward = functions.around >= 0
    _lay_reruns(trace, nodes, functions, parent, given)
    counts = {
        key: int((home.state == value).sum())
        for key, value in (("tied", _TIED), ("untied", _UNTIED), ("outside", _OUTSIDE))
    }
    return Backward(backward, parent, given, counts)


@dataclass(frozen=True)
class _Homes:
    """Of every backward function: what is known of it, and the node or the written module that its
    forward ran in; −1 none.
    """

    state: Array
    node: Ints
    written: Ints


def _homes(nodes: Nodes, functions: Functions, forward: Ints, written: Array) -> _Homes:
    position = functions.position
    n = len(position)
    state = np.where(functions.numbered, _UNTIED, _LIKE_ANOTHER).astype(np.int8)
    module, outer = nearest(nodes.parent, nodes.kind == PathKind.MODULE), functions.around
    home = np.full(n, -1, np.int64)
    home_written = np.full(n, -1, np.int64)
    known = np.flatnonzero(forward >= 0)
    made = forward[known]
    # A forward within the backward pass belongs where the function around it does, unless a module
    # runs again in between.
    in_module = module[made] > outer[made]
    again = ~in_module & (outer[made] >= 0)
    beside = ~in_module & ~again & (written[made] >= 0)
    home[known] = np.where(in_module, module[made], -1)
    home_written[known] = np.where(beside, written[made], -1)
    state[known] = np.where(in_module | beside, _TIED, np.where(again, _LIKE_ANOTHER, _OUTSIDE))
    link = preceding(nodes, functions)
    link[known[again]] = np.searchsorted(position, outer[made[again]])
    alone = (state == _LIKE_ANOTHER) & (link < 0)
    state[alone] = _UNTIED
    like = nearest(link, state != _LIKE_ANOTHER)
    return _Homes(state[like], home[like], home_written[like])


def preceding(nodes: Nodes, functions: Functions) -> Ints:
    """For every backward function the one before it on its thread and in the same call, else the
    one around it; −1 none.
    """
    position = functions.position
    outer = nodes.parent[position]
    order = np.lexsort((outer, functions.track[position]))
    before = np.full(len(position), -1, np.int64)
    track, call = functions.track[position][order], outer[order]
    follows = np.flatnonzero((track[1:] == track[:-1]) & (call[1:] == call[:-1])) + 1
    before[order[follows]] = order[follows - 1]
    around = np.where(outer >= 0, functions.around[outer], -1)
    return np.where(
        before >= 0, before, np.where(around >= 0, np.searchsorted(position, around), -1)
    )


def _lay_reruns(
    trace: Trace, nodes: Nodes, functions: Functions, parent: Array, given: Array
) -> None:
    """Lay modules that run again within the backward pass where their last forward call before is
    laid.
    """
    is_module = nodes.kind == PathKind.MODULE
    backward = functions.around >= 0
    rerun = np.flatnonzero(is_module & backward)
    if not len(rerun):
        return
    outer = nodes.parent[rerun]
    # Those within another module that runs again stay there.
    rerun = rerun[nearest(nodes.parent, is_module)[outer] < functions.around[outer]]
    first = np.flatnonzero(is_module & ~backward)
    name = trace["spans"]["name"][nodes.row].astype(np.int64)
    start = trace["spans"]["start"][nodes.row]
    found = latest_before(name[first], start[first], name[rerun], start[rerun])
    before = (
        np.where(found >= 0, first[found], len(parent))
        if len(first)
        else np.full(len(rerun), len(parent))
    )
    rerun, before = rerun[before < rerun], before[before < rerun]
    parent[rerun], given[rerun] = parent[before], given[before]
