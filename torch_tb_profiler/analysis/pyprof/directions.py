"""The pass, sequence number and forward operator of every kernel.

::

    main   [aten::addmm, number 7]                                                             fprop   seq 7
    engine    [evaluate_function: AddmmBackward0, 7                                ]
                [AddmmBackward0, 7, forward thread 1            ]
                  [aten::mm]   ← kernel                                                        bprop   seq 7   forward: aten::addmm
                                                                  [aten::add_] ← kernel        bprop   seq 7   home: aten::addmm
    engine    [evaluate_function: AccumulateGrad][aten::add_] ← kernel                         bprop           home: aten::addmm

A kernel beneath a graph function differentiates that function's forward. What the engine adds up
beside the function, and functions without a forward (``AccumulateGrad``, hooks), do their own work,
at the module and line of the previous function. Functions written in Python and whole TorchScript
graphs do their own work at those of their forward: the operator with a TorchScript graph's number is
merely the next one after it. A numbered operator within the backward pass (a checkpoint that runs
again, a gradient that will be differentiated) is itself a forward.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, mask_of, scatter
from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.host_names import HostNames, is_engine_call, name_mask
from torch_tb_profiler.analysis.facts.span_lookup import captured_at
from torch_tb_profiler.analysis.module.backward import preceding
from torch_tb_profiler.analysis.module.forwards import Functions, forwards, functions_of
from torch_tb_profiler.analysis.module.nodes import Nodes
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.insight_schema import PathKind
from torch_tb_profiler.store.model import Facts, Trace

GRAPH = "DifferentiableGraphBackward"
"""TorchScript's backward function of a graph: its forward is not a single operator."""
MOST_NUMBERS = 16
"""Sequence numbers listed around one kernel, the nearest ones; only hostile traces nest deeper."""


class Direction(IntEnum):
    """The pass that a kernel ran in."""

    FORWARD = 0
    BACKWARD = 1
    UNKNOWN = 2
    """Its launch was not recorded, or replays a graph with an unknown capture."""


class KernelDirections(msgspec.Struct, frozen=True):
    """Arrays of shape (kernels,); nodes are positions in ``Nodes``, −1 none.

    captured: row of spans that captured it into the replayed graph; −1 not replayed, or unknown.
    node: what launched or captured it: its operator, else the innermost call around.
    direction: uint8 ``Direction``.
    sequence: number of the graph node that it belongs to; −1 none.
    operator: the innermost numbered operator around it that is not part of a backward function's
        own work.
    function: the backward function whose forward it differentiates.
    forward: that forward's operator.
    home: the forward operator whose module and line it has.
    other, others: other sequence numbers around it, ascending: those of kernel i are
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
    """The directions of kernels, rows of spans, ascending."""
    captured = captured_at(trace)[row]
    node, replayed = _launchers(trace, facts, nodes, names, row, captured)
    functions = functions_of(trace, nodes)
    known = np.flatnonzero(node >= 0)
    function = scatter(len(row), known, functions.around[node[known]])
    direction = np.full(len(row), Direction.UNKNOWN, np.uint8)
    direction[known[~replayed[known]]] = Direction.FORWARD
    direction[function >= 0] = Direction.BACKWARD
    forward_of_function = forwards(trace, nodes, functions)
    operator = _operators(nodes, functions, forward_of_function, node, function)
    undoes, forward, home = _ties(
        trace, nodes, functions, forward_of_function, node, np.where(operator < 0, function, -1)
    )
    numbered = nearest(nodes.parent, functions.number >= 0)
    # A function stands for its graph node, unless an operator within it is one itself.
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
    """``(node, replayed)``: each kernel's node, and whether its capture is unknown."""
    links = facts["span_links"]
    operator, launch = links["operator"][row], links["launch"][row]
    replayed = (captured < 0) & (launch >= 0) & names.graph_launch[trace["spans"]["name"][launch]]
    if not len(nodes.row):
        return np.full(len(row), -1, np.int64), replayed
    anchor = np.where(captured >= 0, captured, np.where(operator >= 0, operator, launch))
    return np.where(anchor >= 0, nodes.around[anchor], -1).astype(np.int64), replayed


def _operators(
    nodes: Nodes, functions: Functions, forward_of_function: Ints, node: Ints, function: Ints
) -> Ints:
    """The column ``operator`` of ``KernelDirections``.

    PyTorch before 1.6 numbers everything that backward functions call, all with one number,
    although it creates no graph nodes. Within a function those count only where a forward runs: a
    module, the forward of another function, or operators of several numbers.
    """
    makers = mask_of(len(nodes.row), functions.maker)
    around = functions.around[functions.maker]
    first, _ = group_rows((around, functions.number[functions.maker]))
    several = np.flatnonzero(np.bincount(around[first] + 1)[1:] > 1)
    runs_forward = np.zeros(len(nodes.row) + 1, np.bool_)
    for within in (
        several,
        functions.around[forward_of_function[forward_of_function >= 0]],
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
    trace: Trace,
    nodes: Nodes,
    functions: Functions,
    forward_of_function: Ints,
    node: Ints,
    function: Ints,
) -> tuple[Mask, Ints, Ints]:
    """``(undoes, forward, home)`` per kernel: whether it differentiates its function's forward,
    that forward, and its home.

    forward_of_function: the forward of every function.
    function: that of every kernel, −1 for those with an operator of their own.
    """
    undoes = np.zeros(len(node), np.bool_)
    forward, home = np.full(len(node), -1, np.int64), np.full(len(node), -1, np.int64)
    rows = np.flatnonzero(function >= 0)
    if not len(rows):
        return undoes, forward, home
    link = preceding(nodes, functions)
    representative = nearest(link, functions.numbered)
    position = np.searchsorted(functions.position, function[rows])
    home[rows] = np.where(
        representative[position] >= 0, forward_of_function[representative[position]], -1
    )
    # The engine's call of a function holds the function itself, and what adds up its results.
    itself = (functions.thread > 0) & ~named_nodes(trace, nodes, is_engine_call)
    split = mask_of(len(nodes.row), functions.around[itself])
    inside = ~split[function[rows]] | (nearest(nodes.parent, itself)[node[rows]] >= function[rows])
    # What a Python function calls is identified by its own operators.
    identified = (
        dispatched(trace, nodes)[forward_of_function[position]]
        | itself[node[rows]]
        | (node[rows] == function[rows])
    )
    graph = named_nodes(trace, nodes, lambda text: text.endswith(GRAPH))[function[rows]]
    undoes[rows] = (
        inside
        & identified
        & ~graph
        & functions.numbered[position]
        & (forward_of_function[position] >= 0)
    )
    forward[rows] = np.where(undoes[rows], forward_of_function[position], -1)
    return undoes, forward, home


def dispatched(trace: Trace, nodes: Nodes) -> Mask:
    """Which nodes are PyTorch operators (``aten::relu``, old ``relu``) rather than Python functions
    around several.
    """
    return named_nodes(trace, nodes, lambda text: "::" in text or text == text.lower())


def named_nodes(trace: Trace, nodes: Nodes, wanted: Callable[[str], bool]) -> Mask:
    """Which nodes have a name that is ``wanted``."""
    name = trace["spans"]["name"][nodes.row]
    return np.asarray(name_mask(trace.strings, name, wanted)[name])


def _others(
    nodes: Nodes, functions: Functions, numbered: Array, node: Ints, sequence: Ints
) -> tuple[Ints, Ints]:
    """``other`` and ``others`` of ``KernelDirections``."""
    kernel = np.flatnonzero(node >= 0)
    numbered_node = numbered[node[kernel]].astype(np.int64)
    levels: list[tuple[Ints, Ints]] = [(kernel[:0], kernel[:0])]
    for _ in range(MOST_NUMBERS):
        kernel, numbered_node = kernel[numbered_node >= 0], numbered_node[numbered_node >= 0]
        if not len(numbered_node):
            break
        levels.append((kernel, functions.number[numbered_node]))
        outer = nodes.parent[numbered_node]
        numbered_node = np.where(outer >= 0, numbered[outer], -1).astype(np.int64)
    kernel, number = map(np.concatenate, zip(*levels, strict=True))
    different = number != sequence[kernel]
    kernel, number = kernel[different], number[different]
    first, _ = group_rows((kernel, number))
    kernel, number = kernel[first], number[first]
    return np.searchsorted(kernel, np.arange(len(node) + 1)), number
