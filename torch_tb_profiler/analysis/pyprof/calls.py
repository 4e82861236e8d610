"""Which operator a kernel does the work of, and which of that operator's kernels it is.

Named is the call at which the Efficiency view lays the kernel, or the operator around it that
autograd numbered; and of several calls of one family within each other the outermost, which is what
a program calls::

    aten::conv2d ▸ aten::convolution (7) ▸ aten::_convolution ▸ aten::cudnn_convolution ▸ kernel     aten  conv2d
    aten::relu_ (8) ▸ aten::clamp_min_ ▸ kernel                                                      aten  relu_
    torch.nn.functional.linear ▸ aten::addmm ▸ kernel                                                torch.nn.functional  linear

A kernel of the backward pass that undoes a forward is named by that forward; one that no operator
launched by the user's range around the launch.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.names import distinct
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.analysis.pyprof.directions import KernelDirections, dispatched, named_nodes
from torch_tb_profiler.analysis.pyprof.sources import LAYER
from torch_tb_profiler.hardware.work import model_of
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace


def shown_calls(
    trace: Trace, nodes: Nodes, found: KernelDirections, laid_at: Ints
) -> tuple[Ints, Ints]:
    """For every kernel (the node of the operator that names it, that of the operator whose work it
    is a part of), −1 none; int64 of shape (kernels,).

    Args:
        laid_at: row of spans of the call that each is laid at, −1 none.
    """
    part_of = np.full(len(laid_at), -1, np.int64)
    own, place = nodes.of_spans(laid_at)
    part_of[own] = place
    # What is replayed is laid nowhere: the operator ran once, and its work runs with every replay.
    replayed = np.flatnonzero((found.captured >= 0) & (found.node >= 0))
    part_of[replayed] = nearest(nodes.parent, nodes.kind == PathKind.OPERATOR)[found.node[replayed]]
    part_of = np.where(found.forward >= 0, found.forward, part_of)
    call = part_of.copy()
    above = np.flatnonzero((found.operator >= 0) & (found.operator < call) & (found.forward < 0))
    above = above[dispatched(trace, nodes)[found.operator[above]]]
    call[above] = found.operator[above]
    alone = np.flatnonzero((call < 0) & (found.node >= 0))
    call[alone] = nearest(nodes.parent, _ranges(trace, nodes))[found.node[alone]]
    named = np.flatnonzero(call >= 0)
    call[named] = _outermost_of_family(trace, nodes)[call[named]]
    return call, part_of


def _ranges(trace: Trace, nodes: Nodes) -> Mask:
    """Which nodes are ranges of the user's own that are no layers."""
    return np.asarray(
        (nodes.kind == PathKind.ANNOTATION)
        & ~named_nodes(trace, nodes, lambda text: text.startswith(LAYER))
    )


def _outermost_of_family(trace: Trace, nodes: Nodes) -> Array:
    """For every node the outermost operator to which calls of nothing but operators of its family
    lead; itself where it has no family.
    """
    name = trace["spans"]["name"][nodes.row]
    family = np.full(len(trace.strings) + 1, -1, np.int64)
    numbers: dict[str, int] = {}
    operator = nodes.kind == PathKind.OPERATOR
    for number in distinct(name[operator], trace.strings):
        text = trace.strings[number]
        # PyTorch names what does the work of aten::softmax aten::_softmax.
        model = model_of(text) or model_of(text.replace("::", "::_", 1))
        if model is not None:
            family[number] = numbers.setdefault(model.family, len(numbers))
    own = np.where(operator, family[name], -1)
    above = nodes.parent
    same = (above >= 0) & (own >= 0) & (own[above] == own) if len(own) else operator
    return nearest(above, ~same)


def ordinals(facts: Facts, found: KernelDirections, call: Ints, row: Ints) -> Ints:
    """The how manyth kernel each is of its backward function, else of its operator, else of its
    launch, from 0 in the order of ``row``; int64.

    Each replay of what was captured counts anew.
    """
    launch = facts["span_links"]["launch"][row].astype(np.int64)
    key = np.where(found.function >= 0, found.function, call)
    # Nodes and rows of spans are numbered apart; what has neither is the first of itself.
    key = np.where(
        key >= 0, key, np.where(launch >= 0, -2 - launch, (1 << 62) + np.arange(len(row)))
    )
    _, key = group_rows((key, np.where(found.captured >= 0, launch, -1)))
    order = np.argsort(key, kind="stable")
    begins = np.flatnonzero(np.diff(key[order], prepend=np.iinfo(np.int64).min))
    place = np.empty(len(row), np.int64)
    place[order] = np.arange(len(row)) - np.repeat(begins, np.diff(begins, append=len(row)))
    return place
