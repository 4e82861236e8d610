"""The tree of host calls (operators, annotations, runtime calls) as ``torch.profiler`` builds it.

Python frames are transparent. An operator whose only child has the same name is merged with it
(``_remove_dup_nodes`` of ``torch/autograd/profiler_util.py``): the child's children and launches
become the parent's.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import mask_of, picked, places_in, sum_by
from torch_tb_profiler.analysis.arrays.nesting import nearest, nest_rows
from torch_tb_profiler.analysis.facts.host_names import HostNames, host_names
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.model import Trace
from torch_tb_profiler.store.roles import Role


class CallTree(msgspec.Struct, frozen=True):
    """Arrays of shape (nodes,) unless said otherwise; positions count nodes.

    row: rows of spans, ascending; int32, like all positions here.
    node: position of every row of spans, −1 if it is no node; int32 of shape (spans,).
    parent: position of the enclosing node after merging; −1 none.
    children: Σ duration of the direct children, ns.
    kept: False where the node is merged into its parent.
    is_operator: a kept operator.
    operator: position of the innermost kept operator at or around the node; −1 none.
    overlapping: starts inside another node of its thread and ends after it.
    names: what the names of the calls imply.
    """

    row: Array
    node: Array
    parent: Array
    children: Ints
    kept: Mask
    is_operator: Mask
    operator: Array
    overlapping: Mask
    names: HostNames


def is_call(role: Array) -> Mask:
    """Which roles are nodes of the call tree; bool of the shape of ``role``."""
    return np.asarray((role == Role.OPERATOR) | (role == Role.ANNOTATION) | (role == Role.RUNTIME))


def call_tree(trace: Trace) -> CallTree:
    """The call tree of all threads. It takes a second per ten million calls: pass it on."""
    spans = trace["spans"]
    role, name = spans["role"], spans["name"]
    row = np.flatnonzero(is_call(role)).astype(np.int32)
    names = host_names(trace.strings, name[row])
    row = row[~names.hidden[name[row]]]
    nested = nest_rows(spans, row)
    operator_like = (role[row] == Role.OPERATOR) & ~names.region[name[row]]
    parent, kept = _collapse(nested.parent, name[row], operator_like)
    n = len(row)
    node = places_in(spans.n, row, np.int32)
    is_operator = operator_like & kept
    inner = np.flatnonzero(kept & (parent >= 0))
    children = sum_by(parent[inner], n, spans["dur"][row[inner]])
    operator, overlapping = nearest(parent, is_operator), nested.overlapping
    return CallTree(row, node, parent, children, kept, is_operator, operator, overlapping, names)


def _collapse(parent: Array, name: Array, operator_like: Mask) -> tuple[Array, Mask]:
    """``(parent, kept)``: parents with merged nodes skipped, and which nodes stay. A merged node's
    parent is the node that it is merged into.
    """
    n = len(parent)
    same = np.zeros(n, np.bool_)
    child = np.flatnonzero((parent >= 0) & operator_like)
    child = child[operator_like[parent[child]] & (name[child] == name[parent[child]])]
    # Few nodes have their parent's name, so only the children of those parents are counted.
    candidate = mask_of(n + 1, parent[child])
    siblings = np.bincount(parent[candidate[parent]], minlength=n)
    same[child] = siblings[parent[child]] == 1
    # A hostile trace may hold a long chain of one name.
    return picked(nearest(parent, ~same), parent), ~same
