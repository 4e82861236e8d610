"""Of every kernel: forward or backward pass, the sequence number, and the forward operator whose
work it undoes.

::

    main   [aten::addmm, number 7]                                                             fprop   seq 7
    engine    [evaluate_function: AddmmBackward0, 7                                ]
                [AddmmBackward0, 7, forward thread 1            ]
                  [aten::mm]   ← kernel                                                        bprop   seq 7   forward: aten::addmm
                                                                  [aten::add_] ← kernel        bprop   seq 7   home: aten::addmm
    engine    [evaluate_function: AccumulateGrad][aten::add_] ← kernel                         bprop           home: aten::addmm

A kernel beneath a function of the graph undoes that function's forward. What the engine adds up
beside the function, and what has no forward (``AccumulateGrad``, hooks), does work of its own, at
the module and line of the function before; what a function written in Python calls does its own
work too, at those of its forward, and so does what undoes a whole graph of TorchScript: the
operator of its number is only the next one after that graph. An operator with a sequence number
within the backward pass (a checkpoint that runs again, a gradient that will be differentiated) is
itself such a
forward: it keeps its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.captures import captured_at
from torch_tb_profiler.analysis.facts.names import HostNames, name_mask
from torch_tb_profiler.analysis.module.backward import preceding
from torch_tb_profiler.analysis.module.forwards import EVALUATE, Functions, forwards, functions_of
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace

GRAPH = "DifferentiableGraphBackward"
"""The backward function of a graph that TorchScript runs: its forward is no single operator."""
MOST_NUMBERS = 16
"""Sequence numbers around one kernel that are listed, the nearest ones; no program nests deeper, a
hostile trace may.
"""


class Direction(IntEnum):
    """The pass that a kernel ran in."""

    FORWARD = 0
    BACKWARD = 1
    UNKNOWN = 2
    """Its launch was not recorded, or replays a graph of which the file does not tell where it was
    captured.
    """


@dataclass(frozen=True)
class KernelDirections:
    """Arrays of shape (kernels,); nodes are positions in ``Nodes``, −1 none.

    captured: row of spans of what captured it into the graph that its launch replays; −1 for all
        that was launched at once, and where it is not told.
    node: what launched or captured it: its operator, else the innermost call around its launch or
        its capture.
    direction: uint8 ``Direction``.
    sequence: number of the graph's node that it belongs to; −1 none.
    operator: the innermost operator around it that autograd numbered and that is no part of a
        backward function's own work.
    function: the backward function whose forward it undoes.
    forward: that forward's operator.
    home: the forward operator whose module and line it has.
    other, others: sequence numbers around it but ``sequence``, ascending: those of kernel i are
    ``others[other[i]:other[i + 1]]``.
    """

    captured: Ints
    node: Ints
    direction: Array
    sequence: Ints
    operator: Ints
    function: Ints
    forward: Ints
    home: Ints
    other: Ints
    others: Ints


def kernel_directions(
    trace: Trace, facts: Facts, nodes: Nodes, names: HostNames, row: Ints
) -> KernelDirections:
    """The passes of kernels; ``row``: their rows of spans, ascending."""
    captured = captured_at(trace)[row]
    node, replayed = _launchers(trace, facts, nodes, names, row, captured)
    functions = functions_of(trace, nodes)
    known = np.flatnonzero(node >= 0)
    function = np.full(len(row), -1, np.int64)
    function[known] = functions.around[node[known]]
    direction = np.full(len(row), Direction.UNKNOWN, np.uint8)
    direction[known[~replayed[known]]] = Direction.FORWARD
    direction[function >= 0] = Direction.BACKWARD
    made = forwards(trace, nodes, functions)
    operator = _operators(nodes, functions, made, node, function)
    undoes, forward, home = _ties(
        trace, nodes, functions, made, node, np.where(operator < 0, function, -1)
    )
    numbered = nearest(nodes.parent, functions.number >= 0)
    # The function says which node of the graph it is, unless an operator within it is one itself.
    whose = np.where(operator >= 0, operator, function)
    whose[known] = np.where(whose[known] >= 0, whose[known], numbered[node[known]])
    sequence = np.append(functions.number, -1)[whose]
    other, others = _others(nodes, functions, numbered, node, sequence)
    return KernelDirections(
        captured,
        node,
        direction,
        sequence,
        operator,
        np.where(undoes, function, -1),
        forward,
        home,
        other,
        others,
    )


def _launchers(
    trace: Trace, facts: Facts, nodes: Nodes, names: HostNames, row: Ints, captured: Ints
) -> tuple[Ints, Mask]:
    """(the node of every kernel, whether it was replayed from a graph that was captured who knows
    where).
    """
    links = facts["span_links"]
    operator, launch = links["operator"][row], links["launch"][row]
    replayed = (captured < 0) & (launch >= 0) & names.graph_launch[trace["spans"]["name"][launch]]
    if not len(nodes.row):
        return np.full(len(row), -1, np.int64), replayed
    anchor = np.where(captured >= 0, captured, np.where(operator >= 0, operator, launch))
    return np.where(anchor >= 0, nodes.around[anchor], -1).astype(np.int64), replayed


def _operators(nodes: Nodes, functions: Functions, made: Ints, node: Ints, function: Ints) -> Ints:
    """The column ``operator`` of ``Passes``.

    PyTorch before 1.6 numbers all that backward functions call, though it makes no nodes of the
    graph, so that all have one number. Within a function those count where a forward is run: a
    module, the forward of another function, or operators of several numbers.
    """
    makers = np.zeros(len(nodes.row), np.bool_)
    makers[functions.maker] = True
    around = functions.around[functions.maker]
    first, _ = group_rows((around, functions.number[functions.maker]))
    several = np.flatnonzero(np.bincount(around[first] + 1)[1:] > 1)
    runs_forward = np.zeros(len(nodes.row) + 1, np.bool_)
    for within in (
        several,
        functions.around[made[made >= 0]],
        functions.around[nodes.kind == PathKind.MODULE],
    ):
        runs_forward[within] = True
    operator = np.full(len(node), -1, np.int64)
    known = np.flatnonzero(node >= 0)
    operator[known] = nearest(nodes.parent, makers)[node[known]]
    operator[operator < function] = -1
    inside = np.flatnonzero(function >= 0)
    operator[inside[~runs_forward[function[inside]]]] = -1
    return operator


def _ties(
    trace: Trace, nodes: Nodes, functions: Functions, made: Ints, node: Ints, function: Ints
) -> tuple[Mask, Ints, Ints]:
    """Of every kernel (whether it undoes the forward of its function, that forward, the forward at
    whose module and line it is).

    ``made``: the forward of every function; ``function``: that of every kernel, −1 for those with
        an operator of their own.
    """
    undoes = np.zeros(len(node), np.bool_)
    forward, home = np.full(len(node), -1, np.int64), np.full(len(node), -1, np.int64)
    at = np.flatnonzero(function >= 0)
    if not len(at):
        return undoes, forward, home
    link = preceding(nodes, functions)
    like = nearest(link, functions.numbered)
    place = np.searchsorted(functions.position, function[at])
    home[at] = np.where(like[place] >= 0, made[like[place]], -1)
    # The engine's call of a function holds the function itself, and what adds up its results.
    itself = (functions.thread > 0) & ~named_nodes(
        trace, nodes, lambda text: text.startswith(EVALUATE)
    )
    split = np.zeros(len(nodes.row), np.bool_)
    split[functions.around[itself]] = True
    inside = ~split[function[at]] | (nearest(nodes.parent, itself)[node[at]] >= function[at])
    # What a function of Python calls to undo another is told by its own operators.
    told = dispatched(trace, nodes)[made[place]] | itself[node[at]] | (node[at] == function[at])
    graph = named_nodes(trace, nodes, lambda text: text.endswith(GRAPH))[function[at]]
    undoes[at] = inside & told & ~graph & functions.numbered[place] & (made[place] >= 0)
    forward[at] = np.where(undoes[at], made[place], -1)
    return undoes, forward, home


def dispatched(trace: Trace, nodes: Nodes) -> Mask:
    """Which nodes are PyTorch's operators (``aten::relu``, old ``relu``): another numbered one is a
    function of Python, a class, around several of these.
    """
    return named_nodes(trace, nodes, lambda text: "::" in text or text == text.lower())


def named_nodes(trace: Trace, nodes: Nodes, wanted: Callable[[str], bool]) -> Mask:
    """Which nodes have a name that is wanted."""
    name = trace["spans"]["name"][nodes.row]
    return np.asarray(name_mask(trace.strings, name, wanted)[name])


def _others(
    nodes: Nodes, functions: Functions, numbered: Array, node: Ints, sequence: Ints
) -> tuple[Ints, Ints]:
    """(bounds, numbers) of ``Passes.other`` and ``others``."""
    kernel = np.flatnonzero(node >= 0)
    at = numbered[node[kernel]].astype(np.int64)
    found: list[tuple[Ints, Ints]] = []
    for _ in range(MOST_NUMBERS):
        kernel, at = kernel[at >= 0], at[at >= 0]
        if not len(at):
            break
        found.append((kernel, functions.number[at]))
        outer = nodes.parent[at]
        at = np.where(outer >= 0, numbered[outer], -1).astype(np.int64)
    kernel, number = (
        np.concatenate([k for k, _ in found] or [kernel[:0]]),
        np.concatenate([n for _, n in found] or [kernel[:0]]),
    )
    different = number != sequence[kernel]
    kernel, number = kernel[different], number[different]
    first, _ = group_rows((kernel, number))
    kernel, number = kernel[first], number[first]
    return np.searchsorted(kernel, np.arange(len(node) + 1)), number
